"""Lock -> pylock.toml text (PEP 751), and back to what the text itself tells.

Validation of the format is `packaging.pylock`'s.
"""

from __future__ import annotations

import logging
import re
import tomllib
from typing import Any

from packaging.pylock import Pylock, PylockUnsupportedVersionError, PylockValidationError
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name

from lockforge.errors import LockSyntaxError
from lockforge.model.accelerator import Accelerator
from lockforge.model.lock import (
    FORMAT,
    Dependency,
    Lock,
    LockedFile,
    LockedPackage,
    LockedRow,
)
from lockforge.model.python import parse_minor
from lockforge.standards import toml

# What `packaging` logs of a newer minor version is ours to say.
logging.getLogger("packaging.pylock").addHandler(logging.NullHandler())

_NEWER_MINOR = re.compile(r"""^lock-version\s*=\s*["'](1\.[1-9][0-9]*)["']""", re.MULTILINE)
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |$)", re.MULTILINE)


def render_pylock(lock: Lock) -> str:
    """Write the lock; the same Lock gives the same bytes."""
    text = toml.assignment("lock-version", "1.0")
    text += toml.lines("environments", lock.environments)
    text += toml.assignment("requires-python", lock.requires_python)
    if lock.extras:
        text += toml.lines("extras", lock.extras)
    if lock.dependency_groups:
        text += toml.lines("dependency-groups", lock.dependency_groups)
        text += toml.lines("default-groups", lock.default_groups)
    text += toml.assignment("created-by", "lockforge")
    if not lock.packages:
        # PEP 751: the key is required.
        text += toml.lines("packages", [])
    for package in lock.packages:
        text += "\n[[packages]]\n" + _render_package(package)
    text += "\n[tool.lockforge]\n" + toml.assignment("format", FORMAT)
    text += toml.lines("requirements", lock.requirements)
    text += toml.lines("settings", lock.settings)
    if lock.additions:
        text += toml.lines("additions", lock.additions)
    if lock.notes:
        text += toml.lines("notes", lock.notes)
    for row in lock.rows:
        text += f"\n[tool.lockforge.rows.{toml.key(row.name)}]\n" + _render_row(row)
    return text


def _render_package(package: LockedPackage) -> str:
    text = toml.assignment("name", package.name)
    if package.version is not None:
        text += toml.assignment("version", package.version)
    if package.marker:
        text += toml.assignment("marker", package.marker)
    if package.requires_python:
        text += toml.assignment("requires-python", package.requires_python)
    if package.dependencies:
        text += toml.lines("dependencies", [_dependency(one) for one in package.dependencies])
    if package.index:
        text += toml.assignment("index", package.index)
    if package.directory:
        text += toml.assignment("directory", _directory(package.directory, package.editable))
    if package.archive:
        text += toml.assignment("archive", _archive(package.archive))
    if package.sdist:
        text += toml.assignment("sdist", _file(package.sdist))
    if package.wheels:
        text += toml.lines("wheels", [_file(wheel) for wheel in package.wheels])
    return text


def _dependency(dependency: Dependency) -> dict[str, toml.Value]:
    keys = {
        "name": dependency.name,
        "version": dependency.version,
        "marker": dependency.marker,
        "index": dependency.index,
    }
    return {key: value for key, value in keys.items() if value is not None}


def _file(file: LockedFile) -> dict[str, toml.Value]:
    entry: dict[str, toml.Value] = {"name": file.name}
    if file.url is not None:
        entry["url"] = file.url
    if file.path is not None:
        entry["path"] = file.path
    if file.size is not None:
        entry["size"] = file.size
    if file.sha256 is not None:
        entry["hashes"] = {"sha256": file.sha256}
    return entry


def _archive(file: LockedFile) -> dict[str, toml.Value]:
    entry = _file(file)
    # PEP 751: an archive's name is told by its address.
    del entry["name"]
    return entry


def _directory(file: LockedFile, editable: bool) -> dict[str, toml.Value]:  # noqa: FBT001
    assert file.path is not None
    entry: dict[str, toml.Value] = {"path": file.path}
    return entry | {"editable": True} if editable else entry


def _render_row(row: LockedRow) -> str:
    text = toml.assignment("platform", row.platform)
    text += toml.assignment("accelerator", row.accelerator)
    text += toml.assignment("python", row.pythons)
    if row.left_out:
        text += toml.assignment("python-left-out", row.left_out)
    if row.floor:
        text += toml.assignment("floor", row.floor)
    if row.extra:
        text += toml.assignment("extra", row.extra)
    if row.torch:
        text += toml.assignment("torch", row.torch)
    text += toml.assignment("index", row.index)
    if row.min_driver:
        text += toml.assignment("min-driver", row.min_driver)
    if row.gpu_architectures:
        text += toml.assignment("gpu-architectures", row.gpu_architectures)
    if row.gpu_ptx:
        text += toml.assignment("gpu-ptx", row.gpu_ptx)
    if row.judged_by:
        text += toml.assignment("gpu-architectures-of-torch", row.judged_by)
    text += toml.assignment("packages", row.packages)
    text += toml.assignment("size", row.size)
    if row.unsized:
        text += toml.assignment("files-without-size", row.unsized)
    return text + toml.assignment("digest", row.digest)


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


def parse_pylock(text: str, *, where: str) -> tuple[Pylock, dict[str, Any]]:
    """Read a pylock file as (its validated form, its plain data).

    Raises LockSyntaxError with the line of merge conflict markers, of a TOML fault, or the address
    of what PEP 751 does not allow.
    """
    refuse_conflicts(text, where=where)
    try:
        data = tomllib.loads(text)
        return Pylock.from_dict(data), data
    except tomllib.TOMLDecodeError as error:
        raise LockSyntaxError(
            f"the lock is not TOML: {error}",
            where=where,
            hint="restore it from version control, or delete it and run `lockforge lock`",
        ) from error
    except PylockUnsupportedVersionError as error:
        raise LockSyntaxError(str(error), where=where, hint="update lockforge") from error
    except PylockValidationError as error:
        raise LockSyntaxError(
            f"the lock is not what PEP 751 says: {error}",
            where=where,
            hint="restore it from version control, or delete it and run `lockforge lock`",
        ) from error


def locked_rows(data: dict[str, Any], *, where: str) -> tuple[LockedRow, ...]:
    """Read the rows of ``[tool.lockforge]``; empty for a lock by another tool.

    Raises LockSyntaxError for a table of a later format, or one that is damaged.
    """
    table = data.get("tool", {}).get("lockforge")
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
        raise LockSyntaxError(
            f"[tool.lockforge] is damaged: {_damage(error)}",
            where=where,
            hint="restore the lock from version control, or delete it and run `lockforge lock`",
        ) from error


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
    for text in table.get("requirements", []):
        try:
            required_name(text)
        except InvalidRequirement as error:
            raise _DamagedListError(f"{text!r} is not a requirement") from error


def required_name(text: str) -> NormalizedName | None:
    """Give the package that a line of ``requirements`` names; None for one of a single row.

    Raises InvalidRequirement.
    """
    # A line is `<row>: <requirement>`, or a requirement with its extra or group in brackets.
    if ": " in text:
        return None
    return canonicalize_name(Requirement(text.partition(" [")[0]).name)
