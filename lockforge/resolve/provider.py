"""The resolvelib provider of one Target, over a Finder; it holds no policy of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName
from resolvelib import AbstractProvider

from lockforge.model.release import UNKNOWN_VERSION
from lockforge.model.resolution import Addition
from lockforge.resolve.finder import FileRefusedError
from lockforge.resolve.need import Candidate, Identifier, Need, split_extras
from lockforge.standards.addresses import without_fragment
from lockforge.standards.markers import may_hold
from lockforge.standards.patches import deciding_patches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from resolvelib.structs import RequirementInformation

    from lockforge.catalog import Rule
    from lockforge.model.matrix import Target
    from lockforge.model.project import Strategy
    from lockforge.model.resolution import Preferred
    from lockforge.resolve.demands import Demands
    from lockforge.resolve.finder import Finder


class Provider(AbstractProvider[Need, Candidate, Identifier]):
    """Facts of one Target for resolvelib."""

    def __init__(
        self,
        target: Target,
        finder: Finder,
        *,
        preferred: Mapping[str, Sequence[Preferred]],
        demands: Demands,
        active: frozenset[Rule],
    ) -> None:
        self._target = target
        self._finder = finder
        self._preferred = preferred
        self._demands = demands
        self._active = active
        self._lowest = _Lowest(finder.policy.strategy, demands)
        self._matches: dict[tuple[str, SpecifierSet, bool], tuple[Candidate, ...]] = {}
        self._order: dict[Identifier, int] = {}
        self._pinned: set[Identifier] = set()
        self._dependencies: dict[tuple[Identifier, str], tuple[Need, ...]] = {}
        self._tried: dict[tuple[Identifier, str], Candidate] = {}

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
        stated = list(requirements[identifier])
        first = stated[0]
        needs = [*stated, *self._demands.constraints.get(first.name, ())]
        self._order.setdefault(identifier, len(self._order))
        if any(need.is_exact for need in needs):
            self._pinned.add(identifier)
        # PEP 592: a yanked file is for those who name its version, which is the project's to do.
        exact = any(need.is_exact and need.direct for need in needs)
        specifier = first.specifier
        for need in needs[1:]:
            if need.specifier != specifier:
                specifier &= need.specifier
        found = self._match(first.name, specifier, exact=exact)
        refused = {(one.version, one.built_for) for one in incompatibilities[identifier]}
        if refused:
            found = tuple(one for one in found if (one.version, one.built_for) not in refused)
        if any(one.requires_python for one in found):
            found = tuple(one for one in found if self._has_patch(one, stated))
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
            # A lock names its versions too.
            kept = {one.version for one in self._preferred.get(name, ()) if one.filename}
            usable = [
                one for one in existing if exact or one.file.yanked is None or one.version in kept
            ]
            found = self._wanted(name, specifier, usable)
            self._matches[key] = tuple(self._prefer(name, found))
        return self._matches[key]

    def _wanted(
        self, name: NormalizedName, specifier: SpecifierSet, usable: Sequence[Candidate]
    ) -> list[Candidate]:
        """Filter by *specifier*, best first."""
        if [one.version for one in usable] == [UNKNOWN_VERSION]:
            return list(usable)
        prereleases = self._finder.policy.prereleases
        found = list(
            specifier.filter(
                usable,
                prereleases=prereleases != "disallow",
                key=lambda candidate: candidate.version,
            )
        )
        if name in self._lowest:
            # Wheels stay before sdists.
            found.reverse()
            found.sort(key=lambda candidate: not candidate.file.is_wheel)
        if prereleases == "if-necessary":
            # Behind all final releases they are taken where PEP 440 admits them: when nothing else
            # does, be it that there is nothing else or that everything else is in conflict.
            found.sort(key=lambda candidate: candidate.version.is_prerelease)
        return found

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
            self._tried[key] = candidate
        return self._dependencies[key]

    def asked(self) -> Iterator[tuple[Candidate, tuple[Need, ...]]]:
        """Give every candidate that was tried, with what it requires."""
        for key, candidate in self._tried.items():
            yield candidate, self._dependencies[key]

    def _find_dependencies(self, candidate: Candidate) -> Iterator[Need]:
        if candidate.extra:
            yield Need(
                name=candidate.name,
                specifier=SpecifierSet(f"==={candidate.version}"),
                text=f"{candidate.name}=={candidate.version}",
            )
        for stated in self._finder.needs(candidate, self._target):
            for need in self._demands.overridden(stated):
                self._check_reference(candidate, need)
                yield need
        if candidate.torch is not None:
            yield from self._demands.overridden(_torch_need(candidate, candidate.torch))
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
            for stated in split_extras(requirement):
                limit = replace(stated, addition=addition, only_limits=rule.when_present)
                yield from self._demands.overridden(limit)

    def _check_reference(self, candidate: Candidate, need: Need) -> None:
        """Strike out a candidate with a direct reference that is not the project's own too."""
        if need.url is None:
            return
        own = self._demands.direct.get(need.name)
        stated = "" if own is None else own.requirement.url or ""
        if without_fragment(stated) != without_fragment(need.url):
            self._finder.refuse(
                candidate,
                self._target,
                f"{candidate.name} requires {need.name} by a direct URL, which only the "
                "project itself may do",
            )
            raise FileRefusedError(candidate.file.filename)


class _Lowest:
    """The names whose oldest version is wanted."""

    def __init__(self, strategy: Strategy, demands: Demands) -> None:
        self._all = strategy == "lowest"
        self._names = (
            {need.name for need in demands.needs} if strategy == "lowest-direct" else frozenset()
        )

    def __contains__(self, name: str) -> bool:
        return self._all or name in self._names


def _torch_need(candidate: Candidate, limits: SpecifierSet) -> Need:
    text = f"torch{limits}"
    return Need(
        name=NormalizedName("torch"),
        specifier=limits,
        text=text,
        addition=Addition(
            package=candidate.name,
            requirement=text,
            reason="its wheel is built for that torch",
            source=f"its version {candidate.version} on index {candidate.index.name}",
        ),
    )
