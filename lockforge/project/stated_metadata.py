"""``[tool.lockforge.metadata]`` -> the metadata that the user states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from lockforge.model.release import Metadata
from lockforge.project.faults import TABLE, worded
from lockforge.project.requirements import meaningless

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

    from lockforge.project.faults import Faults


def load_metadata(
    config: dict[str, Any], faults: Faults
) -> dict[tuple[NormalizedName, str], Metadata]:
    """Read what is stated of releases whose own metadata only a build would tell."""
    found: dict[tuple[NormalizedName, str], Metadata] = {}
    for key, table in (faults.typed(config, "metadata", dict, TABLE) or {}).items():
        at = f'{TABLE}.metadata."{key}"'
        name, _, version = key.partition("==")
        try:
            project = canonicalize_name(name, validate=True)
            parsed = Version(version)
        except (InvalidName, InvalidVersion):
            faults.add(at, "not a pinned name", 'write "flash-attn==2.8.3" or so')
            continue
        if not isinstance(table, dict):
            faults.add(at, f"expected a table, found {worded(table)}")
            continue
        faults.unknown_keys(table, ("requires-dist", "requires-python"), at)
        requires: list[Requirement] = []
        for number, text in enumerate(faults.strings(table, "requires-dist", at)):
            where = f"{at}.requires-dist[{number}]"
            try:
                requirement = Requirement(text)
            except InvalidRequirement as error:
                faults.add(where, f"not a requirement: {text!r}: {str(error).splitlines()[0]}")
                continue
            marker = requirement.marker
            if marker is not None and (reason := meaningless(marker)):
                faults.add(where, f"a marker without meaning: {marker}: {reason}")
                continue
            requires.append(requirement)
        requires_python = faults.typed(table, "requires-python", str, at)
        try:
            SpecifierSet(requires_python or "")
        except InvalidSpecifier:
            faults.add(f"{at}.requires-python", f"not a version specifier: {requires_python!r}")
        found[project, str(parsed)] = Metadata(
            version=parsed, requires_python=requires_python, requires_dist=tuple(requires)
        )
    return found
