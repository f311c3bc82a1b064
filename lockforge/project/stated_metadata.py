"""``[tool.lockforge.metadata]`` -> the metadata that the user states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from lockforge.model.release import Metadata

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

    from lockforge.project.faults import Faults

_TABLE = "tool.lockforge"


def load_metadata(
    config: dict[str, Any], faults: Faults
) -> dict[tuple[NormalizedName, str], Metadata]:
    """Read what is stated of releases whose own metadata only a build would tell."""
    found: dict[tuple[NormalizedName, str], Metadata] = {}
    for key, table in (faults.typed(config, "metadata", dict, _TABLE) or {}).items():
        at = f'{_TABLE}.metadata."{key}"'
        name, _, version = key.partition("==")
        try:
            parsed = Version(version)
        except InvalidVersion:
            faults.add(at, "not a pinned name", 'write "flash-attn==2.8.3" or so')
            continue
        if not isinstance(table, dict):
            faults.add(at, f"expected a table, found {table!r}")
            continue
        faults.unknown_keys(table, ("requires-dist", "requires-python"), at)
        requires: list[Requirement] = []
        for number, text in enumerate(faults.strings(table, "requires-dist", at)):
            try:
                requires.append(Requirement(text))
            except InvalidRequirement as error:
                where = f"{at}.requires-dist[{number}]"
                faults.add(where, f"not a requirement: {text!r}: {str(error).splitlines()[0]}")
        requires_python = faults.typed(table, "requires-python", str, at)
        try:
            SpecifierSet(requires_python or "")
        except InvalidSpecifier:
            faults.add(f"{at}.requires-python", f"not a version specifier: {requires_python!r}")
        found[canonicalize_name(name), str(parsed)] = Metadata(
            version=parsed, requires_python=requires_python, requires_dist=tuple(requires)
        )
    return found
