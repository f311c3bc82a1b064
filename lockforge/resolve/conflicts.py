"""A rule that only limits, as a conflict of two versions and nothing more.

resolvelib knows requirements alone, so a conflict is made of them: the version that a rule is of
and each version that it excludes require opposite sides of one thing, of which there is one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.version import Version

from lockforge.model.index import Index
from lockforge.model.release import DistributionFile
from lockforge.resolve.need import Candidate, split_extras

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lockforge.catalog.rules import Rule
    from lockforge.model.matrix import Target
    from lockforge.resolve.finder import Finder
    from lockforge.resolve.need import Need

_MARK = "?"
_OWNER, _LIMITED = Version("1"), Version("2")
_NOWHERE = Index(name="", url="")
_NOTHING = DistributionFile(filename="", url="", sha256=None)


def is_stand(candidate: Candidate) -> bool:
    """Whether it is one side of a conflict, and no package."""
    return candidate.extra.startswith(_MARK)


class Conflicts:
    """The conflicts that some rules make in one Target."""

    def __init__(self, target: Target, finder: Finder, rules: Iterable[Rule]) -> None:
        self._rules = frozenset(rules)
        self._needs: dict[str, dict[str, Need]] = {}
        for rule in sorted(self._rules, key=lambda one: (one.package, one.requires)):
            for candidate in finder.candidates(rule.package, target):
                if rule in finder.rules(candidate):
                    for need in split_extras(rule.parsed(candidate.version)):
                        self._needs.setdefault(need.name, {})[_subject(rule, need)] = need

    def owner_side(self, rule: Rule, need: Need) -> Need:
        """Give what a version that *rule* is of requires in place of *need*."""
        if rule not in self._rules:
            return need
        return replace(need, extra=_subject(rule, need), side=_OWNER)

    def limited_sides(self, candidate: Candidate) -> Iterator[Need]:
        """List what a candidate requires for every rule that excludes it."""
        if candidate.extra:
            return
        for subject, need in self._needs.get(candidate.name, {}).items():
            if not need.admits(candidate.version):
                yield replace(need, extra=subject, only_limits=True, side=_LIMITED)

    @staticmethod
    def stands(needs: Sequence[Need], refused: Sequence[Candidate]) -> list[Candidate]:
        """Give the side that all *needs* are on."""
        sides = {need.side for need in needs}
        if len(sides) > 1 or sides & {candidate.version for candidate in refused}:
            return []
        first = needs[0]
        assert first.side is not None
        return [
            Candidate(
                name=first.name,
                version=first.side,
                file=_NOTHING,
                index=_NOWHERE,
                extra=first.extra,
            )
        ]


def _subject(rule: Rule, need: Need) -> str:
    return f"{_MARK}{rule.package} {need.text}"
