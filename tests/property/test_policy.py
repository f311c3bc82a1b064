"""The rules for choosing a row, said a second time, over random hosts and rows.

What is said here is the policy's text, with its floors, its lists of architectures and the life of
each accelerator written out; nothing of the catalogue is asked but what CUDA's PTX is for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.detect.choose import choose
from lockforge.model.accelerator import Accelerator
from lockforge.model.choice import Build
from lockforge.model.machine import (
    Amd,
    AmdGpu,
    Facts,
    Intel,
    IntelGpu,
    Interpreter,
    Libc,
    Nvidia,
    NvidiaGpu,
)
from lockforge.model.platforms import PLATFORMS

CATALOG = load_catalog()
ORDER = ("cu132", "cu130", "cu128", "cu126", "cu118", "rocm7.2", "rocm6.4", "xpu", "cpu")
FLOORS = {
    "linux": {"cu13": "580", "cu12": "525.60.13", "cu11": "450.80.02"},
    "windows": {"cu13": "580", "cu12": "528.33", "cu11": "452.39"},
}
OLD = "5.0 6.0 7.0 7.5 8.0 8.6 9.0"
NEW = "7.5 8.0 8.6 9.0 10.0 12.0"
ARM = "8.0 9.0 10.0 11.0 12.0"
# By platform and accelerator, and where it changed by the first torch minor of each list.
KERNELS: dict[str, dict[str, dict[int, str]]] = {
    "x86_64": {
        "cu118": {6: OLD},
        "cu126": {6: OLD},
        "cu128": {7: NEW, 8: f"7.0 {NEW}", 11: NEW},
        "cu130": {9: NEW},
        "cu132": {12: NEW},
    },
    "aarch64": {
        "cu126": {10: "8.0 9.0"},
        "cu128": {9: "8.0 9.0 10.0 12.0"},
        "cu130": {10: ARM},
        "cu132": {12: ARM},
    },
}
RDNA3 = "gfx1030 gfx1100 gfx1101 gfx1102"
CDNA3 = "gfx900 gfx906 gfx908 gfx90a gfx942"
GFX = {
    "rocm6.4": f"{CDNA3} {RDNA3} gfx1200 gfx1201",
    "rocm7.2": f"{CDNA3} gfx950 {RDNA3} gfx1150 gfx1151 gfx1200 gfx1201",
}
MINORS = {
    "cu118": (6, 7),
    "cu126": (10, 14),
    "cu128": (7, 11),
    "cu130": (10, 14),
    "cu132": (12, 14),
    "rocm6.4": (8, 9),
    "rocm7.2": (11, 13),
    "xpu": (6, 14),
    "cpu": (6, 14),
}
BASES = {"linux": "linux-x86_64", "linux-aarch64": "linux-aarch64", "win": "win-amd64"}
GIVEN = {
    "linux": ORDER,
    "linux-aarch64": ("cu132", "cu130", "cu128", "cu126", "cpu"),
    "win": ("cu132", "cu130", "cu128", "cu126", "cu118", "xpu", "cpu"),
}
oracle = settings(deadline=None, max_examples=150, derandomize=True)


def mostly(common: Any, *others: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([common] * 3 + list(others))


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@st.composite
def hosts(draw: st.DrawFn) -> Facts:
    """Hosts of which everything is known, of all vendors."""
    place = draw(mostly("linux", *BASES))
    wsl2 = place == "linux" and draw(mostly(False, True))  # noqa: FBT003
    return Facts(
        os="windows" if place == "win" else "linux",
        os_version=None,
        arch=None,
        python=Interpreter(
            version=draw(mostly("3.12.11", "3.9.2", "3.13.1", "3.14.0")),
            implementation=draw(mostly("CPython", "CPython", "PyPy")),
            bits=draw(mostly(64, 64, 32)),
            machine="",
            platform=BASES[place],
        ),
        libc=None
        if place == "win"
        else Libc(
            family=draw(mostly("glibc", "glibc", "musl")),
            version=draw(mostly("2.39", "2.28", "2.27")),
            source="ldd",
        ),
        wsl2=wsl2,
        nvidia=draw(st.none() | nvidias()),
        amd=draw(st.none() | amds(wsl2=wsl2)),
        intel=draw(st.none() | intels()),
        hidden_by=("CUDA_VISIBLE_DEVICES",),
    )


def nvidias() -> st.SearchStrategy[Nvidia]:
    drivers = "580.95.05 580 579.99 610.43.02 572.60 535.54.03 528.33 528.32 525.60.13 525.60.11"
    drivers += " 470.86 452.39 452.38 450.80.02 450.80.01 450.80 525.60 9.9"
    capabilities = "3.7 5.2 6.0 6.1 7.0 7.2 7.5 8.0 8.6 8.7 8.9 9.0 10.0 10.3 11.0 12.0 12.1"
    gpu = st.builds(
        NvidiaGpu,
        name=st.just("GPU"),
        compute_cap=st.sampled_from([*capabilities.split(), None]),
        visible=mostly(True, False),  # noqa: FBT003
    )
    return st.builds(
        Nvidia,
        kernel_driver_version=mostly("610.43.02", *drivers.split()),
        driver_source=st.just("sys_module"),
        state=st.just("ok"),
        gpus=st.lists(gpu, min_size=1, max_size=3).map(tuple),
        cuda_umd_version=st.sampled_from([None, "11.4", "12.8", "13.0", "13.3"]),
    )


def amds(*, wsl2: bool) -> st.SearchStrategy[Amd]:
    names = [*GFX["rocm7.2"].split(), "gfx803", "gfx1010", "gfx1031", "gfx1036", "gfx1103", None]
    gpu = st.builds(
        AmdGpu,
        gfx=st.sampled_from(names),
        integrated=st.none(),
        visible=mostly(True, False),  # noqa: FBT003
    )
    return st.builds(
        Amd,
        gpus=st.lists(gpu, min_size=1, max_size=3).map(tuple),
        source=st.just("kfd"),
        device_node=st.none() if wsl2 else mostly(True, False, None),  # noqa: FBT003
    )


def intels() -> st.SearchStrategy[Intel]:
    gpu = st.builds(
        IntelGpu, pci_id=st.just("8086:e20b"), family=st.none(), xpu_supported=st.booleans()
    )
    return st.builds(
        Intel,
        gpus=st.lists(gpu, min_size=1, max_size=2).map(tuple),
        device_node=mostly(True, False, None),  # noqa: FBT003
    )


@st.composite
def rows(draw: st.DrawFn) -> list[Build]:
    """All rows of all platforms, each at a torch that there is for its accelerator."""
    found = []
    for place, labels in GIVEN.items():
        for label in labels:
            first, last = MINORS[label]
            minors = sorted({draw(st.integers(first, last)), draw(st.integers(first, last))})
            torches = [Version(f"2.{minor}.0") for minor in minors]
            found.append(
                Build(
                    name=f"{place}-{label}",
                    accelerator=Accelerator(label),
                    platform=PLATFORMS[place],
                    pythons=draw(st.sampled_from([((3, 12),), ((3, 12), (3, 13)), ((3, 12, 12),)])),
                    torch=torches[0],
                    other_torches=tuple(torches[1:]),
                    locked=True,
                )
            )
    return draw(st.permutations(found))


def fits(build: Build, facts: Facts) -> bool:
    """Whether it can be installed."""
    python, libc = facts.python, facts.libc
    assert python is not None
    if (python.implementation, python.bits) != ("CPython", 64):
        return False
    if BASES[build.platform.name] != python.platform:
        return False
    if libc is not None and (libc.family == "musl" or number(libc.version) < (2, 28)):
        return False
    have = number(python.version)
    return any(have[:2] == one[:2] and have >= one for one in build.pythons)


def torches(build: Build) -> Iterator[int]:
    for torch in (build.torch, *build.other_torches):
        assert torch is not None
        yield torch.minor


def has_code(build: Build, minor: int, capability: str | None, cuda: str | None) -> bool:
    if capability is None:
        return False
    label = build.accelerator.label
    lists = KERNELS["aarch64" if build.platform.name == "linux-aarch64" else "x86_64"][label]
    first = max((first for first in lists if first <= minor), default=None)
    # Of torches before the first list nothing is known, and so nothing is served.
    listed = "" if first is None else lists[first]
    major, own = number(capability)
    if any(number(one)[0] == major and number(one)[1] <= own for one in listed.split()):
        return True
    # PTX of 12.0, by a driver that has at least the CUDA of the row.
    ptx = label in {"cu130", "cu132"} or (label, minor, build.platform.name) == (
        "cu128",
        7,
        "linux",
    )
    new_enough = cuda is not None and number(cuda) >= number(f"{label[2:4]}.{label[4:]}")
    return ptx and build.platform.name != "win" and new_enough and (major, own) >= (12, 0)


def status(build: Build, facts: Facts) -> str:
    """Judge by the policy."""
    label = build.accelerator.label
    if not fits(build, facts):
        return "refused"
    if label == "cpu":
        return "usable"
    if label == "xpu":
        intel = facts.intel
        served = intel and intel.device_node is not False
        served = served and any(gpu.xpu_supported for gpu in intel.gpus)  # type: ignore[union-attr]
        return "usable" if served else "refused"
    if label.startswith("rocm"):
        amd = facts.amd
        if amd is None or amd.device_node is False:
            return "refused"
        names = [gpu.gfx for gpu in amd.gpus if gpu.visible]
        return "usable" if set(names) & set(GFX[label].split()) else "refused"
    return cuda_status(build, facts)


def cuda_status(build: Build, facts: Facts) -> str:
    nvidia = facts.nvidia
    visible = [gpu.compute_cap for gpu in nvidia.gpus if gpu.visible] if nvidia else []
    # Only a Jetson has these.
    if nvidia is None or not visible or {"7.2", "8.7"} & set(visible):
        return "refused"
    windows = facts.os == "windows" or facts.wsl2
    floor = FLOORS["windows" if windows else "linux"][build.accelerator.label[:4]]
    driver = nvidia.kernel_driver_version
    if driver is None or number(driver) < number(floor):
        return "refused"
    served = [
        all(has_code(build, minor, one, nvidia.cuda_umd_version) for minor in torches(build))
        for one in visible
    ]
    return "usable" if all(served) else "partial" if any(served) else "refused"


@given(hosts(), rows())
@oracle
def test_choices_are_those_of_the_policy(facts: Facts, builds: list[Build]) -> None:
    """Every row is judged as the policy says, and the first usable in its order is taken."""
    choice = choose(facts, builds, CATALOG)

    expected = {build.name: status(build, facts) for build in builds}
    assert {one.build.name: one.status for one in choice.verdicts} == expected
    usable = [build for build in builds if expected[build.name] == "usable"]
    usable.sort(key=lambda build: ORDER.index(build.accelerator.label))
    assert [one.build for one in choice.verdicts if one.status == "usable"] == usable
    assert (choice.best and choice.best.build) == next(iter(usable), None)
