"""The user's files: read text and TOML; write a file beside its place and rename it there."""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path
from typing import Any

from lockforge.errors import ConfigError, Fault, LockforgeError, OutputError, UsageError

# The order matters: UTF-16's mark is the beginning of UTF-32's.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
)
# Bytes of one text, so that a device or a log that is given by mistake does not fill the memory.
_LARGEST = 128 * 1024**2
_CODING = re.compile(rb"coding[:=]\s*([-\w.]+)")


class TextFiles:
    """Reads the user's files and remembers what was read."""

    def __init__(self) -> None:
        self.seen: dict[str, bytes | None] = {}
        """Content by absolute path, None for a file that is not there."""

    def read(self, path: Path, error_kind: type[LockforgeError]) -> str | None:
        """Read a text; None if there is no such file, *error_kind* if it cannot be read."""
        content = self._content(path, error_kind)
        if content is None:
            return None
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise error_kind(
                "is not UTF-8 text", where=str(path), hint="save it as UTF-8"
            ) from error

    def read_requirements(self, path: Path) -> str | None:
        """Read a requirements file, which may say how it is encoded, as pip does.

        None if there is no such file; UsageError if it cannot be read.
        """
        content = self._content(path, UsageError)
        if content is None:
            return None
        encoding, content = _encoding(content)
        try:
            return content.decode(encoding)
        except (UnicodeError, LookupError) as error:
            named = encoding.upper() if encoding.startswith("utf") else encoding
            raise UsageError(
                f"is not {named} text",
                where=str(path),
                hint="save it as UTF-8, or begin it with a line such as # -*- coding: latin-1 -*-",
            ) from error

    def _content(self, path: Path, error_kind: type[LockforgeError]) -> bytes | None:
        try:
            with path.open("rb") as file:
                content = file.read(_LARGEST + 1)
        except (FileNotFoundError, NotADirectoryError):
            content = None
        except (OSError, ValueError) as error:
            # ValueError: the path has a NUL, which no path can have.
            reason = error.strerror if isinstance(error, OSError) else None
            raise error_kind(
                f"cannot be read: {(reason or str(error)).lower()}",
                where=str(path),
                hint="check the file and its permissions",
            ) from error
        if content is not None and len(content) > _LARGEST:
            raise error_kind(
                f"is larger than {_LARGEST // 1024**2} MiB",
                where=str(path),
                hint="give the file that is meant",
            )
        self.seen[str(path.absolute())] = content
        return content

    def read_toml(self, path: Path) -> dict[str, Any]:
        """Read a TOML document; empty if there is none, ConfigError if it is not TOML."""
        text = self.read(path, UsageError)
        if text is None:
            return {}
        import tomllib

        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            fault = Fault(where=str(path), message=f"not TOML: {error}")
            raise ConfigError([fault], where=str(path)) from error


def _encoding(content: bytes) -> tuple[str, bytes]:
    """Give the encoding that *content* names, as PEP 263 has it, and what it is the encoding of."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding, content.removeprefix(mark)
    for line in content.split(b"\n")[:2]:
        if line.startswith(b"#") and (match := _CODING.search(line)):
            return match[1].decode("ascii"), content
    return "utf-8", content


def write_atomically(path: Path, text: str) -> None:
    r"""Write *text* so that *path* holds the old or the new content at any moment.

    Raises OutputError; the old content stays then. Line ends are ``\\n`` everywhere.
    """
    import tempfile

    # Renamed to *path*, the file would take the place of a link.
    place = Path(os.path.realpath(path))
    temporary: str | None = None
    try:
        _check_replaceable(path)
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            newline="\n",
            dir=place.parent,
            prefix=f".{place.name}.",
            delete=False,
        ) as file:
            temporary = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # A temporary file is private; the lock is as readable as any file the user makes.
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(place)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise OutputError(
            f"cannot be written: {error.strerror or error}",
            where=str(path),
            hint="check that its directory exists and is writable, or give another path",
        ) from error


def make_parent(path: Path) -> None:
    """Make the directory that *path* is to lie in; raises OutputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot be made: {error.strerror or error}",
            where=str(path.parent),
            hint="give a path in a directory that can be written to",
        ) from error


def _check_replaceable(path: Path) -> None:
    """Refuse what is there and no file; a device such as /dev/null could be replaced by root."""
    if path.exists() and not path.is_file():
        raise OutputError("is not a file", where=str(path), hint="give the path of a file")
