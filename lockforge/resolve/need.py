"""What resolvelib passes around: needs, candidates, and their identifiers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from packaging.utils import canonicalize_name

from lockforge.model.release import UNKNOWN_VERSION
from lockforge.standards.addresses import shown_address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet
    from packaging.utils import NormalizedName
    from packaging.version import Version

    from lockforge.model.index import Index
    from lockforge.model.release import DistributionFile
    from lockforge.model.resolution import Addition

Identifier: TypeAlias = str
"""A project's name, or ``name[a,b]`` for what some extras of it bring in."""


def identify(name: str, extra: str) -> Identifier:
    """Give the identifier of a package, or of some extras of it."""
    return f"{name}[{extra}]" if extra else name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Need:
    """One requirement as it stands in one Target, for a package or some extras of it."""

    name: NormalizedName
    extra: str = ""
    """Extras asked for together, sorted and joined by commas: one identifier, one round."""
    specifier: SpecifierSet
    text: str
    """As its author wrote it."""
    condition: str = ""
    """What the Target leaves open of its marker."""
    addition: Addition | None = None
    """Set when a rule of the catalogue asks for it."""
    only_limits: bool = False
    """Whether it limits a package that others require, and brings nothing in itself."""
    direct: bool = False
    """Whether the project itself states it, which may admit what it names exactly."""
    where: str = ""
    """The key path, or file and line, of what the project itself states."""
    kind: Literal["requirement", "constraint", "override"] = "requirement"
    extras: tuple[str, ...] = ()
    """What an override adds to the extras of the need it stands in for."""
    pin: Candidate | None = None
    """Set where it asks for what was decided already, which then cannot move."""
    side: Version | None = None
    """Of a conflict of two versions; see `resolve.conflicts`."""
    url: str | None = None
    """The direct reference it names; only the one of the project itself can be followed."""
    _admitted: dict[Version, bool] = field(default_factory=dict, init=False)

    def admits(self, version: Version) -> bool:
        """Whether *version* satisfies the need, pre-releases included; the solver asks often."""
        known = self._admitted.get(version)
        if known is None:
            known = self._admitted[version] = version == UNKNOWN_VERSION or (
                self.specifier.contains(version, prereleases=True)
            )
        return known

    @property
    def identifier(self) -> Identifier:
        return identify(self.name, self.extra)

    @property
    def is_own_pin(self) -> bool:
        """Whether it is a candidate's for itself, which says nothing that the project would."""
        return self.pin is not None and self.only_limits

    @property
    def is_exact(self) -> bool:
        """Whether it pins one version, which is what admits a yanked file (PEP 592)."""
        return any(
            clause.operator == "===" or (clause.operator == "==" and ".*" not in clause.version)
            for clause in self.specifier
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One version of a package by the one file a Target would install, or extras of it."""

    name: NormalizedName
    version: Version
    file: DistributionFile
    index: Index
    extra: str = ""
    requires_python: str | None = None
    """Kept where it excludes some patch releases of the Target's minor."""
    torch: SpecifierSet | None = None
    """The torch that its wheel works with, where its local version or its page says so."""
    built_for: tuple[int, ...] = ()
    """That torch's release; among files of one version the newest is taken."""

    @property
    def identifier(self) -> Identifier:
        return identify(self.name, self.extra)

    def is_same(self, other: Candidate) -> bool:
        """Whether both are one version, built for one torch, be it with extras or without."""
        return self.version == other.version and self.built_for == other.built_for

    def with_extra(self, extra: str) -> Candidate:
        """Give what the extras of this very file bring in."""
        return replace(self, extra=extra)

    def __str__(self) -> str:
        return f"{self.identifier} {self.version}"


def split_extras(requirement: Requirement, *, condition: str = "") -> Iterator[Need]:
    """Read one requirement as the needs for the package and for the extras it asks for."""
    names = ",".join(sorted(map(canonicalize_name, requirement.extras)))
    asked = f"[{','.join(sorted(requirement.extras))}]" if names else ""
    source = f" @ {shown_address(requirement.url)}" if requirement.url else ""
    for extra in ("", names) if names else ("",):
        yield Need(
            name=canonicalize_name(requirement.name),
            extra=extra,
            specifier=requirement.specifier,
            text=f"{requirement.name}{asked}{source}{requirement.specifier}",
            condition=condition,
            url=requirement.url,
        )
