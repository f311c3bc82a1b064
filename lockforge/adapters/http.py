"""HTTP itself: bounded retries, and faults translated. Slow to import, so imported when needed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NoReturn, TypeVar
from urllib.parse import urlsplit

import httpx

from lockforge import __version__
from lockforge.adapters.cache import Response
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


class HttpTransport:
    """Gets what lies at an address; safe to use from several threads."""

    def __init__(self, *, credentials: Mapping[str, tuple[str, str]], connections: int) -> None:
        self._credentials = credentials
        self._client = httpx.Client(
            follow_redirects=True,
            headers={"User-Agent": f"lockforge/{__version__}"},
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            timeout=httpx.Timeout(30.0, connect=10.0),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(
        self, url: str, headers: Mapping[str, str], *, forbidden_means_missing: bool
    ) -> Response | None:
        """Get a whole answer; None where it is "not modified".

        Raises ProjectNotFoundError or IndexUnavailableError.
        """

        def read() -> Response | None:
            answer = self._client.get(url, headers=dict(headers), auth=self._auth(url))
            _refuse(answer, missing=forbidden_means_missing)
            control = answer.headers.get("cache-control", "")
            fresh_for = _max_age(control)
            if answer.status_code == _NOT_MODIFIED:
                return None
            return Response(
                body=answer.content,
                content_type=answer.headers.get("content-type", ""),
                url=_without_credentials(str(answer.url)),
                etag=answer.headers.get("etag"),
                last_modified=answer.headers.get("last-modified"),
                fresh_for=fresh_for,
                storable="no-store" not in control.lower(),
            )

        return self._attempt(url, read)

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
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise httpx.InvalidURL(str(error)) from error
        return self._credentials.get(f"{parts.scheme}://{parts.netloc}")

    def _attempt(self, url: str, read: Callable[[], _Answer]) -> _Answer:
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
