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
from typing import TYPE_CHECKING, TypeVar

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
    LockforgeError,
    MalformedResponseError,
    MetadataError,
    MissingHashError,
    ProjectNotFoundError,
)
from lockforge.model.release import Listing
from lockforge.standards.core_metadata import parse_metadata
from lockforge.standards.simple import ACCEPT, parse_page, project_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from packaging.utils import NormalizedName

    from lockforge.adapters.cache import Cache, Response
    from lockforge.adapters.client import CachingClient
    from lockforge.model.index import Index
    from lockforge.model.release import DistributionFile, Metadata
    from lockforge.ports import Progress

CONNECTIONS = 16
"""Connections at once: enough to hide latency, few enough to be a polite client."""


_CHANGED = (
    "the file was changed or damaged at its source: do not use it until whoever runs the index "
    "has explained it"
)
_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")


class HttpRepository:
    """Asks indexes over HTTP, through the cache."""

    def __init__(
        self,
        client: CachingClient,
        cache: Cache,
        *,
        downloads: bool,
        progress: Progress,
        refresh: bool = False,
    ) -> None:
        self._client = client
        self._cache = cache
        self._downloads = downloads
        self._progress = progress
        self._refresh = refresh
        self._pool: ThreadPoolExecutor | None = None
        self._listings: dict[tuple[str, str], Future[Listing]] = {}
        self._metadata: dict[str, Future[Metadata | None]] = {}
        """None where only the whole file would tell."""
        self._pages: dict[tuple[str, str], Response] = {}
        """Pages the cache had, not yet asked for."""
        self._texts: dict[str, str] = {}
        """Metadata the cache had, not yet asked for."""

    def prefetch(
        self,
        listings: Iterable[tuple[Index, NormalizedName]],
        metadata: Iterable[tuple[Index, DistributionFile]],
    ) -> bool:
        asked = False
        for index, project in listings:
            if (index.url, project) not in self._listings and not self._has_page(index, project):
                self._listings[index.url, project] = self._submit(self._ask_listing, index, project)
                asked = True
        for index, file in metadata:
            if file.url not in self._metadata and not self._has_metadata(file):
                self._metadata[file.url] = self._submit(self._ask_metadata, index, file)
                asked = True
        return asked

    def close(self) -> None:
        """Stop what was prefetched in vain, then close the connections."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._client.close()

    def _submit(
        self, ask: Callable[[Index, _Asked], _Answer], index: Index, asked: _Asked
    ) -> Future[_Answer]:
        # A run that finds all it needs in the cache starts no thread.
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=CONNECTIONS)
        return self._pool.submit(ask, index, asked)

    def listing(self, index: Index, project: NormalizedName) -> Listing:
        key = (index.url, project)
        self.prefetch([(index, project)], [])
        if key not in self._listings:
            page = self._pages.pop(key)
            self._listings[key] = _done(lambda: self._parse(index, project, page))
        return self._listings[key].result()

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        self.prefetch([], [(index, file)])
        if file.url not in self._metadata:
            text = self._texts.pop(file.url)
            self._metadata[file.url] = _done(lambda: parse_metadata(text, where=file.filename))
        found = self._metadata[file.url].result()
        if found is None:
            self._metadata[file.url] = _done(lambda: self._whole(index, file))
            found = self._metadata[file.url].result()
        assert found is not None
        return found

    def has_metadata(self, index: Index, file: DistributionFile) -> bool:
        self.prefetch([], [(index, file)])
        if file.url not in self._metadata:
            return True
        asked = self._metadata[file.url]
        return asked.exception() is not None or asked.result() is not None

    def _has_page(self, index: Index, project: NormalizedName) -> bool:
        """Whether the cache holds the page; it is then at hand, to be parsed when asked for."""
        key = (index.url, project)
        if key not in self._pages:
            page = self._client.fresh_page(_page_url(index, project), accept=ACCEPT)
            if page is None:
                return False
            self._pages[key] = page
        return True

    def _has_metadata(self, file: DistributionFile) -> bool:
        """Whether the cache holds the metadata; it is then at hand, to be parsed when asked for."""
        if file.url not in self._texts:
            text = None
            if isinstance(file.metadata, str):
                url = f"{file.url}.metadata"
                body = self._client.kept_file(url, identity=file.metadata)
                text = None if body is None else self._check_sidecar(file, url, body)
            elif file.sha256:
                kept = self._cache.kept(_ranged_key(file))
                text = None if kept is None else kept.decode("utf-8", errors="replace")
            if text is None:
                return False
            self._texts[file.url] = text
        return True

    def _ask_listing(self, index: Index, project: NormalizedName) -> Listing:
        url = _page_url(index, project)
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
        return self._parse(index, project, page)

    @staticmethod
    def _parse(index: Index, project: NormalizedName, page: Response) -> Listing:
        try:
            body = page.body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise MalformedResponseError(
                f"the page is not UTF-8: {error}",
                where=page.url,
                hint="tell whoever runs the index",
            ) from error
        listing = parse_page(
            body, page.content_type, project=project, url=page.url, index_url=index.url
        )
        if index.layout == "flat":
            mine = tuple(file for file in listing.files if project_of(file.filename) == project)
            listing = Listing(project=project, index_url=index.url, files=mine)
        return listing

    def _ask_metadata(self, index: Index, file: DistributionFile) -> Metadata | None:
        """Ask for the metadata of a file; None where only the whole file would tell."""
        if file.metadata:
            url = f"{file.url}.metadata"
            body = self._client.file(url)
            if body is not None:
                sidecar = self._check_sidecar(file, url, body)
                if isinstance(file.metadata, str):
                    self._client.keep_file(url, body, identity=file.metadata)
                return parse_metadata(sidecar, where=file.filename)
        if file.is_wheel and (text := self._ranged(index, file)) is not None:
            return parse_metadata(text, where=file.filename)
        return None

    @staticmethod
    def _check_sidecar(file: DistributionFile, url: str, body: bytes) -> str:
        found = hashlib.sha256(body).hexdigest()
        if isinstance(file.metadata, str) and found != file.metadata:
            raise HashMismatchError(
                f"core metadata has sha256 {found}, announced is {file.metadata}",
                where=url,
                hint=_CHANGED,
            )
        return body.decode("utf-8", errors="replace")

    def _ranged(self, index: Index, file: DistributionFile) -> str | None:
        """Read METADATA out of the wheel on the server; None where it serves no ranges."""
        try:
            tail = self._client.range(file.url, None, TAIL)
        except ProjectNotFoundError as error:
            raise _gone(index, file) from error
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
            self._cache.keep(_ranged_key(file), text.encode())
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
                found = self._download(index, file, target)
            self._check(file, found)
            self._cache.write_hash(index.url, file.filename, found)
            read = read_wheel_metadata if file.is_wheel else read_sdist_metadata
            return read(path, where=file.filename)

    def sha256(self, index: Index, file: DistributionFile) -> str:
        known = None if self._refresh else self._cache.read_hash(index.url, file.filename)
        if known is not None:
            return known
        if not self._downloads:
            raise MissingHashError(
                f"{file.filename} has no sha256 on {index.name}",
                where=file.url,
                hint="lock without --offline and --no-download to download and hash it once, "
                "or choose another version",
            )
        found = self._download(index, file, None)
        self._cache.write_hash(index.url, file.filename, found)
        return found

    def _download(self, index: Index, file: DistributionFile, target: object) -> str:
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
            raise _gone(index, file) from error

    @staticmethod
    def _check(file: DistributionFile, found: str) -> None:
        if file.sha256 is not None and file.sha256 != found:
            raise HashMismatchError(
                f"the file has sha256 {found}, its page says {file.sha256}",
                where=file.url,
                hint=_CHANGED,
            )


def _gone(index: Index, file: DistributionFile) -> IndexUnavailableError:
    if index.layout == "direct":
        return IndexUnavailableError(
            "there is no file at this address of the project's",
            where=file.url,
            hint="correct the direct reference",
        )
    return IndexUnavailableError(
        "the index lists this file, but it is not there",
        where=file.url,
        hint="try again later, or tell whoever runs the index",
    )


def _page_url(index: Index, project: NormalizedName) -> str:
    return index.url if index.layout == "flat" else project_url(index.url, project)


def _ranged_key(file: DistributionFile) -> str:
    return f"METADATA {file.sha256} {file.url}"


def _done(compute: Callable[[], _Answer]) -> Future[_Answer]:
    """Give what *compute* gives or raises as a future that is done."""
    future: Future[_Answer] = Future()
    try:
        future.set_result(compute())
    except LockforgeError as error:
        future.set_exception(error)
    return future
