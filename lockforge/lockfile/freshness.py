"""Whether a lock still follows from its project, told without network and without a solve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockforge.errors import LockSelectionError
from lockforge.model.accelerator import names_accelerator
from lockforge.model.matrix import parse_minor
from lockforge.standards.digest import row_digest
from lockforge.standards.pylock import locked_rows
from lockforge.standards.selection import covered_patches, identity, select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.pylock import Pylock

    from lockforge.model.lock import LockedRow
    from lockforge.model.matrix import Matrix, PythonMinor
    from lockforge.model.platforms import Platform


def stale_reasons(
    lock: Pylock,
    data: dict[str, Any],
    *,
    matrix: Matrix,
    requirements: Sequence[str],
    settings: Sequence[str],
    where: str,
) -> tuple[str, ...]:
    """List why the lock does not follow from its inputs; empty for a current lock."""
    rows = {row.name: row for row in locked_rows(data, where=where)}
    if not rows:
        return ("the lock is not by lockforge: it says nothing of rows",)
    table = data["tool"]["lockforge"]
    return (
        *_differences("requirement", table.get("requirements", ()), requirements),
        *_differences("setting", table.get("settings", ()), settings),
        *_row_reasons(rows, matrix),
        *_content_reasons(lock, rows, matrix),
    )


def _differences(kind: str, locked: Sequence[str], wanted: Sequence[str]) -> list[str]:
    missing = sorted(set(wanted) - set(locked))
    surplus = sorted(set(locked) - set(wanted))
    return [f"{kind} {text!r} is not in the lock" for text in missing] + [
        f"{kind} {text!r} is in the lock but no longer asked for" for text in surplus
    ]


def _row_reasons(rows: dict[str, LockedRow], matrix: Matrix) -> list[str]:
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
        pythons = tuple(sorted(map(parse_minor, (*locked.pythons, *locked.left_out))))
        if pythons != matrix.pythons_of(row):
            reasons.append(f"row {row.name!r} is locked for Python {', '.join(locked.pythons)}")
    return reasons


def _content_reasons(lock: Pylock, rows: dict[str, LockedRow], matrix: Matrix) -> list[str]:
    """Find the rows whose selection is not what was locked, such as after a merge or an edit."""
    reasons = []
    own_extras = [extra for extra in lock.extras or () if not names_accelerator(extra)]
    for row in matrix.rows:
        locked = rows.get(row.name)
        if locked is None:
            continue
        hashes: set[str] = set()
        selecting = [locked.extra] if locked.extra else []
        try:
            for python in map(parse_minor, locked.pythons):
                hashes |= _hashes(lock, row.platform, python, [*own_extras, *selecting])
        except (LockSelectionError, KeyError, AttributeError) as error:
            reasons.append(f"row {row.name!r} does not select one set of files: {error}")
            continue
        if row_digest(hashes) != locked.digest:
            reasons.append(f"row {row.name!r} selects other files than were locked")
    return reasons


def _hashes(
    lock: Pylock, platform: Platform, python: PythonMinor, extras: Sequence[str]
) -> set[str]:
    """Give the hashes of all files that hosts of a row install with one Python."""
    groups = lock.dependency_groups or ()
    return {
        sha256
        for patch in covered_patches(lock, platform, python, extras=extras, groups=groups)
        for _, source in select(
            lock, platform, python, extras=extras, groups=groups, patch=patch
        ).values()
        if (sha256 := identity(source)[1]) is not None
    }
