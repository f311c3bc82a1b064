"""Laws of what a host is given, over random hosts and rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any, get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.detect.builds import platform_of
from lockforge.detect.cautions import cautions_of
from lockforge.detect.choose import choose
from lockforge.detect.fleet import plan_fleet
from lockforge.errors import UsageError
from lockforge.model.accelerator import Accelerator
from lockforge.model.choice import Build, Choice, Wanted
from lockforge.model.machine import (
    Amd,
    AmdGpu,
    Apple,
    Facts,
    Intel,
    IntelGpu,
    Interpreter,
    Libc,
    Nvidia,
    NvidiaGpu,
    NvidiaState,
    Override,
)
from lockforge.model.platforms import PLATFORMS

CATALOG = load_catalog()
_VERSIONS = [Version(text) for text in ["2.7.1", "2.9.0", "2.10.0", "2.11.0", "2.13.0", "3.0.0"]]
TORCHES = [(), *zip(_VERSIONS), *combinations(_VERSIONS, 2)]
"""What a row may have, sorted: no torch, one, or two for different Pythons."""
STATED = "LOCKFORGE_CUDA_DRIVER_VERSION"
laws = settings(deadline=None, max_examples=60, derandomize=True)
more_laws = settings(laws, max_examples=250)
"""For laws on what only few hosts and rows have."""

_texts = st.text(max_size=8)
_capabilities = (
    st.sampled_from(["3.5", "5.0", "6.1", "7.0", "7.2", "7.5", "8.0", "8.6", "8.7", "8.9", "9.0"])
    | st.sampled_from(["10.3", "11.0", "12.0", "12.1"])
    | st.just("13.0")
)
_drivers = st.sampled_from(["450.80.02", "470.86", "525.60.13", "528.33", "572.60", "580", "610.1"])


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def several(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(strategy, max_size=3).map(tuple)


def often(strategy: st.SearchStrategy[Any], value: Any) -> st.SearchStrategy[Any]:
    """Give *value* three times of four."""
    return st.integers(0, 3).flatmap(lambda number: strategy if number == 3 else st.just(value))


gpus = st.builds(
    NvidiaGpu,
    name=maybe(_texts),
    compute_cap=maybe(_capabilities | _texts),
    compute_cap_source=maybe(st.sampled_from(["PCI id table", "LOCKFORGE_CUDA_ARCH"])),
    visible=st.sampled_from([True, True, False]),
)
_nvidias = st.builds(
    Nvidia,
    kernel_driver_version=maybe(_drivers | _texts),
    driver_source=st.sampled_from(["sys_module", STATED]),
    state=st.sampled_from(["ok", *get_args(NvidiaState)]),
    gpus=several(gpus),
    cuda_umd_version=maybe(st.sampled_from(["12.8", "13.0", "13.2", "14.0"]) | _texts),
    order_unstated=st.booleans(),
)
_amds = st.builds(
    Amd,
    gpus=several(
        st.builds(
            AmdGpu,
            gfx=maybe(st.sampled_from(["gfx1100", "gfx1036", "gfx1151", "gfx11"])),
            integrated=maybe(st.booleans()),
            visible=st.booleans(),
            name=maybe(_texts),
        )
    ),
    source=_texts,
    device_node=maybe(st.booleans()),
)
_intels = st.builds(
    Intel,
    gpus=several(
        st.builds(
            IntelGpu,
            pci_id=st.sampled_from(["8086:e20b", "8086:3e9b"]),
            family=maybe(_texts),
            xpu_supported=st.booleans(),
            unvalidated=st.booleans(),
        )
    ),
)
_pythons = st.builds(
    Interpreter,
    version=st.sampled_from(["3.12.11", "3.12", "3.12.0rc1", "3.13.1"]) | _texts,
    implementation=st.sampled_from(["CPython", "CPython", "CPython", "PyPy"]),
    bits=st.sampled_from([64, 64, 64, 32]),
    machine=st.sampled_from(["x86_64", "aarch64", "arm64"]),
    platform=st.sampled_from(["linux-x86_64", "linux-x86_64", "linux-aarch64", "win-amd64"])
    | st.sampled_from(["macosx-11.0-arm64", "macosx-11.0-universal2", "win32"])
    | _texts,
)
hosts = st.builds(
    Facts,
    os=st.sampled_from([None, "linux", "linux", "windows", "macos"]),
    os_version=maybe(st.sampled_from(["15.4", "13"]) | _texts),
    arch=st.none(),
    python=maybe(_pythons),
    libc=maybe(
        st.builds(
            Libc,
            family=st.sampled_from(["glibc", "glibc", "glibc", "musl"]),
            version=st.sampled_from(["2.39", "2.17"]) | _texts,
            source=_texts,
        )
    ),
    wsl2=st.booleans(),
    tegra=maybe(st.sampled_from(["Jetson AGX Orin", "Jetson AGX Thor"])),
    nvidia=maybe(_nvidias),
    amd=maybe(_amds),
    intel=maybe(_intels),
    apple=maybe(
        st.just(Apple(chip=None, translated=True, hardware_arch="arm64", mps_usable=False))
    ),
    overrides=st.sampled_from([(), (Override(variable=STATED, value="580"),)]),
    hidden_by=st.sampled_from([(), ("CUDA_VISIBLE_DEVICES",)]),
)


def _nvidia_host(platform: str, tegra: str | None, nvidia: Nvidia, *, wsl2: bool) -> Facts:
    return Facts(
        os="windows" if platform == "win-amd64" else "linux",
        os_version=None,
        arch=None,
        python=Interpreter(
            version="3.12.11", implementation="CPython", bits=64, machine="", platform=platform
        ),
        libc=Libc(family="glibc", version="2.39", source="ldd"),
        wsl2=wsl2,
        tegra=tegra,
        nvidia=nvidia,
        overrides=(Override(variable=STATED, value="580"),),
    )


nvidia_hosts = st.builds(
    _nvidia_host,
    platform=often(st.sampled_from(["linux-aarch64", "win-amd64"]), "linux-x86_64"),
    tegra=often(st.sampled_from(["Jetson AGX Orin", "Jetson AGX Thor"]), None),
    wsl2=often(st.booleans(), value=False),
    nvidia=st.builds(
        Nvidia,
        kernel_driver_version=often(_drivers, "610.1"),
        driver_source=st.sampled_from(["sys_module", STATED]),
        state=st.just("ok"),
        gpus=st.lists(
            st.builds(
                NvidiaGpu,
                name=st.just("GPU"),
                compute_cap=_capabilities | _capabilities | st.sampled_from([None, "8"]),
                visible=often(st.booleans(), value=True),
            ),
            min_size=1,
            max_size=3,
        ).map(tuple),
        cuda_umd_version=st.sampled_from([None, "12.8", "13.0", "13.2", "14.0"]),
    ),
)
"""Hosts with NVIDIA's GPUs that much fits, so that rows are usable for many of them."""


@st.composite
def cuda_rows(draw: st.DrawFn) -> list[Build]:
    """All CUDA rows of one platform."""
    platform = draw(often(st.sampled_from(["linux-aarch64", "win"]), "linux"))
    labels = ("cu140", "cu132", "cu130", "cu129", "cu128", "cu126", "cu118")
    return [draw(_rows(platform, label)) for label in labels]


@st.composite
def rows(draw: st.DrawFn) -> list[Build]:
    """Rows of a lock, no two of the same platform and accelerator."""
    places = draw(
        st.lists(
            st.tuples(
                often(st.sampled_from(["linux-aarch64", "win", "mac"]), "linux"),
                st.sampled_from(["cu140", "cu132", "cu130", "cu128", "cu126", "cu118"])
                | st.sampled_from(["rocm7.2", "rocm6.4", "xpu", "cpu"]),
            ),
            min_size=1,
            max_size=8,
            unique=True,
        )
    )
    return [draw(_rows(platform, label)) for platform, label in places]


def _rows(platform: str, label: str) -> st.SearchStrategy[Build]:
    return st.builds(
        lambda torches, pythons, size, recorded: Build(
            name=f"{platform}-{label}",
            accelerator=Accelerator(label),
            platform=PLATFORMS[platform],
            pythons=pythons,
            torch=torches[0] if torches else None,
            other_torches=torches[1:],
            size=size,
            locked=True,
            min_driver=recorded and "580",
            gpu_architectures=("8.0", "13.0") if recorded else (),
        ),
        st.sampled_from(TORCHES),
        st.sampled_from([((3, 12),), ((3, 12), (3, 13)), ((3, 12, 4),)]),
        maybe(st.integers(0, 3)),
        st.booleans(),
    )


def _status(choice: Choice) -> dict[str, str]:
    return {one.build.name: one.status for one in choice.verdicts}


def _usable(facts: Facts, builds: list[Build]) -> set[str]:
    status = _status(choose(facts, builds, CATALOG))
    return {name for name, found in status.items() if found == "usable"}


@given(hosts | nvidia_hosts, rows())
@laws
def test_every_row_is_judged(facts: Facts, builds: list[Build]) -> None:
    """Nothing raises: each row has a verdict with a reason, and the best is the first usable."""
    choice = choose(facts, builds, CATALOG)
    assert sorted(_status(choice)) == sorted(build.name for build in builds)
    usable = [one for one in choice.verdicts if one.status == "usable"]
    assert choice.best == (usable[0] if usable else None)
    assert all(one.reason and not one.reason.endswith(".") for one in choice.verdicts)
    codes = [one.code for one in cautions_of(facts, choice, CATALOG)]
    assert all(codes)


@given(hosts | nvidia_hosts, rows(), st.randoms(use_true_random=False))
@laws
def test_the_order_of_rows_is_no_matter(facts: Facts, builds: list[Build], random: Any) -> None:
    """However the rows stand in the lock, they are judged and preferred alike."""
    shuffled = random.sample(builds, len(builds))
    assert choose(facts, builds, CATALOG) == choose(facts, shuffled, CATALOG)


def _has_code(build: Build, torch: Version, nvidia: Nvidia, capability: str | None) -> bool:
    """Say it again: X.y runs code for X.0 to X.y, and PTX where the driver compiles it."""
    known = CATALOG.gpu_architectures(build.accelerator, torch, build.platform)
    if known is None:
        architectures, ptx = build.gpu_architectures, build.gpu_ptx
    else:
        architectures, ptx = known.architectures, known.ptx
    major, minor = map(int, (capability or "").split("."))
    if any(f"{major}.{older}" in architectures for older in range(minor + 1)):
        return True
    newest = Version(nvidia.cuda_umd_version or "0")
    needed = Version("{}.{}".format(*build.accelerator.version))
    newer = any(Version(f"{major}.{minor}") >= Version(one) for one in ptx)
    return newer and newest >= needed and build.platform.system == "linux"


@given(nvidia_hosts, cuda_rows())
@more_laws
def test_a_usable_cuda_row_serves_every_gpu(facts: Facts, builds: list[Build]) -> None:
    """Its platform is the host's, the driver suffices, and each visible GPU has its code."""
    nvidia, platform = facts.nvidia, platform_of(facts)
    assert nvidia is not None
    assert platform is not None
    for verdict in choose(facts, builds, CATALOG).verdicts:
        build = verdict.build
        if verdict.status != "usable":
            continue
        assert build.platform.name == platform.name
        floor = CATALOG.driver_floor(
            build.accelerator, PLATFORMS["win"] if facts.wsl2 else platform
        )
        assert Version(nvidia.kernel_driver_version or "0") >= Version(
            floor or build.min_driver or "99999"
        )
        visible = [gpu.compute_cap for gpu in nvidia.gpus if gpu.visible]
        assert visible or (not nvidia.gpus and nvidia.driver_source == STATED)
        torches = [build.torch, *build.other_torches]
        for torch in torches:
            asked = torch or CATALOG.newest_torch(build.accelerator, platform) or Version("2.13")
            assert all(_has_code(build, asked, nvidia, one) for one in visible)
        assert {"7.2", "8.7"}.isdisjoint(visible)


@given(nvidia_hosts, cuda_rows(), gpus)
@more_laws
def test_another_gpu_makes_no_row_usable(facts: Facts, builds: list[Build], gpu: NvidiaGpu) -> None:
    """What did not serve the GPUs there were does not serve them and one more."""
    nvidia = facts.nvidia
    assert nvidia is not None
    assume(any(one.visible for one in nvidia.gpus))
    more = replace(facts, nvidia=nvidia._replace(gpus=(*nvidia.gpus, gpu)))
    assert _usable(more, builds) <= _usable(facts, builds)


@given(nvidia_hosts, cuda_rows(), _drivers)
@more_laws
def test_a_newer_driver_takes_no_row_away(facts: Facts, builds: list[Build], driver: str) -> None:
    """A row that an older driver serves is served by a newer one."""
    nvidia = facts.nvidia
    assert nvidia is not None
    assert nvidia.kernel_driver_version is not None
    older, newer = sorted((nvidia.kernel_driver_version, driver), key=Version)
    with_older = replace(facts, nvidia=nvidia._replace(kernel_driver_version=older))
    with_newer = replace(facts, nvidia=nvidia._replace(kernel_driver_version=newer))
    assert _usable(with_older, builds) <= _usable(with_newer, builds)


@given(hosts | nvidia_hosts, rows(), st.data())
@laws
def test_force_is_recorded(facts: Facts, builds: list[Build], data: st.DataObject) -> None:
    """What is taken though it does not serve says so; another platform's is never taken."""
    build = data.draw(st.sampled_from(builds))
    before = _status(choose(facts, builds, CATALOG))[build.name]
    wanted = Wanted(by="--force-row", row=build.name, force=True)
    platform = platform_of(facts)
    if platform is None or platform.name != build.platform.name:
        with pytest.raises(UsageError):
            choose(facts, builds, CATALOG, wanted)
        return
    choice = choose(facts, builds, CATALOG, wanted)
    assert choice.best is not None
    assert (choice.best.build, choice.best.status) == (build, before)
    assert [one.build.name for one in choice.verdicts if one.forced] == (
        [build.name] if before != "usable" else []
    )
    unforced = choose(facts, builds, CATALOG, Wanted(by="--row", row=build.name))
    assert (unforced.best is not None) == (before == "usable")


@given(st.lists(hosts | nvidia_hosts, max_size=6), rows())
@laws
def test_no_cheaper_rows_serve_as_many(fleet: list[Facts], builds: list[Build]) -> None:
    """No set of rows that serves every host served has fewer rows, or as many that are smaller."""
    plan = plan_fleet([(str(number), facts) for number, facts in enumerate(fleet)], builds, CATALOG)
    needs = []
    for one in plan.hosts:
        best = one.choice.best
        assert one.row == (best and best.build.name)
        if best is not None:
            kind = best.build.accelerator.kind
            usable = [each.build for each in one.choice.verdicts if each.status == "usable"]
            needs.append({each.name for each in usable if each.accelerator.kind == kind})
    sizes = {build.name: build.size or 0 for build in builds}
    costs = [
        (count, sum(sizes[name] for name in names))
        for count in range(len(builds) + 1)
        for names in combinations(sizes, count)
        if all(need & set(names) for need in needs)
    ]
    assert all(need & set(plan.cheapest) for need in needs)
    assert (len(plan.cheapest), sum(sizes[name] for name in plan.cheapest)) == min(costs)
