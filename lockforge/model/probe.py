"""Probes: the questions that can be put to a machine, and its answers.

A question is a value, so that the same one can be put to the machine at hand and to texts captured
on another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Outcome: TypeAlias = Literal["said", "failed", "absent", "timeout", "unreadable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """Read a small text file of the system."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFiles:
    """Read one attribute file of each of many devices; the text is a document of all of them.

    A ``*`` in *path* stands for any one name. Where *names* are given the text is a YAML list with
    a mapping of those attributes for each match; else the contents follow one another, each under
    a line ``# <name that matched>``. Matches are in order of name, numbers by value.
    """

    path: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDirectory:
    """List the names in a directory, one a line."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Run a program that changes nothing; standard output and error are taken together."""

    argv: tuple[str, ...]
    places: tuple[str, ...] = ()
    """Where the program may lie when it is not on PATH, in order."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables to set for it."""
    timeout: float = 3.0
    """Seconds, fewer where less is left of the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """Look up environment variables; the text has ``NAME=value`` a line for those that are set."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskInterpreter:
    """Ask the Python that a row would be installed for; the text has ``key=value`` lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskNvidiaLibraries:
    """Load libcuda and NVML in a process of its own, which may hang or die with them.

    The text has ``key=value`` lines.
    """

    timeout: float = 5.0


Question: TypeAlias = (
    ReadFile | ReadFiles | ListDirectory | Run | Variables | AskInterpreter | AskNvidiaLibraries
)


class Answer(NamedTuple):
    """What a machine said to one question. A probe never raises: its failure is an answer."""

    outcome: Outcome
    """``said``: there is a text, and the exit status is 0 where there is one. ``failed``: a program
    ended otherwise, and the text is what it said. ``absent``: no such file or program.
    ``unreadable``: there, but not to be read, and the text says why."""
    text: str = ""
    """Decoded as UTF-8 with replacement, without NUL, and cut at a limit."""
    status: int | None = None
    """Exit status of a program; negative for the signal that ended it."""
    milliseconds: float = 0.0
    by: str | None = None
    """The program's place where it was not found on PATH."""


class Asked(NamedTuple):
    """One probe as it was asked, for the record."""

    name: str
    """Short and stable, such as ``nvidia-smi``."""
    question: Question
    answer: Answer


ABSENT = Answer(outcome="absent")
