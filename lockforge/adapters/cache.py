"""The on-disk cache of index responses and file hashes.

An entry is one file: a JSON line about the response, then the body. It is written beside its
place and renamed, so a reader sees a whole entry or none, however many processes write; the
line holds the body's sha256, so a damaged entry is a miss.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

# Changes when an older lockforge could not read a newer entry, or the other way round.
_LAYOUT = "v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer of an index, as far as it is kept."""

    body: bytes
    content_type: str
    url: str
    """The address after redirects."""
    etag: str | None = None
    last_modified: str | None = None
    fresh_for: float = 0
    """Seconds for which the index need not be asked again."""
    storable: bool = True


class CachedResponse(NamedTuple):
    """A response and until when it need not be asked for again, in seconds since the epoch."""

    response: Response
    expires: float


class Cache:
    """A directory of entries; one that cannot be written or read is as good as none."""

    def __init__(self, root: Path) -> None:
        self._root = root / _LAYOUT

    def _path(self, kind: str, key: str) -> Path:
        return self._root / kind / hashlib.sha256(key.encode()).hexdigest()

    def read(self, key: str) -> CachedResponse | None:
        """Give the entry of *key*; None, and no file left, where it is damaged."""
        path = self._path("responses", key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        head, _, body = content.partition(b"\n")
        try:
            fields = json.loads(head)
            if fields.pop("sha256") == hashlib.sha256(body).hexdigest():
                expires = float(fields.pop("expires"))
                return CachedResponse(Response(body=body, **fields), expires)
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def write(self, key: str, response: Response, expires: float) -> None:
        """Keep *response* under *key*."""
        fields = asdict(response) | {"expires": expires}
        body = fields.pop("body")
        fields["sha256"] = hashlib.sha256(body).hexdigest()
        head = json.dumps(fields, sort_keys=True).encode()
        self._write(self._path("responses", key), head + b"\n" + body)

    def kept(self, key: str) -> bytes | None:
        """Give the content kept under *key*."""
        entry = self.read(key)
        return None if entry is None else entry.response.body

    def keep(self, key: str, content: bytes) -> None:
        """Keep content that *key* identifies, so that it never grows old."""
        self.write(key, Response(body=content, content_type="", url=""), 0)

    def read_hash(self, index_url: str, filename: str) -> str | None:
        """Give the sha256 found earlier for a file of an index."""
        try:
            text = self._path("hashes", f"{index_url} {filename}").read_text("ascii")
        except (OSError, UnicodeDecodeError):
            return None
        digest, _, check = text.partition(" ")
        return digest if _checksum(digest) == check else None

    def write_hash(self, index_url: str, filename: str, digest: str) -> None:
        """Keep the sha256 of a file that was downloaded whole."""
        path = self._path("hashes", f"{index_url} {filename}")
        self._write(path, f"{digest} {_checksum(digest)}".encode())

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        with contextlib.suppress(OSError):
            try:
                handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            except FileNotFoundError:
                path.parent.mkdir(parents=True, exist_ok=True)
                handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                Path(name).replace(path)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
