"""Fetches each address once and keeps the answer, so that a second run is cheap and identical."""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import httpx

from snapshot_tools.wheel_metadata import read_wheel_metadata

CONNECTIONS = 16
ATTEMPTS = 5
# The PyTorch host answers 403 for what does not exist.
MISSING_STATUSES = frozenset({403, 404, 410})

Answer = TypeVar("Answer")


class DownloadError(Exception):
    """An address gave no usable answer after all attempts."""


class Downloads:
    """A cache of answers; `None` is the answer for an address that does not exist."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._client = httpx.Client(
            timeout=60,
            follow_redirects=True,
            limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def load_all(self, urls: Iterable[str], *, accept: str = "*/*") -> Mapping[str, bytes | None]:
        """Load the answer of each address, fetched in parallel where it is not kept."""
        return self._map(lambda url: self.load(url, accept=accept), urls)

    def load_all_wheel_metadata(self, urls: Iterable[str]) -> Mapping[str, bytes]:
        """Load the core metadata of each wheel in the same way."""
        return self._map(self.load_wheel_metadata, urls)

    def _map(self, load: Callable[[str], Answer], urls: Iterable[str]) -> Mapping[str, Answer]:
        ordered = sorted(set(urls))
        with ThreadPoolExecutor(max_workers=CONNECTIONS) as pool:
            return dict(zip(ordered, pool.map(load, ordered), strict=True))

    def load(self, url: str, *, accept: str = "*/*") -> bytes | None:
        """Load the answer of one address."""
        return self._keep(url, lambda: self._fetch(url, accept))

    def _keep(self, name: str, fetch: Callable[[], bytes | None]) -> bytes | None:
        key = hashlib.sha256(name.encode()).hexdigest()
        kept = self._folder / key[:2] / key
        missing = kept.with_suffix(".missing")
        if kept.exists():
            return kept.read_bytes()
        if missing.exists():
            return None
        body = fetch()
        kept.parent.mkdir(parents=True, exist_ok=True)
        if body is None:
            missing.touch()
            return None
        partial = kept.with_suffix(".partial")
        partial.write_bytes(body)
        partial.replace(kept)
        return body

    def load_wheel_metadata(self, url: str) -> bytes:
        """Load the core metadata of a wheel: the file beside it, or else the one inside it."""
        return (
            self.load(f"{url}.metadata")
            or self._keep(f"{url}#METADATA", lambda: self._read_wheel(url))
            or b""
        )

    def _read_wheel(self, url: str) -> bytes:
        def get_range(wanted: str) -> tuple[bytes, int]:
            answer = self._request(url, {"Range": wanted})
            if answer is None:
                raise DownloadError(f"{url}: the wheel does not exist")
            return answer.content, int(answer.headers["Content-Range"].rpartition("/")[2])

        return read_wheel_metadata(get_range)

    def _fetch(self, url: str, accept: str) -> bytes | None:
        answer = self._request(url, {"Accept": accept})
        return None if answer is None else answer.content

    def _request(self, url: str, headers: Mapping[str, str]) -> httpx.Response | None:
        fault = "no attempt made"
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(2**attempt)
            try:
                answer = self._client.get(url, headers=dict(headers))
            except httpx.TransportError as error:
                fault = f"{type(error).__name__}: {error}"
                continue
            if answer.status_code in MISSING_STATUSES:
                return None
            if answer.is_success:
                return answer
            fault = f"status {answer.status_code}"
        raise DownloadError(f"{url}: {fault} after {ATTEMPTS} attempts")
