"""What lies at an address, through the cache: asked for only where the cache cannot tell."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from lockforge.errors import IndexUnavailableError, ProjectNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lockforge.adapters.cache import Cache, Response
    from lockforge.adapters.http import HttpTransport


class CachingClient:
    """Pages and files of indexes; safe to use from several threads."""

    def __init__(
        self,
        cache: Cache,
        connect: Callable[[], HttpTransport],
        *,
        offline: bool,
        refresh: bool = False,
    ) -> None:
        self._cache = cache
        self._connect = connect
        self._offline = offline
        self._refresh = refresh
        self._transport: HttpTransport | None = None
        self._connecting = threading.Lock()

    def _http(self, url: str) -> HttpTransport:
        """Give the transport, made when it is first needed."""
        if self._offline:
            raise IndexUnavailableError(
                "not in the cache, and --offline forbids to ask for it",
                where=url,
                hint="run once without --offline",
            )
        with self._connecting:
            if self._transport is None:
                self._transport = self._connect()
        return self._transport

    def close(self) -> None:
        """Close the connections, if any were made."""
        if self._transport is not None:
            self._transport.close()

    def fresh_page(self, url: str, *, accept: str) -> Response | None:
        """Give a page that the cache has and that need not be asked for."""
        if self._refresh:
            return None
        cached = self._cache.read(_page_key(url, accept))
        if cached is not None and (self._offline or time.time() < cached.expires):
            return cached.response
        return None

    def page(self, url: str, *, accept: str, forbidden_means_missing: bool) -> Response:
        """Ask for an index page, with what the cache knows of it.

        Raises ProjectNotFoundError or IndexUnavailableError.
        """
        http = self._http(url)
        key = _page_key(url, accept)
        cached = self._cache.read(key)
        headers = {"Accept": accept}
        if cached is not None and cached.response.etag:
            headers["If-None-Match"] = cached.response.etag
        elif cached is not None and cached.response.last_modified:
            headers["If-Modified-Since"] = cached.response.last_modified
        asked = time.time()
        answer = http.get(url, headers, forbidden_means_missing=forbidden_means_missing)
        if answer is None:
            if cached is None:
                raise _unasked(url)
            answer = cached.response
        if answer.storable:
            self._cache.write(key, answer, asked + answer.fresh_for)
        return answer

    def kept_file(self, url: str, *, identity: str) -> bytes | None:
        """Give a small file that the cache has; *identity* is its sha256."""
        return self._cache.kept(_file_key(url, identity))

    def file(self, url: str) -> bytes | None:
        """Ask for a small file; None if it is not there."""
        try:
            answer = self._http(url).get(url, {}, forbidden_means_missing=True)
        except ProjectNotFoundError:
            return None
        if answer is None:
            raise _unasked(url)
        return answer.body

    def keep_file(self, url: str, content: bytes, *, identity: str) -> None:
        """Keep a file whose sha256 was found to be *identity*.

        Should it be replaced under its address after all, its page announces another identity.
        """
        self._cache.keep(_file_key(url, identity), content)

    def range(self, url: str, first: int | None, last: int) -> tuple[bytes, int] | None:
        """Ask for a part of a file; see HttpTransport.range."""
        return self._http(url).range(url, first, last)

    def download(self, url: str, receive: Callable[[Iterator[bytes], int | None], str]) -> str:
        """Stream a whole file; see HttpTransport.download."""
        return self._http(url).download(url, receive)


def _unasked(url: str) -> IndexUnavailableError:
    return IndexUnavailableError(
        'the server answers "not modified" to a request without a condition',
        where=url,
        hint="try again; if it persists, tell whoever runs the index",
    )


def _page_key(url: str, accept: str) -> str:
    return f"page {accept} {url}"


def _file_key(url: str, identity: str) -> str:
    return f"file {identity} {url}"
