"""`lockforge report`: the matrix that a lock holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockforge.report.matrix import matrix_report, render_matrix
from lockforge.standards.pylock import parse_pylock

if TYPE_CHECKING:
    from packaging.pylock import Pylock

    from lockforge.catalog import Catalog


def report(text: str, catalog: Catalog, *, where: str) -> str:
    """Give the matrix of a lock as text; raises LockError where it cannot be read."""
    lock, data = parse_pylock(text, where=where)
    return report_parsed(lock, data, catalog, where=where)


def report_parsed(lock: Pylock, data: dict[str, Any], catalog: Catalog, *, where: str) -> str:
    """Give the matrix of a lock that was read already."""
    return render_matrix(matrix_report(lock, data, catalog, where=where))
