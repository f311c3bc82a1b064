"""The shortest marker for some of the points of an axis."""

from __future__ import annotations

import itertools

import pytest
from packaging.markers import Marker

from lockforge.merge.terms import Axis, express
from lockforge.model.platforms import PLATFORMS
from lockforge.standards.environment import decided_environment
from lockforge.standards.markers import render


def platforms(*names: str) -> Axis:
    return tuple(
        tuple(
            (variable, decided_environment(PLATFORMS[name], (3, 12))[variable])
            for variable in ("sys_platform", "platform_machine")
        )
        for name in names
    )


def pythons(*minors: str) -> Axis:
    return tuple((("python_version", minor),) for minor in minors)


ALL = platforms(*PLATFORMS)
COMMON = platforms("linux", "win", "mac")
MINORS = pythons("3.10", "3.11", "3.12", "3.13")
AXES = {
    "all platforms": ALL,
    "common platforms": COMMON,
    "linux": platforms("linux", "linux-aarch64"),
    "macs": platforms("mac", "mac-x86_64"),
    "one platform": platforms("win"),
    "minors": MINORS,
    "minors with a gap": pythons("3.9", "3.10", "3.14"),
}


def written(axis: Axis, required: int, allowed: int) -> str:
    """The marker's text, empty for "any"."""
    node = express(axis, required, allowed)
    return "" if node is None else render(node)


def picked(axis: Axis, marker: str) -> int:
    """The points a marker is true on, as a bit mask."""
    return sum(
        1 << place
        for place, point in enumerate(axis)
        if not marker or Marker(marker).evaluate(dict(point))
    )


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_every_subset(axis: Axis) -> None:
    """For every subset `packaging` finds the marker true on it and nowhere else."""
    subsets = range(1, 1 << len(axis))
    assert [picked(axis, written(axis, mask, mask)) for mask in subsets] == list(subsets)


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_free_points(axis: Axis) -> None:
    """Points that do not matter are used, and those that are not allowed are left out."""
    wrong = []
    for required in range(1, 1 << len(axis)):
        # Two choices of what is free are enough for the wide axes.
        for free in ((1 << len(axis)) - 1, 0b010101):
            allowed = required | free & ~1 if required & 1 == 0 else required | free
            found = picked(axis, written(axis, required, allowed))
            if required & ~found or found & ~allowed:
                wrong.append((required, allowed, found))
    assert wrong == []


def test_any() -> None:
    """Where everything is allowed no marker is needed."""
    assert express(COMMON, 0b001, 0b111) is None
    assert express(platforms("linux"), 0b1, 0b1) is None


SHORTEST = [
    (COMMON, 0b001, "sys_platform == 'linux'"),
    (COMMON, 0b010, "sys_platform == 'win32'"),
    (COMMON, 0b100, "sys_platform == 'darwin'"),
    (COMMON, 0b011, "sys_platform != 'darwin'"),
    (COMMON, 0b101, "sys_platform != 'win32'"),
    (platforms("linux", "linux-aarch64"), 0b01, "platform_machine == 'x86_64'"),
    (platforms("linux", "linux-aarch64"), 0b10, "platform_machine == 'aarch64'"),
    (platforms("linux", "linux-aarch64", "win"), 0b011, "sys_platform == 'linux'"),
    (platforms("linux", "linux-aarch64", "win"), 0b010, "platform_machine == 'aarch64'"),
    (platforms("linux", "mac", "mac-x86_64"), 0b110, "sys_platform == 'darwin'"),
    (MINORS, 0b0011, "python_version < '3.12'"),
    (MINORS, 0b1100, "python_version >= '3.12'"),
    (MINORS, 0b1011, "python_version != '3.12'"),
    (MINORS, 0b0010, "python_version == '3.11'"),
]


@pytest.mark.parametrize(("axis", "mask", "expected"), SHORTEST)
def test_shortest(axis: Axis, mask: int, expected: str) -> None:
    """The system is named before the machine, and `==` before `!=`."""
    assert written(axis, mask, mask) == expected


def _fewest(axis: Axis) -> dict[int, int]:
    """The fewest comparisons, one or two, that pick each subset; found by trying all."""
    atoms = {
        f"{variable} {operator} '{value}'"
        for point in axis
        for variable, value in point
        for operator in ("==", "!=", *((">=", "<") if variable == "python_version" else ()))
    }
    masks = {picked(axis, atom) for atom in atoms}
    fewest = dict.fromkeys(masks, 1)
    for one, other in itertools.combinations(masks, 2):
        for mask in (one & other, one | other):
            fewest.setdefault(mask, 2)
    return fewest


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_no_shorter_one(axis: Axis) -> None:
    """No marker of one or two comparisons picks the subset with fewer."""
    everything = (1 << len(axis)) - 1
    for mask, fewest in _fewest(axis).items():
        if mask not in {0, everything}:
            marker = written(axis, mask, mask)
            assert marker.count("'") // 2 == fewest, marker
