"""Guessing what a solve will ask for, so that it is fetched at once and not one by one.

A walk over all Targets together, in waves: the pages of all names that are new, then the metadata
of the file each Target would choose first, then the names those require. What is guessed wrong
costs a fetch, never an answer: the solve asks for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.errors import LockforgeError
from lockforge.resolve.finder import FileRefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from packaging.specifiers import SpecifierSet
    from packaging.utils import NormalizedName

    from lockforge.model.matrix import Target
    from lockforge.model.resolution import Preferred
    from lockforge.resolve.demands import Demands
    from lockforge.resolve.finder import Finder
    from lockforge.resolve.need import Candidate, Identifier, Need


class _Walk:
    """What the walk knows of one Target."""

    def __init__(
        self, target: Target, demands: Demands, preferred: Mapping[str, Sequence[Preferred]]
    ) -> None:
        self.target = target
        self._demands = demands
        self._preferred = preferred
        self._specifiers: dict[str, SpecifierSet] = {}
        self._chosen: dict[Identifier, Candidate] = {}
        self._waiting: dict[Identifier, Need] = {}

    def begin(self) -> None:
        """Start from what the project needs."""
        self._add(self._demands.needs)

    def follow(self, needs: Iterable[Need]) -> None:
        """Go on with what a candidate needs."""
        for need in needs:
            self._add(self._demands.overridden(need))

    def _add(self, needs: Iterable[Need]) -> None:
        for need in needs:
            known = self._specifiers.get(need.name)
            if known is None:
                known = need.specifier
                for limit in self._demands.constraints.get(need.name, ()):
                    known &= limit.specifier
                self._specifiers[need.name] = known
            elif known != need.specifier:
                self._specifiers[need.name] = known & need.specifier
            elif need.identifier in self._chosen:
                continue
            self._waiting[need.identifier] = need

    def names(self) -> set[NormalizedName]:
        return {need.name for need in self._waiting.values()}

    def choose(self, finder: Finder) -> list[Candidate]:
        """Take the likeliest candidate of each waiting need; none where the guess fails."""
        found: list[Candidate] = []
        for identifier, need in sorted(self._waiting.items()):
            candidate = self._choose(need, finder)
            if candidate is not None and self._chosen.get(identifier) != candidate:
                self._chosen[identifier] = candidate
                found.append(candidate)
        self._waiting.clear()
        return found

    def _choose(self, need: Need, finder: Finder) -> Candidate | None:
        specifier = self._specifiers[need.name]
        try:
            candidates = finder.candidates(need.name, self.target)
        except LockforgeError:
            # The solve meets it again, where it counts.
            return None
        usable = (one for one in candidates if need.is_exact or one.file.yanked is None)
        wanted = [one.version for one in self._preferred.get(need.name, ())]
        best: Candidate | None = None
        for candidate in usable:
            if candidate.version.is_prerelease and not need.is_exact:
                continue
            if specifier.contains(candidate.version, prereleases=True):
                if not wanted or candidate.version == wanted[0]:
                    best = candidate
                    break
                best = best or candidate
        return best.with_extra(need.extra) if best and need.extra else best


def explore(finder: Finder, preferred: Mapping[Target, Mapping[str, Sequence[Preferred]]]) -> None:
    """Prefetch for all Targets, starting from what the project needs in each."""
    states = [
        _Walk(target, demands, preferred[target]) for target, demands in finder.demands.items()
    ]
    for state in states:
        state.begin()
    while any(state.names() for state in states):
        asked = finder.prefetch_pages(
            (name, state.target) for state in states for name in state.names()
        )
        chosen = [(state, state.choose(finder)) for state in states]
        asked |= finder.prefetch_metadata(one for _, candidates in chosen for one in candidates)
        if not asked:
            # What is at hand so far is likely to be at hand to the end: a guess would cost more
            # than the few waits it may save.
            return
        for state, candidates in chosen:
            for candidate in candidates:
                if not (candidate.file.is_wheel and finder.has_metadata(candidate)):
                    # Gigabytes are not downloaded for a guess, and an sdist that cannot be read
                    # ends the search for others, which is for the solve to find.
                    continue
                try:
                    state.follow(finder.needs(candidate, state.target))
                except (LockforgeError, FileRefusedError):
                    continue
