"""What many hosts get out of one lock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockforge.model.choice import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPlan:
    """What one host of a fleet gets."""

    host: str
    """The name of the file its facts are in."""
    choice: Choice
    row: str | None
    """None where no row of the lock serves it."""
    reason: str
    would_serve: str | None = None
    """The accelerator to add a row for, where *row* is None and there is one that serves it."""
    to_lock: str | None = None
    """The row to lock for that, with the Python where the lock has none for this one."""
    fallback: bool = False
    """Whether it has a GPU and gets a row for the CPU all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """What many hosts get out of one lock."""

    hosts: tuple[HostPlan, ...]
    unused_rows: tuple[str, ...]
    """Rows that no host gets, in the lock's order."""
    cheapest: tuple[str, ...]
    """The rows that cost least of those sets that serve every host that any row serves."""

    @property
    def unserved(self) -> tuple[HostPlan, ...]:
        """The hosts that get no row."""
        return tuple(plan for plan in self.hosts if plan.row is None)
