"""The small files by which a system tells of itself; nothing but such a file is opened."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LIMIT = 64 * 1024
"""Bytes read of one file."""
MATCHES = 2048
"""Devices read of one kind, and names listed of one directory."""
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotTextError(OSError):
    """It is there and is no text: a directory, a device, a pipe, or bytes."""


def decoded(content: bytes) -> str:
    """Decode what a program or file said, with nothing in it that a text cannot hold."""
    text = content.decode("utf-8", "replace").replace("\0", "")
    return re.sub(r"\r+\n", "\n", text)


def plain(text: str) -> str:
    """Give a name or a variable of the system without the escapes of what is not UTF-8."""
    return decoded(text.encode("utf-8", "surrogateescape" if _escaped(text) else "replace"))


def _escaped(text: str) -> bool:
    return all(not "\ud800" <= one <= "\udfff" or "\udc80" <= one <= "\udcff" for one in text)


def read_text(path: str) -> str:
    """Read a text file; raises OSError, FileNotFoundError where there is none."""
    return text_of_file(read_limited(path, LIMIT))


def read_limited(path: str, limit: int) -> bytes:
    """Read the beginning of a file; raises OSError, NotTextError where it is none."""
    # Looked at before it is opened: to open a device or a pipe can do something, or never end.
    _check_regular(os.stat(path))
    descriptor = os.open(path, _FLAGS)
    try:
        _check_regular(os.fstat(descriptor))
        content = b""
        while len(content) < limit and (chunk := os.read(descriptor, limit - len(content))):
            content += chunk
    finally:
        os.close(descriptor)
    return content


def text_of_file(content: bytes) -> str:
    """Decode a file; in those of a device tree each string ends with a NUL."""
    if b"\0" not in content:
        return decoded(content)
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        raise NotTextError("is not a text") from None
    return decoded(content.rstrip(b"\0").replace(b"\0", b"\n"))


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NotTextError("is not a file")


def list_names(path: str, keep: Callable[[str], bool]) -> list[str]:
    """List the names in a directory that *keep* wants, in order; raises OSError."""
    with os.scandir(path) as entries:
        names = [plain(one.name) for one in entries if keep(one.name)]
    return sorted(names, key=by_value)[:MATCHES]


def by_value(name: str) -> tuple[int, int, str]:
    """Order numbers by their value, before names."""
    return (0, int(name), "") if name.isascii() and name.isdigit() else (1, 0, name)


def matches(root: str, pattern: str) -> list[tuple[str, str]]:
    """Give each path that *pattern* fits below *root*, with the names that stand for its ``*``.

    Raises OSError where the first directory that is to be listed cannot be.
    """
    found = [(root, "")]
    first = True
    for part in pattern.strip("/").split("/"):
        if part != "*":
            found = [(os.path.join(path, part), name) for path, name in found]
            continue
        listed = []
        for path, name in found:
            try:
                names = list_names(path, lambda _: True)
            except OSError:
                if first:
                    raise
                continue
            listed += [(os.path.join(path, one), f"{name}/{one}".lstrip("/")) for one in names]
        found, first = listed[:MATCHES], False
    return found


def read_attributes(folder: str, names: Sequence[str]) -> dict[str, str]:
    """Read those attributes of a device that can be read; of a link, the name it leads to.

    Raises FileNotFoundError where it has none.
    """
    values = {}
    for name in names:
        path = os.path.join(folder, name)
        try:
            values[name] = (
                os.path.basename(os.readlink(path))
                if os.path.islink(path)
                else read_text(path).strip()
            )
        except OSError:
            continue
    if not values:
        raise FileNotFoundError(folder)
    return values


def attribute_line(values: dict[str, str]) -> str:
    """Write one device as an entry of a YAML list."""
    inner = ", ".join(f"{name}: {_quoted(value)}" for name, value in values.items())
    return f"- {{{inner}}}\n"


def _quoted(value: str) -> str:
    return "'" + " ".join(value.split()).replace("'", "''") + "'"
