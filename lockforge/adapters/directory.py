"""Files on this machine as a Repository: a `file:` simple index, or a flat directory of files."""

from __future__ import annotations

import hashlib
import tarfile
import zipfile
from typing import TYPE_CHECKING

from lockforge.adapters.paths import path_of, project_of
from lockforge.errors import (
    IndexUnavailableError,
    MalformedResponseError,
    MetadataError,
    ProjectNotFoundError,
)
from lockforge.model.release import DistributionFile, Listing
from lockforge.standards.core_metadata import parse_metadata, parse_sdist_metadata
from lockforge.standards.simple import parse_page, project_url

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from packaging.utils import NormalizedName

    from lockforge.model.index import Index
    from lockforge.model.release import Metadata

_CHUNK = 1 << 20


def file_sha256(path: Path) -> str:
    """Hash a file without holding it in memory."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def read_wheel_metadata(path: Path, *, where: str) -> Metadata:
    """Read the METADATA of a wheel on this machine; raises MetadataError."""
    try:
        with zipfile.ZipFile(path) as wheel:
            return parse_metadata(read_metadata_member(wheel, where=where), where=where)
    except (OSError, zipfile.BadZipFile) as error:
        raise MetadataError(
            f"the wheel cannot be read: {error}", where=where, hint="replace the file"
        ) from error


def read_metadata_member(wheel: zipfile.ZipFile, *, where: str) -> str:
    """Give the text of ``*.dist-info/METADATA``; raises MetadataError."""
    members = [
        name
        for name in wheel.namelist()
        if name.endswith(".dist-info/METADATA") and name.count("/") == 1
    ]
    if len(members) != 1:
        raise MetadataError(
            f"the wheel has {len(members)} METADATA files, not one",
            where=where,
            hint="exclude this version, or report it to the project",
        )
    return wheel.read(members[0]).decode("utf-8", errors="replace")


def read_sdist_metadata(path: Path, *, where: str) -> Metadata:
    """Read the PKG-INFO at the top of an sdist; raises MetadataError where it cannot be trusted."""
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.name.count("/") == 1 and member.name.endswith("/PKG-INFO"):
                    file = archive.extractfile(member)
                    if file is not None:
                        text = file.read().decode("utf-8", errors="replace")
                        return parse_sdist_metadata(text, where=where)
    except (OSError, tarfile.TarError) as error:
        raise MetadataError(
            f"the sdist cannot be read: {error}", where=where, hint="replace the file"
        ) from error
    raise MetadataError(
        "the sdist has no PKG-INFO",
        where=where,
        hint="state its requirements in [tool.lockforge.metadata]",
    )


class DirectoryRepository:
    """Reads ``file:`` indexes."""

    def __init__(self) -> None:
        self._listings: dict[tuple[str, str], Listing] = {}
        self._metadata: dict[str, Metadata] = {}

    def listing(self, index: Index, project: NormalizedName) -> Listing:
        key = (index.url, project)
        if key not in self._listings:
            folder = path_of(index.url)
            if not folder.is_dir():
                raise IndexUnavailableError(
                    f"{index.name} is not a directory",
                    where=str(folder),
                    hint="correct the url of the index",
                )
            read = self._flat if index.layout == "flat" else self._simple
            self._listings[key] = read(index, project, folder)
        return self._listings[key]

    @staticmethod
    def _simple(index: Index, project: NormalizedName, folder: Path) -> Listing:
        for name, content_type in (("index.json", "application/json"), ("index.html", "text/html")):
            page = folder / project / name
            try:
                body = page.read_text("utf-8")
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                raise MalformedResponseError(
                    f"the page cannot be read: {error}", where=str(page), hint="replace the file"
                ) from error
            url = project_url(index.url, project)
            return parse_page(body, content_type, project=project, url=url, index_url=index.url)
        raise ProjectNotFoundError(
            f"{index.name} has no project {project}",
            where=str(folder),
            hint="check the name, or route it to the index that has it",
        )

    @staticmethod
    def _flat(index: Index, project: NormalizedName, folder: Path) -> Listing:
        files = tuple(
            DistributionFile(
                filename=path.name,
                url=path.absolute().as_uri(),
                sha256=file_sha256(path),
                size=path.stat().st_size,
            )
            for path in sorted(folder.iterdir())
            if project_of(path.name) == project
        )
        if not files:
            raise ProjectNotFoundError(
                f"{index.name} has no file of {project}",
                where=str(folder),
                hint="check the name, or route it to the index that has it",
            )
        return Listing(project=project, index_url=index.url, files=files)

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        if file.url not in self._metadata:
            read = read_wheel_metadata if file.is_wheel else read_sdist_metadata
            self._metadata[file.url] = read(path_of(file.url), where=file.filename)
        return self._metadata[file.url]

    def has_metadata(self, index: Index, file: DistributionFile) -> bool:
        return True

    def sha256(self, index: Index, file: DistributionFile) -> str:
        return file_sha256(path_of(file.url))

    def prefetch(
        self,
        listings: Iterable[tuple[Index, NormalizedName]],
        metadata: Iterable[tuple[Index, DistributionFile]],
    ) -> bool:
        """Do nothing: files on disk are at hand."""
        return False
