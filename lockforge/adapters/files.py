"""Read text files; write one beside its place and rename it there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from lockforge.errors import LockforgeError, OutputError


def read_text(path: Path, error_kind: type[LockforgeError]) -> str | None:
    """Read a file of the user's; None if there is none, *error_kind* if it cannot be read."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise error_kind(
            f"cannot be read: {error}", where=str(path), hint="check the file and its permissions"
        ) from error


def write_atomically(path: Path, text: str) -> None:
    """Write *text* so that *path* holds the old or the new content at any moment.

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
