"""Whether the NVIDIA GPUs of a host run a CUDA build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.detect import overrides, visibility
from lockforge.detect.builds import driver_platform
from lockforge.detect.kernels import kernels_of, parse_capability, parse_numbers
from lockforge.detect.words import listed, name_nvidia, tell_kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.catalog import Catalog
    from lockforge.detect.kernels import Kernels
    from lockforge.model.choice import Build, Status
    from lockforge.model.machine import Facts, Nvidia, NvidiaGpu

# The newest Jetson that needs wheels of its own; Thor, 11.0, runs those of other Arm machines.
_ORIN = (8, 7)
# Capabilities that no GPU but that of a Jetson has: they tell one where nothing else does.
_JETSON_ONLY = frozenset({"5.3", "6.2", "7.2", "8.7"})
_HIDING = (visibility.CUDA, overrides.CONDA)
_WITHOUT_GPU = {
    "driver_visible_no_device_nodes": (
        "a driver is visible, and there are no device nodes to reach a GPU by"
    ),
    "no_devices": "NVIDIA's tools are here, and they find no device",
    "tools_without_driver": "NVIDIA's tools are here without a driver",
    "not_answering": "NVIDIA's driver does not answer, and no GPU is seen otherwise",
}


def judge_cuda(build: Build, facts: Facts, catalog: Catalog) -> tuple[Status, str]:
    """Judge *build* by driver and kernels, and say why in one sentence."""
    if needs_jetpack(facts):
        return "refused", (
            "this host is a Jetson older than Thor "
            f"({name_nvidia(visible_gpus(facts)) or facts.tegra}), for which there are only the "
            "builds of NVIDIA's JetPack"
        )
    nvidia = facts.nvidia
    if nvidia is None:
        return "refused", "no NVIDIA GPU was found"
    if reason := _why_no_gpu(facts, nvidia):
        return "refused", reason
    return _judge_gpus(build, facts, nvidia, catalog)


def _judge_gpus(build: Build, facts: Facts, nvidia: Nvidia, catalog: Catalog) -> tuple[Status, str]:
    gpus = visible_gpus(facts)
    # No driver helps a GPU that there is no code for: that is said first.
    status, kernels = _judge_kernels(build, nvidia, gpus, catalog) if gpus else ("usable", "")
    if status == "refused":
        return status, kernels
    floor = _driver_floor(build, facts, catalog)
    if reason := _why_not_driver(build, facts, nvidia, floor):
        return "refused", reason
    if status == "partial":
        return status, kernels
    stated = f" (stated by {nvidia.driver_source})" if is_stated(nvidia, facts) else ""
    driver = f"driver {nvidia.kernel_driver_version}{stated} >= {floor}"
    if nvidia.state == "driver_library_mismatch":
        driver += ", usable after a reboot"
    if not gpus:
        return status, f"{driver}; no GPU is seen to have kernels for"
    return status, f"{driver}; {kernels}"


def has_kernels(
    build: Build, facts: Facts, catalog: Catalog, only: Sequence[NvidiaGpu] | None = None
) -> bool:
    """Whether *build* is known to have code for all visible GPUs, or *only* these."""
    nvidia, gpus = facts.nvidia, visible_gpus(facts) if only is None else only
    known = kernels_of(build, catalog)
    return (
        nvidia is not None
        and bool(known and gpus)
        and all(_runs(one, build, nvidia, gpu) for one in known for gpu in gpus)
    )


def has_driver(build: Build, facts: Facts, catalog: Catalog) -> bool:
    """Whether the driver, where it is known, is one that *build* runs with."""
    nvidia = facts.nvidia
    if nvidia is None or nvidia.kernel_driver_version is None:
        return True
    return _why_not_driver(build, facts, nvidia, _driver_floor(build, facts, catalog)) is None


def visible_gpus(facts: Facts) -> tuple[NvidiaGpu, ...]:
    """Give the NVIDIA GPUs that a program would see."""
    if facts.nvidia is None or facts.nvidia.state == "hidden":
        return ()
    return tuple(gpu for gpu in facts.nvidia.gpus if gpu.visible)


def is_stated(nvidia: Nvidia, facts: Facts) -> bool:
    """Whether the user states the driver in place of what was detected."""
    return any(one.variable == nvidia.driver_source for one in facts.overrides)


def needs_jetpack(facts: Facts) -> bool:
    """Whether this is a Jetson before Thor, whose GPU no wheel for Arm servers has kernels for."""
    capabilities = [gpu.compute_cap for gpu in visible_gpus(facts)]
    if not _JETSON_ONLY.isdisjoint(capabilities):
        return True
    if facts.tegra is None:
        return False
    known = [pair for one in capabilities if (pair := parse_capability(one)) is not None]
    return any(pair <= _ORIN for pair in known) if known else "thor" not in facts.tegra.lower()


def _can_compile(build: Build, nvidia: Nvidia) -> bool:
    """Whether the driver surely compiles PTX of the build's CUDA.

    A driver that runs newer code of the same major need not, for PTX has a version of its own.
    """
    newest = parse_numbers(nvidia.cuda_umd_version)
    return newest is not None and newest >= build.accelerator.version


def _runs(kernels: Kernels, build: Build, nvidia: Nvidia, gpu: NvidiaGpu) -> str | None:
    """Name the code of *build* that *gpu* runs; None where it has none for it."""
    return kernels.covering(gpu.compute_cap, ptx=_can_compile(build, nvidia))


def _why_no_gpu(facts: Facts, nvidia: Nvidia) -> str | None:
    """Say why no GPU can be counted on; None too where the user's word stands for one."""
    if visible_gpus(facts):
        return None
    if nvidia.gpus or nvidia.state == "hidden":
        hiding = [name for name in facts.hidden_by if name in _HIDING]
        return f"{listed(hiding) or 'a variable'} hides {name_nvidia(nvidia.gpus) or 'all GPUs'}"
    if is_stated(nvidia, facts):
        return None
    driver = nvidia.kernel_driver_version
    reason = _WITHOUT_GPU.get(nvidia.state, "no NVIDIA GPU was found")
    return reason if driver is None else f"{reason} (driver {driver})"


def _driver_floor(build: Build, facts: Facts, catalog: Catalog) -> str | None:
    platform = driver_platform(facts, build.platform)
    return catalog.driver_floor(build.accelerator, platform) or build.min_driver


def _why_not_driver(build: Build, facts: Facts, nvidia: Nvidia, floor: str | None) -> str | None:
    label = build.accelerator.label
    need = parse_numbers(floor)
    if need is None:
        return f"which driver {label} needs is not known"
    system = driver_platform(facts, build.platform).system
    where = "Windows" if system == "windows" else "Linux"
    needs = f"{label} needs driver {floor} or newer on {where}"
    seen = name_nvidia(visible_gpus(facts)) or "no GPU seen"
    have = parse_numbers(nvidia.kernel_driver_version)
    if have is None and nvidia.state == "gpu_without_driver":
        return f"{needs}; this host has none loaded ({seen})"
    if have is None:
        return f"{needs}; which one this host has is not known ({seen})"
    if have < need:
        by = f"{nvidia.driver_source} states" if is_stated(nvidia, facts) else "this host has"
        return f"{needs}; {by} {nvidia.kernel_driver_version} ({seen})"
    return None


def _judge_kernels(
    build: Build, nvidia: Nvidia, gpus: tuple[NvidiaGpu, ...], catalog: Catalog
) -> tuple[Status, str]:
    known = kernels_of(build, catalog)
    if not known:
        torch = "this torch" if build.torch is None else f"torch {build.torch}"
        return "refused", (
            f"which GPUs {build.accelerator.label} of {torch} has kernels for is not known, and so "
            f"not whether for {name_nvidia(gpus)}"
        )
    covered = [gpu for gpu in gpus if all(_runs(one, build, nvidia, gpu) for one in known)]
    for kernels in known:
        if missing := [gpu for gpu in gpus if not _runs(kernels, build, nvidia, gpu)]:
            return "partial" if covered else "refused", _why_not_covered(
                build, kernels, missing, covered
            )
    codes = {gpu: _runs(known[0], build, nvidia, gpu) for gpu in gpus}
    texts = [
        f"its {code} serves {name_nvidia(gpu for gpu in gpus if codes[gpu] == code)}"
        for code in dict.fromkeys(codes.values())
    ]
    return "usable", f"{listed(texts)} ({known[0].told_by})"


def _why_not_covered(
    build: Build, kernels: Kernels, missing: list[NvidiaGpu], covered: list[NvidiaGpu]
) -> str:
    code = " ".join(kernels.architectures)
    if kernels.ptx:
        code += f" and PTX of {' '.join(kernels.ptx)}"
    lost = [gpu for gpu in missing if parse_capability(gpu.compute_cap) is not None]
    text = tell_kernels(
        build.accelerator.label,
        served=name_nvidia(covered),
        lost=name_nvidia(lost),
        unknown=name_nvidia(gpu for gpu in missing if gpu not in lost),
        code=f"{code} ({kernels.told_by})",
    )
    if any(kernels.covering(gpu.compute_cap, ptx=True) for gpu in missing):
        text += ", and the driver is not known to compile that PTX"
    return text
