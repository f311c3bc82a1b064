"""Reads METADATA out of a wheel on a server, for wheels without a metadata file beside them."""

import io
import zipfile
from collections.abc import Callable
from typing import TypeAlias

TAIL = 1 << 17
MORE = 1 << 16
GetRange: TypeAlias = Callable[[str], tuple[bytes, int]]


class RangedFile(io.RawIOBase):
    """A remote file, fetched where it is read.

    `get_range` takes the value of a `Range` header and gives the bytes and the size of the file.
    """

    def __init__(self, get_range: GetRange) -> None:
        self._get_range = get_range
        tail, self._size = get_range(f"bytes=-{TAIL}")
        self._parts = {self._size - len(tail): tail}
        self._place = 0

    def readable(self) -> bool:
        """Say yes."""
        return True

    def seekable(self) -> bool:
        """Say yes."""
        return True

    def tell(self) -> int:
        """Give the place of the next read."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the place of the next read."""
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}
        self._place = starts[whence] + offset
        return self._place

    def read(self, size: int = -1) -> bytes:
        """Read from the tail or a part already here, else fetch a part."""
        end = self._size if size < 0 else min(self._place + size, self._size)
        start, self._place = self._place, max(end, self._place)
        if start >= end:
            return b""
        for begin, part in self._parts.items():
            if begin <= start and end <= begin + len(part):
                return part[start - begin : end - begin]
        reach = min(max(end, start + MORE), self._size)
        part, _ = self._get_range(f"bytes={start}-{reach - 1}")
        self._parts[start] = part
        return part[: end - start]


def read_wheel_metadata(get_range: GetRange) -> bytes:
    """Read the METADATA of the one `.dist-info` folder at the top of the wheel."""
    with zipfile.ZipFile(RangedFile(get_range)) as archive:
        names = [
            name
            for name in archive.namelist()
            if name.endswith(".dist-info/METADATA") and name.count("/") == 1
        ]
        return archive.read(names[0])
