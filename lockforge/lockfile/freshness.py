"""Whether a lock still follows from its project, told without network and without a solve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockforge.errors import LockSelectionError
from lockforge.model.accelerator import names_accelerator
from lockforge.model.python import parse_minor
from lockforge.standards.digest import row_digest
from lockforge.standards.locked_rows import locked_rows
from lockforge.standards.selection import identity, select_possible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.pylock import Pylock

    from lockforge.model.lock import LockedRow
    from lockforge.model.matrix import Matrix
    from lockforge.model.platforms import Platform
    from lockforge.model.project import Project
    from lockforge.model.python import PythonMinor


def stale_reasons(
    lock: Pylock,
    data: dict[str, Any],
    *,
    project: Project,
    requirements: Sequence[str],
    settings: Sequence[str],
    where: str,
) -> tuple[str, ...]:
    """List why the lock does not follow from its inputs; empty for a current lock.

    *requirements* and *settings* are the texts of what *project* asks for and is decided by.
    """
    rows = {row.name: row for row in locked_rows(data, where=where)}
    if not rows:
        return ("the lock is not by lockforge: it says nothing of rows",)
    table = data["tool"]["lockforge"]
    return (
        *_differences("requirement", table.get("requirements", ()), requirements),
        *_differences("setting", table.get("settings", ()), settings),
        *_differences("extra", _own_extras(lock), project.extras),
        *_differences("group", lock.dependency_groups or (), project.groups),
        *_row_reasons(rows, project),
        *_content_reasons(lock, rows, project.matrix),
    )


def is_altered(lock: Pylock, data: dict[str, Any], *, matrix: Matrix, where: str) -> bool:
    """Whether the lock's content is not what was locked, as after a merge or an edit.

    Its hashes then prove nothing.
    """
    rows = {row.name: row for row in locked_rows(data, where=where)}
    return bool(_content_reasons(lock, rows, matrix))


def _differences(kind: str, locked: Sequence[str], wanted: Sequence[str]) -> list[str]:
    missing = sorted(set(wanted) - set(locked))
    surplus = sorted(set(locked) - set(wanted))
    return [f"{kind} {text!r} is not in the lock" for text in missing] + [
        f"{kind} {text!r} is in the lock but no longer asked for" for text in surplus
    ]


def _own_extras(lock: Pylock) -> list[str]:
    """List the project's extras, which are not those that select a row."""
    return [extra for extra in lock.extras or () if not names_accelerator(extra)]


def _row_reasons(rows: dict[str, LockedRow], project: Project) -> list[str]:
    matrix = project.matrix
    reasons = [
        f"row {row.name!r} is not in the lock" for row in matrix.rows if row.name not in rows
    ]
    wanted = {row.name for row in matrix.rows}
    reasons += [
        f"row {name!r} is in the lock but no longer asked for"
        for name in sorted(rows)
        if name not in wanted
    ]
    for row in matrix.rows:
        locked = rows.get(row.name)
        if locked is None:
            continue
        # A Python may be left out only while nobody states it.
        left_out = locked.left_out if project.pythons_derived else ()
        pythons = tuple(sorted(map(parse_minor, (*locked.pythons, *left_out))))
        if pythons != matrix.pythons_of(row):
            reasons.append(f"row {row.name!r} is locked for Python {', '.join(locked.pythons)}")
    return reasons


def _content_reasons(lock: Pylock, rows: dict[str, LockedRow], matrix: Matrix) -> list[str]:
    """Find the rows whose selection is not what was locked, such as after a merge or an edit."""
    reasons = []
    own_extras = _own_extras(lock)
    for row in matrix.rows:
        locked = rows.get(row.name)
        if locked is None:
            continue
        hashes: set[str] = set()
        selecting = [locked.extra] if locked.extra else []
        try:
            for python in map(parse_minor, locked.pythons):
                hashes |= _hashes(lock, row.platform, python, [*own_extras, *selecting])
        except LockSelectionError as error:
            reasons.append(f"row {row.name!r} does not select one set of files: {error}")
            continue
        if row_digest(hashes) != locked.digest:
            reasons.append(f"row {row.name!r} selects other files than were locked")
    return reasons


def _hashes(
    lock: Pylock, platform: Platform, python: PythonMinor, extras: Sequence[str]
) -> set[str]:
    """Give the hashes of all files that hosts of a row may install with one Python."""
    groups = lock.dependency_groups or ()
    selected = select_possible(lock, platform, python, extras=extras, groups=groups)
    return {
        sha256 for _, source in selected.values() if (sha256 := identity(source)[1]) is not None
    }
