"""What a host is judged for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.detect.builds import catalog_builds, locked_builds, platform_of
from lockforge.model.lock import LockedRow
from lockforge.model.machine import Libc
from lockforge.model.platforms import PLATFORMS
from tests.support.hosts import linux, mac, python, windows

CATALOG = load_catalog()
ROW = LockedRow(
    name="gpu",
    platform="linux",
    accelerator="cu128",
    pythons=("3.11", "3.12.3"),
    floor="glibc 2.34",
    extra="cu128",
    torch="2.10.0+cu128, 2.11.0+cu128",
    index="https://example.invalid/cu128",
    packages=3,
    digest="0" * 64,
    size=1234,
    unsized=0,
    min_driver="525.60.13",
    gpu_architectures=("7.0", "7.5"),
    gpu_ptx=("12.0",),
    judged_by=None,
)


@pytest.mark.parametrize(
    ("platform", "machine", "expected"),
    [
        ("linux-x86_64", "x86_64", "linux"),
        ("linux-aarch64", "aarch64", "linux-aarch64"),
        ("win-amd64", "AMD64", "win"),
        ("win-amd64", "ARM64", "win"),
        ("win-arm64", "ARM64", "win-arm64"),
        ("macosx-11.0-arm64", "arm64", "mac"),
        ("macosx-10.9-x86_64", "x86_64", "mac-x86_64"),
        ("macosx-10.9-universal2", "arm64", "mac"),
        ("macosx-10.9-universal2", "x86_64", "mac-x86_64"),
        ("linux-ppc64le", "ppc64le", None),
        ("linux-armv7l", "armv7l", None),
        ("mingw_x86_64_ucrt", "AMD64", None),
        ("", "", None),
    ],
)
def test_the_interpreter_says_the_platform(
    platform: str, machine: str, expected: str | None
) -> None:
    """It is that of the interpreter's own platform, whatever the machine could run."""
    found = platform_of(linux(python=python(platform, machine=machine), libc=None))
    assert (found and found.name) == expected


def test_no_platform() -> None:
    """A 32-bit interpreter has none, nor has musl, nor a host whose interpreter is not known."""
    assert platform_of(windows(python=python("win32", machine="AMD64", bits=32))) is None
    assert platform_of(linux(python=python("linux-x86_64", bits=32))) is None
    assert platform_of(linux(libc=Libc(family="musl", version="1.2", source="ldd"))) is None
    assert platform_of(linux(python=None)) is None


def test_locked_rows_are_builds() -> None:
    """A row is judged by its own floor, its Pythons, and every torch it has."""
    (build,) = locked_builds([ROW])
    assert (build.name, build.accelerator.label, build.locked) == ("gpu", "cu128", True)
    assert build.platform == replace(PLATFORMS["linux"], floor=(2, 34))
    assert build.pythons == ((3, 11), (3, 12, 3))
    assert (build.torch, build.other_torches) == (
        Version("2.10.0+cu128"),
        (Version("2.11.0+cu128"),),
    )
    assert (build.size, build.min_driver) == (1234, "525.60.13")
    assert (build.gpu_architectures, build.gpu_ptx) == (("7.0", "7.5"), ("12.0",))


def test_a_row_without_torch() -> None:
    """It has no torch to be judged by."""
    (build,) = locked_builds([replace(ROW, torch=None)])
    assert (build.torch, build.other_torches) == (None, ())


def test_the_accelerators_of_a_platform() -> None:
    """Each is named once by its label; what has no wheels there is given where it has some."""
    labels = ["cu130", "rocm7.2", "cpu", "cu130"]
    found = catalog_builds(CATALOG, PLATFORMS["win"], labels)
    assert [(one.name, one.platform.name) for one in found] == [
        ("cu130", "win"),
        ("rocm7.2", "linux"),
        ("cpu", "win"),
    ]
    assert catalog_builds(CATALOG, PLATFORMS["mac"], labels)[-1].platform == PLATFORMS["mac"]


def test_all_accelerators_are_those_whose_torch_is_known() -> None:
    """Without labels there is one build for each that wheels of a torch are known of."""
    found = catalog_builds(CATALOG, PLATFORMS["linux-aarch64"], None)
    assert all(one.torch is not None and one.pythons for one in found)
    assert {"cu130", "cpu"} <= {one.name for one in found}
    assert not {one.accelerator.kind for one in found} & {"rocm", "xpu"}


def test_an_accelerator_newer_than_the_catalogue() -> None:
    """It is a build all the same where it is asked for, of no known torch."""
    (build,) = catalog_builds(CATALOG, PLATFORMS["linux"], ["cu140"])
    assert (build.torch, build.pythons) == (None, CATALOG.pythons)


def test_a_host_of_no_platform_gets_builds_to_be_refused() -> None:
    """Every accelerator is there, on the first platform that it has."""
    found = catalog_builds(CATALOG, None, ["cu130", "rocm7.2", "cpu"])
    assert [one.name for one in found] == ["cu130", "rocm7.2", "cpu"]


def test_hosts_of_tests_are_what_they_say() -> None:
    """The hosts that other tests start from have the platforms of their names."""
    platforms = [platform_of(facts) for facts in (linux(), linux("aarch64"), windows(), mac())]
    names = [platform.name for platform in platforms if platform]
    assert names == ["linux", "linux-aarch64", "win", "mac"]
