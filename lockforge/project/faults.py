"""Gathering every fault of a document before any is reported."""

from __future__ import annotations

import difflib
import re
from datetime import date, time
from typing import TYPE_CHECKING, Any, TypeVar

from lockforge.errors import ConfigError, Fault
from lockforge.standards import toml

if TYPE_CHECKING:
    from collections.abc import Iterable

TABLE = "tool.lockforge"
"""The key path of the table that most of what a user configures stands in."""

_Value = TypeVar("_Value")

# Top-level keys and tables of pyproject.toml whose faults there are.
_KEY_PATH = re.compile(
    r"project(\.(name|version|requires-python|dependencies|optional-dependencies)\b.*)?"
    r"|tool(\.lockforge\b.*)?|dependency-groups\b.*",
    re.DOTALL,
)
_NAMES = {str: "a string", list: "a list", dict: "a table", bool: "true or false", int: "a number"}


def nearest(word: str, known: Iterable[str], examples: Iterable[str] = ()) -> str:
    """Word a hint: the nearest of *known*, else *examples* of many, else all of them."""
    options = {option.lower(): option for option in known}
    close = difflib.get_close_matches(word.lower(), options, n=1)
    if close:
        return f"did you mean {options[close[0]]!r}?"
    some = list(examples)
    if some:
        return f"expected one such as {', '.join(some)}"
    return f"expected one of: {', '.join(options.values())}"


def worded(value: object) -> str:
    """Write a value of a TOML document as it stands there; a list or a table only as such."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml.string(value)
    return value.isoformat() if isinstance(value, date | time) else str(value)


class Faults:
    """The faults found so far, in the order found."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def add(self, where: str, message: str, hint: str | None = None) -> None:
        fault = Fault(where=where, message=message, hint=hint)
        if fault not in self._faults:
            self._faults.append(fault)

    def __bool__(self) -> bool:
        return bool(self._faults)

    def raise_if_any(self, where: str) -> None:
        """Raise ConfigError with all of them, in the document *where* if all are of it."""
        if self._faults:
            own = all(_KEY_PATH.fullmatch(fault.where) for fault in self._faults)
            raise ConfigError(self._faults, where=where if own else None)

    def typed(self, table: dict[str, Any], key: str, kind: type[_Value], at: str) -> _Value | None:
        """Take *key* of *table* where it is of *kind*; a wrong kind is a fault and gives None."""
        value = table.get(key)
        if value is None:
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            where = f"{at}.{key}" if at else key
            self.add(where, f"expected {_NAMES[kind]}, found {worded(value)}")
            return None
        return value

    def strings(self, table: dict[str, Any], key: str, at: str) -> list[str]:
        """Take a list of strings; a wrong kind is a fault and gives what is right of it."""
        values = self.typed(table, key, list, at) or []
        found: list[str] = []
        for number, value in enumerate(values):
            if isinstance(value, str):
                found.append(value)
            else:
                self.add(f"{at}.{key}[{number}]", f"expected a string, found {worded(value)}")
        return found

    def unknown_keys(self, table: dict[str, Any], known: Iterable[str], at: str) -> None:
        """Report every key that is not one of *known*, with the nearest that is."""
        options = list(known)
        for key in table:
            if key not in options:
                self.add(f"{at}.{key}", "unknown key", nearest(key, options))
