"""Indexes over HTTP as a Repository.

Threads are hidden here: what was prefetched is waited for where it is asked for, so no answer
depends on the order in which responses arrive.
"""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from lockforge.adapters.directory import (
    read_metadata_member,
    read_sdist_metadata,
    read_wheel_metadata,
)
from lockforge.adapters.lazy_wheel import TAIL, RangeFile
from lockforge.adapters.paths import project_of
from lockforge.errors import (
    HashMismatchError,
    IndexUnavailableError,
    MalformedResponseError,
    MetadataError,
    MissingHashError,
    ProjectNotFoundError,
)
from lockforge.model.release import Listing
from lockforge.standards.core_metadata import parse_metadata
from lockforge.standards.simple import ACCEPT, parse_page, project_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from packaging.utils import NormalizedName

    from lockforge.adapters.cache import Cache
    from lockforge.adapters.http import HttpClient
    from lockforge.model.index import Index
    from lockforge.model.release import DistributionFile, Metadata
    from lockforge.ports import Progress

CONNECTIONS = 24
"""Connections at once: enough to hide latency, few enough to be a polite client."""


class HttpRepository:
    """Asks indexes over HTTP, through the cache."""

    def __init__(
        self, client: HttpClient, cache: Cache, *, downloads: bool, progress: Progress
    ) -> None:
        self._client = client
        self._cache = cache
        self._downloads = downloads
        self._progress = progress
        self._pool = ThreadPoolExecutor(max_workers=CONNECTIONS)
        self._listings: dict[tuple[str, str], Future[Listing]] = {}
        self._metadata: dict[str, Future[Metadata]] = {}

    def prefetch(
        self,
        listings: Iterable[tuple[Index, NormalizedName]],
        metadata: Iterable[tuple[Index, DistributionFile]],
    ) -> None:
        for index, project in listings:
            if (index.url, project) not in self._listings:
                future = self._pool.submit(self._get_listing, index, project)
                self._listings[index.url, project] = future
        for index, file in metadata:
            if file.url not in self._metadata:
                self._metadata[file.url] = self._pool.submit(self._get_metadata, index, file)

    def listing(self, index: Index, project: NormalizedName) -> Listing:
        self.prefetch([(index, project)], [])
        return self._listings[index.url, project].result()

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        self.prefetch([], [(index, file)])
        return self._metadata[file.url].result()

    def _get_listing(self, index: Index, project: NormalizedName) -> Listing:
        flat = index.layout == "flat"
        url = index.url if flat else project_url(index.url, project)
        try:
            page = self._client.page(
                url, accept=ACCEPT, forbidden_means_missing=index.forbidden_means_missing
            )
        except ProjectNotFoundError as error:
            raise ProjectNotFoundError(
                f"{index.name} has no project {project}",
                where=url,
                hint="check the name, or route it to the index that has it",
            ) from error
        try:
            body = page.body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise MalformedResponseError(
                f"the page is not UTF-8: {error}", where=url, hint="tell whoever runs the index"
            ) from error
        listing = parse_page(
            body, page.content_type, project=project, url=page.url, index_url=index.url
        )
        if flat:
            mine = tuple(file for file in listing.files if project_of(file.filename) == project)
            listing = Listing(project=project, index_url=index.url, files=mine)
        return listing

    def _get_metadata(self, index: Index, file: DistributionFile) -> Metadata:
        if file.metadata:
            text = self._sidecar(file)
            if text is not None:
                return parse_metadata(text, where=file.filename)
        if file.is_wheel and (text := self._ranged(file)) is not None:
            return parse_metadata(text, where=file.filename)
        return self._whole(index, file)

    def _sidecar(self, file: DistributionFile) -> str | None:
        announced = file.metadata if isinstance(file.metadata, str) else None
        url = f"{file.url}.metadata"
        body = self._client.immutable(url, identity=announced)
        if body is None:
            return None
        found = hashlib.sha256(body).hexdigest()
        if announced is not None and found != announced:
            raise HashMismatchError(
                f"core metadata has sha256 {found}, announced is {announced}",
                where=url,
                hint="the file was changed or damaged at its source: do not use it until whoever "
                "runs the index has explained it",
            )
        return body.decode("utf-8", errors="replace")

    def _ranged(self, file: DistributionFile) -> str | None:
        """Read METADATA out of the wheel on the server; None where it serves no ranges."""
        key = f"{file.url} METADATA {file.sha256}"
        if file.sha256 and (kept := self._cache.kept(key)) is not None:
            return kept.decode("utf-8", errors="replace")
        try:
            tail = self._client.range(file.url, None, TAIL)
        except ProjectNotFoundError as error:
            raise IndexUnavailableError(
                "the index lists this file, but it is not there",
                where=file.url,
                hint="try again later, or tell whoever runs the index",
            ) from error
        if tail is None:
            return None

        def fetch(first: int, last: int) -> bytes:
            part = self._client.range(file.url, first, last)
            if part is None:
                raise zipfile.BadZipFile("the server stopped serving ranges")
            return part[0]

        try:
            with zipfile.ZipFile(RangeFile(*tail, fetch)) as wheel:
                text = read_metadata_member(wheel, where=file.filename)
        except (zipfile.BadZipFile, EOFError, OSError) as error:
            raise MetadataError(
                f"the wheel is not a readable ZIP file: {error}",
                where=file.url,
                hint="exclude this version, or tell whoever runs the index",
            ) from error
        if file.sha256:
            self._cache.keep(key, text.encode())
        return text

    def _whole(self, index: Index, file: DistributionFile) -> Metadata:
        """Download the file to read its metadata; its hash is kept on the way."""
        if not self._downloads:
            raise MetadataError(
                "its metadata is only in the file itself, and --no-download forbids to get it",
                where=file.url,
                hint="lock once without --no-download, or state it in [tool.lockforge.metadata]",
            )
        with tempfile.TemporaryDirectory(prefix="lockforge-") as folder:
            path = Path(folder) / file.filename
            with path.open("w+b") as target:
                found = self._download(file, target)
            self._check(file, found)
            self._cache.write_hash(index.url, file.filename, found)
            read = read_wheel_metadata if file.is_wheel else read_sdist_metadata
            return read(path, where=file.filename)

    def sha256(self, index: Index, file: DistributionFile) -> str:
        known = self._cache.read_hash(index.url, file.filename)
        if known is not None:
            return known
        if not self._downloads:
            raise MissingHashError(
                f"{file.filename} has no sha256 on {index.name}",
                where=file.url,
                hint="lock without --offline and --no-download to download and hash it once, "
                "or choose another version",
            )
        found = self._download(file, None)
        self._cache.write_hash(index.url, file.filename, found)
        return found

    def _download(self, file: DistributionFile, target: object) -> str:
        def receive(chunks: Iterator[bytes], length: int | None) -> str:
            digest, done = hashlib.sha256(), 0
            if target is not None:
                target.seek(0)  # type: ignore[attr-defined]
                target.truncate()  # type: ignore[attr-defined]
            for chunk in chunks:
                digest.update(chunk)
                done += len(chunk)
                if target is not None:
                    target.write(chunk)  # type: ignore[attr-defined]
                self._progress.download(file.filename, done, length)
            return digest.hexdigest()

        try:
            return self._client.download(file.url, receive)
        except ProjectNotFoundError as error:
            raise IndexUnavailableError(
                "the index lists this file, but it is not there",
                where=file.url,
                hint="try again later, or tell whoever runs the index",
            ) from error

    @staticmethod
    def _check(file: DistributionFile, found: str) -> None:
        if file.sha256 is not None and file.sha256 != found:
            raise HashMismatchError(
                f"the file has sha256 {found}, its page says {file.sha256}",
                where=file.url,
                hint="the file was changed or damaged at its source: do not use it until whoever "
                "runs the index has explained it",
            )
