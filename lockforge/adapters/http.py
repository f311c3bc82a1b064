"""The HTTP client: bounded retries, conditional requests over the cache, faults translated."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NoReturn, TypeVar
from urllib.parse import urlsplit

import httpx

from lockforge import __version__
from lockforge.adapters.cache import Cache, CachedResponse
from lockforge.errors import IndexUnavailableError, ProjectNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

_Answer = TypeVar("_Answer")

_ATTEMPTS = 3
_FIRST_PAUSE = 0.2
# A server may ask for any pause; a lock does not wait longer than this for one answer.
_LONGEST_PAUSE = 5.0
_RETRIED = frozenset({408, 429, 500, 502, 503, 504})
_MISSING = frozenset({404, 410})
_FORBIDDEN = frozenset({401, 403})
_PARTIAL = 206
_OK = 200
_NOT_MODIFIED = 304


class HttpClient:
    """Gets what lies at an address; safe to use from several threads."""

    def __init__(
        self,
        cache: Cache,
        *,
        offline: bool,
        credentials: Mapping[str, tuple[str, str]],
        connections: int,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._cache = cache
        self._offline = offline
        self._credentials = credentials
        self._client = httpx.Client(
            follow_redirects=True,
            headers={"User-Agent": f"lockforge/{__version__}"},
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            timeout=httpx.Timeout(30.0, connect=10.0),
            transport=transport,
        )

    def page(self, url: str, *, accept: str, forbidden_means_missing: bool) -> CachedResponse:
        """Get an index page, from the cache as long as its headers allow.

        Raises ProjectNotFoundError or IndexUnavailableError.
        """
        key = f"{url} {accept}"
        cached = self._cache.read(key)
        now = time.time()
        if cached is not None and (self._offline or now < cached.expires):
            return cached
        headers = {"Accept": accept}
        if cached is not None and cached.etag:
            headers["If-None-Match"] = cached.etag
        elif cached is not None and cached.last_modified:
            headers["If-Modified-Since"] = cached.last_modified
        response = self._request(url, headers, forbidden_means_missing=forbidden_means_missing)
        expires = now + _max_age(response.headers.get("cache-control", ""))
        if response.status_code == _NOT_MODIFIED and cached is not None:
            fresh = CachedResponse(
                body=cached.body,
                content_type=cached.content_type,
                url=cached.url,
                etag=cached.etag,
                last_modified=cached.last_modified,
                expires=expires,
            )
        else:
            fresh = CachedResponse(
                body=response.content,
                content_type=response.headers.get("content-type", ""),
                url=_without_credentials(str(response.url)),
                etag=response.headers.get("etag"),
                last_modified=response.headers.get("last-modified"),
                expires=expires,
            )
        if "no-store" not in response.headers.get("cache-control", ""):
            self._cache.write(key, fresh)
        return fresh

    def immutable(self, url: str, *, identity: str | None) -> bytes | None:
        """Get a file that never changes; None if it is not there.

        It is kept in the cache where *identity*, its sha256, is known: should the file be replaced
        under its address after all, the page announces another identity.
        """
        key = f"{url} {identity}"
        if identity and (kept := self._cache.kept(key)) is not None:
            return kept
        try:
            response = self._request(url, {}, forbidden_means_missing=True)
        except ProjectNotFoundError:
            return None
        if identity:
            self._cache.keep(key, response.content)
        return response.content

    def range(self, url: str, first: int | None, last: int) -> tuple[bytes, int] | None:
        """Get bytes *first* to *last* of a file, or its last *last* bytes where *first* is None.

        Gives (bytes, size of the whole file), or None where the server does not serve ranges.
        """
        wanted = f"bytes=-{last}" if first is None else f"bytes={first}-{last}"
        headers = {"Range": wanted, "Accept-Encoding": "identity"}

        def read() -> tuple[bytes, int] | None:
            with self._stream(url, headers) as response:
                if response.status_code != _PARTIAL:
                    _refuse(response, missing=True)
                    return None
                size = response.headers.get("content-range", "").rpartition("/")[2]
                return (response.read(), int(size)) if size.isdigit() else None

        return self._attempt(url, read)

    def download(self, url: str, receive: Callable[[Iterator[bytes], int | None], str]) -> str:
        """Stream a whole file to *receive*, with its length where told; gives what it returns.

        *receive* starts anew at each attempt.
        """

        def read() -> str:
            with self._stream(url, {"Accept-Encoding": "identity"}) as response:
                _refuse(response, missing=True)
                length = response.headers.get("content-length")
                return receive(response.iter_bytes(), int(length) if length else None)

        return self._attempt(url, read)

    def _stream(
        self, url: str, headers: Mapping[str, str]
    ) -> AbstractContextManager[httpx.Response]:
        return self._client.stream("GET", url, headers=dict(headers), auth=self._auth(url))

    def _auth(self, url: str) -> tuple[str, str] | httpx.Auth | None:
        # httpx drops the header when a redirect leaves the origin.
        parts = urlsplit(url)
        return self._credentials.get(f"{parts.scheme}://{parts.netloc}")

    def _request(
        self, url: str, headers: Mapping[str, str], *, forbidden_means_missing: bool
    ) -> httpx.Response:
        def read() -> httpx.Response:
            response = self._client.get(url, headers=dict(headers), auth=self._auth(url))
            _refuse(response, missing=forbidden_means_missing)
            return response

        return self._attempt(url, read)

    def _attempt(self, url: str, read: Callable[[], _Answer]) -> _Answer:
        if self._offline:
            raise IndexUnavailableError(
                "not in the cache, and --offline forbids to ask for it",
                where=url,
                hint="run once without --offline",
            )
        pause = _FIRST_PAUSE
        for attempt in range(_ATTEMPTS):
            last = attempt == _ATTEMPTS - 1
            try:
                return read()
            except httpx.HTTPStatusError as error:
                status = error.response.status_code
                if last or status not in _RETRIED:
                    _unavailable(url, f"the server answers {status}", error)
                asked = error.response.headers.get("retry-after", "")
                time.sleep(min(float(asked) if asked.isdigit() else pause, _LONGEST_PAUSE))
            except httpx.TransportError as error:
                if last:
                    _unavailable(url, f"no answer: {_word(error)}", error)
                time.sleep(pause)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                _unavailable(url, f"no answer: {_word(error)}", error)
            pause *= 4
        raise AssertionError("the last attempt returns or raises")


def _refuse(response: httpx.Response, *, missing: bool) -> None:
    """Raise for a status that is no answer to go on with."""
    status = response.status_code
    if status in _MISSING or (missing and status in _FORBIDDEN):
        raise ProjectNotFoundError(
            f"the server answers {status}", where=_without_credentials(str(response.url))
        )
    if status not in (_OK, _PARTIAL, _NOT_MODIFIED):
        raise httpx.HTTPStatusError(str(status), request=response.request, response=response)


def _unavailable(url: str, message: str, error: Exception) -> NoReturn:
    status = error.response.status_code if isinstance(error, httpx.HTTPStatusError) else None
    raise IndexUnavailableError(
        message,
        where=url,
        hint="give credentials in the url of the index"
        if status in _FORBIDDEN
        else "check the address and the network, then try again",
    ) from error


def _word(error: Exception) -> str:
    """Say what went wrong; some of httpx's errors have a type and no text."""
    return str(error) or type(error).__name__


def _max_age(cache_control: str) -> float:
    """Read how many seconds a page may be used without asking again; 0 where nothing says."""
    directives = [part.strip() for part in cache_control.lower().split(",")]
    if {"no-store", "no-cache"}.intersection(directives):
        return 0
    for directive in directives:
        name, _, seconds = directive.partition("=")
        if name == "max-age" and seconds.isdigit():
            return float(seconds)
    return 0


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
