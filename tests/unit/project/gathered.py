"""Reading what Faults gathered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.errors import ConfigError, Fault

if TYPE_CHECKING:
    from lockforge.project.faults import Faults


def gathered(faults: Faults) -> tuple[Fault, ...]:
    """The faults found so far, in the order found."""
    try:
        faults.raise_if_any("here")
    except ConfigError as error:
        return tuple(error.faults)
    return ()
