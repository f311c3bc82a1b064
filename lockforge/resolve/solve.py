"""One Target, then all of them, by resolvelib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvelib import BaseReporter
from resolvelib.resolvers import Resolution as Search
from resolvelib.resolvers import ResolutionImpossible, ResolutionTooDeep

from lockforge.errors import SolverLimitError
from lockforge.model.resolution import Addition, Edge, Failure, Pin, Resolution
from lockforge.resolve.conditions import find_conditions
from lockforge.resolve.explain import explain
from lockforge.resolve.finder import FileRefusedError, split_extras
from lockforge.resolve.provider import Provider
from lockforge.standards.markers import conjoin, decide

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.catalog import Rule
    from lockforge.model.matrix import Target
    from lockforge.model.project import Project, ProjectRequirement
    from lockforge.model.resolution import Preferred
    from lockforge.resolve.finder import Finder
    from lockforge.resolve.need import Candidate, Identifier, Need

MAX_ROUNDS = 20_000
"""Rounds after which a solve is given up: hundreds of times what a large stack needs."""


def root_needs(project: Project, target: Target) -> list[Need]:
    """List what the project itself requires in *target*, in an order of its own."""
    settings = project.rows.get(target.row.name)
    requirements: list[ProjectRequirement] = list(project.requirements)
    excluded = frozenset[str]()
    if settings:
        requirements += settings.requirements
        excluded = settings.exclude
    needs: dict[tuple[str, str, str], Need] = {}
    for entry in requirements:
        condition = entry.condition
        if entry.requirement.marker is not None:
            decided = decide(entry.requirement.marker, target.row.platform, target.python)
            if decided is False:
                continue
            if decided is not True:
                condition = conjoin(condition, decided)
        for need in split_extras(entry.requirement, condition=condition):
            if need.name not in excluded:
                needs[need.identifier, need.text, need.condition] = need
    return [needs[key] for key in sorted(needs)]


def solve_target(
    target: Target,
    project: Project,
    finder: Finder,
    preferred: Mapping[str, Sequence[Preferred]],
) -> Resolution | Failure:
    """Solve one Target; raises SolverLimitError, or an IndexAccessError of an index it needs."""
    needs = root_needs(project, target)
    settings = project.rows.get(target.row.name)
    excluded = settings.exclude if settings else frozenset()
    active: frozenset[Rule] = frozenset()
    while True:
        provider = Provider(target, finder, preferred=preferred, excluded=excluded, active=active)
        # Not by resolvelib's Resolver: its last step looks for the way from each pin to the root
        # and does not end where packages that a backtrack left behind require each other. What is
        # left behind is not reached below.
        search: Search[Need, Candidate, Identifier] = Search(provider, BaseReporter())
        try:
            mapping = search.resolve(needs, max_rounds=MAX_ROUNDS).mapping
        except FileRefusedError:
            continue
        except ResolutionImpossible as impossible:
            return explain(impossible.causes, target, finder)
        except ResolutionTooDeep as error:
            raise SolverLimitError(
                f"gave up after {error.round_count} rounds; this proves nothing",
                where=target.id,
                hint="pin some of the packages that conflict, to narrow the search",
            ) from error
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
            return _resolution(target, reached, dependencies, conditions, finder)
        active |= wanted


def _rules_to_activate(
    reached: Mapping[Identifier, Candidate], finder: Finder, active: frozenset[Rule]
) -> frozenset[Rule]:
    """Find the limiting rules that the solution breaks: those that matter."""
    broken = set()
    for candidate in reached.values():
        for rule in finder.rules(candidate):
            if not rule.when_present or rule in active:
                continue
            needs = split_extras(rule.parsed(candidate.version))
            if any(
                need.name in reached and not need.admits(reached[need.name].version)
                for need in needs
            ):
                broken.add(rule)
    return frozenset(broken)


def _resolution(
    target: Target,
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
            if not any(other.name == need.name and other.is_exact for other in stated):
                added[need.addition.package, need.addition.requirement] = need.addition
    return tuple(added[key] for key in sorted(added))
