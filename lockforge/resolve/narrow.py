"""Leaving out Pythons that nobody stated and that some row of a platform cannot be locked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.model.matrix import Matrix
    from lockforge.model.resolution import Failure, Resolution


def narrow(
    matrix: Matrix, resolutions: Sequence[Resolution], failures: Sequence[Failure]
) -> tuple[list[Resolution], list[Failure], list[Failure]]:
    """Give (resolutions that stay, failures that stand, failures that only narrow).

    A Python goes from all rows of a platform at once: `environments` of a lock tells platforms and
    Pythons apart, but not rows of one platform, and a row without its torch would be installed in
    silence. Where a platform would lose all its Pythons its failures stand, and so does a search
    that was given up.
    """
    lost: dict[str, set[object]] = {}
    for failure in failures:
        if failure.gave_up is None:
            target = failure.target
            lost.setdefault(target.row.platform.name, set()).add(target.python)
    covered: dict[str, set[object]] = {}
    for target in matrix.targets:
        covered.setdefault(target.row.platform.name, set()).add(target.python)
    lost = {name: pythons for name, pythons in lost.items() if pythons < covered[name]}

    def is_left_out(one: Resolution | Failure) -> bool:
        return one.target.python in lost.get(one.target.row.platform.name, ())

    return (
        [one for one in resolutions if not is_left_out(one)],
        [one for one in failures if one.gave_up or not is_left_out(one)],
        [one for one in failures if not one.gave_up and is_left_out(one)],
    )
