"""Gathering every fault of a document before any is reported."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, TypeVar

from lockforge.errors import ConfigError, Fault

if TYPE_CHECKING:
    from collections.abc import Iterable

_Value = TypeVar("_Value")

_NAMES = {str: "a string", list: "a list", dict: "a table", bool: "true or false", int: "a number"}


def nearest(word: str, known: Iterable[str]) -> str:
    """Word a hint: the nearest of *known*, else all of them."""
    options = list(known)
    close = difflib.get_close_matches(word, options, n=1)
    return f"did you mean {close[0]!r}?" if close else f"expected one of: {', '.join(options)}"


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
        """Raise ConfigError with all of them."""
        if self._faults:
            raise ConfigError(self._faults, where=where)

    def typed(self, table: dict[str, Any], key: str, kind: type[_Value], at: str) -> _Value | None:
        """Take *key* of *table* where it is of *kind*; a wrong kind is a fault and gives None."""
        value = table.get(key)
        if value is None:
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.add(f"{at}.{key}", f"expected {_NAMES[kind]}, found {value!r}")
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
                self.add(f"{at}.{key}[{number}]", f"expected a string, found {value!r}")
        return found

    def unknown_keys(self, table: dict[str, Any], known: Iterable[str], at: str) -> None:
        """Report every key that is not one of *known*, with the nearest that is."""
        options = list(known)
        for key in table:
            if key not in options:
                self.add(f"{at}.{key}", "unknown key", nearest(key, options))
