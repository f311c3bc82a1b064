"""Standard output, which a full disk or a pipe that nobody reads may not take."""

from __future__ import annotations

import os
import sys

from lockforge.errors import OutputError


def write(text: str) -> None:
    """Print *text*; raises OutputError, or BrokenPipeError where nobody reads any more."""
    stream = sys.stdout
    # There is none where the process was started with it closed.
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard()
        raise OutputError(
            f"what was to be printed cannot be written: {error.strerror}",
            where="standard output",
            hint="check where it is sent to",
        ) from error


def discard() -> None:
    """Print nothing more; else what is left in the buffer fails again when the process ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
