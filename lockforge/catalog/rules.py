"""Rules: requirements that hold for versions of a package although its metadata lacks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.version import Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A requirement that holds for versions of a package although its metadata lacks it."""

    package: NormalizedName
    versions: SpecifierSet
    requires: str
    """A requirement; ``{minor}`` stands for ``X.Y`` of the package's version."""
    when_present: bool
    """Whether it only limits a package that is required anyway."""
    compiled: bool
    """Whether it holds for wheels of one platform alone, which have compiled code."""
    reason: str
    source: str

    def applies(self, name: str, version: Version, filename: str) -> bool:
        return (
            name == self.package
            and not (self.compiled and filename.endswith("-any.whl"))
            and self.versions.contains(version.public, prereleases=True)
        )

    def parsed(self, version: Version) -> Requirement:
        """Give the requirement as it stands for one version of the package."""
        return Requirement(self.requires.format(minor=f"{version.major}.{version.minor}"))


def series_of(fact: dict[str, Any]) -> list[tuple[str, str | None]]:
    """List the versions that the rules of one entry hold for, each with its pair."""
    if "pairs" in fact:
        return [(f"=={own}.*", pair) for own, pair in fact["pairs"].items()]
    return [(fact["versions"], None)]


def fill_pair(requires: str, pair: str | None) -> str:
    """Put a pair's other half into a requirement, and leave ``{minor}`` in it."""
    return requires if pair is None else requires.format(pair=pair, minor="{minor}")


def read_rules(fact: dict[str, Any]) -> Iterator[Rule]:
    """Read one entry of `rules`: one rule, or one for each of its pairs."""
    for versions, pair in series_of(fact):
        yield Rule(
            package=canonicalize_name(fact["package"]),
            versions=SpecifierSet(versions),
            requires=fill_pair(fact["requires"], pair),
            when_present=fact.get("when-present", False),
            compiled=fact.get("compiled", False),
            reason=fact["reason"],
            source=fact["source"],
        )
