"""Facts -> the lines in which a person knows the machine again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lockforge.report.tables import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lockforge.model.machine import (
        AmdGpu,
        Apple,
        Facts,
        IntelGpu,
        Interpreter,
        Nvidia,
        NvidiaGpu,
        NvidiaState,
    )

_SYSTEMS = {"linux": "Linux", "windows": "Windows", "macos": "macOS"}
_SOURCES = {
    "sys_module": "from /sys/module/nvidia/version",
    "proc": "from /proc/driver/nvidia/version",
    "stated": "stated",
}
_STATES: dict[NvidiaState, str] = {
    "driver_library_mismatch": "its libraries are of another version",
    "driver_visible_no_device_nodes": "no device nodes here",
    "no_devices": "nvidia-smi finds no device",
    "tools_without_driver": "though its tools are installed",
    "gpu_without_driver": "though a GPU is there",
    "not_answering": "its tools do not answer",
    "hidden": "all GPUs are hidden",
}
_LABEL = len("python") + 2


def render_machine(facts: Facts) -> list[str]:
    """Write a line or a few for the host, its Python, driver and GPUs, and what was stated."""
    lines = _labelled("host", [_host(facts)])
    if facts.python is not None:
        lines += _labelled("python", [_python(facts.python, facts.apple)])
    if facts.nvidia is not None:
        lines += _labelled("driver", [_driver(facts.nvidia)])
    lines += _labelled("GPUs", _gpus(facts) or ["none found"])
    return lines + _labelled("stated", [f"{one.variable}={one.value}" for one in facts.overrides])


def _labelled(label: str, entries: Iterable[str]) -> list[str]:
    lines: list[str] = []
    for entry in entries:
        start = ("" if lines else label).ljust(_LABEL)
        lines += folded(entry, start, " " * (_LABEL + 2))
    return lines


def _host(facts: Facts) -> str:
    name = "unknown system" if facts.os is None else _SYSTEMS[facts.os]
    version = facts.os_version
    if facts.os == "linux":
        parts = [version or name]
    else:
        named = version is not None and version.startswith(name)
        parts = [version if named and version else f"{name} {version or ''}".rstrip()]
    parts.append(facts.arch or "unknown machine")
    if facts.libc is not None:
        parts.append(f"{facts.libc.family} {facts.libc.version}")
    if facts.wsl2:
        parts.append("WSL2")
    if facts.tegra is not None:
        parts.append(f"Jetson ({facts.tegra})")
    if facts.container:
        parts.append("in a container")
    return ", ".join(parts)


def _python(python: Interpreter, apple: Apple | None) -> str:
    text = f"{python.implementation} {python.version} for {python.platform}, {python.bits}-bit"
    if python.free_threaded:
        text += ", free-threaded"
    if apple is not None and apple.translated:
        text += f", under Rosetta on {apple.hardware_arch}"
    return text


def _driver(nvidia: Nvidia) -> str:
    version = nvidia.kernel_driver_version
    if version is None:
        unknown = nvidia.state == "ok" or nvidia.cuda_umd_version is not None
        parts = ["NVIDIA, of unknown version" if unknown else "no NVIDIA driver found"]
    else:
        source = _SOURCES.get(nvidia.driver_source, f"from {nvidia.driver_source}")
        parts = [f"NVIDIA {version} ({source})"]
    if nvidia.cuda_umd_version is not None:
        parts.append(f"CUDA up to {nvidia.cuda_umd_version}")
    if nvidia.user_library_version is not None:
        parts.append(f"its libraries are {nvidia.user_library_version}")
    elif nvidia.state in _STATES:
        parts.append(_STATES[nvidia.state])
    return ", ".join(parts)


def _gpus(facts: Facts) -> list[str]:
    """Write the GPUs of all vendors, those that are alike on one line."""
    found = Counter(_each_gpu(facts))
    return [f"{count} x {text}" if count > 1 else text for text, count in found.items()]


def _each_gpu(facts: Facts) -> Iterator[str]:
    if facts.nvidia is not None:
        yield from map(_nvidia_gpu, facts.nvidia.gpus)
    if facts.amd is not None:
        yield from map(_amd_gpu, facts.amd.gpus)
    if facts.intel is not None:
        yield from map(_intel_gpu, facts.intel.gpus)
    # That of a Mac with an Intel processor is not told.
    if facts.apple is not None and facts.apple.hardware_arch == "arm64":
        yield _apple_gpu(facts.apple)


def _nvidia_gpu(gpu: NvidiaGpu) -> str:
    capability = gpu.compute_cap or "capability unknown"
    if gpu.compute_cap_source is not None:
        capability += f" from {gpu.compute_cap_source}"
    text = f"{_of_vendor('NVIDIA', gpu.name)} ({capability})"
    if gpu.vgpu:
        text += ", vGPU"
    if gpu.mig:
        text += f", MIG {', '.join(_counted(gpu.mig))}"
    return text if gpu.visible else f"{text}, not visible"


def _counted(names: tuple[str, ...]) -> list[str]:
    return [f"{count} x {one}" if count > 1 else one for one, count in Counter(names).items()]


def _amd_gpu(gpu: AmdGpu) -> str:
    text = f"{_of_vendor('AMD', gpu.name)} ({gpu.gfx or gpu.pci_id or 'architecture unknown'})"
    if gpu.integrated:
        text += ", integrated"
    return text if gpu.visible else f"{text}, not visible"


def _intel_gpu(gpu: IntelGpu) -> str:
    text = f"{_of_vendor('Intel', gpu.family)} ({gpu.pci_id})"
    if gpu.unvalidated:
        return f"{text}, not validated for XPU"
    return text if gpu.xpu_supported else f"{text}, not for XPU"


def _apple_gpu(apple: Apple) -> str:
    text = apple.chip or "unknown processor of Apple's"
    return f"{text} (MPS)" if apple.mps_usable else f"{text}, without MPS here"


def _of_vendor(vendor: str, name: str | None) -> str:
    if name is None:
        return f"{vendor} GPU"
    return name if name.startswith(vendor) else f"{vendor} {name}"
