"""NVIDIA's GPUs and driver, put together from everything that was said of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lockforge import devices
from lockforge.detect import nvidia_texts as texts
from lockforge.detect import visibility
from lockforge.detect.host import device_nodes, read_variables
from lockforge.detect.pci import NVIDIA, of_vendor, read_devices
from lockforge.model.machine import Nvidia, NvidiaGpu

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lockforge.detect.answers import Answers
    from lockforge.detect.host import Host
    from lockforge.detect.nvidia_texts import Complaint, Identity, Libraries, ListedGpu
    from lockforge.detect.pci import Device
    from lockforge.model.machine import NvidiaState

_BY_NAME = "name or PCI id table"
_BY_ID = "PCI id table"
_BY_MODEL = "Jetson model"
SMI_PROBES = ("nvidia-smi", "nvidia-smi-no-capability", "nvidia-smi-banner")
_NOT_FOUND = (127, 9009)
"""What the shells of POSIX and of Windows end with when there is no such program."""
# A shell names the program that it does not find, in whatever language: quoted, or with a colon.
# The program itself calls itself NVIDIA-SMI.
_OF_SHELL = re.compile(r"(?:^|[\s\"'„“\u2018«])nvidia-smi(?:\.exe)?[\"'“”\u2019»:]", re.MULTILINE)
_TEGRA_CAPABILITIES = (
    ("thor", "11.0"),
    ("orin", "8.7"),
    ("xavier", "7.2"),
    ("tx2", "6.2"),
    ("tx1", "5.3"),
    ("nano", "5.3"),
)
"""By what the model's name contains, the first that fits: an Orin Nano is no Nano."""


class _Evidence(NamedTuple):
    """What each source told, before any is preferred."""

    host: Host
    kernel: tuple[str, str] | None
    """The version of the kernel module, and the probe that told it."""
    listed: tuple[ListedGpu, ...]
    smi: str
    """nvidia-smi, by its place where it is not on PATH."""
    smi_runs: bool
    """Whether it is there, though it may have hung or failed."""
    complaint: Complaint | None
    banner: str
    libraries: Libraries
    bus: tuple[Device, ...]
    nodes: bool | None
    """Whether there are device nodes; None where that was not told or is no matter."""
    node_count: int


def read_nvidia(answers: Answers, host: Host) -> tuple[Nvidia | None, tuple[str, ...]]:
    """Give what is known of NVIDIA here, and the variables that hide all of its GPUs."""
    evidence = _gather(answers, host)
    state = _state(evidence)
    if state is None:
        return None, ()
    version, source = _driver(evidence) or (None, "none")
    mismatch = state == "driver_library_mismatch"
    nvidia = Nvidia(
        kernel_driver_version=version,
        driver_source=source,
        state=state,
        gpus=_gpus(evidence, state),
        cuda_umd_version=texts.read_banner_cuda(evidence.banner) or evidence.libraries.cuda,
        user_library_version=_library_version(answers) if mismatch else None,
    )
    return _hide(nvidia, read_variables(answers), texts.read_list(answers.said("nvidia-smi-list")))


def listed_gpus(answers: Answers) -> tuple[ListedGpu, ...]:
    """Give the GPUs that nvidia-smi lists, from the query that says most of them."""
    return (
        texts.read_csv(answers.text("nvidia-smi"))
        or texts.read_csv(answers.text("nvidia-smi-no-capability"), with_capability=False)
        or texts.read_banner_gpus(answers.said("nvidia-smi-banner"))
    )


def smi_complaint(answers: Answers) -> Complaint | None:
    """Give why nvidia-smi lists no GPU, by the first of its answers that says so."""
    said = (texts.read_complaint(answers.text(name)) for name in SMI_PROBES)
    found = [complaint for complaint in said if complaint is not None]
    # That a field is unknown says nothing of the machine.
    known = [complaint for complaint in found if complaint != "unknown_field"]
    return next(iter(known or found), None)


def smi_ended(answers: Answers, probe: str) -> bool:
    """Whether nvidia-smi is there and ended when *probe* ran it, well or not."""
    answer = answers.get(probe)
    if answer.outcome == "failed":
        return answer.status not in _NOT_FOUND and not _OF_SHELL.search(answers.text(probe))
    return answer.outcome == "said"


def kernel_driver(answers: Answers) -> tuple[str, str] | None:
    """Give the version of the loaded kernel module with the probe that told it."""
    if version := texts.read_module_version(answers.said("sys_module")):
        return version, "sys_module"
    if version := texts.read_proc_version(answers.said("proc")):
        return version, "proc"
    return None


def nvidia_nodes(answers: Answers) -> frozenset[str]:
    """Give the device nodes that a program opens to reach a GPU."""
    return frozenset(
        name
        for name in device_nodes(answers)
        if name == "nvidiactl" or (name.startswith("nvidia") and name[6:].isdecimal())
    )


def _gather(answers: Answers, host: Host) -> _Evidence:
    nodes = nvidia_nodes(answers)
    matters = host.os == "linux" and not host.wsl2 and host.tegra is None
    told = bool(device_nodes(answers))
    return _Evidence(
        host=host,
        kernel=kernel_driver(answers),
        listed=listed_gpus(answers),
        smi=next((by for name in SMI_PROBES if (by := answers.get(name).by)), "nvidia-smi"),
        smi_runs=any(smi_ended(answers, name) or answers.hung(name) for name in SMI_PROBES),
        complaint=smi_complaint(answers),
        banner=answers.said("nvidia-smi-banner"),
        libraries=texts.read_libraries(answers.whole("nvidia-libraries")),
        bus=of_vendor(read_devices(answers), NVIDIA),
        nodes=bool(nodes) if matters and told else None,
        node_count=len(nodes - {"nvidiactl"}),
    )


def _driver(evidence: _Evidence) -> tuple[str, str] | None:
    """Give the running driver and its source: the kernel's word first, the banner's last."""
    if evidence.kernel:
        return evidence.kernel
    if version := next((gpu.driver for gpu in evidence.listed if gpu.driver), None):
        return version, evidence.smi
    if evidence.libraries.driver:
        return evidence.libraries.driver, "nvml"
    if evidence.complaint != "mismatch" and (version := texts.read_banner_driver(evidence.banner)):
        return version, evidence.smi
    of_windows = (texts.read_windows_driver(one.driver_version or "") for one in evidence.bus)
    version = next(filter(None, of_windows), None)
    return (version, "CIM") if version else None


def _library_version(answers: Answers) -> str | None:
    versions = (texts.read_library_version(answers.text(name)) for name in SMI_PROBES)
    return next(filter(None, versions), None)


def _state(evidence: _Evidence) -> NvidiaState | None:
    """Judge the state, None where nothing points to NVIDIA at all."""
    if evidence.listed or evidence.libraries.gpus:
        return "ok"
    if evidence.complaint == "mismatch" or evidence.libraries.mismatch:
        return "driver_library_mismatch"
    if evidence.complaint == "no_devices":
        return "no_devices"
    if _driver(evidence) is None:
        return _state_without_driver(evidence)
    if evidence.nodes is False:
        return "driver_visible_no_device_nodes"
    answers = texts.read_banner_driver(evidence.banner) is not None
    silent = evidence.smi_runs or evidence.libraries.failed
    return "not_answering" if silent and not answers else "ok"


def _state_without_driver(evidence: _Evidence) -> NvidiaState | None:
    silent = evidence.smi_runs and evidence.complaint != "no_driver"
    # On WSL2 the tool comes with the driver of Windows, and nothing else points to the hardware.
    if evidence.nodes or (silent and (evidence.bus or evidence.host.wsl2)):
        return "not_answering"
    if evidence.bus:
        return "gpu_without_driver"
    if evidence.host.tegra:
        return "ok"
    return "tools_without_driver" if evidence.smi_runs else None


def _gpus(evidence: _Evidence, state: NvidiaState) -> tuple[NvidiaGpu, ...]:
    if state in {"no_devices", "tools_without_driver", "driver_visible_no_device_nodes"}:
        return ()
    if listed := evidence.listed:
        others = [
            gpus if len(gpus) == len(listed) else None
            for gpus in (evidence.libraries.gpus, evidence.bus)
        ]
        found = tuple(
            _listed_gpu(gpu, *(one[number] if one else None for one in others))  # type: ignore[arg-type]
            for number, gpu in enumerate(listed)
        )
    elif evidence.libraries.gpus:
        found = tuple(_listed_gpu(gpu, None, None) for gpu in evidence.libraries.gpus)
    elif evidence.bus:
        found = tuple(map(_bus_gpu, evidence.bus))
    elif evidence.host.tegra:
        found = (NvidiaGpu(name=None, compute_cap=None),)
    else:
        found = (NvidiaGpu(name=None, compute_cap=None),) * evidence.node_count
    return tuple(_fill_from_model(gpu, evidence.host.tegra) for gpu in found)


def _listed_gpu(gpu: ListedGpu, told: ListedGpu | None, device: Device | None) -> NvidiaGpu:
    """Take the capability from the tool, the libraries, or the tables."""
    name = gpu.name or (told.name if told else None)
    known = devices.nvidia_gpu(device.device) if device else None
    # CUDA lists the fastest first, nvidia-smi goes by the bus.
    same = told is not None and (told.name == gpu.name or gpu.name is None)
    capability = gpu.compute_cap or (told.compute_cap if told and same else None)
    source = None
    if capability is None:
        # The id is of one chip, while a name may have been given to several.
        by_name = devices.nvidia_compute_cap(name) if name else None
        capability = known.compute_cap if known else by_name
        source = _BY_NAME if capability else None
    return NvidiaGpu(
        name=name or (device and device.name) or (known.name if known else None),
        compute_cap=capability,
        compute_cap_source=source,
        vgpu=name is not None and texts.is_vgpu(name),
    )


def _bus_gpu(device: Device) -> NvidiaGpu:
    known = devices.nvidia_gpu(device.device)
    return NvidiaGpu(
        name=device.name or (known.name if known else None),
        compute_cap=known.compute_cap if known else None,
        compute_cap_source=_BY_ID if known else None,
    )


def _fill_from_model(gpu: NvidiaGpu, model: str | None) -> NvidiaGpu:
    """Take the capability of a Jetson's own GPU from what Jetson it is."""
    if gpu.compute_cap is not None or model is None:
        return gpu
    lowered = f"{model} {gpu.name or ''}".lower()
    capability = next((cap for word, cap in _TEGRA_CAPABILITIES if word in lowered), None)
    source = _BY_MODEL if capability else None
    return gpu._replace(compute_cap=capability, compute_cap_source=source)


def _hide(
    nvidia: Nvidia, variables: Mapping[str, str], identities: Mapping[int, Identity]
) -> tuple[Nvidia, tuple[str, ...]]:
    """Mark what CUDA_VISIBLE_DEVICES hides, and say which MIG devices there are."""
    # Which is which of them is told only by a list of the same GPUs; a lost one takes no number.
    agree = len(identities) == len(nvidia.gpus)
    identities = dict(enumerate(identities.values())) if agree else {}
    value = variables.get(visibility.CUDA)
    visible = visibility.visible_to_cuda(value, len(nvidia.gpus), identities)
    gpus = tuple(
        gpu._replace(
            visible=number in visible,
            mig=tuple(profile for profile, _ in identities[number].migs)
            if number in identities
            else (),
        )
        for number, gpu in enumerate(nvidia.gpus)
    )
    differ = len({(gpu.name, gpu.compute_cap) for gpu in gpus}) > 1
    by_bus = variables.get(visibility.CUDA_ORDER) == "PCI_BUS_ID"
    some = 0 < len(visible) < len(gpus)
    unstated = some and differ and not by_bus and visibility.counts_by_number(value)
    hidden = (visibility.CUDA,) if gpus and not visible else ()
    # The container runtime heeds this one, before there is a GPU to be seen. It says nothing where
    # GPUs are listed: other ways of giving them to a container set it to `void` as well.
    if not gpus and variables.get(visibility.CONTAINER) in {"void", "none", ""}:
        hidden = (visibility.CONTAINER,)
    return nvidia._replace(gpus=gpus, order_unstated=unstated), hidden
