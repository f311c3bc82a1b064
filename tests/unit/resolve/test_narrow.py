"""Pythons that nobody stated are left out where a row cannot be locked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lockforge.model.resolution import Effort, Failure, Resolution
from lockforge.resolve.narrow import narrow
from tests.unit.fakes import make_matrix

if TYPE_CHECKING:
    from lockforge.model.matrix import Matrix, Target


def parts(
    matrix: Matrix, failing: set[str], gave_up: frozenset[str] = frozenset()
) -> tuple[list[str], list[str], list[str]]:
    """The ids of the Targets that stay, that stand as failures, and that are left out."""

    def failed(target: Target) -> Failure:
        effort = Effort(rounds=1, seconds=1) if target.id in gave_up else None
        return Failure(target=target, causes=(), offers=(), gave_up=effort)

    bad = failing | gave_up
    resolutions = [
        Resolution(target=one, pins=(), edges=()) for one in matrix.targets if one.id not in bad
    ]
    failures = [failed(one) for one in matrix.targets if one.id in bad]
    stays, stands, left_out = narrow(matrix, resolutions, failures)
    return (
        [one.target.id for one in stays],
        [one.target.id for one in stands],
        [one.target.id for one in left_out],
    )


ROWS = ("linux-cu130", "linux-cpu", "mac-cpu")
PYTHONS = ("3.12", "3.13", "3.14")
ALL = [f"{row}-py{python.replace('.', '')}" for row in ROWS for python in PYTHONS]

CASES = [
    # failing Targets, what stays, what stands, what is left out
    (set(), ALL, [], []),
    # One row of a platform takes the others with it, but no other platform.
    (
        {"linux-cpu-py314"},
        [one for one in ALL if one not in {"linux-cpu-py314", "linux-cu130-py314"}],
        [],
        ["linux-cpu-py314"],
    ),
    (
        {"mac-cpu-py312", "mac-cpu-py313"},
        [*ALL[:6], "mac-cpu-py314"],
        [],
        ["mac-cpu-py312", "mac-cpu-py313"],
    ),
    # A platform that would lose all its Pythons keeps its failures; the other is still narrowed.
    (
        {"mac-cpu-py312", "mac-cpu-py313", "mac-cpu-py314", "linux-cu130-py314"},
        ["linux-cu130-py312", "linux-cu130-py313", "linux-cpu-py312", "linux-cpu-py313"],
        ["mac-cpu-py312", "mac-cpu-py313", "mac-cpu-py314"],
        ["linux-cu130-py314"],
    ),
    # Its rows may fail for Pythons of their own: together nothing is left.
    (
        {"linux-cu130-py312", "linux-cpu-py313", "linux-cpu-py314"},
        [
            "linux-cu130-py313",
            "linux-cu130-py314",
            "linux-cpu-py312",
            "mac-cpu-py312",
            "mac-cpu-py313",
            "mac-cpu-py314",
        ],
        ["linux-cu130-py312", "linux-cpu-py313", "linux-cpu-py314"],
        [],
    ),
]


@pytest.mark.parametrize(("failing", "stays", "stands", "left_out"), CASES)
def test_narrow(
    failing: set[str], stays: list[str], stands: list[str], left_out: list[str]
) -> None:
    matrix = make_matrix(*ROWS, pythons=PYTHONS)

    assert parts(matrix, failing) == (stays, stands, left_out)


def test_a_search_that_was_given_up_proves_nothing() -> None:
    """Its Python is not left out, and it stands even where another row takes the Python away."""
    matrix = make_matrix("linux-cu130", "linux-cpu", pythons=("3.12", "3.13"))
    given_up = frozenset({"linux-cu130-py313"})

    assert parts(matrix, set(), given_up)[1:] == (["linux-cu130-py313"], [])
    assert parts(matrix, {"linux-cpu-py313"}, given_up) == (
        ["linux-cu130-py312", "linux-cpu-py312"],
        ["linux-cu130-py313"],
        ["linux-cpu-py313"],
    )


def test_two_platforms_of_one_system() -> None:
    """aarch64 is a platform of its own."""
    matrix = make_matrix("linux-cpu", "linux-aarch64-cpu", pythons=("3.12", "3.13"))

    assert parts(matrix, {"linux-aarch64-cpu-py313"}) == (
        ["linux-cpu-py312", "linux-cpu-py313", "linux-aarch64-cpu-py312"],
        [],
        ["linux-aarch64-cpu-py313"],
    )
