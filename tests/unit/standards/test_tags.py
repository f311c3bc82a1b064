"""Tags of foreign machines, in the order `packaging.tags` gives on the machine itself."""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import replace

import pytest
from packaging.tags import (
    Tag,
    compatible_tags,
    cpython_tags,
    create_compatible_tags_selector,
    mac_platforms,
    parse_tag,
    sys_tags,
)
from packaging.tags import (
    platform_tags as host_platform_tags,
)

from lockforge.model.platforms import PLATFORMS, Platform
from lockforge.standards.tags import platform_tags, tag_ranks, target_tags

LINUX, AARCH64 = PLATFORMS["linux"], PLATFORMS["linux-aarch64"]
WIN, WIN_ARM = PLATFORMS["win"], PLATFORMS["win-arm64"]
MAC, INTEL_MAC = PLATFORMS["mac"], PLATFORMS["mac-x86_64"]


def _rungs(first: int, last: int, machine: str) -> list[str]:
    return [f"manylinux_2_{rung}_{machine}" for rung in range(first, last - 1, -1)]


# PEP 600: every rung down from the floor, each legacy name after the rung it stands for; the tag
# of what was built on such a machine itself comes first, as `packaging` has it.
PLATFORM_TAGS = [
    (
        LINUX,
        [
            "linux_x86_64",
            *_rungs(28, 17, "x86_64"),
            "manylinux2014_x86_64",
            *_rungs(16, 12, "x86_64"),
            "manylinux2010_x86_64",
            *_rungs(11, 5, "x86_64"),
            "manylinux1_x86_64",
        ],
    ),
    (
        replace(LINUX, floor=(2, 12)),
        [
            "linux_x86_64",
            "manylinux_2_12_x86_64",
            "manylinux2010_x86_64",
            *_rungs(11, 5, "x86_64"),
            "manylinux1_x86_64",
        ],
    ),
    (
        replace(AARCH64, floor=(2, 31)),
        ["linux_aarch64", *_rungs(31, 17, "aarch64"), "manylinux2014_aarch64"],
    ),
    (WIN, ["win_amd64"]),
    (WIN_ARM, ["win_arm64"]),
    (MAC, list(mac_platforms((14, 0), "arm64"))),
    (replace(MAC, floor=(15, 0)), list(mac_platforms((15, 0), "arm64"))),
    (INTEL_MAC, list(mac_platforms((11, 0), "x86_64"))),
]


@pytest.mark.parametrize(("platform", "expected"), PLATFORM_TAGS)
def test_platform_tags(platform: Platform, expected: list[str]) -> None:
    """The platform tags start at the floor and go down to the oldest."""
    assert platform_tags(platform) == expected


@pytest.mark.parametrize("platform", [LINUX, AARCH64, WIN, WIN_ARM, MAC, INTEL_MAC])
@pytest.mark.parametrize("minor", [9, 10, 12, 13, 14])
def test_target_tags(platform: Platform, minor: int) -> None:
    """The order is that of a standard CPython on such a machine."""
    platforms = platform_tags(platform)
    interpreter = f"cp3{minor}"
    assert target_tags(platform, (3, minor)) == (
        *cpython_tags((3, minor), abis=[interpreter], platforms=platforms),
        *compatible_tags((3, minor), interpreter=interpreter, platforms=platforms),
    )


def _this_host() -> Platform | None:
    match = re.search(r"manylinux_2_(\d+)_(x86_64|aarch64)", " ".join(host_platform_tags()))
    if match is None or sys.implementation.name != "cpython":
        return None
    return replace(LINUX if match[2] == "x86_64" else AARCH64, floor=(2, int(match[1])))


@pytest.mark.skipif(_this_host() is None, reason="this host has no glibc")
def test_tags_of_this_host() -> None:
    """For the machine the test runs on, the tags are those `packaging` finds by looking at it."""
    this = _this_host()
    assert this is not None
    assert target_tags(this, sys.version_info[:2]) == tuple(sys_tags())


USABLE = [
    (LINUX, "cp312-cp312-manylinux_2_28_x86_64"),
    (LINUX, "cp312-cp312-manylinux_2_17_x86_64"),
    (LINUX, "cp312-cp312-manylinux2014_x86_64"),
    (LINUX, "cp312-cp312-manylinux2010_x86_64"),
    (LINUX, "cp312-cp312-manylinux1_x86_64"),
    (LINUX, "cp312-cp312-linux_x86_64"),
    (LINUX, "cp312-none-manylinux_2_28_x86_64"),
    (LINUX, "cp312-abi3-manylinux_2_28_x86_64"),
    (LINUX, "cp39-abi3-manylinux_2_28_x86_64"),
    (LINUX, "cp32-abi3-linux_x86_64"),
    (LINUX, "py3-none-manylinux_2_28_x86_64"),
    (LINUX, "py312-none-any"),
    (LINUX, "py310-none-any"),
    (LINUX, "cp312-none-any"),
    (LINUX, "py2.py3-none-any"),
    (LINUX, "cp39.cp310-abi3-win_amd64.manylinux_2_28_x86_64"),
    (LINUX, "cp312-cp312-manylinux_2_34_x86_64.manylinux_2_27_x86_64"),
    (AARCH64, "cp312-cp312-manylinux_2_28_aarch64"),
    (AARCH64, "cp312-cp312-manylinux2014_aarch64"),
    (AARCH64, "cp312-cp312-linux_aarch64"),
    (WIN, "cp312-cp312-win_amd64"),
    (WIN, "cp310-abi3-win_amd64"),
    (WIN_ARM, "cp312-cp312-win_arm64"),
    (MAC, "cp312-none-macosx_11_0_arm64"),
    (MAC, "cp312-cp312-macosx_14_0_arm64"),
    (MAC, "cp312-cp312-macosx_10_9_universal2"),
    (INTEL_MAC, "cp312-cp312-macosx_11_0_x86_64"),
    (INTEL_MAC, "cp312-cp312-macosx_10_9_x86_64"),
    (INTEL_MAC, "cp312-cp312-macosx_10_13_universal2"),
]
UNUSABLE = [
    # Above the floor:
    (LINUX, "cp312-cp312-manylinux_2_29_x86_64"),
    (replace(LINUX, floor=(2, 17)), "cp312-cp312-manylinux_2_28_x86_64"),
    (MAC, "cp312-cp312-macosx_15_0_arm64"),
    (INTEL_MAC, "cp312-cp312-macosx_12_0_x86_64"),
    # Another machine:
    (LINUX, "cp312-cp312-manylinux_2_28_aarch64"),
    (LINUX, "cp312-cp312-manylinux_2_28_i686"),
    (LINUX, "cp312-cp312-win_amd64"),
    (LINUX, "cp312-cp312-musllinux_1_2_x86_64"),
    (AARCH64, "cp312-cp312-manylinux2010_aarch64"),
    (AARCH64, "cp312-cp312-manylinux_2_12_aarch64"),
    (WIN, "cp312-cp312-win32"),
    (WIN, "cp312-cp312-win_arm64"),
    (WIN_ARM, "cp312-cp312-win_amd64"),
    (MAC, "cp312-cp312-macosx_11_0_x86_64"),
    (INTEL_MAC, "cp312-cp312-macosx_11_0_arm64"),
    # Another Python:
    (LINUX, "cp311-cp311-manylinux_2_28_x86_64"),
    (LINUX, "cp313-cp313-manylinux_2_28_x86_64"),
    (LINUX, "cp313-abi3-manylinux_2_28_x86_64"),
    (LINUX, "cp311-none-any"),
    (LINUX, "py313-none-any"),
    (LINUX, "py2-none-any"),
    (LINUX, "pp310-pypy310_pp73-manylinux_2_28_x86_64"),
    # A free-threaded or debug build:
    (LINUX, "cp312-cp312t-manylinux_2_28_x86_64"),
    (LINUX, "cp312-cp312d-manylinux_2_28_x86_64"),
    (LINUX, "cp312-abi3t-manylinux_2_28_x86_64"),
]


def _by_packaging(platform: Platform, triples: list[str], python: tuple[int, int]) -> list[str]:
    """The usable triples, best first, as `packaging` chooses among a host's tags."""
    select = create_compatible_tags_selector(target_tags(platform, python))
    return list(select((triple, parse_tag(triple)) for triple in triples))


@pytest.mark.parametrize(("platform", "triple"), USABLE)
def test_usable(platform: Platform, triple: str) -> None:
    """A wheel for the machine at its floor or below is usable."""
    assert tag_ranks(platform, (3, 12)).rank(triple) is not None
    assert _by_packaging(platform, [triple], (3, 12)) == [triple]


@pytest.mark.parametrize(("platform", "triple"), UNUSABLE)
def test_unusable(platform: Platform, triple: str) -> None:
    """A wheel for another machine, a higher floor, another Python or build is not."""
    assert tag_ranks(platform, (3, 12)).rank(triple) is None


@pytest.mark.parametrize("minor", [13, 14])
@pytest.mark.parametrize("name", PLATFORMS)
def test_free_threaded(name: str, minor: int) -> None:
    """No tag of a free-threaded build is ever among a Target's."""
    tags = target_tags(PLATFORMS[name], (3, minor))
    assert [tag for tag in tags if tag.abi.endswith("t")] == []
    assert Tag(f"cp3{minor}", f"cp3{minor}", platform_tags(PLATFORMS[name])[0]) == tags[0]


def test_ranks() -> None:
    """Ranks order wheels as `packaging` does, whatever order the wheels come in."""
    triples = [triple for platform, triple in USABLE if platform is LINUX]
    expected = _by_packaging(LINUX, triples, (3, 12))
    ranks = tag_ranks(LINUX, (3, 12))
    for start in range(len(triples)):
        rotated = list(itertools.islice(itertools.cycle(triples), start, start + len(triples)))
        found = sorted(rotated, key=lambda triple: ranks.rank(triple) or 0)
        keys = [ranks.rank(triple) for triple in found]
        assert keys == [ranks.rank(triple) for triple in expected]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("cp312-cp312-manylinux_2_28_x86_64", "cp312-cp312-manylinux_2_17_x86_64"),
        ("cp312-cp312-manylinux_2_17_x86_64", "cp312-cp312-manylinux2014_x86_64"),
        ("cp312-cp312-linux_x86_64", "cp312-cp312-manylinux_2_28_x86_64"),
        ("cp312-cp312-manylinux2014_x86_64", "cp312-cp312-manylinux_2_16_x86_64"),
        ("cp312-cp312-manylinux1_x86_64", "cp312-abi3-manylinux_2_28_x86_64"),
        ("cp312-abi3-manylinux1_x86_64", "cp311-abi3-manylinux_2_28_x86_64"),
        ("cp39-abi3-manylinux1_x86_64", "py3-none-manylinux_2_28_x86_64"),
        ("py312-none-manylinux_2_28_x86_64", "py3-none-manylinux_2_28_x86_64"),
        ("py3-none-manylinux1_x86_64", "py3-none-any"),
        ("py312-none-any", "py3-none-any"),
        ("py3-none-any", "py311-none-any"),
    ],
)
def test_better(better: str, worse: str) -> None:
    """The more specific wheel is the better one."""
    ranks = tag_ranks(LINUX, (3, 12))
    assert (ranks.rank(better) or 0) < (ranks.rank(worse) or 0)
    assert _by_packaging(LINUX, [worse, better], (3, 12)) == [better, worse]
