"""Canonical TOML text for a lock: one value a line where a diff should show one value.

Written by hand, and not by a TOML library, because the bytes of a lock must be the same whatever
version of a library wrote them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Value: TypeAlias = "str | int | bool | Sequence[Value] | Mapping[str, Value]"

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SPECIAL = re.compile(r'[\\"\x00-\x1f\x7f]')


def string(text: str) -> str:
    """Write a basic string."""
    escaped = _SPECIAL.sub(lambda m: _ESCAPES.get(m[0], f"\\u{ord(m[0]):04x}"), text)
    return f'"{escaped}"'


def key(text: str) -> str:
    """Write a key, quoted only where it must be."""
    return text if _BARE_KEY.fullmatch(text) else string(text)


def inline(value: Value) -> str:
    """Write a value on one line."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if hasattr(value, "items"):
        pairs = ", ".join(f"{key(name)} = {inline(member)}" for name, member in value.items())
        return f"{{ {pairs} }}"
    return f"[{', '.join(map(inline, value))}]"


def assignment(name: str, value: Value) -> str:
    """Write ``name = value`` with its line end."""
    return f"{key(name)} = {inline(value)}\n"


def lines(name: str, values: Sequence[Value]) -> str:
    """Write an array with one member a line, so that a diff shows the member."""
    if not values:
        return f"{key(name)} = []\n"
    members = "".join(f"  {inline(value)},\n" for value in values)
    return f"{key(name)} = [\n{members}]\n"
