"""The table of probes: what is asked of a machine, in which order, and when.

None changes anything; each is bounded in time by its question, and all by the system asked. A
program that hung is not run again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from lockforge.detect import host, nvidia, overrides, pci, visibility
from lockforge.detect.amd import read_agents
from lockforge.detect.answers import Answers
from lockforge.model.probe import (
    AskInterpreter,
    AskNvidiaLibraries,
    ListDirectory,
    ReadFile,
    ReadFiles,
    Run,
    Variables,
)

if TYPE_CHECKING:
    from lockforge.model.platforms import System
    from lockforge.model.probe import Question

When: TypeAlias = Callable[[Answers], bool]

_SMI_PLACES_LINUX = ("/usr/lib/wsl/lib/nvidia-smi",)
"""On WSL2 root's PATH lacks this directory."""
_SMI_PLACES_WINDOWS = (
    r"%SystemRoot%\System32\nvidia-smi.exe",
    # A 32-bit Python finds another directory under the name above.
    r"%SystemRoot%\Sysnative\nvidia-smi.exe",
    r"%ProgramW6432%\NVIDIA Corporation\NVSMI\nvidia-smi.exe",
)
_POWERSHELL_PLACES = (r"%SystemRoot%\System32\WindowsPowerShell\v1.0\powershell.exe",)
_ADAPTERS = (
    "Get-CimInstance Win32_VideoController"
    " | Select-Object Name,DriverVersion,PNPDeviceID | ConvertTo-Json"
)
_ROCM = "/opt/rocm/bin/"
# Without persistence mode the driver wakes every GPU first: a second each.
_SMI_SECONDS = 8.0
_POWERSHELL_SECONDS = 6.0
# GPUs that can be split, by compute capability and by name.
_MIG_CAPABILITIES = frozenset({"8.0", "9.0", "10.0", "10.3"})
_MIG_NAME = re.compile(r"\b(?:A30|A100|A800|[BH][12358]00|H20|G[BH][23]00|RTX PRO)\b")


class Probe(NamedTuple):
    """One question, and the answers so far that make it worth asking."""

    name: str
    why: str
    question: Question
    when: When


def _always(_: Answers) -> bool:
    return True


def _on(*systems: System) -> When:
    return lambda answers: host.read_system(answers) in systems


def _has_uname(answers: Answers) -> bool:
    # Also where the interpreter told nothing.
    return host.read_system(answers) != "windows"


def _libc_unknown(answers: Answers) -> bool:
    return host.read_system(answers) == "linux" and not host.told_libc(answers)


def _may_be_tegra(answers: Answers) -> bool:
    return host.read_system(answers) == "linux" and host.read_machine(answers) in {
        "aarch64",
        "arm64",
    }


def _sysfs_silent(answers: Answers) -> bool:
    return host.read_system(answers) == "linux" and answers.get("pci").outcome != "said"


def _smi_may_answer(answers: Answers) -> bool:
    return not any(answers.hung(name) for name in (*nvidia.SMI_PROBES, "nvidia-smi-list"))


def _query_refused(answers: Answers) -> bool:
    lists = nvidia.listed_gpus(answers)
    complaint = nvidia.smi_complaint(answers)
    refused = complaint in {None, "unknown_field"} and nvidia.smi_ended(answers, "nvidia-smi")
    return _smi_may_answer(answers) and refused and not lists


def _may_be_split(answers: Answers) -> bool:
    """Whether there may be MIG devices, or UUIDs have to be told apart."""
    if not _smi_may_answer(answers):
        return False
    by_uuid = visibility.names_by_uuid(host.read_variables(answers).get(visibility.CUDA))
    return any(
        by_uuid or gpu.compute_cap in _MIG_CAPABILITIES or _MIG_NAME.search(gpu.name or "")
        for gpu in nvidia.listed_gpus(answers)
    )


def _libraries_may_tell(answers: Answers) -> bool:
    """Whether driver or capabilities are unknown where there is a sign of NVIDIA's hardware."""
    gpus = nvidia.listed_gpus(answers)
    known = bool(gpus) and all(gpu.compute_cap for gpu in gpus)
    broken = nvidia.smi_complaint(answers) in {"mismatch", "no_devices"}
    return not known and not broken and _is_nvidia(answers)


def _is_nvidia(answers: Answers) -> bool:
    return bool(
        nvidia.listed_gpus(answers)
        or nvidia.kernel_driver(answers)
        or nvidia.nvidia_nodes(answers)
        or "dxg" in host.device_nodes(answers)
        or pci.of_vendor(pci.read_devices(answers), pci.NVIDIA)
        or host.read_tegra(answers)
    )


def _agents_unknown(answers: Answers) -> bool:
    return host.read_system(answers) == "linux" and read_agents(answers) is None


def _behind_dxg(answers: Answers) -> bool:
    return (
        _agents_unknown(answers)
        and "dxg" in host.device_nodes(answers)
        and not answers.hung("rocminfo")
    )


def _smi(name: str, why: str, *arguments: str, when: When) -> tuple[Probe, Probe]:
    """Ask nvidia-smi, which lies elsewhere on Windows."""

    def probe(system: System, places: tuple[str, ...]) -> Probe:
        return Probe(
            name=name,
            why=why,
            question=Run(argv=("nvidia-smi", *arguments), places=places, timeout=_SMI_SECONDS),
            when=lambda answers: host.read_system(answers) == system and when(answers),
        )

    return probe("linux", _SMI_PLACES_LINUX), probe("windows", _SMI_PLACES_WINDOWS)


PROBES: tuple[Probe, ...] = (
    Probe(
        name="interpreter",
        why="A row is installed for this Python, which need not be built for the machine.",
        question=AskInterpreter(),
        when=_always,
    ),
    Probe(
        name="variables",
        why="They hide GPUs from programs, and state what is not to be detected.",
        question=Variables(
            names=(
                visibility.CUDA,
                visibility.CUDA_ORDER,
                visibility.CONTAINER,
                visibility.HIP,
                visibility.ROCR,
                "container",
                *overrides.VARIABLES,
            )
        ),
        when=_always,
    ),
    Probe(
        name="kernel",
        why="Its release tells WSL2 and Tegra, and a Mac's processor under Rosetta too.",
        question=Run(argv=("uname", "-a")),
        when=_has_uname,
    ),
    Probe(
        name="os-release",
        why="The distribution, and its C library where nothing else tells it.",
        question=ReadFile(path="/etc/os-release"),
        when=_on("linux"),
    ),
    Probe(
        name="dev",
        why="Without its device node a driver cannot be used, as in a container.",
        question=ListDirectory(path="/dev"),
        when=_on("linux"),
    ),
    Probe(
        name="containerenv",
        why="Podman marks a container by this file.",
        question=ReadFile(path="/run/.containerenv"),
        when=_on("linux"),
    ),
    Probe(
        name="dockerenv",
        why="Docker marks a container by this file.",
        question=ReadFile(path="/.dockerenv"),
        when=_on("linux"),
    ),
    Probe(
        name="ldd",
        why="The C library's family and version, where the interpreter does not tell them.",
        question=Run(argv=("ldd", "--version"), places=("/usr/bin/ldd",)),
        when=_libc_unknown,
    ),
    Probe(
        name="tegra-release",
        why="A Jetson cannot run the CUDA wheels for servers; its system's release says it is one.",
        question=ReadFile(path="/etc/nv_tegra_release"),
        when=_may_be_tegra,
    ),
    Probe(
        name="tegra-model",
        why="Which Jetson, and so which GPU.",
        question=ReadFile(path="/proc/device-tree/model"),
        when=_may_be_tegra,
    ),
    Probe(
        name="sys_module",
        why="The running driver, from the kernel itself.",
        question=ReadFile(path="/sys/module/nvidia/version"),
        when=_on("linux"),
    ),
    Probe(
        name="proc",
        why="The same from drivers whose module does not state its version.",
        question=ReadFile(path="/proc/driver/nvidia/version"),
        when=_on("linux"),
    ),
    Probe(
        name="pci",
        why="Every display device by its id, whether a driver works or not.",
        question=ReadFiles(
            path="/sys/bus/pci/devices/*", names=("class", "vendor", "device", "driver")
        ),
        when=_on("linux"),
    ),
    Probe(
        name="lspci",
        why="The same where the bus cannot be read.",
        question=Run(argv=("lspci", "-nn"), places=("/usr/bin/lspci", "/usr/sbin/lspci")),
        when=_sysfs_silent,
    ),
    Probe(
        name="cim",
        why="The same on Windows; wmic is gone since Windows 11 24H2.",
        question=Run(
            argv=(
                "powershell",
                "-NoProfile",
                "-Command",
                _ADAPTERS,
            ),
            places=_POWERSHELL_PLACES,
            timeout=_POWERSHELL_SECONDS,
        ),
        when=_on("windows"),
    ),
    *_smi(
        "nvidia-smi",
        "Every NVIDIA GPU with its compute capability, from the driver.",
        "--query-gpu=driver_version,compute_cap,name",
        "--format=csv,noheader",
        when=_always,
    ),
    *_smi(
        "nvidia-smi-no-capability",
        "Before driver 510 the capability is no field, and the whole query is refused.",
        "--query-gpu=driver_version,name",
        "--format=csv,noheader",
        when=_query_refused,
    ),
    *_smi(
        "nvidia-smi-list",
        "The UUIDs that CUDA_VISIBLE_DEVICES may name, and the MIG devices of each GPU.",
        "-L",
        when=_may_be_split,
    ),
    *_smi(
        "nvidia-smi-banner",
        "The newest CUDA that the driver serves; the driver, where no query told it.",
        when=_smi_may_answer,
    ),
    Probe(
        name="nvidia-libraries",
        why="Driver and capabilities without nvidia-smi, which containers may lack.",
        question=AskNvidiaLibraries(),
        when=_libraries_may_tell,
    ),
    Probe(
        name="kfd",
        why="AMD's GPUs from the kernel, whether ROCm is installed or not.",
        question=ReadFiles(path="/sys/class/kfd/kfd/topology/nodes/*/properties"),
        when=_on("linux"),
    ),
    Probe(
        name="rocm_agent_enumerator",
        why="The same from ROCm.",
        question=Run(argv=("rocm_agent_enumerator",), places=(f"{_ROCM}rocm_agent_enumerator",)),
        when=_agents_unknown,
    ),
    Probe(
        name="rocminfo",
        why="The same from another of ROCm's tools.",
        question=Run(argv=("rocminfo",), places=(f"{_ROCM}rocminfo",)),
        when=_agents_unknown,
    ),
    Probe(
        name="rocminfo-dxg",
        why="On WSL2 ROCm looks for GPUs behind /dev/dxg only when told to.",
        question=Run(
            argv=("rocminfo",),
            places=(f"{_ROCM}rocminfo",),
            environment=(("HSA_ENABLE_DXG_DETECTION", "1"),),
        ),
        when=_behind_dxg,
    ),
    Probe(
        name="sw-vers",
        why="The version of macOS, which wheels state as their floor.",
        question=Run(argv=("sw_vers",), places=("/usr/bin/sw_vers",)),
        when=_on("macos"),
    ),
    Probe(
        name="sysctl",
        why="The Mac's processor, and whether this Python runs on it under Rosetta.",
        question=Run(
            argv=(
                "sysctl",
                "sysctl.proc_translated",
                "hw.optional.arm64",
                "machdep.cpu.brand_string",
            ),
            # Not every PATH has this directory.
            places=("/usr/sbin/sysctl",),
        ),
        when=_on("macos"),
    ),
)
