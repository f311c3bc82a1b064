"""A wheel on a server as a file to seek in, so that its METADATA costs a few kilobytes.

A ZIP's directory stands at its end: the first request takes the tail, which for most wheels holds
METADATA too, because `.dist-info` is written last.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TAIL = 64 * 1024
"""Bytes of the first request."""
_BLOCK = 32 * 1024


class RangeFile(io.RawIOBase):
    """A read-only file over ranges; bytes once read are kept."""

    def __init__(self, tail: bytes, size: int, fetch: Callable[[int, int], bytes]) -> None:
        super().__init__()
        self._size = size
        self._fetch = fetch
        self._position = 0
        self._spans: list[tuple[int, bytes]] = [(size - len(tail), tail)]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            # What `zipfile` expects of a file that is too short to be an archive.
            raise OSError("negative seek position")
        self._position = start + offset
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        wanted = min(len(buffer), self._size - self._position)
        if wanted <= 0:
            return 0
        content = self._read_span(self._position, wanted)
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)

    def _read_span(self, start: int, length: int) -> bytes:
        for begin, content in self._spans:
            if begin <= start < begin + len(content):
                return content[start - begin : start - begin + length]
        last = min(start + max(length, _BLOCK), self._size) - 1
        content = self._fetch(start, last)
        self._spans.append((start, content))
        return content[:length]
