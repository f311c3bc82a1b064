"""The merged result: one entry per package, version and source, each with its marker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lockforge.model.platforms import PLATFORMS, Platform

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

FORMAT = 1
"""The revision of ``[tool.lockforge]``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedFile:
    """One file by its name, location and content; exactly one of *url* and *path* is set."""

    name: str
    sha256: str | None
    """None for a directory alone, which has no bytes of its own."""
    url: str | None = None
    path: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """Names another entry by as few keys as tell it apart."""

    name: NormalizedName
    version: str | None = None
    index: str | None = None
    marker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedPackage:
    """One ``[[packages]]`` entry."""

    name: NormalizedName
    version: str | None
    """None for a directory, whose version may change with what is in it (PEP 751)."""
    index: str | None
    """None for a direct reference, and for files of a directory, which no installer can ask."""
    marker: str
    """Empty when the entry is for every environment of the lock."""
    requires_python: str | None
    dependencies: tuple[Dependency, ...]
    wheels: tuple[LockedFile, ...]
    """Sorted by name."""
    sdist: LockedFile | None
    archive: LockedFile | None = None
    """The wheel or sdist of a direct reference, which then is the only source."""
    directory: LockedFile | None = None
    """The source tree of a direct reference, which then is the only source."""
    editable: bool = False
    """Whether *directory* is to be installed in place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedRow:
    """What a host must know of a row without asking an index."""

    name: str
    platform: str
    accelerator: str
    pythons: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Pythons that nobody stated, and that the row could not be locked for."""
    floor: str | None
    """``glibc 2.28``, ``macos 14.0``, or None."""
    extra: str | None
    """The extra that selects the row, None where its platform alone does."""
    torch: str | None
    index: str
    packages: int
    digest: str
    """sha256 over the sorted sha256 of the row's files, one a line."""
    size: int
    """Bytes of the files whose size is known."""
    unsized: int
    """Number of files whose size no index told."""
    min_driver: str | None
    gpu_architectures: tuple[str, ...]
    gpu_ptx: tuple[str, ...]
    judged_by: str | None
    """The torch minor whose architectures are given, where torch's own are not known."""

    @property
    def placed(self) -> Platform:
        """The platform with the row's own floor."""
        platform = PLATFORMS[self.platform]
        if self.floor is None:
            return platform
        major, minor = self.floor.rpartition(" ")[2].split(".")
        return replace(platform, floor=(int(major), int(minor)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """Everything a ``pylock.toml`` of ours says."""

    environments: tuple[str, ...]
    requires_python: str
    extras: tuple[str, ...]
    dependency_groups: tuple[str, ...]
    default_groups: tuple[str, ...]
    packages: tuple[LockedPackage, ...]
    """Sorted by name, version, index and marker."""
    rows: tuple[LockedRow, ...]
    requirements: tuple[str, ...]
    """What the project asked for, as sorted text; tells later whether the lock is current."""
    settings: tuple[str, ...]
    """Other inputs that decide the result, as sorted text."""
    additions: tuple[str, ...]
    """Requirements that lockforge added, each with its reason and source."""
    notes: tuple[str, ...]
    """What a reader of the report should know."""
