"""What a lock says of its rows, read without its packages."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.pylock import is_valid_pylock_path

from lockforge.errors import LockSyntaxError
from lockforge.standards.locked_rows import is_lock_name, locked_rows, parse_lock


@pytest.mark.parametrize(
    "name",
    [
        "pylock.toml",
        "pylock.dev.toml",
        "pylock.a-b_c.toml",
        "pylock.a.b.toml",
        "pylock..toml",
        "pylock.toml.bak",
        "Pylock.toml",
        "my.pylock.toml",
        "lock.toml",
        "pylock",
    ],
)
def test_names_of_locks(name: str) -> None:
    """They are those that packaging takes for one."""
    assert is_lock_name(name) == is_valid_pylock_path(Path(name))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lock-version = '2.0'\n", "lock-version 2.0"),
        ("lock-version = 1\n", "no lock-version"),
        ("[[packages]]\n", "no lock-version"),
        ("lock-version = \n", "not TOML"),
        ("<<<<<<< ours\n", "conflict"),
        ("lock-version = '1.0'\ntool = 3\n", "`tool` is not a table"),
        ("lock-version = '1.0'\n[tool]\nlockforge = 3\n", "damaged"),
        ("lock-version = '1.0'\n[tool.lockforge]\nformat = 99\n", "newer than"),
    ],
)
def test_what_is_no_lock(text: str, message: str) -> None:
    """Each has an error that says what to do."""
    with pytest.raises(LockSyntaxError, match=message) as raised:
        locked_rows(parse_lock(text, where="pylock.toml"), where="pylock.toml")
    assert raised.value.hint


def test_a_lock_by_another_tool() -> None:
    """It has no rows, which is no fault."""
    assert locked_rows(parse_lock("lock-version = '1.1'\n", where=""), where="") == ()
