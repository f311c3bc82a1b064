"""The user's files: read text and TOML; write a file beside its place and rename it there."""

from __future__ import annotations

import os
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from lockforge.errors import ConfigError, Fault, LockforgeError, OutputError, UsageError


class TextFiles:
    """Reads the user's files and remembers what was read."""

    def __init__(self) -> None:
        self.seen: dict[str, bytes | None] = {}
        """Content by absolute path, None for a file that is not there."""

    def read(self, path: Path, error_kind: type[LockforgeError]) -> str | None:
        """Read a text; None if there is no such file, *error_kind* if it cannot be read."""
        try:
            content = path.read_bytes()
            self.seen[str(path.absolute())] = content
            return content.decode("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            self.seen[str(path.absolute())] = None
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise error_kind(
                f"cannot be read: {error}",
                where=str(path),
                hint="check the file and its permissions",
            ) from error

    def read_toml(self, path: Path) -> dict[str, Any]:
        """Read a TOML document; empty if there is none, ConfigError if it is not TOML."""
        text = self.read(path, UsageError)
        if text is None:
            return {}
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            fault = Fault(where=str(path), message=f"not TOML: {error}")
            raise ConfigError([fault], where=str(path)) from error


def write_atomically(path: Path, text: str) -> None:
    r"""Write *text* so that *path* holds the old or the new content at any moment.

    Raises OutputError; the old content stays then. Line ends are ``\\n`` everywhere.
    """
    temporary: str | None = None
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            newline="\n",
            dir=path.parent,
            prefix=f".{path.name}.",
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
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise OutputError(
            f"cannot be written: {error.strerror or error}",
            where=str(path),
            hint="check that its directory exists and is writable, or give another with -o",
        ) from error
