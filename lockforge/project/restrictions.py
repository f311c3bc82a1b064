"""Constraints and overrides: what limits or replaces the requirements on a package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from lockforge.standards.markers import conjoin, decide, may_hold
from lockforge.standards.patches import deciding_patches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lockforge.model.matrix import Target
    from lockforge.model.project import ProjectRequirement
    from lockforge.project.faults import Faults
    from lockforge.project.requirements import Reader


def read_list(table: dict[str, Any], key: str, at: str, reader: Reader) -> list[ProjectRequirement]:
    """Read a list of requirements of the configuration."""
    return [
        entry
        for number, text in enumerate(reader.faults.strings(table, key, at))
        if (entry := reader.read(text, f"{at}.{key}[{number}]"))
    ]


def check_constraints(constraints: Iterable[ProjectRequirement], faults: Faults) -> None:
    """Refuse what a constraint cannot say."""
    for entry in constraints:
        requirement = entry.requirement
        if requirement.url is not None:
            faults.add(
                entry.where,
                f"the constraint on {requirement.name} is a direct reference, which would say "
                "where it comes from",
                "require it from there instead, or override it",
            )
        if requirement.extras:
            faults.add(
                entry.where,
                f"the constraint on {requirement.name} has extras, which it cannot bring in",
                "leave the extras out, or require them",
            )


def check_overrides(
    overrides: Sequence[ProjectRequirement], targets: Sequence[Target], faults: Faults
) -> None:
    """Refuse two overrides of one package in one list that hold at once in some Target."""
    for place, entry in enumerate(overrides):
        name = canonicalize_name(entry.requirement.name)
        for other in overrides[:place]:
            if canonicalize_name(other.requirement.name) == name and any(
                _hold_together(entry, other, target) for target in targets
            ):
                faults.add(
                    entry.where,
                    f"{entry.requirement} and {other.requirement} ({other.where}) override one "
                    "package",
                    "leave one of them, or give them markers that exclude each other",
                )


def _hold_together(one: ProjectRequirement, other: ProjectRequirement, target: Target) -> bool:
    platform, python = target.row.platform, target.python
    left = ""
    for marker in (one.requirement.marker, other.requirement.marker):
        decided = True if marker is None else decide(marker, platform, python)
        if decided is False:
            return False
        left = conjoin(left, "" if decided is True else decided)
    return any(
        may_hold(left, platform, python, patch) for patch in deciding_patches([left], python)
    )


def overriding(
    stated: Sequence[ProjectRequirement], configured: Sequence[ProjectRequirement]
) -> list[ProjectRequirement]:
    """Join two lists, where *stated* wins for a package that both override."""
    names = {canonicalize_name(entry.requirement.name) for entry in stated}
    return [
        *stated,
        *(entry for entry in configured if canonicalize_name(entry.requirement.name) not in names),
    ]
