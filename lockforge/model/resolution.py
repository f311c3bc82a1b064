"""What a solve gives: the pins and edges of one Target, or the reasons there are none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from packaging.utils import NormalizedName
    from packaging.version import Version

    from lockforge.model.index import Index
    from lockforge.model.matrix import Target
    from lockforge.model.release import DistributionFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A chosen version with the one file the Target installs."""

    name: NormalizedName
    version: Version
    index: Index
    file: DistributionFile
    condition: str = ""
    """What the Target leaves open, as a lock marker; empty when it is always installed."""
    requires_python: str | None = None
    """Kept only where it excludes some patch releases of the Target's Python minor."""
    editable: bool = False
    """Whether it is a directory to be installed in place."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Edge:
    """One package requires another."""

    parent: NormalizedName
    child: NormalizedName


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """A requirement that lockforge added because metadata lacks it."""

    package: NormalizedName
    requirement: str
    reason: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """All pins and edges of one Target; pins sorted by name, edges sorted."""

    target: Target
    pins: tuple[Pin, ...]
    edges: tuple[Edge, ...]
    additions: tuple[Addition, ...] = ()
    agreeing: tuple[Addition, ...] = ()
    """What rules would have added, had the search not come out so by itself."""
    rounds: int = field(default=0, compare=False)
    """What the search took, for those who measure."""

    def pin(self, name: str) -> Pin | None:
        return next((pin for pin in self.pins if pin.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferred:
    """What an earlier lock chose, to be chosen again unless something moves it."""

    version: Version
    filename: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One requirement that takes part in a conflict, with who asked for it."""

    requirement: str
    parent: str | None
    """``name version``, or None for the project."""
    kind: Literal["requirement", "constraint", "override"] = "requirement"
    where: str = ""
    """Key path, or file and line, of what the project itself states."""
    reason: str = ""
    """Why lockforge added it; empty for what the project or metadata states."""
    via: tuple[Cause, ...] = ()
    """What brought the parent in, from a requirement of the project down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagGap:
    """Wheels of one version, none of which suits a Target."""

    version: str
    """Public: its wheels may bear several labels."""
    pythons: tuple[str, ...]
    """Python tags of the wheels; of those for the platform where there are some."""
    platforms: tuple[str, ...]
    """Platform tags of the same wheels."""
    missing: str
    """What no wheel is for: a Python tag, or a platform by name."""
    asked: bool = True
    """Whether the version would do; the newest is told of even where it would not."""
    floor: str = ""
    """The floor with which there would be a wheel, such as ``glibc 2.34``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a version, or one file of it, is of no use to a Target."""

    version: str
    filename: str = ""
    """Set for a file that was tried, and refused for its own metadata."""
    reason: str
    setting: str = ""
    """The table of the project's configuration that would make up for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What an index has of a project, seen from one Target."""

    project: NormalizedName
    index_name: str
    index_url: str
    """Empty for a direct reference, which the name tells."""
    found: bool
    """False when the index has no such project."""
    torches: tuple[str, ...] = ()
    """The torch versions whose pages were looked for, where it has a page for each."""
    usable: tuple[str, ...] = ()
    """Versions with a file for the Target, newest first."""
    newest: str | None = None
    """The newest version with any file."""
    prereleases: tuple[str, ...] = ()
    """Versions that would do, newest first, were pre-releases not ruled out."""
    gaps: tuple[TagGap, ...] = ()
    """Of the newest version and of those asked for, newest first."""
    refused: tuple[Refusal, ...] = ()
    """Of versions asked for, newest first, without repetition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much was tried before giving up."""

    rounds: int
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """One change with which a Target was solved."""

    kind: Literal["pin", "python", "row", "exclude"]
    subject: str
    """The requirement, Python, row or package name it is about."""
    replaces: str = ""
    """The requirement that a pin takes the place of, as the project has it."""
    where: str = ""
    """Key path, or file and line, of that requirement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why one Target has no solution, or none was found."""

    target: Target
    causes: tuple[Cause, ...]
    """Of the conflict; where the search was given up, of the last one it met."""
    offers: tuple[Offer, ...]
    gave_up: Effort | None = None
    """Set when a limit ended the search, which proves nothing."""
    suggestion: Suggestion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Misalignment:
    """A package of the family of which the rows have no version in common."""

    name: NormalizedName
    offers: tuple[tuple[str, tuple[str, ...]], ...]
    """By row, in canonical order: the public versions it has, newest first."""
    blocking: tuple[str, ...]
    """The rows without each of which the others would have a version in common."""
    required: bool
    """Whether the project itself asks for it, and not only another package."""
    beside: tuple[str, ...] = ()
    """What was held to one version before, such as ``torch 2.9.1``; older ones were tried too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What solving a Matrix gives: a Resolution for each Target, or the failures."""

    resolutions: tuple[Resolution, ...]
    failures: tuple[Failure, ...] = ()
    left_out: tuple[Failure, ...] = ()
    """Of Pythons that nobody stated, which the platforms of these Targets are not locked for."""
    misalignments: tuple[Misalignment, ...] = ()
