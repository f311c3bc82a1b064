"""TOML text that any reader gives back."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockforge.standards import toml

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    TEXT | st.integers(min_value=-(2**63), max_value=2**63 - 1) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(TEXT, VALUES)
@settings(max_examples=120, deadline=None, derandomize=True)
def test_assignment(name: str, value: Any) -> None:
    """Every value is read back as it was, under every key, from one line."""
    text = toml.assignment(name, value)
    assert tomllib.loads(text) == {name: value}
    assert text.count("\n") == 1


@given(TEXT, st.lists(VALUES, max_size=4))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_lines(name: str, values: list[Any]) -> None:
    """An array is read back as it was, and has a line for each member."""
    text = toml.lines(name, values)
    assert tomllib.loads(text) == {name: values}
    assert text.count("\n") == (len(values) + 2 if values else 1)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("name", "torch", 'name = "torch"\n'),
        ("requires-python", ">=3.12", 'requires-python = ">=3.12"\n'),
        ("a.b", "", '"a.b" = ""\n'),
        ("", 1, '"" = 1\n'),
        ("Größe", True, '"Größe" = true\n'),
        ("text", 'a "quoted" \\ back', 'text = "a \\"quoted\\" \\\\ back"\n'),
        ("text", "tab\tline\nend\r", 'text = "tab\\tline\\nend\\r"\n'),
        ("text", "\x00\x1f\x7f", 'text = "\\u0000\\u001f\\u007f"\n'),
        ("list", ["a", 1, False], 'list = ["a", 1, false]\n'),
        ("hashes", {"sha256": "0"}, 'hashes = { sha256 = "0" }\n'),
        ("mixed", {"a": [{"b": "c"}]}, 'mixed = { a = [{ b = "c" }] }\n'),
    ],
)
def test_form(name: str, value: Any, expected: str) -> None:
    """Keys are bare where they may be, strings are basic, tables are on the line."""
    assert toml.assignment(name, value) == expected


def test_form_of_lines() -> None:
    """One member a line, indented, with a comma after each, so that a diff shows the member."""
    assert toml.lines("extras", ["cpu", "cu130"]) == 'extras = [\n  "cpu",\n  "cu130",\n]\n'
    assert toml.lines("extras", []) == "extras = []\n"
