"""One Target by resolvelib, and by what a search does not see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from resolvelib.resolvers import Resolution as Search
from resolvelib.resolvers import ResolutionImpossible

from lockforge.model.resolution import Addition, Edge, Failure, Pin, Resolution
from lockforge.resolve.conditions import find_conditions
from lockforge.resolve.explain import explain
from lockforge.resolve.finder import FileRefusedError
from lockforge.resolve.limits import LimitReachedError, LimitReporter
from lockforge.resolve.need import split_extras
from lockforge.resolve.priorities import Priorities, ReorderedError
from lockforge.resolve.provider import Provider, addition_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lockforge.catalog.rules import Rule
    from lockforge.model.matrix import Target
    from lockforge.model.resolution import Preferred
    from lockforge.resolve.coverage import Clash
    from lockforge.resolve.demands import Demands
    from lockforge.resolve.finder import Finder
    from lockforge.resolve.limits import Limits
    from lockforge.resolve.need import Candidate, Identifier, Need


def solve_target(
    target: Target,
    demands: Demands,
    finder: Finder,
    preferred: Mapping[str, Sequence[Preferred]],
    limits: Limits,
) -> Resolution | Failure:
    """Solve one Target; raises an IndexAccessError of an index it needs."""
    return _Solve(target, demands, finder, preferred, limits).run()


class _Solve:
    """Searches again and again until a solution keeps what a search does not see."""

    def __init__(
        self,
        target: Target,
        demands: Demands,
        finder: Finder,
        preferred: Mapping[str, Sequence[Preferred]],
        limits: Limits,
    ) -> None:
        self._target = target
        self._demands = demands
        self._finder = finder
        self._preferred = preferred
        self._limits = limits
        self._reporter = LimitReporter(limits)
        self._priorities = Priorities()
        self._active: frozenset[Rule] = frozenset()
        self._clashes: list[tuple[Clash, list[Candidate]]] = []
        """Those met so far, each with the rivals that may be barred in place of its candidate."""
        self._exact_limits = False
        """Whether a limiting rule may leave out the package that it limits; see `Provider`."""
        self._failure: Failure | None = None
        """The first, whose words are the plainest."""

    def run(self) -> Resolution | Failure:
        while True:
            found = self._search()
            if found is None:
                continue
            if isinstance(found, Failure):
                self._failure = self._failure or found
                if found.gave_up or not self._go_on():
                    return found if found.gave_up else self._failure
                continue
            return replace(found, rounds=self._reporter.effort.rounds)

    def _search(self) -> Resolution | Failure | None:
        """Search once; None where what came out was no solution, and the next search knows why."""
        target, finder, needs = self._target, self._finder, self._demands.needs
        provider = Provider(
            target,
            finder,
            preferred=self._preferred,
            demands=self._demands,
            active=self._active,
            priorities=self._priorities,
            exact_limits=self._exact_limits,
        )
        # Not by resolvelib's Resolver: its last step looks for the way from each pin to the root
        # and does not end where packages that a backtrack left behind require each other. What is
        # left behind is not reached below.
        search: Search[Need, Candidate, Identifier] = Search(provider, self._reporter)
        try:
            mapping = search.resolve(needs, max_rounds=self._limits.rounds + 1).mapping
        except (FileRefusedError, ReorderedError):
            return None
        except ResolutionImpossible as impossible:
            return explain(impossible.causes, target, self._demands, finder, provider.asked())
        except LimitReachedError:
            last = search.state.backtrack_causes
            effort = self._reporter.effort
            return explain(last, target, self._demands, finder, provider.asked(), gave_up=effort)
        dependencies = {
            identifier: provider.get_dependencies(candidate)
            for identifier, candidate in mapping.items()
        }
        conditions = find_conditions(
            needs,
            {
                identifier: [need for need in found if not need.only_limits]
                for identifier, found in dependencies.items()
            },
        )
        reached = {
            identifier: candidate
            for identifier, candidate in mapping.items()
            if identifier in conditions
        }
        broken = _rules_to_activate(reached, finder, self._active)
        if broken:
            self._active |= broken
            return None
        if self._has_clash(reached, conditions):
            return None
        found = _resolution(target, self._demands, reached, dependencies, conditions, finder)
        return replace(found, agreeing=_agreeing(reached, dependencies, finder, self._active))

    def _has_clash(
        self, reached: Mapping[Identifier, Candidate], conditions: Mapping[Identifier, str]
    ) -> bool:
        """Bar a candidate that leaves no patch release of the Python to be served."""
        limits = {
            identifier: limit
            for identifier, candidate in reached.items()
            if not candidate.extra
            and (limit := self._finder.python_limit(candidate, self._target)) is not None
        }
        clash = self._finder.coverage.find_clash(self._target, reached, conditions, limits)
        if clash is None:
            return False
        self._finder.refusals.bar(clash.candidate, self._target, clash.reason)
        self._clashes.append((clash, list(clash.rivals)))
        return True

    def _go_on(self) -> bool:
        """Whether there is another way to search after one that found nothing."""
        while self._clashes:
            clash, rivals = self._clashes[-1]
            if rivals:
                self._finder.refusals.lift(clash.candidate, self._target)
                rival = rivals.pop(0)
                self._finder.refusals.bar(rival, self._target, clash.reason)
                self._clashes[-1] = (replace(clash, candidate=rival), rivals)
                return True
            self._clashes.pop()
        if self._active and not self._exact_limits:
            self._exact_limits = True
            return True
        return False


def _rules_to_activate(
    reached: Mapping[Identifier, Candidate], finder: Finder, active: frozenset[Rule]
) -> frozenset[Rule]:
    """Find the limiting rules that the solution breaks: those that matter."""
    broken: set[Rule] = set()
    for candidate in reached.values():
        for rule in finder.rules(candidate):
            if not rule.when_present or rule in active:
                continue
            needs = split_extras(rule.parsed(candidate.version))
            if any(
                need.name in reached and not need.admits(reached[need.name].version)
                for need in needs
            ):
                # The next version of the package may break the next of its rules.
                broken.update(finder.limiting_rules(candidate.name))
    return frozenset(broken)


def _resolution(
    target: Target,
    demands: Demands,
    reached: Mapping[Identifier, Candidate],
    dependencies: Mapping[Identifier, Sequence[Need]],
    conditions: Mapping[Identifier, str],
    finder: Finder,
) -> Resolution:
    edges = {
        Edge(parent=candidate.name, child=need.name)
        for identifier, candidate in reached.items()
        for need in dependencies[identifier]
        if need.name != candidate.name and not need.only_limits
    }
    pins = [
        Pin(
            name=candidate.name,
            version=candidate.version,
            index=candidate.index,
            file=candidate.file,
            condition=conditions[identifier],
            requires_python=finder.python_limit(candidate, target),
            editable=candidate.name in demands.direct and demands.direct[candidate.name].editable,
        )
        for identifier, candidate in reached.items()
        if not candidate.extra
    ]
    return Resolution(
        target=target,
        pins=tuple(sorted(pins, key=lambda pin: pin.name)),
        edges=tuple(sorted(edges)),
        additions=_additions(reached, dependencies),
    )


def _additions(
    reached: Mapping[Identifier, Candidate], dependencies: Mapping[Identifier, Sequence[Need]]
) -> tuple[Addition, ...]:
    """List the rules that said more than the metadata of the chosen files does."""
    return _sorted(
        need.addition
        for identifier in reached
        for need in dependencies[identifier]
        if need.addition is not None
        and need.name in reached
        and not _is_stated(need, dependencies[identifier])
    )


def _agreeing(
    reached: Mapping[Identifier, Candidate],
    dependencies: Mapping[Identifier, Sequence[Need]],
    finder: Finder,
    active: frozenset[Rule],
) -> tuple[Addition, ...]:
    """List the limiting rules that would have said more, but were kept without being asked."""
    return _sorted(
        addition_of(rule, candidate)
        for identifier, candidate in reached.items()
        for rule in finder.rules(candidate)
        if rule.when_present and rule not in active
        for need in split_extras(rule.parsed(candidate.version))
        if need.name in reached and not _is_stated(need, dependencies[identifier])
    )


def _is_stated(need: Need, needs: Sequence[Need]) -> bool:
    return any(
        other.addition is None
        and other.name == need.name
        and (other.is_exact or other.specifier == need.specifier)
        for other in needs
    )


def _sorted(additions: Iterable[Addition]) -> tuple[Addition, ...]:
    found = {(one.package, one.requirement): one for one in additions}
    return tuple(found[key] for key in sorted(found))
