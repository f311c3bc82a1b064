"""Patch releases of a Python minor: a few of them stand for all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from lockforge.standards.patches import deciding_patches, narrowing_clauses, python_fits

PYTHONS = [
    # Requires-Python, how many patch releases of 3.12 it admits
    ("", "all"),
    (">=3.8", "all"),
    (">=3.12", "all"),
    (">=3.12.0", "all"),
    ("<4", "all"),
    ("<3.13", "all"),
    ("~=3.8", "all"),
    ("~=3.12.0", "all"),
    ("==3.12.*", "all"),
    (">=3.8,!=3.11.*", "all"),
    (">=3.8,!=3.13.2", "all"),
    (">3.11.99", "all"),
    (">=3.13", "none"),
    ("<3.12", "none"),
    ("<=3.11.9", "none"),
    ("==3.11.*", "none"),
    ("!=3.12.*", "none"),
    ("~=3.13.0", "none"),
    ("<3.12.0", "none"),
    (">=3.12.4", "some"),
    (">3.12", "some"),
    (">3.12.0", "some"),
    ("<=3.12", "some"),
    ("<3.12.4", "some"),
    ("!=3.12.4", "some"),
    ("!=3.12.0", "some"),
    ("==3.12.4", "some"),
    ("==3.12", "some"),
    ("~=3.12.4", "some"),
    (">=3.8,!=3.12.1,!=3.12.2", "some"),
    (">=3.12.4,<3.12.6", "some"),
    # What is no specifier excludes nothing.
    (">=3.8.x", "all"),
    ("three", "all"),
]


@pytest.mark.parametrize(("requires_python", "expected"), PYTHONS)
def test_python_fits(requires_python: str, expected: str) -> None:
    """A Requires-Python admits all, some or none of the patch releases of a minor."""
    assert python_fits(requires_python, (3, 12)) == expected


CLAUSES = st.builds(
    "{}{}".format,
    st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
    st.sampled_from(
        ["3", "3.11", "3.11.0", "3.12", "3.12.0", "3.12.1", "3.12.4", "3.12.10", "3.13", "3.13.2"]
    ),
) | st.sampled_from(["~=3.11", "~=3.12.0", "~=3.12.4", "==3.12.*", "!=3.12.*", "!=3.11.*"])
SPECIFIERS = st.lists(CLAUSES, max_size=3).map(",".join)
ALL_PATCHES = range(30)


def _admitted(specifier: str) -> list[bool]:
    limits = SpecifierSet(specifier)
    return [limits.contains(f"3.12.{patch}") for patch in ALL_PATCHES]


@given(SPECIFIERS)
@settings(max_examples=120, deadline=None, derandomize=True)
def test_every_patch_release(specifier: str) -> None:
    """The answer is the one that asking for each patch release gives."""
    answers = set(_admitted(specifier))
    expected = "some" if len(answers) > 1 else "all" if answers == {True} else "none"
    assert python_fits(specifier, (3, 12)) == expected


@given(st.lists(SPECIFIERS, max_size=3))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_deciding_patches(specifiers: list[str]) -> None:
    """No patch release gives other answers than one of those that stand for all."""
    stand = deciding_patches(specifiers, (3, 12))
    assert list(stand) == sorted(set(stand))
    limits = [SpecifierSet(one) for one in specifiers]
    answers = {tuple(one.contains(f"3.12.{patch}") for one in limits) for patch in stand}
    assert {
        tuple(one.contains(f"3.12.{patch}") for one in limits) for patch in ALL_PATCHES
    } <= answers


@given(SPECIFIERS)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_narrowing_clauses(specifier: str) -> None:
    """The clauses that exclude something of a minor exclude the same as all of them."""
    clauses = narrowing_clauses(SpecifierSet(specifier), [(3, 12)])
    assert _admitted(",".join(clauses)) == _admitted(specifier)


def test_order_of_clauses() -> None:
    """They are sorted, and those that all patch releases satisfy are left out."""
    specifier = SpecifierSet(">=3.8,!=3.12.4,<3.12.9,>=3.11.2")
    assert narrowing_clauses(specifier, [(3, 12)]) == ("!=3.12.4", "<3.12.9")
    assert narrowing_clauses(specifier, [(3, 11), (3, 12)]) == ("!=3.12.4", "<3.12.9", ">=3.11.2")
