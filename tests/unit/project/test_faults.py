"""Gathering faults before any is reported."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

import pytest

from lockforge.errors import ConfigError, Fault
from lockforge.project.faults import Faults, nearest, worded
from tests.unit.project.gathered import gathered


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("pythn", ["matrix", "python"], "did you mean 'python'?"),
        ("linx", ["linux", "win"], "did you mean 'linux'?"),
        ("zzz", ["matrix", "python"], "expected one of: matrix, python"),
    ],
)
def test_nearest(word: str, known: list[str], expected: str) -> None:
    """A misspelt word gets its nearest match, another one gets all there are."""
    assert nearest(word, known) == expected


def test_all_at_once() -> None:
    """All faults are raised together, in the order found, each once."""
    faults = Faults()
    faults.raise_if_any("pyproject.toml")
    faults.add("tool.lockforge.python", "second", "do this")
    faults.add("project", "first")
    faults.add("tool.lockforge.python", "second", "do this")
    with pytest.raises(ConfigError, match=r"^2 faults found$") as caught:
        faults.raise_if_any("pyproject.toml")
    assert caught.value.where == "pyproject.toml"
    assert caught.value.faults == (
        Fault(where="tool.lockforge.python", message="second", hint="do this"),
        Fault(where="project", message="first"),
    )


@pytest.mark.parametrize(
    "where",
    [
        "--matrix[0]",
        "command line",
        "project.txt, line 3",
        "tool.txt",
        ".python-version",
        "project/r",
    ],
)
def test_a_fault_of_something_else(where: str) -> None:
    """The document is not named where one of the faults is not of it."""
    faults = Faults()
    faults.add("tool.lockforge.python", "wrong")
    faults.add(where, "wrong too")
    with pytest.raises(ConfigError) as caught:
        faults.raise_if_any("pyproject.toml")
    assert caught.value.where is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (7, "7"),
        (0.5, "0.5"),
        (True, "true"),
        ("a\n", '"a\\n"'),
        (date(2026, 11, 1), "2026-11-01"),
        (datetime(2026, 11, 1, 12, tzinfo=UTC), "2026-11-01T12:00:00+00:00"),
        (time(7, 30), "07:30:00"),
        ([1], "a list"),
        ({"a": 1}, "a table"),
    ],
)
def test_worded(value: object, words: str) -> None:
    """A value is shown as TOML has it."""
    assert worded(value) == words


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ("text", str, None),
        (["a"], list, None),
        ({"a": 1}, dict, None),
        (True, bool, None),
        (3, int, None),
        (3, str, "expected a string, found 3"),
        ("a", list, 'expected a list, found "a"'),
        (["a"], dict, "expected a table, found a list"),
        ("yes", bool, 'expected true or false, found "yes"'),
        (True, int, "expected a number, found true"),
    ],
)
def test_typed(value: Any, kind: type, message: str | None) -> None:
    """A value of another kind is a fault with its key path and gives nothing."""
    faults = Faults()
    found: object = faults.typed({"key": value}, "key", kind, "at")
    if message is None:
        assert (found, gathered(faults)) == (value, ())
    else:
        assert (found, gathered(faults)) == (None, (Fault(where="at.key", message=message),))


def test_missing() -> None:
    """A key that is not there is no fault."""
    faults = Faults()
    assert faults.typed({}, "key", str, "at") is None
    assert faults.strings({}, "key", "at") == []
    assert gathered(faults) == ()


def test_strings() -> None:
    """What is right of a list is taken; each wrong member is named by its place."""
    faults = Faults()
    assert faults.strings({"key": ["a", 1, "b", {}]}, "key", "at") == ["a", "b"]
    assert gathered(faults) == (
        Fault(where="at.key[1]", message="expected a string, found 1"),
        Fault(where="at.key[3]", message="expected a string, found a table"),
    )


def test_unknown_keys() -> None:
    """Every key that is not known is named with the nearest one that is."""
    faults = Faults()
    faults.unknown_keys({"matrix": 1, "matrx": 2, "zzz": 3}, ["matrix", "python"], "tool.x")
    assert gathered(faults) == (
        Fault(where="tool.x.matrx", message="unknown key", hint="did you mean 'matrix'?"),
        Fault(where="tool.x.zzz", message="unknown key", hint="expected one of: matrix, python"),
    )
