"""What a solve gives: the pins and edges of one Target, or the reasons there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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

    def pin(self, name: str) -> Pin | None:
        return next((pin for pin in self.pins if pin.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferred:
    """What an earlier lock chose, to be chosen again unless something moves it."""

    version: Version
    index_url: str | None = None
    filename: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One requirement that takes part in a conflict, with who asked for it."""

    requirement: str
    parent: str | None
    """``name version``, or None for the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What an index has of a project, seen from one Target."""

    project: NormalizedName
    index_name: str
    index_url: str
    found: bool
    """False when the index has no such project."""
    usable: tuple[str, ...] = ()
    """Versions with a file for the Target, newest first."""
    newest: str | None = None
    """The newest version with any file."""
    pythons: tuple[str, ...] = ()
    """Python tags of the wheels of the newest version."""
    platforms: tuple[str, ...] = ()
    """Platform tags of the wheels of the newest version."""
    refused: tuple[str, ...] = ()
    """Reasons files of otherwise matching versions were refused, without repetition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why one Target has no solution."""

    target: Target
    causes: tuple[Cause, ...]
    offers: tuple[Offer, ...]
