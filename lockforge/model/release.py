"""What an index says of a project: its files, and the core metadata of one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.version import Version

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from packaging.utils import NormalizedName


UNKNOWN_VERSION = Version("0+unknown")
"""Of a directory whose version only a build would tell; it satisfies every requirement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionFile:
    """One file as an index page announces it."""

    filename: str
    url: str
    """Absolute, without fragment; ``file:`` for a file on this machine."""
    sha256: str | None
    requires_python: str | None = None
    yanked: str | None = None
    """The reason, possibly empty; None for a file that is not yanked."""
    metadata: str | bool = False
    """The announced ``.metadata`` sidecar: its sha256, True without one, False for none."""
    size: int | None = None
    """In bytes."""
    upload_time: str | None = None
    """RFC 3339, as the index writes it."""
    source_tree: bool = False
    """Whether it is a directory with a project in it, named as its sdist would be."""

    @property
    def is_wheel(self) -> bool:
        return self.filename.endswith(".whl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All files of one project on one index, in the page's order."""

    project: NormalizedName
    index_url: str
    files: tuple[DistributionFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The core metadata fields that resolving needs."""

    version: Version
    requires_python: str | None
    requires_dist: tuple[Requirement, ...]
