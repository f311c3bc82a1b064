"""When a search is given up, which proves nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from resolvelib import BaseReporter

from lockforge.model.resolution import Effort
from lockforge.resolve.need import Candidate, Identifier, Need

if TYPE_CHECKING:
    from collections.abc import Callable


def no_time() -> float:
    """Be a clock that stands still: time is then no limit."""
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long one Target may take."""

    rounds: int = 20_000
    """Hundreds of times what a large stack needs."""
    seconds: float = 900.0
    """Fetching counts too, so this leaves room for metadata that only whole wheels tell."""
    clock: Callable[[], float] = no_time
    """Seconds from anywhere."""


ROUNDS_ONLY = Limits()
"""For those who have no clock."""


class LimitReachedError(Exception):
    """One of the limits of a solve was reached."""


class LimitReporter(BaseReporter[Need, Candidate, Identifier]):
    """Counts the rounds of all searches of one Target, and ends them."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._started = limits.clock()
        self._rounds = 0

    @property
    def effort(self) -> Effort:
        """Say what was tried so far."""
        seconds = self._limits.clock() - self._started
        return Effort(rounds=self._rounds, seconds=round(seconds))

    def starting_round(self, index: int) -> None:  # noqa: ARG002
        passed = self._limits.clock() - self._started
        if self._rounds >= self._limits.rounds or passed > self._limits.seconds:
            raise LimitReachedError
        self._rounds += 1
