"""Facts -> plain data, as JSON shows and YAML saves them.

Apart from `detect/record.py`, which reads them again and so needs what reads YAML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockforge.model.machine import Amd, Apple, Facts, Intel, Interpreter, Nvidia, NvidiaGpu


def facts_to_data(facts: Facts) -> dict[str, Any]:
    """Give *facts* as what YAML and JSON can hold."""
    data: dict[str, Any] = {
        "os": facts.os,
        "os_version": facts.os_version,
        "arch": facts.arch,
        "python": _python_data(facts.python),
    }
    if facts.libc is not None:
        data["libc"] = {
            "family": facts.libc.family,
            "version": facts.libc.version,
            "source": facts.libc.source,
        }
    data |= {"wsl2": facts.wsl2, "container": facts.container}
    _add(data, "tegra", facts.tegra)
    data |= {
        "nvidia": _nvidia_data(facts.nvidia),
        "amd": _amd_data(facts.amd),
        "intel": _intel_data(facts.intel),
        "apple": _apple_data(facts.apple),
    }
    overrides = [{"variable": one.variable, "value": one.value} for one in facts.overrides]
    _add(data, "overrides", overrides or None)
    _add(data, "hidden_by", list(facts.hidden_by) or None)
    return data


def _add(data: dict[str, Any], key: str, value: Any) -> None:
    if value is not None:
        data[key] = value


def _python_data(python: Interpreter | None) -> dict[str, Any] | None:
    if python is None:
        return None
    data = {
        "version": python.minor,
        "bits": python.bits,
        "arch": python.machine,
        "full_version": python.version,
        "implementation": python.implementation,
        "platform": python.platform,
    }
    _add(data, "free_threaded", python.free_threaded or None)
    return data


def _nvidia_data(nvidia: Nvidia | None) -> dict[str, Any] | None:
    if nvidia is None:
        return None
    data: dict[str, Any] = {
        "kernel_driver_version": nvidia.kernel_driver_version,
        "driver_source": nvidia.driver_source,
        "state": nvidia.state,
        "gpus": [_nvidia_gpu_data(gpu) for gpu in nvidia.gpus],
    }
    _add(data, "cuda_umd_version", nvidia.cuda_umd_version)
    _add(data, "user_library_version", nvidia.user_library_version)
    _add(data, "order_unstated", nvidia.order_unstated or None)
    return data


def _nvidia_gpu_data(gpu: NvidiaGpu) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": gpu.name,
        "compute_cap": gpu.compute_cap,
        "visible": gpu.visible,
    }
    _add(data, "compute_cap_source", gpu.compute_cap_source)
    _add(data, "mig", list(gpu.mig) or None)
    _add(data, "vgpu", gpu.vgpu or None)
    return data


def _amd_data(amd: Amd | None) -> dict[str, Any] | None:
    if amd is None:
        return None
    gpus = []
    for gpu in amd.gpus:
        data: dict[str, Any] = {
            "gfx": gpu.gfx,
            "integrated": gpu.integrated,
            "visible": gpu.visible,
        }
        _add(data, "name", gpu.name)
        _add(data, "pci_id", gpu.pci_id)
        gpus.append(data)
    found: dict[str, Any] = {"gpus": gpus, "source": amd.source}
    _add(found, "device_node", amd.device_node)
    return found


def _intel_data(intel: Intel | None) -> dict[str, Any] | None:
    if intel is None:
        return None
    gpus = []
    for gpu in intel.gpus:
        data: dict[str, Any] = {
            "pci_id": gpu.pci_id,
            "family": gpu.family,
            "xpu_supported": gpu.xpu_supported,
        }
        _add(data, "unvalidated", gpu.unvalidated or None)
        gpus.append(data)
    found: dict[str, Any] = {"gpus": gpus}
    _add(found, "device_node", intel.device_node)
    return found


def _apple_data(apple: Apple | None) -> dict[str, Any] | None:
    if apple is None:
        return None
    return {
        "chip": apple.chip,
        "translated": apple.translated,
        "hardware_arch": apple.hardware_arch,
        "mps_usable": apple.mps_usable,
    }
