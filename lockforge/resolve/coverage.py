"""Which patch releases of its Python a solution serves, where it must serve some.

A minor is solved once for all its patch releases. What only some of them get has a condition; a
file that only some may have limits the lock to those. Both must leave something in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from lockforge.model.python import render_minor
from lockforge.standards.markers import may_hold
from lockforge.standards.patches import deciding_patches, lowest_patch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lockforge.model.matrix import Target
    from lockforge.model.platforms import Platform
    from lockforge.model.python import PythonMinor
    from lockforge.resolve.need import Candidate, Identifier


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """A candidate that leaves no patch release to be served."""

    candidate: Candidate
    rivals: tuple[Candidate, ...]
    """Those without any one of which it could stay."""
    reason: str


class Coverage:
    """The patch releases that the project covers."""

    def __init__(self, requires_python: SpecifierSet | None) -> None:
        self._limits = requires_python or SpecifierSet()
        self._holding: dict[tuple[str, Platform, PythonMinor], bool] = {}

    def patches(self, texts: Iterable[str], python: PythonMinor) -> list[int]:
        """List patch releases that stand for all that are covered, as far as *texts* can tell."""
        return [
            patch
            for patch in deciding_patches([*texts, str(self._limits)], python)
            if _admits(self._limits, python, patch)
        ]

    def can_hold(self, condition: str, platform: Platform, python: PythonMinor) -> bool:
        """Whether what a Target leaves open can be true at a patch release that is covered."""
        key = (condition, platform, python)
        if key not in self._holding:
            self._holding[key] = not condition or any(
                may_hold(condition, platform, python, patch)
                for patch in self.patches([condition], python)
            )
        return self._holding[key]

    def find_clash(
        self,
        target: Target,
        chosen: Mapping[Identifier, Candidate],
        conditions: Mapping[Identifier, str],
        limits: Mapping[Identifier, str],
    ) -> Clash | None:
        """Find the first candidate, in the order chosen, that leaves nothing to be served.

        *limits* are the Requires-Python that exclude some patch releases of the Target's minor.
        """
        if not limits:
            return None
        platform, python = target.row.platform, target.python
        texts = [*limits.values(), *(conditions[identifier] for identifier in limits)]
        served = self.patches(texts, python)
        before: list[Identifier] = []
        for identifier, limit in limits.items():
            if conditions[identifier]:
                continue
            left = [patch for patch in served if _admits(SpecifierSet(limit), python, patch)]
            if not _suffice(left, python):
                return _clash(identifier, before, chosen, limits, python)
            served = left
            before.append(identifier)
        for identifier, limit in limits.items():
            condition = conditions[identifier]
            wanted = [patch for patch in served if may_hold(condition, platform, python, patch)]
            if wanted and not any(_admits(SpecifierSet(limit), python, one) for one in wanted):
                return _clash(identifier, before, chosen, limits, python, condition)
        return None


def _admits(limits: SpecifierSet, python: PythonMinor, patch: int) -> bool:
    return limits.contains(f"{render_minor(python)}.{patch}", prereleases=True)


def _suffice(patches: list[int], python: PythonMinor) -> bool:
    """Whether these are enough: a patch release that was stated must be among them."""
    stated = len(python) > 2  # noqa: PLR2004
    return bool(patches) and (not stated or lowest_patch(python) in patches)


def _clash(
    identifier: Identifier,
    before: Iterable[Identifier],
    chosen: Mapping[Identifier, Candidate],
    limits: Mapping[Identifier, str],
    python: PythonMinor,
    condition: str = "",
) -> Clash:
    rivals = tuple(chosen[one] for one in before)
    needed = f"where {condition}" if condition else ""
    beside = ", ".join(f"{chosen[one]} ({limits[one]})" for one in before)
    where = " ".join(filter(None, [needed, f"beside {beside}" if beside else ""]))
    reason = (
        f"it is for Python {limits[identifier]}, which leaves no patch release of "
        f"{render_minor(python)} {where}".rstrip()
    )
    return Clash(candidate=chosen[identifier], rivals=rivals, reason=reason)
