"""The marker that picks some Targets out of a Matrix."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.markers import Marker

from lockforge.merge.selector import Selector
from lockforge.model.matrix import Matrix, Target
from lockforge.standards.environment import host_environment
from tests.unit.fakes import make_matrix, make_target

ROWS = [
    "linux-cu130",
    "linux-cu126",
    "linux-rocm7.2",
    "linux-cpu",
    "linux-aarch64-cu130",
    "linux-aarch64-cpu",
    "win-cu130",
    "win-cpu",
    "win-arm64-cpu",
    "mac-cpu",
    "mac-x86_64-cpu",
]
PYTHONS = ["3.11", "3.12", "3.13"]


def holds(marker: str, target: Target, extras: frozenset[str]) -> bool:
    """Whether an installer on *target* that asks for *extras* applies *marker*."""
    if not marker:
        return True
    environment: dict[str, str | frozenset[str]] = {
        **host_environment(target.row.platform, target.python, 3),
        "extras": extras,
        "dependency_groups": frozenset(),
    }
    return Marker(marker).evaluate(environment, "lock_file")


def choices(matrix: Matrix, target: Target) -> list[frozenset[str]]:
    """The extras with which *target* may be asked for: its row's where its platform is shared."""
    selector = Selector(matrix)
    own = frozenset({target.row.accelerator.extra})
    if selector.needs_extra(target.row):
        return [own, own | {"train"}]
    return [frozenset(), own, own | {"train"}]


def picked(matrix: Matrix, marker: str) -> set[str]:
    """The Targets *marker* is true on, by each way of asking for them."""
    found = set()
    for target in matrix.targets:
        answers = {holds(marker, target, extras) for extras in choices(matrix, target)}
        assert len(answers) == 1, (marker, target.id)
        if answers == {True}:
            found.add(target.id)
    return found


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    rows = draw(st.lists(st.sampled_from(ROWS), min_size=1, max_size=7, unique=True))
    pythons = draw(st.lists(st.sampled_from(PYTHONS), min_size=1, max_size=3, unique=True))
    return make_matrix(*rows, pythons=pythons)


@st.composite
def ragged_matrices(draw: st.DrawFn) -> Matrix:
    """Matrices whose rows have Pythons of their own."""
    matrix = draw(matrices())
    kept = draw(st.lists(st.sampled_from(matrix.targets), min_size=1, unique=True))
    return Matrix(targets=tuple(kept))


@given(matrices() | ragged_matrices(), st.data())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_exactly_the_chosen(matrix: Matrix, data: st.DataObject) -> None:
    """The marker is true on the chosen Targets and on no other, with and without a lone extra."""
    chosen = data.draw(st.sets(st.sampled_from(matrix.targets), min_size=1))
    marker = Selector(matrix).select(chosen)
    assert picked(matrix, marker) == {target.id for target in chosen}
    assert "not in" not in marker


@given(matrices(), st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_order_does_not_matter(matrix: Matrix, data: st.DataObject) -> None:
    """The order of the matrix and of the chosen Targets does not change the text."""
    chosen = data.draw(st.lists(st.sampled_from(matrix.targets), min_size=1, unique=True))
    turned = Matrix(targets=tuple(data.draw(st.permutations(matrix.targets))))
    assert Selector(matrix).select(chosen) == Selector(turned).select(chosen[::-1])


@given(matrices())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_all(matrix: Matrix) -> None:
    """All Targets need no marker."""
    assert Selector(matrix).select(matrix.targets) == ""


THREE = ("linux-cu130", "linux-cpu", "mac-cpu")
FOUR = ("linux-cu130", "linux-cpu", "win-cpu", "mac-cpu")
MARKERS = [
    # rows, chosen rows, marker
    (("linux-cu130", "mac-cpu"), ("linux-cu130",), "sys_platform == 'linux'"),
    (("linux-cu130", "mac-cpu"), ("mac-cpu",), "sys_platform == 'darwin'"),
    (("linux-cu130", "linux-cpu"), ("linux-cu130",), "'cu130' in extras"),
    (("linux-cu130", "linux-rocm7.2"), ("linux-rocm7.2",), "'rocm7-2' in extras"),
    (THREE, ("linux-cu130",), "'cu130' in extras"),
    (THREE, ("linux-cpu",), "'cpu' in extras and sys_platform == 'linux'"),
    (THREE, ("mac-cpu",), "sys_platform == 'darwin'"),
    (THREE, ("linux-cu130", "linux-cpu"), "sys_platform == 'linux'"),
    (FOUR, ("win-cpu", "mac-cpu"), "sys_platform != 'linux'"),
    (
        ("linux-cu130", "linux-cu126", "linux-cpu"),
        ("linux-cu130", "linux-cpu"),
        "'cpu' in extras or 'cu130' in extras",
    ),
    (
        ("linux-cpu", "linux-aarch64-cpu", "mac-cpu"),
        ("linux-cpu", "mac-cpu"),
        "platform_machine != 'aarch64'",
    ),
]


@pytest.mark.parametrize(("rows", "chosen", "expected"), MARKERS)
def test_markers(rows: tuple[str, ...], chosen: tuple[str, ...], expected: str) -> None:
    """Markers are as short as the declared platforms allow; extras only where rows share one."""
    matrix = make_matrix(*rows)
    targets = [target for target in matrix.targets if target.row.name in chosen]
    assert Selector(matrix).select(targets) == expected


def test_pythons() -> None:
    """What differs between Pythons is told apart by them."""
    matrix = make_matrix("linux-cpu", "mac-cpu", pythons=PYTHONS)
    select = Selector(matrix).select
    early = [target for target in matrix.targets if target.python < (3, 13)]
    assert select(early) == "python_version < '3.13'"
    mac = [target for target in early if target.row.name == "mac-cpu"]
    assert select(mac) == "sys_platform == 'darwin' and python_version < '3.13'"


@pytest.mark.parametrize(
    ("rows", "needing"),
    [
        (("linux-cu130", "mac-cpu"), set[str]()),
        (THREE, {"linux-cu130", "linux-cpu"}),
        (("linux-cpu", "linux-aarch64-cpu"), set[str]()),
        (("win-cu130", "win-cpu", "win-arm64-cpu"), {"win-cu130", "win-cpu"}),
    ],
)
def test_needs_extra(rows: tuple[str, ...], needing: set[str]) -> None:
    """Only rows that share a platform need an extra."""
    matrix = make_matrix(*rows)
    selector = Selector(matrix)
    assert {row.name for row in matrix.rows if selector.needs_extra(row)} == needing


def test_two_rows_at_once() -> None:
    """With the extras of two rows at once, what each has of its own applies: an error later."""
    matrix = make_matrix(*THREE)
    both = frozenset({"cu130", "cpu"})
    for name in ("linux-cu130", "linux-cpu"):
        chosen = [target for target in matrix.targets if target.row.name == name]
        assert holds(Selector(matrix).select(chosen), make_target(name), both)
