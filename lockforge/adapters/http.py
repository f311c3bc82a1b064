"""HTTP itself: bounded retries, and faults translated. Slow to import, so imported when needed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NoReturn, TypeVar

import httpx

from lockforge import __version__
from lockforge.adapters.cache import Response
from lockforge.adapters.credentials import Login
from lockforge.errors import IndexUnavailableError, ProjectNotFoundError
from lockforge.standards.addresses import hide_secrets, public_address

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from contextlib import AbstractContextManager

    from lockforge.adapters.credentials import Keychain

_Answer = TypeVar("_Answer")

_ATTEMPTS = 3
_FIRST_PAUSE = 0.2
# A server may ask for any pause; a lock does not wait longer than this for one answer.
_LONGEST_PAUSE = 5.0
_RETRIED = frozenset({408, 429, 500, 502, 503, 504})
_MISSING = frozenset({404, 410})
_UNAUTHORIZED = 401
_FORBIDDEN = 403
_REFUSED = frozenset({_UNAUTHORIZED, _FORBIDDEN})
_HEADER = "Authorization"
_PARTIAL = 206
_OK = 200
_NOT_MODIFIED = 304


class HttpTransport:
    """Gets what lies at an address; safe to use from several threads."""

    def __init__(self, *, keychain: Keychain, connections: int) -> None:
        self._keychain = keychain
        self._client = httpx.Client(
            event_hooks={"request": [self._authorize]},
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
        missing = _MISSING | {_FORBIDDEN} if forbidden_means_missing else _MISSING
        auth = _KeyringAuth(self._keychain, _REFUSED - missing)

        def read() -> Response | None:
            answer = self._client.get(url, headers=dict(headers), auth=auth)
            _refuse(answer, missing)
            control = answer.headers.get("cache-control", "")
            fresh_for = _max_age(control)
            if answer.status_code == _NOT_MODIFIED:
                return None
            return Response(
                body=answer.content,
                content_type=answer.headers.get("content-type", ""),
                url=public_address(str(answer.url)),
                etag=answer.headers.get("etag"),
                last_modified=answer.headers.get("last-modified"),
                fresh_for=fresh_for,
                storable="no-store" not in control.lower()
                and not self._keychain.is_repeated_in(answer.content),
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
                    _refuse(response, _MISSING)
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
                _refuse(response, _MISSING)
                length = response.headers.get("content-length")
                return receive(response.iter_bytes(), int(length) if length else None)

        return self._attempt(url, read)

    def _stream(
        self, url: str, headers: Mapping[str, str]
    ) -> AbstractContextManager[httpx.Response]:
        auth = _KeyringAuth(self._keychain, _REFUSED)
        return self._client.stream("GET", url, headers=dict(headers), auth=auth)

    def _authorize(self, request: httpx.Request) -> None:
        """Give a request, be it a step of a redirect, what its own origin owns and no more.

        Left alone, httpx keeps the header where a redirect goes from HTTP to HTTPS.
        """
        request.headers.pop(_HEADER, None)
        try:
            header = _header(self._keychain, request)
        except ValueError as error:
            raise httpx.InvalidURL(str(error)) from error
        if header:
            request.headers[_HEADER] = header

    def _attempt(self, url: str, read: Callable[[], _Answer]) -> _Answer:
        pause = _FIRST_PAUSE
        for attempt in range(_ATTEMPTS):
            last = attempt == _ATTEMPTS - 1
            try:
                return read()
            except httpx.HTTPStatusError as error:
                status = error.response.status_code
                if status in _REFUSED:
                    self._refused(url, error)
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

    def _refused(self, url: str, error: httpx.HTTPStatusError) -> NoReturn:
        message, hint = self._keychain.refusal(str(error.response.url), error.response.status_code)
        raise IndexUnavailableError(message, where=public_address(url), hint=hint) from error


class _KeyringAuth(httpx.Auth):
    """Asks once more with what the keyring has, where a server refuses."""

    def __init__(self, keychain: Keychain, statuses: frozenset[int]) -> None:
        self._keychain = keychain
        self._statuses = statuses

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """See httpx.Auth."""
        response = yield request
        if response.status_code in self._statuses:
            asked = response.request
            self._keychain.ask_keyring(str(asked.url))
            if _header(self._keychain, asked) != asked.headers.get(_HEADER):
                yield request


def _header(keychain: Keychain, request: httpx.Request) -> str | None:
    """Say what authorizes a request: what is known of its origin, else what its link states."""
    if header := keychain.header(str(request.url)):
        return header
    url = request.url
    if url.username or url.password:
        return Login(user=url.username, password=url.password, source="the link").header
    return None


def _refuse(response: httpx.Response, missing: frozenset[int]) -> None:
    """Raise for a status that is no answer to go on with; *missing* are those of "not there"."""
    status = response.status_code
    if status in missing:
        raise ProjectNotFoundError(
            f"the server answers {status}", where=public_address(str(response.url))
        )
    if status not in (_OK, _PARTIAL, _NOT_MODIFIED):
        raise httpx.HTTPStatusError(str(status), request=response.request, response=response)


def _unavailable(url: str, message: str, error: Exception) -> NoReturn:
    raise IndexUnavailableError(
        message,
        where=hide_secrets(url),
        hint="check the address and the network, then try again",
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
