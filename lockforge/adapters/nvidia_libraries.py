"""What NVIDIA's own libraries say, as ``key=value`` lines.

This is a program: it runs in a process of its own, because a broken driver may hang or crash
whoever loads them, and it imports nothing of lockforge. It makes no CUDA context. Each line is
written at once, so that those before a crash are known.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NVML = (
    "libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/run/opengl-driver/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
)
_CUDA = (
    "libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/run/opengl-driver/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1",
)
_NVML_WINDOWS = (
    "nvml.dll",
    r"%ProgramW6432%\NVIDIA Corporation\NVSMI\nvml.dll",
    r"%ProgramFiles%\NVIDIA Corporation\NVSMI\nvml.dll",
)
_CUDA_WINDOWS = ("nvcuda.dll",)
# Of CUdevice_attribute: the compute capability's two parts.
_MAJOR = 75
_MINOR = 76
_TEXT = 256
_GPUS = 128


def main() -> None:
    """Ask NVML, and libcuda for what NVML does not tell."""
    _be_quiet()
    # Every GPU is told, in the order of the bus; what the variables hide is judged elsewhere.
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    on_windows = sys.platform == "win32"
    nvml = _load("nvml", _NVML_WINDOWS if on_windows else _NVML)
    told = nvml is not None and _ask_nvml(nvml)
    cuda = _load("cuda", _CUDA_WINDOWS if on_windows else _CUDA)
    if cuda is not None:
        _ask_cuda(cuda, gpus=not told)


def _be_quiet() -> None:
    """Let a crash leave no core file and open no window."""
    if sys.platform == "win32":
        # SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX
        ctypes.WinDLL("kernel32").SetErrorMode(0x8003)
    else:
        import resource  # noqa: PLC0415 - there is none on Windows

        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _load(name: str, places: tuple[str, ...]) -> ctypes.CDLL | None:
    """Load the first of *places* that can be, or say why none can."""
    reason = "absent"
    for place in places:
        path = os.path.expandvars(place)
        try:
            return _library(path)
        except OSError as error:
            if sys.platform != "win32" and "No such file" not in str(error):
                reason = str(error)
    _say(name, reason)
    return None


def _library(path: str) -> ctypes.CDLL:
    if sys.platform == "win32":
        # By the standard calling convention, which is libcuda's; on 64 bits there is only one.
        return ctypes.WinDLL(path)
    return ctypes.CDLL(path)


def _ask_nvml(nvml: ctypes.CDLL) -> bool:
    """Ask NVML; whether it told name and compute capability of every GPU, and of one at least."""
    if not _worked("nvml", nvml, "nvmlInit_v2"):
        return False
    try:
        driver = ctypes.create_string_buffer(_TEXT)
        if _worked("nvml", nvml, "nvmlSystemGetDriverVersion", driver, _TEXT):
            _say("nvml_driver", driver.value)
        gpus = list(_nvml_gpus(nvml))
        if not gpus or None in gpus:
            return False
        _say_gpus("nvml", gpus)
        return True
    finally:
        _worked("nvml", nvml, "nvmlShutdown")


def _nvml_gpus(nvml: ctypes.CDLL) -> Iterator[str | None]:
    count = ctypes.c_uint()
    if not _worked("nvml", nvml, "nvmlDeviceGetCount_v2", ctypes.byref(count)):
        return
    for index in range(min(count.value, _GPUS)):
        device = ctypes.c_void_p()
        name = ctypes.create_string_buffer(_TEXT)
        major, minor = ctypes.c_int(), ctypes.c_int()
        worked = (
            _worked("nvml", nvml, "nvmlDeviceGetHandleByIndex_v2", index, ctypes.byref(device))
            and _worked("nvml", nvml, "nvmlDeviceGetName", device, name, _TEXT)
            and _worked(
                "nvml",
                nvml,
                "nvmlDeviceGetCudaComputeCapability",
                device,
                ctypes.byref(major),
                ctypes.byref(minor),
            )
        )
        yield _gpu(name, major, minor) if worked else None


def _ask_cuda(cuda: ctypes.CDLL, *, gpus: bool) -> None:
    """Ask libcuda for its version, and for the GPUs that are visible to it where *gpus* are asked.

    To ask for those it has to start, which takes longer and is left out where it can be.
    """
    version = ctypes.c_int()
    if _worked("cuda", cuda, "cuDriverGetVersion", ctypes.byref(version)):
        _say("cuda_version", f"{version.value // 1000}.{version.value % 1000 // 10}")
    if gpus and _worked("cuda", cuda, "cuInit", 0):
        _say_gpus("libcuda", [gpu for gpu in _cuda_gpus(cuda) if gpu is not None])


def _cuda_gpus(cuda: ctypes.CDLL) -> Iterator[str | None]:
    count = ctypes.c_int()
    if not _worked("cuda", cuda, "cuDeviceGetCount", ctypes.byref(count)):
        return
    for index in range(min(count.value, _GPUS)):
        device = ctypes.c_int()
        name = ctypes.create_string_buffer(_TEXT)
        major, minor = ctypes.c_int(), ctypes.c_int()
        worked = (
            _worked("cuda", cuda, "cuDeviceGet", ctypes.byref(device), index)
            and _worked("cuda", cuda, "cuDeviceGetName", name, _TEXT, device)
            and _worked("cuda", cuda, "cuDeviceGetAttribute", ctypes.byref(major), _MAJOR, device)
            and _worked("cuda", cuda, "cuDeviceGetAttribute", ctypes.byref(minor), _MINOR, device)
        )
        yield _gpu(name, major, minor) if worked else None


def _gpu(name: ctypes.Array[ctypes.c_char], major: ctypes.c_int, minor: ctypes.c_int) -> str:
    return f"{_text(name.value)}, {major.value}.{minor.value}"


def _worked(library: str, loaded: ctypes.CDLL, function: str, *arguments: object) -> bool:
    """Call *function*, and say the error that it gave; an old library may not have it."""
    try:
        error = getattr(loaded, function)(*arguments)
    except AttributeError:
        _say(f"{library}_without", function)
        return False
    if error:
        _say(f"{library}_error", error)
    return not error


def _say_gpus(source: str, gpus: list[str | None]) -> None:
    _say("gpus_from", source)
    for gpu in gpus:
        _say("gpu", gpu)


def _say(key: str, value: object) -> None:
    text = _text(value) if isinstance(value, bytes) else " ".join(str(value).split())
    print(f"{key}={text}", flush=True)  # noqa: T201 - the program's answer


def _text(value: bytes) -> str:
    return " ".join(value.decode("ascii", "replace").split())


if __name__ == "__main__":
    main()
