"""The resolvelib provider of one Target, over a Finder; it holds no policy of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName
from resolvelib import AbstractProvider

from lockforge.model.release import UNKNOWN_VERSION
from lockforge.model.resolution import Addition
from lockforge.resolve.conflicts import Conflicts, is_stand
from lockforge.resolve.finder import FileRefusedError
from lockforge.resolve.need import Candidate, Identifier, Need, split_extras
from lockforge.standards.addresses import without_fragment
from lockforge.standards.markers import may_hold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from resolvelib.structs import RequirementInformation

    from lockforge.catalog.rules import Rule
    from lockforge.model.matrix import Target
    from lockforge.model.project import Strategy
    from lockforge.model.resolution import Preferred
    from lockforge.resolve.demands import Demands
    from lockforge.resolve.finder import Finder
    from lockforge.resolve.priorities import Priorities


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
        priorities: Priorities,
        exact_limits: bool = False,
    ) -> None:
        """Take facts of *target*.

        A rule that only limits is a requirement like any other, and is searched and explained as
        one. But a requirement also brings in. With *exact_limits* it is no more than a conflict of
        two versions, which may be solved without the limited package too.
        """
        self._target = target
        self._finder = finder
        self._preferred = preferred
        self._demands = demands
        self._active = active
        self._priorities = priorities
        self._exact_names = demands.exact_names
        self._lowest = _Lowest(finder.policy.strategy, demands)
        self._conflicts = Conflicts(target, finder, active if exact_limits else ())
        self._matches: dict[tuple[str, SpecifierSet, bool], tuple[Candidate, ...]] = {}
        self._order: dict[Identifier, int] = {}
        self._named: set[Identifier] = set()
        """Of which some requirement names one version."""
        self._asking: Identifier = ""
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
        """Go on with what is named exactly, then what had many conflicts, then what came first.

        Before all else of its kind comes torch: what is built for it is chosen beside it.
        """
        rank, order, exact = self._priorities.rank, self._order, self._named
        return [
            min(
                identifiers,
                key=lambda one: (
                    one not in exact,
                    rank(one),
                    one != "torch",
                    order.get(one, 0),
                    one,
                ),
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
        if first.side is not None:
            return self._conflicts.stands(stated, list(incompatibilities[identifier]))
        pins = [need.pin for need in stated if need.pin is not None]
        stated = [need for need in stated if not need.is_own_pin]
        needs = [*stated, *self._demands.constraints.get(first.name, ())]
        self._order.setdefault(identifier, len(self._order))
        if any(need.is_exact for need in needs):
            self._named.add(identifier)
        # PEP 592: a yanked file is for those who name its version, which is the project's to do.
        exact = first.name in self._exact_names
        specifier = needs[0].specifier if needs else SpecifierSet()
        for need in needs[1:]:
            if need.specifier != specifier:
                specifier &= need.specifier
        found = self._match(first.name, specifier, exact=exact)
        refused = {(one.version, one.built_for) for one in incompatibilities[identifier]}
        if refused:
            found = tuple(one for one in found if (one.version, one.built_for) not in refused)
        if pins:
            found = tuple(one for one in found if all(one.is_same(pin) for pin in pins))
            if not found:
                self._count_conflict(identifier)
        if any(one.requires_python for one in found):
            found = tuple(one for one in found if self._has_patch(one, stated))
        if not first.extra:
            return found
        return [one.with_extra(first.extra) for one in found]

    def _count_conflict(self, decided: Identifier) -> None:
        """Count that the candidate whose requirements are looked at conflicts with what is decided.

        That it conflicts with itself, or its extras with it, says nothing of an order.
        """
        if self._asking.partition("[")[0] != decided.partition("[")[0]:
            self._priorities.count(in_the_way=decided, giving_way=self._asking)

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
            for patch in self._finder.coverage.patches([limit, *conditions], python)
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
            found.reverse()
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
        if requirement.side is not None:
            return requirement.side == candidate.version
        if requirement.pin is not None:
            return candidate.is_same(requirement.pin)
        return requirement.admits(candidate.version)

    def get_dependencies(self, candidate: Candidate) -> tuple[Need, ...]:
        self._asking = candidate.identifier
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
        if is_stand(candidate):
            return
        own = Need(
            name=candidate.name,
            extra=candidate.extra,
            specifier=SpecifierSet(f"==={candidate.version}"),
            text=f"{candidate.name}=={candidate.version}",
            pin=candidate,
        )
        # Otherwise resolvelib moves what was decided when a later requirement excludes it, and
        # forgets who asked for that.
        yield replace(own, only_limits=True)
        if candidate.extra:
            yield replace(own, extra="")
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
            addition = addition_of(rule, candidate)
            for stated in split_extras(requirement):
                limit = replace(stated, addition=addition, only_limits=rule.when_present)
                for need in self._demands.overridden(limit):
                    yield self._conflicts.owner_side(rule, need)
        yield from self._conflicts.limited_sides(candidate)

    def _check_reference(self, candidate: Candidate, need: Need) -> None:
        """Strike out a candidate with a direct reference that is not the project's own too."""
        if need.url is None:
            return
        own = self._demands.direct.get(need.name)
        stated = "" if own is None else own.requirement.url or ""
        if without_fragment(stated) != without_fragment(need.url):
            self._finder.refusals.bar(
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


def addition_of(rule: Rule, candidate: Candidate) -> Addition:
    """Say what *rule* adds to the requirements of a candidate."""
    return Addition(
        package=candidate.name,
        requirement=str(rule.parsed(candidate.version)),
        reason=rule.reason,
        source=rule.source,
    )


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
