"""Tables of a document that people may have edited, read with all faults gathered."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lockforge.errors import Fault

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a string must look like."""

    pattern: re.Pattern[str]
    example: str


@dataclass(slots=True, kw_only=True)
class Table:
    """One table of a document with its key path, which is empty for the whole document.

    What is wrong is kept as a fault and read as something empty, so that reading goes on.
    """

    values: dict[Any, Any]
    at: str
    faults: list[Fault]
    _known: list[str] = field(default_factory=list)

    def text(self, key: str, form: Form | None = None, *, default: str | None = None) -> str:
        """Take a string, which must be there unless there is a *default*."""
        if key not in self.values and default is not None:
            self._known.append(key)
            return default
        return self._string(self._take(key), key, form) or ""

    def optional(self, key: str, form: Form | None = None) -> str | None:
        """Take a string, None where it is not known."""
        value = self._take(key, required=False)
        return None if value is None else self._string(value, key, form)

    def one_of(self, key: str, options: tuple[str, ...], *, default: str | None = None) -> Any:
        """Take one of some words, which must be there unless there is a *default*."""
        if key not in self.values and default is not None:
            self._known.append(key)
            return default
        value = self._take(key)
        return None if value is None else self._word(value, options, key)

    def optional_one_of(self, key: str, options: tuple[str, ...]) -> Any:
        """Take one of some words, None where it is not known."""
        value = self._take(key, required=False)
        return None if value is None else self._word(value, options, key)

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        """Take true or false, which must be there unless there is a *default*."""
        if key not in self.values and default is not None:
            self._known.append(key)
            return default
        return bool(self._typed(self._take(key), bool, "true or false", key))

    def optional_flag(self, key: str) -> bool | None:
        """Take true or false, None where it is not known."""
        value = self._take(key, required=False)
        return None if value is None else self._typed(value, bool, "true or false", key)

    def number(self, key: str, options: tuple[int, ...]) -> int:
        """Take one of some whole numbers, which must be there."""
        value = self._typed(self._take(key), int, "a whole number", key)
        if value is not None and value not in options:
            self.fault(key, f"expected {' or '.join(map(str, options))}, found {value}")
        return value or 0

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of strings, empty where there is none."""
        values = self._typed(self._take(key, required=False), list, "a list", key) or []
        strings = [self._string(one, f"{key}[{number}]") for number, one in enumerate(values)]
        return tuple(one for one in strings if one is not None)

    def table(self, key: str, *, required: bool = False) -> Table | None:
        """Take a table; unless it is *required*, None where there is none."""
        value = self._take(key, required=required)
        return self._table(value, key)

    def tables(self, key: str, *, required: bool = False) -> Iterator[Table]:
        """Take a list of tables; unless it is *required*, empty where there is none."""
        values = self._typed(self._take(key, required=required), list, "a list", key) or []
        for number, value in enumerate(values):
            where = f"{key}[{number}]"
            if value is None:
                self.fault(where, "expected a table, found null")
            elif (table := self._table(value, where)) is not None:
                yield table

    def close(self) -> None:
        """Find a fault in every key that was not asked for."""
        for key in self.values:
            if key not in self._known:
                close = difflib.get_close_matches(str(key), self._known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else None
                self.fault(str(key), "unknown key", hint)

    def fault(self, key: str, message: str, hint: str | None = None) -> None:
        self.faults.append(Fault(where=self._path(key), message=message, hint=hint))

    def _path(self, key: str) -> str:
        return f"{self.at}.{key}" if self.at else key

    def _take(self, key: str, *, required: bool = True) -> Any:
        self._known.append(key)
        value = self.values.get(key)
        if value is None and required:
            self.fault(key, "expected a value, found null" if key in self.values else "is missing")
        return value

    def _typed(self, value: Any, kind: type, name: str, key: str) -> Any:
        """Give a value of *kind*, None where it is of another or was not there to be taken."""
        if value is None:
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            # YAML reads 3.10 as the number 3.1.
            quotes = name == "a string" and isinstance(value, int | float)
            self.fault(
                key,
                f"expected {name}, found {_worded(value)}",
                "put it in quotes" if quotes and not isinstance(value, bool) else None,
            )
            return None
        return value

    def _word(self, value: Any, options: tuple[str, ...], key: str) -> Any:
        if value not in options:
            self.fault(key, f"expected one of {', '.join(options)}, found {_worded(value)}")
        return value

    def _string(self, value: Any, key: str, form: Form | None = None) -> str | None:
        text: str | None = self._typed(value, str, "a string", key)
        if text is not None and form is not None and form.pattern.fullmatch(text) is None:
            self.fault(key, f"expected one such as {form.example}, found {_worded(text)}")
        return text

    def _table(self, value: Any, key: str) -> Table | None:
        values = self._typed(value, dict, "a table", key)
        if values is None:
            return None
        return Table(values=values, at=self._path(key), faults=self.faults)


def _worded(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, str) else str(value)
