"""The command line, run in this process with its own cache and nothing of the user's."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path

from lockforge.cli.main import run


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a run ended."""

    status: int
    out: str
    err: str


def lockforge(*arguments: str | Path) -> Ended:
    """Run one command line; a traceback of it is the test's."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run([str(argument) for argument in arguments])
    return Ended(status=status, out=out.getvalue(), err=err.getvalue())
