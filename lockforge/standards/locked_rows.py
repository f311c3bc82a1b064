"""The rows that ``[tool.lockforge]`` of a lock tells of, without a look at its packages.

A host is judged by these alone, which needs none of what reading the packages imports.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from lockforge.errors import LockSyntaxError
from lockforge.model.accelerator import Accelerator
from lockforge.model.lock import FORMAT, LockedRow
from lockforge.model.python import parse_minor

_NEWER_MINOR = re.compile(r"""^lock-version\s*=\s*["'](1\.[1-9][0-9]*)["']""", re.MULTILINE)
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |$)", re.MULTILINE)
# PEP 751: pylock.toml, or pylock.<name>.toml with a name that has no dots.
_NAME = re.compile(r"pylock(\.[^.]+)?\.toml")
RESTORE = "restore it from version control, or delete it and run `lockforge lock`"


def is_lock_name(name: str) -> bool:
    """Whether other tools read a file of this *name* as a lock."""
    return _NAME.fullmatch(name) is not None


def newer_minor(text: str) -> str | None:
    """Give a lock's version where it is a newer minor one, which PEP 751 wants to be warned of."""
    match = _NEWER_MINOR.search(text)
    return match[1] if match else None


def refuse_conflicts(text: str, *, where: str) -> None:
    """Raise LockSyntaxError for a lock with merge conflict markers, naming the first's line."""
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        raise LockSyntaxError(
            "the lock holds unresolved merge conflict markers",
            where=f"{where}, line {line}",
            hint="take either side of the conflict (git checkout --ours), "
            "then run `lockforge lock`",
        )


def parse_toml(text: str, *, where: str) -> dict[str, Any]:
    """Read a lock as no more than TOML.

    Raises LockSyntaxError with the line of merge conflict markers or of a TOML fault.
    """
    refuse_conflicts(text, where=where)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"the lock is not TOML: {error}"
        raise LockSyntaxError(message, where=where, hint=RESTORE) from error


def parse_lock(text: str, *, where: str) -> dict[str, Any]:
    """Read a lock for what stands beside its packages.

    Raises LockSyntaxError as `parse_toml` does, and for a version of the specification that is
    not known.
    """
    data = parse_toml(text, where=where)
    version = data.get("lock-version")
    if not isinstance(version, str):
        raise LockSyntaxError(
            "the lock is not what PEP 751 says: it has no lock-version", where=where, hint=RESTORE
        )
    if version.partition(".")[0] != "1":
        raise LockSyntaxError(
            f"the lock is of lock-version {version}, and 1 is known",
            where=where,
            hint="update lockforge",
        )
    return data


def damaged(what: str, *, where: str) -> LockSyntaxError:
    """Give the error for our table in a lock that somebody edited."""
    return LockSyntaxError(
        f"[tool.lockforge] is damaged: {what}",
        where=where,
        hint=RESTORE.replace("it", "the lock", 1),
    )


def locked_rows(data: dict[str, Any], *, where: str) -> tuple[LockedRow, ...]:
    """Read the rows of ``[tool.lockforge]``; empty for a lock by another tool.

    Raises LockSyntaxError for a table of a later format, or one that is damaged.
    """
    tools = data.get("tool", {})
    if not isinstance(tools, dict):
        raise damaged("`tool` is not a table", where=where)
    table = tools.get("lockforge")
    if table is None:
        return ()
    try:
        _check_lists(table)
        if table["format"] > FORMAT:
            raise LockSyntaxError(
                f"the lock's [tool.lockforge] is of format {table['format']}, newer than {FORMAT}",
                where=where,
                hint="update lockforge",
            )
        return tuple(
            _checked(
                LockedRow(
                    name=name,
                    platform=row["platform"],
                    accelerator=row["accelerator"],
                    pythons=tuple(row["python"]),
                    left_out=tuple(row.get("python-left-out", ())),
                    floor=row.get("floor"),
                    extra=row.get("extra"),
                    torch=row.get("torch"),
                    index=row["index"],
                    packages=row["packages"],
                    digest=row["digest"],
                    size=row["size"],
                    unsized=row.get("files-without-size", 0),
                    min_driver=row.get("min-driver"),
                    gpu_architectures=tuple(row.get("gpu-architectures", ())),
                    gpu_ptx=tuple(row.get("gpu-ptx", ())),
                    judged_by=row.get("gpu-architectures-of-torch"),
                )
            )
            for name, row in table["rows"].items()
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise damaged(_damage(error), where=where) from error


def own_rows(data: dict[str, Any], *, where: str) -> tuple[LockedRow, ...]:
    """Read the rows as `locked_rows` does; raises LockSyntaxError for a lock that has none."""
    rows = locked_rows(data, where=where)
    if not rows:
        raise LockSyntaxError(
            "the lock is by another tool and names no rows",
            where=where,
            hint="make one with `lockforge lock`",
        )
    return rows


class _DamagedListError(ValueError):
    """A list that cannot be read; says which."""


def _damage(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"the key {error.args[0]} is missing"
    if isinstance(error, _DamagedListError):
        return str(error)
    return "a value in it is not what it must be"


def _checked(row: LockedRow) -> LockedRow:
    """Give *row* back if its platform, floor, accelerator and Pythons can be read."""
    _ = row.placed, Accelerator(row.accelerator), [parse_minor(text) for text in row.pythons]
    return row


def _check_lists(table: dict[str, Any]) -> None:
    """Raise ValueError unless the lists of the table can be read."""
    for key in ("requirements", "settings", "additions", "notes"):
        values = table.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise _DamagedListError(f"{key} is not a list of strings")
