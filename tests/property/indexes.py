"""Indexes of random worlds: releases in memory, as a Repository gives them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from lockforge.adapters.direct import direct_listing
from lockforge.errors import NeedsBuildError, ProjectNotFoundError
from lockforge.model.release import DistributionFile, Listing, Metadata
from lockforge.standards.filenames import parse_sdist_name, parse_wheel_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from packaging.utils import NormalizedName
    from packaging.version import Version

    from lockforge.model.index import Index

PYPI = "https://pypi.org/simple/"
EXTENSIONS = "https://wheels.example.com/simple/"
FILES = "https://files.example.com/"
"""Where files lie that a project names by their address."""
_UPLOADED = "2026-01-01T00:00:00Z"


def torch_index(label: str) -> str:
    return f"https://download.pytorch.org/whl/{label}/"


@dataclass(frozen=True, kw_only=True)
class Release:
    """One version on one index: its files, and what all of them require."""

    index: str
    """Its address; of a direct reference that of the file itself."""
    filenames: tuple[str, ...]
    requires: tuple[str, ...] = ()
    requires_python: str | None = None
    announced: bool = True
    """Whether the index tells it too, and not only the metadata."""
    yanked: bool = False
    readable: bool = True
    """Whether an sdist tells what it requires."""
    untold: tuple[str, ...] = ()
    """What its metadata should say and does not: it is built for these."""
    limits: tuple[str, ...] = ()
    """What it is built for where that is there, be it that nothing brings it in."""
    accelerator: str = ""
    """The row's that it is built for."""

    @property
    def name(self) -> NormalizedName:
        return self.project[0]

    @property
    def version(self) -> Version:
        return self.project[1]

    @property
    def project(self) -> tuple[NormalizedName, Version]:
        first = self.filenames[0]
        if wheel := parse_wheel_name(first):
            return wheel.project, wheel.version
        found = parse_sdist_name(first)
        assert found is not None, first
        return found

    def suits(self, python: str) -> bool:
        """Whether it admits a patch release of Python."""
        return SpecifierSet(self.requires_python or "").contains(python)

    @property
    def is_direct(self) -> bool:
        """Whether the project names it by its address."""
        return self.index.startswith(FILES)

    @property
    def metadata(self) -> Metadata:
        return Metadata(
            version=self.version,
            requires_python=self.requires_python,
            requires_dist=tuple(map(Requirement, self.requires)),
        )


def digest_of(index: str, filename: str) -> str:
    """The sha256 that a file has in these worlds: one of its own on each index."""
    return hashlib.sha256(f"{index}{filename}".encode()).hexdigest()


class Indexes:
    """A Repository of releases; implements `lockforge.ports.Repository`."""

    def __init__(self, releases: Iterable[Release], order: Sequence[int] = (0,)) -> None:
        self._pages: dict[tuple[str, str], list[DistributionFile]] = {}
        self._releases: dict[tuple[str, str], Release] = {}
        for release in releases:
            page = self._pages.setdefault((release.index, release.name), [])
            for filename in release.filenames:
                self._releases[release.index, filename] = release
                page.append(
                    DistributionFile(
                        filename=filename,
                        url=f"{release.index}files/{filename}",
                        sha256=digest_of(release.index, filename),
                        requires_python=release.requires_python if release.announced else None,
                        yanked="broken" if release.yanked else None,
                        metadata=True,
                        size=len(filename),
                        upload_time=_UPLOADED if release.index in {PYPI, EXTENSIONS} else None,
                    )
                )
        for files in self._pages.values():
            ranked = sorted(
                enumerate(files), key=lambda pair: (order[pair[0] % len(order)], pair[0])
            )
            files[:] = [file for _, file in ranked]

    def listing(self, index: Index, project: NormalizedName) -> Listing:
        if index.layout == "direct":
            return direct_listing(index, project)
        files = self._pages.get((index.url, project))
        if files is None:
            raise ProjectNotFoundError(f"no project {project}", where=index.url)
        return Listing(project=project, index_url=index.url, files=tuple(files))

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        release = self._releases[urldefrag(index.url)[0], file.filename]
        if not file.is_wheel and not release.readable:
            raise NeedsBuildError("its requirements are dynamic", where=file.filename)
        return release.metadata

    def has_metadata(self, index: Index, file: DistributionFile) -> bool:
        return True

    def sha256(self, index: Index, file: DistributionFile) -> str:
        return digest_of(urldefrag(index.url)[0], file.filename)

    def prefetch(
        self,
        listings: Iterable[tuple[Index, NormalizedName]],
        metadata: Iterable[tuple[Index, DistributionFile]],
    ) -> bool:
        return bool([*listings, *metadata])
