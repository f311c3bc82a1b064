"""The resolvelib provider of one Target, over a Finder; it holds no policy of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from resolvelib import AbstractProvider

from lockforge.model.resolution import Addition
from lockforge.resolve.finder import split_extras
from lockforge.resolve.need import Candidate, Identifier, Need
from lockforge.standards.markers import may_hold
from lockforge.standards.patches import deciding_patches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from packaging.utils import NormalizedName
    from resolvelib.structs import RequirementInformation

    from lockforge.catalog import Rule
    from lockforge.model.matrix import Target
    from lockforge.model.resolution import Preferred
    from lockforge.resolve.finder import Finder


class Provider(AbstractProvider[Need, Candidate, Identifier]):
    """Facts of one Target for resolvelib."""

    def __init__(
        self,
        target: Target,
        finder: Finder,
        *,
        preferred: Mapping[str, Sequence[Preferred]],
        excluded: frozenset[NormalizedName],
        active: frozenset[Rule],
    ) -> None:
        self._target = target
        self._finder = finder
        self._preferred = preferred
        self._excluded = excluded
        self._active = active
        self._matches: dict[tuple[str, SpecifierSet, bool], tuple[Candidate, ...]] = {}
        self._order: dict[Identifier, int] = {}
        self._pinned: set[Identifier] = set()
        self._dependencies: dict[tuple[Identifier, str], tuple[Need, ...]] = {}

    def identify(self, requirement_or_candidate: Need | Candidate) -> Identifier:
        return requirement_or_candidate.identifier

    def narrow_requirement_selection(
        self,
        identifiers: Iterable[Identifier],
        resolutions: Mapping[Identifier, Candidate],
        candidates: Mapping[Identifier, Iterator[Candidate]],
        information: Mapping[Identifier, Iterator[RequirementInformation[Need, Candidate]]],
        backtrack_causes: Sequence[RequirementInformation[Need, Candidate]],
    ) -> Iterable[Identifier]:
        """Go on with what caused the last conflict, then what is pinned, then what came first."""
        causes = {cause.requirement.identifier for cause in backtrack_causes} | {
            cause.parent.identifier for cause in backtrack_causes if cause.parent is not None
        }
        order, pinned = self._order, self._pinned
        return [
            min(
                identifiers,
                key=lambda one: (one not in causes, one not in pinned, order.get(one, 0), one),
            )
        ]

    def get_preference(
        self,
        identifier: Identifier,
        resolutions: Mapping[Identifier, Candidate],
        candidates: Mapping[Identifier, Iterator[Candidate]],
        information: Mapping[Identifier, Iterator[RequirementInformation[Need, Candidate]]],
        backtrack_causes: Sequence[RequirementInformation[Need, Candidate]],
    ) -> str:
        # Never asked for more than one: see narrow_requirement_selection.
        return identifier

    def find_matches(
        self,
        identifier: Identifier,
        requirements: Mapping[Identifier, Iterator[Need]],
        incompatibilities: Mapping[Identifier, Iterator[Candidate]],
    ) -> Iterable[Candidate]:
        needs = list(requirements[identifier])
        first = needs[0]
        self._order.setdefault(identifier, len(self._order))
        exact = any(need.is_exact for need in needs)
        if exact:
            self._pinned.add(identifier)
        specifier = first.specifier
        for need in needs[1:]:
            if need.specifier != specifier:
                specifier &= need.specifier
        found = self._match(first.name, specifier, exact=exact)
        refused = {candidate.version for candidate in incompatibilities[identifier]}
        if refused:
            found = tuple(one for one in found if one.version not in refused)
        if any(one.requires_python for one in found):
            found = tuple(one for one in found if self._has_patch(one, needs))
        if not first.extra:
            return found
        return [one.with_extra(first.extra) for one in found]

    def _has_patch(self, candidate: Candidate, needs: Sequence[Need]) -> bool:
        """Whether a candidate suits a patch release at which one of *needs* may hold."""
        limit = candidate.requires_python
        if limit is None:
            return True
        platform, python = self._target.row.platform, self._target.python
        conditions = [need.condition for need in needs]
        return any(
            SpecifierSet(limit).contains(f"{python[0]}.{python[1]}.{patch}")
            and any(may_hold(condition, platform, python, patch) for condition in conditions)
            for patch in deciding_patches([limit, *conditions], python)
        )

    def _match(
        self, name: NormalizedName, specifier: SpecifierSet, *, exact: bool
    ) -> tuple[Candidate, ...]:
        key = (name, specifier, exact)
        if key not in self._matches:
            existing = self._finder.candidates(name, self._target)
            # PEP 592: a yanked file is for those who pin its version exactly, and a lock does.
            kept = {one.version for one in self._preferred.get(name, ()) if one.filename}
            usable = [
                one for one in existing if exact or one.file.yanked is None or one.version in kept
            ]
            found = list(specifier.filter(usable, key=lambda candidate: candidate.version))
            # To admit pre-releases is not to prefer them.
            found.sort(key=lambda candidate: candidate.version.is_prerelease)
            self._matches[key] = tuple(self._prefer(name, found))
        return self._matches[key]

    def _prefer(self, name: str, found: list[Candidate]) -> list[Candidate]:
        wanted = self._preferred.get(name)
        if not wanted:
            return found
        exact = {preferred.version: place for place, preferred in enumerate(wanted)}
        # A row that is new to the lock has builds of its own of the versions that others have.
        public = {preferred.version.public: place for place, preferred in enumerate(wanted)}
        last = len(wanted)
        return sorted(
            found,
            key=lambda candidate: (
                exact.get(candidate.version, last),
                public.get(candidate.version.public, last),
            ),
        )

    def is_satisfied_by(self, requirement: Need, candidate: Candidate) -> bool:
        return requirement.admits(candidate.version)

    def get_dependencies(self, candidate: Candidate) -> tuple[Need, ...]:
        key = (candidate.identifier, candidate.file.url)
        if key not in self._dependencies:
            self._dependencies[key] = tuple(self._find_dependencies(candidate))
        return self._dependencies[key]

    def _find_dependencies(self, candidate: Candidate) -> Iterator[Need]:
        if candidate.extra:
            yield Need(
                name=candidate.name,
                specifier=SpecifierSet(f"==={candidate.version}"),
                text=f"{candidate.name}=={candidate.version}",
            )
        for need in self._finder.needs(candidate, self._target):
            if need.name not in self._excluded:
                yield need
        for rule in self._finder.rules(candidate):
            if rule.when_present and rule not in self._active:
                continue
            requirement = rule.parsed(candidate.version)
            addition = Addition(
                package=candidate.name,
                requirement=str(requirement),
                reason=rule.reason,
                source=rule.source,
            )
            for need in split_extras(requirement):
                if need.name not in self._excluded:
                    yield Need(
                        name=need.name,
                        specifier=need.specifier,
                        text=need.text,
                        addition=addition,
                        only_limits=rule.when_present,
                    )
