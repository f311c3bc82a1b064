"""One Target, then all of them, by resolvelib."""

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
from lockforge.resolve.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.catalog import Rule
    from lockforge.model.matrix import Target
    from lockforge.model.resolution import Preferred
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
    needs = demands.needs
    active: frozenset[Rule] = frozenset()
    reporter = LimitReporter(limits)
    while True:
        provider = Provider(target, finder, preferred=preferred, demands=demands, active=active)
        # Not by resolvelib's Resolver: its last step looks for the way from each pin to the root
        # and does not end where packages that a backtrack left behind require each other. What is
        # left behind is not reached below.
        search: Search[Need, Candidate, Identifier] = Search(provider, reporter)
        try:
            mapping = search.resolve(needs, max_rounds=limits.rounds + 1).mapping
        except FileRefusedError:
            continue
        except ResolutionImpossible as impossible:
            return explain(impossible.causes, target, demands, finder, provider.asked())
        except LimitReachedError:
            last = search.state.backtrack_causes
            return explain(last, target, demands, finder, provider.asked(), gave_up=reporter.effort)
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
        reached = {identifier: mapping[identifier] for identifier in conditions}
        wanted = _rules_to_activate(reached, finder, active)
        if not wanted:
            found = _resolution(target, demands, reached, dependencies, conditions, finder)
            return replace(found, rounds=reporter.effort.rounds)
        active |= wanted


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
    added: dict[tuple[str, str], Addition] = {}
    for identifier in reached:
        needs = dependencies[identifier]
        stated = [need for need in needs if need.addition is None]
        for need in needs:
            if need.addition is None or need.name not in reached:
                continue
            if not any(
                other.name == need.name and (other.is_exact or other.specifier == need.specifier)
                for other in stated
            ):
                added[need.addition.package, need.addition.requirement] = need.addition
    return tuple(added[key] for key in sorted(added))
