"""A recorded snapshot of indexes as a Repository; nothing else is ever asked.

`MANIFEST.json` maps the public address of an index to its folder. A page lies in
`<index>/<project>/index.json` or `index.html`; core metadata in one `metadata` file a project,
keyed by its own sha256, which is what pages announce.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from lockforge.errors import (
    HashMismatchError,
    IndexUnavailableError,
    MalformedResponseError,
    MetadataError,
    MissingHashError,
    ProjectNotFoundError,
    UsageError,
)
from lockforge.standards.core_metadata import parse_metadata
from lockforge.standards.simple import parse_page, project_url

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from packaging.utils import NormalizedName

    from lockforge.model.index import Index
    from lockforge.model.release import DistributionFile, Listing, Metadata

_PAGES = (
    ("index.json", "application/vnd.pypi.simple.v1+json"),
    ("index.html", "text/html"),
)


class SnapshotRepository:
    """Reads a snapshot directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        manifest = root / "MANIFEST.json"
        try:
            indexes = json.loads(manifest.read_text("utf-8"))["indexes"]
            # The longest address first, so that a nested index wins over the one around it.
            self._indexes: list[tuple[str, Path]] = sorted(
                ((url, root / entry["path"]) for url, entry in indexes.items()),
                key=lambda pair: -len(pair[0]),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"not a snapshot: {error}",
                where=str(manifest),
                hint="give a directory that scripts/record_snapshot made",
            ) from error
        self._listings: dict[tuple[str, str], Listing] = {}
        self._metadata: dict[tuple[str, str], Metadata] = {}
        self._texts: dict[Path, dict[str, str]] = {}

    def listing(self, index: Index, project: NormalizedName) -> Listing:
        key = (index.url, project)
        if key not in self._listings:
            self._listings[key] = self._read_listing(index, project)
        return self._listings[key]

    def _folder(self, index: Index) -> tuple[Path, Path]:
        """Give (the folder of *index*, the folder of the recording it belongs to)."""
        for url, folder in self._indexes:
            if index.url.startswith(url):
                return folder / index.url.removeprefix(url), folder
        raise IndexUnavailableError(
            f"the snapshot has no index {index.url}",
            where=str(self._root),
            hint="record it, or lock without --snapshot",
        )

    def _read_listing(self, index: Index, project: NormalizedName) -> Listing:
        folder, _ = self._folder(index)
        url = project_url(index.url, project)
        for name, content_type in _PAGES:
            try:
                body = (folder / project / name).read_text("utf-8")
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                raise MalformedResponseError(
                    f"the recorded page cannot be read: {error}",
                    where=str(folder / project / name),
                    hint="restore the snapshot from version control, or record it again",
                ) from error
            return parse_page(body, content_type, project=project, url=url, index_url=index.url)
        if not folder.is_dir():
            raise IndexUnavailableError(
                f"the snapshot has no index {index.url}",
                where=str(self._root),
                hint="record it, or lock without --snapshot",
            )
        raise ProjectNotFoundError(
            f"{index.name} has no project {project}",
            where=url,
            hint="check the name, or route it to the index that has it",
        )

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        key = (index.url, file.url)
        if key not in self._metadata:
            self._metadata[key] = self._read_metadata(index, file)
        return self._metadata[key]

    def _read_metadata(self, index: Index, file: DistributionFile) -> Metadata:
        if not isinstance(file.metadata, str):
            raise MetadataError(
                "the snapshot has no metadata of this file",
                where=file.filename,
                hint="lock without --snapshot, or state it in [tool.lockforge.metadata]",
            )
        name = file.filename.split("-")[0].replace("_", "-").replace(".", "-").lower()
        folder, recording = self._folder(index)
        texts = self._texts_of(
            folder / name / "metadata.json"
            if (folder / name / "metadata.json").exists()
            else recording / "metadata" / f"{name}.json"
        )
        try:
            text = texts[file.metadata]
        except KeyError as error:
            raise MalformedResponseError(
                "the snapshot's page announces metadata that the snapshot does not have",
                where=file.filename,
                hint="restore the snapshot from version control, or record it again",
            ) from error
        found = hashlib.sha256(text.encode()).hexdigest()
        if found != file.metadata:
            raise HashMismatchError(
                f"core metadata has sha256 {found}, announced is {file.metadata}",
                where=file.filename,
                hint="restore the snapshot from version control, or record it again",
            )
        return parse_metadata(text, where=file.filename)

    def _texts_of(self, path: Path) -> dict[str, str]:
        if path not in self._texts:
            try:
                self._texts[path] = json.loads(path.read_text("utf-8"))
            except (OSError, ValueError) as error:
                raise MalformedResponseError(
                    f"the recorded metadata cannot be read: {error}",
                    where=str(path),
                    hint="restore the snapshot from version control, or record it again",
                ) from error
        return self._texts[path]

    def has_metadata(self, index: Index, file: DistributionFile) -> bool:
        return True

    def sha256(self, index: Index, file: DistributionFile) -> str:
        raise MissingHashError(
            f"{file.filename} has no sha256 on {index.name}, and a snapshot holds no files to hash",
            where=file.url,
            hint="lock without --snapshot to download and hash it, or choose another version",
        )

    def prefetch(
        self,
        listings: Iterable[tuple[Index, NormalizedName]],
        metadata: Iterable[tuple[Index, DistributionFile]],
    ) -> bool:
        """Do nothing: files on disk are at hand."""
        return False
