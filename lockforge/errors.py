"""Every exception lockforge raises on purpose.

::

    LockforgeError                  never raised itself
      UsageError                    an option or argument that cannot be
      ConfigError                   all faults of the user's files, each with its address
      IndexAccessError              an index, or a file on it
        ProjectNotFoundError        the index answers: no such project
        IndexUnavailableError       no answer: network, server error, offline
        MalformedResponseError      an answer that is not what the specification says
        HashMismatchError           bytes that are not the announced ones
        MissingHashError            a file that nobody states a sha256 for
      MetadataError                 core metadata that cannot be read or trusted
        NeedsBuildError             what only a build of the sdist would tell
      NoSolutionError               rows without a solution, all of them together
      SolverLimitError              gave up; proves nothing
      LockError                     an existing lock
        LockSyntaxError             not TOML, not PEP 751, or with merge conflict markers
        LockSelectionError          it does not select one exact set for a row
      ProofError                    the lock just made does not give its rows back
      OutputError                   a file that cannot be written

A message says what happened, *where* names the file and key, URL or row, *hint* says what to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class LockforgeError(Exception):
    """The base of all errors meant for the user; never raised itself."""

    code: ClassVar[str]
    """A stable kebab-case name of the kind of error."""
    exit_status: ClassVar[int]
    """The status the process ends with."""

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint


class UsageError(LockforgeError):
    """An option or argument that cannot be."""

    code = "usage"
    exit_status = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong in a document."""

    where: str
    """The key path or line, such as ``tool.lockforge.rows.linux-cu130.glibc``."""
    message: str
    hint: str | None = None


class ConfigError(LockforgeError):
    """All faults of the user's files at once."""

    code = "configuration"
    exit_status = 2

    def __init__(self, faults: Iterable[Fault], *, where: str | None = None) -> None:
        self.faults: Sequence[Fault] = tuple(faults)
        count = len(self.faults)
        super().__init__(f"{count} fault{'s' if count != 1 else ''} found", where=where)


class IndexAccessError(LockforgeError):
    """An index, or a file on it, could not be used."""

    code = "index"
    exit_status = 5


class ProjectNotFoundError(IndexAccessError):
    """The index answers that it has no such project; separate because a route may go on."""

    code = "project-not-found"


class IndexUnavailableError(IndexAccessError):
    """There is no answer; never read as "not found"."""

    code = "index-unavailable"


class MalformedResponseError(IndexAccessError):
    """The answer is not what the specification says."""

    code = "malformed-response"


class HashMismatchError(IndexAccessError):
    """The bytes are not the announced ones; never retried from a cache."""

    code = "hash-mismatch"


class MissingHashError(IndexAccessError):
    """Nobody states the sha256 of a file that a row needs."""

    code = "missing-hash"


class MetadataError(LockforgeError):
    """Core metadata that cannot be read; the solver refuses the file and goes on."""

    code = "metadata"
    exit_status = 5


class NeedsBuildError(MetadataError):
    """Only a build of the sdist would tell what it requires, and a lock never runs one."""

    code = "needs-build"


class NoSolutionError(LockforgeError):
    """No versions satisfy one row or several; *failures* holds the reasons of each."""

    code = "no-solution"
    exit_status = 4

    def __init__(self, message: str, *, failures: Sequence[object], hint: str | None) -> None:
        super().__init__(message, hint=hint)
        self.failures = failures


class SolverLimitError(LockforgeError):
    """The solver gave up; this proves nothing."""

    code = "solver-limit"
    exit_status = 4


class LockError(LockforgeError):
    """An existing lock cannot be used."""

    code = "lock"
    exit_status = 5


class LockSyntaxError(LockError):
    """The file is not TOML, not PEP 751, or holds merge conflict markers."""

    code = "lock-syntax"


class LockSelectionError(LockError):
    """The lock does not select one exact set of files for a row."""

    code = "lock-selection"


class ProofError(LockforgeError):
    """The lock just made does not give its rows back; it is not written."""

    code = "proof"
    exit_status = 4


class OutputError(LockforgeError):
    """A file could not be written."""

    code = "output"
    exit_status = 5
