"""Files on this machine as a Repository: a `file:` simple index, or a flat directory of files."""

from __future__ import annotations

import tarfile
import zipfile
from typing import TYPE_CHECKING

from lockforge.adapters.paths import file_sha256, path_of, project_of
from lockforge.adapters.source_tree import read_source_tree
from lockforge.errors import (
    IndexUnavailableError,
    MalformedResponseError,
    MetadataError,
    NeedsBuildError,
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
    """Read the PKG-INFO at the top of an sdist.

    Raises NeedsBuildError where it cannot be trusted, and MetadataError for a damaged file.
    """
    try:
        text = _zipped_info(path) if path.suffix == ".zip" else _tarred_info(path)
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise MetadataError(
            f"the sdist cannot be read: {error}", where=where, hint="replace the file"
        ) from error
    if text is None:
        raise NeedsBuildError(
            "the sdist has no PKG-INFO, and a lock never runs a build to make one",
            where=where,
            hint="state its requirements in [tool.lockforge.metadata]",
        )
    return parse_sdist_metadata(text.decode("utf-8", errors="replace"), where=where)


def _tarred_info(path: Path) -> bytes | None:
    with tarfile.open(path) as archive:
        for member in archive:
            if _is_info(member.name) and (file := archive.extractfile(member)) is not None:
                return file.read()
    return None


def _zipped_info(path: Path) -> bytes | None:
    with zipfile.ZipFile(path) as archive:
        return next((archive.read(name) for name in archive.namelist() if _is_info(name)), None)


def _is_info(name: str) -> bool:
    return name.count("/") == 1 and name.endswith("/PKG-INFO")


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
            self._metadata[file.url] = self._read(file, path_of(file.url))
        return self._metadata[file.url]

    @staticmethod
    def _read(file: DistributionFile, path: Path) -> Metadata:
        if file.source_tree:
            return read_source_tree(path).metadata
        read = read_wheel_metadata if file.is_wheel else read_sdist_metadata
        return read(path, where=file.filename)

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
