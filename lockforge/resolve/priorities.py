"""Which package to decide next, learned from the conflicts met so far.

What was decided first stays as it is, and what conflicts with it gives way. Where that goes wrong
again and again, the search starts anew with the two the other way round: the package that could
not be had first, then the one that stood in its way.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockforge.resolve.need import Identifier

_ENOUGH = 5
"""Conflicts of one package; uv changes its order after as many."""


class ReorderedError(Exception):
    """The order has changed; the search starts again."""


class Priorities:
    """The order of the searches of one Target."""

    def __init__(self) -> None:
        self._gave_way: Counter[Identifier] = Counter()
        self._stood_in_the_way: Counter[Identifier] = Counter()

    def rank(self, identifier: Identifier) -> int:
        """Give the place of a package: less is sooner."""
        if self._gave_way[identifier] >= _ENOUGH:
            return 0
        return 1 if self._stood_in_the_way[identifier] >= _ENOUGH else 2

    def count(self, in_the_way: Identifier, giving_way: Identifier) -> None:
        """Count a conflict with what is decided; raises ReorderedError where it is one too many."""
        self._stood_in_the_way[in_the_way] += 1
        self._gave_way[giving_way] += 1
        if _ENOUGH in {self._stood_in_the_way[in_the_way], self._gave_way[giving_way]}:
            raise ReorderedError
