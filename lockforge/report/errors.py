"""Errors -> the words a user reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.errors import ConfigError
from lockforge.standards.addresses import hide_secrets

if TYPE_CHECKING:
    from lockforge.errors import LockforgeError


def render_error(error: LockforgeError) -> str:
    """Say what happened, where, and what to do; every fault of a document on its own lines."""
    lines = [f"error[{error.code}]: {error.message}"]
    if error.where:
        lines.append(f"  in {error.where}")
    if isinstance(error, ConfigError):
        for fault in error.faults:
            lines.append(f"  {fault.where}: {fault.message}")
            if fault.hint:
                lines.append(f"    hint: {fault.hint}")
    if error.hint:
        lines.append(f"  hint: {error.hint}")
    # Addresses come from pages too, and what opens them stands in some.
    return hide_secrets("\n".join(lines)) + "\n"
