"""What NVIDIA's driver, tools and libraries say, text by text."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

Complaint: TypeAlias = Literal["no_devices", "mismatch", "no_driver", "unknown_field"]

_VERSION = r"\d{1,4}(?:\.\d{1,6}){1,3}"
_DRIVER = re.compile(_VERSION, re.ASCII)
_CAPABILITY = re.compile(r"\d{1,2}\.\d", re.ASCII)
_NVRM = re.compile(rf"^NVRM version:[^\n]*?\s({_VERSION})(?=\s|$)", re.ASCII | re.MULTILINE)
_LIBRARY = re.compile(rf"NVML library version:\s*({_VERSION})(?![.\d])", re.ASCII)
# "KMD Version" and "CUDA UMD Version" since driver 610.
_BANNER_DRIVER = re.compile(rf"\b(?:Driver|KMD) Version:\s*({_VERSION})(?=\s|\||$)", re.ASCII)
_BANNER_CUDA = re.compile(r"\bCUDA (?:UMD )?Version:\s*(\d{1,2}\.\d{1,2})(?=\s|\||$)", re.ASCII)
_BANNER_GPU = re.compile(
    r"^\| {1,8}\d{1,3} {1,8}(\S[^|\n]{0,60}?) {1,60}(?:On|Off|N/A|WDDM|TCC|MCDM) {1,8}\|"
    r" {1,8}[0-9A-F]{4,8}:",
    re.ASCII | re.MULTILINE | re.IGNORECASE,
)
_LIST_GPU = re.compile(r"GPU (\d{1,3}): .*?(?:\(UUID: (GPU-[^\s)]{1,80})\))?$", re.ASCII)
_LIST_MIG = re.compile(r"\s+MIG (\S{1,40})\s+Device\s+\d{1,3}: \(UUID: (MIG-[^\s)]{1,120})\)")
_VGPU = re.compile(r"-\d{1,3}[ABCQ](?:ME)?", re.ASCII)
# What stands in a field that the driver cannot tell.
_UNTOLD = re.compile(r"\[[\w /]{1,40}\]|N/A|ERR!", re.ASCII)
_WINDOWS_DRIVER = re.compile(r"\d{1,3}\.\d{1,3}\.1(\d)\.(\d{1,4})", re.ASCII)
# NVML_ERROR_LIB_RM_VERSION_MISMATCH and CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
_MISMATCHES = frozenset({("nvml_error", "18"), ("cuda_error", "803")})
# In the order of what says most: a mismatch also keeps the tool from the driver.
_COMPLAINTS: tuple[tuple[str, Complaint], ...] = (
    ("driver/library version mismatch", "mismatch"),
    ("no devices were found", "no_devices"),
    ("couldn't communicate with the nvidia driver", "no_driver"),
    ("driver not loaded", "no_driver"),
    ("is not a valid field to query", "unknown_field"),
)


class ListedGpu(NamedTuple):
    """One GPU as the driver lists it."""

    name: str | None
    driver: str | None = None
    compute_cap: str | None = None


class Identity(NamedTuple):
    """What CUDA_VISIBLE_DEVICES may call a GPU and its MIG devices."""

    uuid: str | None
    migs: tuple[tuple[str, str], ...] = ()
    """Profile and UUID of each."""


class Libraries(NamedTuple):
    """What libcuda and NVML told when loaded."""

    driver: str | None = None
    cuda: str | None = None
    gpus: tuple[ListedGpu, ...] = ()
    failed: bool = False
    """Whether they are there and could not start."""
    mismatch: bool = False
    """Whether they are not of the running driver's version."""


def read_module_version(text: str) -> str | None:
    """Read ``/sys/module/nvidia/version``, which holds nothing else."""
    return _match(_DRIVER, text.strip())


def read_proc_version(text: str) -> str | None:
    """Read ``/proc/driver/nvidia/version``, of the open modules or the closed ones."""
    match = _NVRM.search(text)
    return match and match[1]


def read_csv(text: str, *, with_capability: bool = True) -> tuple[ListedGpu, ...]:
    """Read a query of driver, capability and name, one GPU a line; other lines are no GPUs."""
    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",", 2 if with_capability else 1)]
        if len(fields) != (3 if with_capability else 2):
            continue
        driver = _match(_DRIVER, fields[0])
        capability = _match(_CAPABILITY, fields[1]) if with_capability else None
        name = read_name(fields[-1])
        # An empty field is half a line, and a line of which nothing is told a GPU that is lost.
        is_listed = driver or (_UNTOLD.fullmatch(fields[0]) and (name or capability))
        if is_listed and fields[-1]:
            found.append(ListedGpu(name=name, driver=driver, compute_cap=capability))
    return tuple(found)


def read_name(text: str) -> str | None:
    """Tell a name from what stands in its place, such as ``[N/A]`` and ``ERR!``."""
    name = " ".join(text.split())
    if not name or name.startswith("[") or "ERR!" in name or _UNTOLD.fullmatch(name):
        return None
    return name[:100]


def is_vgpu(name: str) -> bool:
    """Whether it is a profile of a virtual GPU, such as ``NVIDIA L4-12Q``."""
    match = _VGPU.search(name)
    return match is not None and match.end() == len(name)


def read_complaint(text: str) -> Complaint | None:
    """Recognize why nvidia-smi lists nothing."""
    lowered = text[:20_000].lower()
    return next((complaint for words, complaint in _COMPLAINTS if words in lowered), None)


def read_library_version(text: str) -> str | None:
    """Read what version the libraries are of, from the complaint that the driver's is another."""
    match = _LIBRARY.search(text)
    return match and match[1]


def read_banner_driver(text: str) -> str | None:
    """Read the version of the kernel's side of the driver."""
    match = _BANNER_DRIVER.search(text[:20_000])
    return match and match[1]


def read_banner_cuda(text: str) -> str | None:
    """Read the newest CUDA that the driver serves; ``N/A`` is none that was told."""
    match = _BANNER_CUDA.search(text[:20_000])
    return match and match[1]


def read_banner_gpus(text: str) -> tuple[ListedGpu, ...]:
    """Read the names in the table of GPUs; one that was cut to fit is none."""
    names = _BANNER_GPU.findall(text)
    return tuple(ListedGpu(name=None if one.endswith("..") else read_name(one)) for one in names)


def read_list(text: str) -> dict[int, Identity]:
    """Read ``nvidia-smi -L``: the UUID of each GPU by its number, and its MIG devices."""
    found: dict[int, Identity] = {}
    current = None
    for line in text.splitlines():
        if match := _LIST_GPU.match(line.rstrip()):
            current = int(match[1])
            found[current] = Identity(uuid=match[2])
        elif current is not None and (match := _LIST_MIG.match(line)):
            known = found[current]
            migs = (*known.migs, (match[1], match[2]))
            found[current] = Identity(uuid=known.uuid, migs=migs)
    return found


def read_libraries(text: str) -> Libraries:
    """Read what the libraries told; each GPU is a line ``gpu=<name>, <capability>``."""
    pairs = [line.strip().partition("=")[::2] for line in text.splitlines()]
    first = dict(reversed(pairs))
    gpus = []
    for key, value in pairs:
        name, _, capability = value.rpartition(", ")
        if key == "gpu" and _CAPABILITY.fullmatch(capability):
            gpus.append(ListedGpu(name=read_name(name), compute_cap=capability))
    return Libraries(
        driver=_match(_DRIVER, first.get("nvml_driver", "")),
        cuda=_match(_CAPABILITY, first.get("cuda_version", "")),
        gpus=tuple(gpus),
        failed=not gpus and any(key in {"nvml_error", "cuda_error"} for key, _ in pairs),
        mismatch=any(pair in _MISMATCHES for pair in pairs),
    )


def read_windows_driver(text: str) -> str | None:
    """Give NVIDIA's number of a driver from Windows' own.

    Its last five digits are it: ``32.0.15.7283`` is 572.83. Windows' generic driver, which has
    another shape, has none.
    """
    match = _WINDOWS_DRIVER.fullmatch(text)
    if match is None:
        return None
    digits = match[1] + match[2].zfill(4)
    return f"{int(digits[:3])}.{digits[3:]}"


def _match(pattern: re.Pattern[str], text: str) -> str | None:
    return text if pattern.fullmatch(text) else None
