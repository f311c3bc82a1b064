"""The machine: what is known of a host, before anything is chosen for it.

Fields are None where nothing was told, which is not the same as there being none. The parts are
named tuples: making the class of one takes a tenth of the time that a dataclass takes, and a host
is looked at often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from lockforge.model.platforms import System

NvidiaState: TypeAlias = Literal[
    "ok",
    "driver_library_mismatch",
    "driver_visible_no_device_nodes",
    "no_devices",
    "tools_without_driver",
    "gpu_without_driver",
    "not_answering",
    "hidden",
]


class Interpreter(NamedTuple):
    """The Python a row would be installed for."""

    version: str
    """All of it, such as ``3.12.11``."""
    implementation: str
    bits: int
    """Size of a pointer: 32 on a 64-bit system too, where the interpreter is a 32-bit one."""
    machine: str
    """``platform.machine()``, which is the system's and not the interpreter's."""
    platform: str
    """``sysconfig.get_platform()``, such as ``win32`` or ``macosx-11.0-arm64``."""
    free_threaded: bool = False
    """Whether it is built without the lock, for which wheels are others (PEP 703)."""

    @property
    def minor(self) -> str:
        return ".".join(self.version.split(".")[:2])


class Libc(NamedTuple):
    """The C library, which wheels for Linux are built against."""

    family: Literal["glibc", "musl"]
    version: str
    """``X.Y``."""
    source: str


class NvidiaGpu(NamedTuple):
    """One physical GPU, however many MIG devices it is split into."""

    name: str | None
    compute_cap: str | None
    """``X.Y``."""
    compute_cap_source: str | None = None
    """Where it is from when the driver did not tell it."""
    visible: bool = True
    mig: tuple[str, ...] = ()
    """The profiles of its MIG devices, such as ``2g.20gb``, in the order listed."""
    vgpu: bool = False


class Nvidia(NamedTuple):
    """What NVIDIA's driver, its tools and the buses say."""

    kernel_driver_version: str | None
    driver_source: str
    """The probe or variable that told the version; ``none``."""
    state: NvidiaState
    gpus: tuple[NvidiaGpu, ...]
    """In the order of the PCI bus, as nvidia-smi lists them."""
    cuda_umd_version: str | None = None
    """The newest CUDA that the user mode driver serves, from the banner or from libcuda."""
    user_library_version: str | None = None
    """The version of NVIDIA's libraries where it is not that of the running driver."""
    order_unstated: bool = False
    """Whether ``CUDA_VISIBLE_DEVICES`` counts GPUs that differ without ``CUDA_DEVICE_ORDER`` being
    ``PCI_BUS_ID``: CUDA counts the fastest first then, which may be another GPU than the one here
    taken as visible."""


class AmdGpu(NamedTuple):
    """One GPU agent; agents that are CPUs are none."""

    gfx: str | None
    """The architecture, such as ``gfx1100``; None where only a device id is known."""
    integrated: bool | None
    visible: bool = True
    name: str | None = None
    pci_id: str | None = None


class Amd(NamedTuple):
    """AMD's GPUs, and what told of them."""

    gpus: tuple[AmdGpu, ...]
    source: str
    device_node: bool | None = None
    """Whether ``/dev/kfd`` is there, without which HIP reaches no GPU; None where that was not told
    or is no matter, as on Windows and WSL2."""


class IntelGpu(NamedTuple):
    """One display device of Intel's."""

    pci_id: str
    """``8086:e20b``, lower case."""
    family: str | None
    """None for a device that the tables do not know."""
    xpu_supported: bool
    unvalidated: bool = False
    """Whether it is of a family that PyTorch starts on, although nobody validated it for XPU."""


class Intel(NamedTuple):
    """Intel's display devices, in the order of the bus."""

    gpus: tuple[IntelGpu, ...]
    device_node: bool | None = None
    """Whether ``/dev/dri`` is there, without which no program reaches them; None where that was not
    told or is no matter, as on Windows and WSL2."""


class Apple(NamedTuple):
    """A Mac's processor, and whether this Python runs on it as built for it."""

    chip: str | None
    translated: bool
    """Whether the interpreter runs under Rosetta."""
    hardware_arch: str
    mps_usable: bool


class Override(NamedTuple):
    """A fact that the user stated by a variable, in place of what was detected."""

    variable: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything a row is chosen by. No host name, user, UUID, serial number or bus address."""

    os: System | None
    os_version: str | None
    """The distribution with its version, or the version of Windows or macOS."""
    arch: str | None
    """The machine as the interpreter's system spells it: ``x86_64``, ``AMD64``, ``arm64``."""
    python: Interpreter | None
    libc: Libc | None = None
    wsl2: bool = False
    container: bool = False
    tegra: str | None = None
    """The Jetson's model or release; None on any other machine."""
    nvidia: Nvidia | None = None
    amd: Amd | None = None
    intel: Intel | None = None
    apple: Apple | None = None
    overrides: tuple[Override, ...] = ()
    hidden_by: tuple[str, ...] = ()
    """The variables that hide all GPUs of a vendor, such as ``CUDA_VISIBLE_DEVICES``."""

    @property
    def has_gpu(self) -> bool:
        """Whether it has a GPU that a build for more than the CPU may be for, visible or not.

        Apple's is none of these: it is driven by the same build as the CPU.
        """
        intel = self.intel.gpus if self.intel is not None else ()
        return bool(
            (self.nvidia is not None and self.nvidia.gpus)
            or (self.amd is not None and self.amd.gpus)
            or any(gpu.xpu_supported for gpu in intel)
        )


class Caution(NamedTuple):
    """Something that a person should know of the facts or the choice."""

    code: str
    """Short and stable, such as ``python_is_32bit`` or ``glibc_too_old:2.27<2.28``."""
    text: str
