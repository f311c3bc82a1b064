"""`lockforge plan`: the row each host of a fleet would get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.detect.builds import locked_builds
from lockforge.detect.fleet import plan_fleet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.catalog import Catalog
    from lockforge.model.fleet import Fleet
    from lockforge.model.lock import LockedRow
    from lockforge.model.machine import Facts


def plan(hosts: Sequence[tuple[str, Facts]], rows: Sequence[LockedRow], catalog: Catalog) -> Fleet:
    """Choose a row of the lock for each host, in the order of *hosts*."""
    return plan_fleet(hosts, locked_builds(rows), catalog)
