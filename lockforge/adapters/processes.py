"""Run a program within a time and a size, and leave nothing of it behind."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from typing import IO, TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LIMIT = 256 * 1024
"""Bytes kept of what a program says; the rest is read and dropped, so that it can end."""
# For a killed process to end.
_SETTLE = 0.1
# For the rest of what an ended one said: at once, unless the machine is busy.
_REST = 1.0

_Event: TypeAlias = Literal["closed", "ended"]


class Ended(NamedTuple):
    """How a program ended, and the beginning of what it said."""

    content: bytes
    status: int | None
    """Negative for the signal that ended it; None where it had to be stopped."""


class _Apart(TypedDict, total=False):
    start_new_session: bool
    creationflags: int


if sys.platform == "win32":
    # Without a console of our own a program would open a window.
    _APART: _Apart = {
        "creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    }

    def _stop(process: subprocess.Popen[bytes]) -> None:
        """Stop the process with those it started."""
        system = os.environ.get("SYSTEMROOT", r"C:\Windows")
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(  # noqa: S603 - the system's own program, by its full path
                [
                    os.path.join(system, "System32", "taskkill.exe"),
                    "/F",
                    "/T",
                    "/PID",
                    str(process.pid),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                creationflags=subprocess.CREATE_NO_WINDOW,
                timeout=1,
                check=False,
            )
        process.kill()

else:
    import signal

    _APART: _Apart = {"start_new_session": True}

    def _stop(process: subprocess.Popen[bytes]) -> None:
        """Stop the process with those it started, even where it has ended itself already."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            # PermissionError: macOS says so of a group that only has ended processes.
            process.kill()


def run_bounded(argv: Sequence[str], environment: Mapping[str, str], seconds: float) -> Ended:
    """Run *argv*, whose first is a path, for at most *seconds* and the blink that stopping takes.

    Raises OSError or ValueError where it cannot be started.
    """
    until = time.monotonic() + seconds
    process = subprocess.Popen(  # noqa: S603 - the probes are a fixed table
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        env=dict(environment),
        **_APART,
    )
    said = bytearray()
    events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
    happened: set[_Event] = set()
    enough = threading.Event()

    def hear(wait: float) -> None:
        with contextlib.suppress(queue.Empty):
            happened.add(events.get(timeout=max(wait, 0)))

    try:
        # Threads, because only they can wait for a pipe and a process on every system. They may
        # outlive this: a process that hangs in a driver does not end even when killed.
        for work in (
            lambda: _read(process.stdout, said, enough, events),
            lambda: _wait(process, events),
        ):
            threading.Thread(target=work, daemon=True).start()
        hear(until - time.monotonic())
        if "closed" in happened:
            hear(until - time.monotonic())
        elif "ended" in happened:
            # A process that it left behind may keep the pipe open for ever.
            hear(min(_REST, until - time.monotonic()))
        status = process.returncode if "ended" in happened else None
    finally:
        if missing := {"closed", "ended"} - happened:
            _stop(process)
            for _ in missing:
                hear(_SETTLE)
            # What is out of reach finds nobody who listens, and is not read for ever.
            enough.set()
    return Ended(content=bytes(said), status=status)


def _read(
    pipe: IO[bytes] | None,
    said: bytearray,
    enough: threading.Event,
    events: queue.SimpleQueue[_Event],
) -> None:
    assert pipe is not None
    try:
        with pipe:
            while not enough.is_set() and (chunk := pipe.read(64 * 1024)):
                said += chunk[: LIMIT - len(said)]
    finally:
        events.put("closed")


def _wait(process: subprocess.Popen[bytes], events: queue.SimpleQueue[_Event]) -> None:
    process.wait()
    events.put("ended")
