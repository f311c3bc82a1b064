"""Nothing to do, told without reading anything but the same files again.

After a lock was made or found current, a stamp keeps the command line, every file that was read
with its content, and what a run with nothing to do prints. While all of it is the same, there is
nothing to do. Contents are compared whole, so no clock and no hash can be wrong.

This module is what a run with nothing to do imports, so it imports next to nothing.
"""

from __future__ import annotations

import os
import sys
import zlib

from lockforge import __version__
from lockforge.adapters.directories import cache_directory, config_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_HEAD = f"lockforge stamp 1 {__version__}"
_ABSENT = "-"
# These options ask for more than "is there something to do".
_BUSY = (
    *("--upgrade", "--upgrade-package", "--refresh", "--check"),
    *("--verbose", "-v", "--help", "-h"),
)


def _key(arguments: list[str]) -> str | None:
    """Give all that decides which files a command line reads; None where that cannot be told."""
    try:
        here = os.getcwd()
    except OSError:
        return None
    # A stamp is a file, so it holds no credential; none decides what there is to do.
    settings = [
        f"{key}={value}"
        for key, value in os.environ.items()
        if key.startswith("LOCKFORGE_") and not key.startswith("LOCKFORGE_INDEX_")
    ]
    return "\x1f".join([here, config_directory(), *arguments, "", *sorted(settings)])


def _place(key: str) -> str:
    # Two command lines may share a place: the key itself is in the stamp.
    checksum = zlib.crc32(key.encode("utf-8", "surrogateescape"))
    return os.path.join(cache_directory(), "stamps", f"{checksum:08x}")


def _usable(arguments: list[str]) -> bool:
    return arguments[:1] == ["lock"] and not any(
        argument.split("=")[0] in _BUSY for argument in arguments
    )


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def recall(arguments: list[str]) -> bytes | None:
    """Give what to print if *arguments* have nothing to do, None if that is not known."""
    if not _usable(arguments):
        return None
    key = _key(arguments)
    if key is None:
        return None
    stamp = _open(_read(_place(key)) or b"", key)
    if stamp is None:
        return None
    files, output = stamp
    return output if all(_read(path) == content for path, content in files) else None


def _open(stamp: bytes, key: str) -> tuple[list[tuple[str, bytes | None]], bytes] | None:
    """Take a stamp apart; None if it is another command line's, or damaged."""
    head, _, rest = stamp.partition(b"\0\0")
    fields = head.decode("utf-8", "surrogateescape").split("\0")
    if fields[:2] != [_HEAD, key]:
        return None
    files: list[tuple[str, bytes | None]] = []
    at = 0
    try:
        for path, length in zip(fields[2:-1:2], fields[3:-1:2], strict=True):
            if length == _ABSENT:
                files.append((path, None))
                continue
            files.append((path, rest[at : at + int(length)]))
            at += int(length)
        output = rest[at:]
        return (files, output) if zlib.crc32(output) == int(fields[-1]) else None
    except ValueError:
        return None


def _text(content: bytes | None) -> str:
    # Without its NULs, UTF-16 reads as what matters here.
    return (content or b"").replace(b"\0", b"").decode("utf-8", "replace")


def remember(
    arguments: list[str],
    files: dict[str, bytes | None],
    output: bytes,
    is_private: Callable[[str], bool],
) -> None:
    """Keep that *arguments* have nothing to do while *files*, by absolute path, are the same.

    Nothing is kept where one of the texts is private: a stamp repeats all of them.
    """
    if not _usable(arguments):
        return
    key = _key(arguments)
    if key is None or any(map(is_private, (key, *map(_text, files.values())))):
        return
    fields = [_HEAD, key]
    contents = b""
    for path, content in files.items():
        fields += [path, _ABSENT if content is None else str(len(content))]
        contents += content or b""
    fields.append(str(zlib.crc32(output)))
    head = "\0".join(fields).encode("utf-8", "surrogateescape")
    place = _place(key)
    # Beside its place and renamed, so that a reader sees a whole stamp or none.
    fresh = f"{place}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(fresh, "wb") as file:
            file.write(head + b"\0\0" + contents + output)
        os.replace(fresh, place)
    except OSError:
        # A cache that cannot be written costs time and nothing else.
        return


def show(output: bytes) -> bool:
    """Print what was kept, as bytes; False where it cannot be, which a whole run says why."""
    stream = sys.stdout
    if stream is None:
        return False
    try:
        stream.buffer.write(output)
        stream.flush()
    except OSError:
        return False
    return True
