"""What goes on, on standard error: nothing, a line each, or one line that is written over."""

from __future__ import annotations

import shutil
import sys
import time

# Redrawing more often than this is not seen.
_PAUSE = 0.1


class NoProgress:
    """Shows nothing: for logs, pipes and ``--quiet``."""

    def download(self, filename: str, done: int, length: int | None) -> None:
        """Do nothing."""

    def stage(self, text: str) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """Do nothing."""


class LogProgress:
    """Says each stage and each finished download in a line: for ``--verbose``."""

    def download(self, filename: str, done: int, length: int | None) -> None:
        if length is not None and done >= length:
            sys.stderr.write(f"downloaded {filename}: {done / 1e6:.0f} MB\n")

    def stage(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")

    def clear(self) -> None:
        """Do nothing."""


class TerminalProgress:
    """Shows what goes on in one line."""

    def __init__(self) -> None:
        self._drawn = 0.0

    def download(self, filename: str, done: int, length: int | None) -> None:
        whole = f" of {length / 1e6:.0f}" if length else ""
        self._draw(f"downloading {filename}: {done / 1e6:.0f}{whole} MB")

    def stage(self, text: str) -> None:
        self._draw(text)

    def _draw(self, text: str) -> None:
        now = time.monotonic()
        if now - self._drawn < _PAUSE:
            return
        self._drawn = now
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[K{text[:width]}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Leave the line as if nothing had been there."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
