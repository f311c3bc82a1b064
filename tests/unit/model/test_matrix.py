"""Rows, Targets, and the order of a Matrix."""

from __future__ import annotations

import itertools

import pytest

from lockforge.model.matrix import Matrix
from lockforge.model.python import PythonMinor, parse_minor, render_minor, render_python
from tests.unit.fakes import make_matrix, make_row, make_target


@pytest.mark.parametrize(
    ("text", "python"), [("3.9", (3, 9)), ("3.12", (3, 12)), ("3.12.3", (3, 12, 3))]
)
def test_python(text: str, python: PythonMinor) -> None:
    """A Python reads back as it was written, its minor without the patch release."""
    assert parse_minor(text) == python
    assert render_python(python) == text
    assert render_minor(python) == ".".join(text.split(".")[:2])


@pytest.mark.parametrize("text", ["", "3", "3.12.1.2", "3.x", "three"])
def test_not_a_minor(text: str) -> None:
    """Anything but two or three numbers is refused."""
    with pytest.raises(ValueError, match=r".+"):
        parse_minor(text)


def test_target_id() -> None:
    """A Target is named by its row as the user wrote it and its Python."""
    assert make_target("linux-x86_64-cu130", "3.12").id == "linux-x86_64-cu130-py312"


def test_row_identity() -> None:
    """Two spellings of one platform are one row."""
    assert make_row("linux-x86_64-cpu").identity == make_row("linux-cpu").identity


def test_order() -> None:
    """Rows go by platform, then preference of the accelerator, whatever order they came in."""
    expected = ["linux-cu130", "linux-cu126", "linux-cpu", "win-cpu", "mac-cpu"]
    found = {
        tuple(row.name for row in make_matrix(*names).rows)
        for names in itertools.permutations(expected)
    }
    assert found == {tuple(expected)}


def test_pythons() -> None:
    """Pythons are sorted by number and known for the whole matrix and for each row."""
    matrix = Matrix(
        targets=(
            make_target("mac-cpu", "3.12"),
            make_target("linux-cpu", "3.10"),
            make_target("linux-cpu", "3.9"),
        )
    )
    assert matrix.pythons == ((3, 9), (3, 10), (3, 12))
    assert [matrix.pythons_of(row) for row in matrix.rows] == [((3, 9), (3, 10)), ((3, 12),)]
