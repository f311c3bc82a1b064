"""One Target, then all of them, by resolvelib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvelib import BaseReporter, Resolver
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
    from collections.abc import Set as AbstractSet

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
        resolver: Resolver[Need, Candidate, Identifier] = Resolver(provider, BaseReporter())
        try:
            mapping = resolver.resolve(needs, max_rounds=MAX_ROUNDS).mapping
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
        pins: dict[str, Candidate] = {one.name: one for one in mapping.values() if not one.extra}
        wanted = _rules_to_activate(pins, finder, active)
        if not wanted:
            return _resolution(target, needs, mapping, provider, finder)
        active |= wanted


def _rules_to_activate(
    pins: Mapping[str, Candidate], finder: Finder, active: frozenset[Rule]
) -> frozenset[Rule]:
    """Find the limiting rules that the solution breaks: those that matter."""
    broken = set()
    for candidate in pins.values():
        for rule in finder.rules(candidate):
            if not rule.when_present or rule in active:
                continue
            needs = split_extras(rule.parsed(candidate.version))
            if any(
                need.name in pins and not need.admits(pins[need.name].version) for need in needs
            ):
                broken.add(rule)
    return frozenset(broken)


def _resolution(
    target: Target,
    needs: Sequence[Need],
    mapping: Mapping[Identifier, Candidate],
    provider: Provider,
    finder: Finder,
) -> Resolution:
    dependencies = {
        identifier: provider.get_dependencies(candidate)
        for identifier, candidate in mapping.items()
    }
    required = {
        identifier: [need for need in found if not need.only_limits]
        for identifier, found in dependencies.items()
    }
    conditions = find_conditions(needs, required)
    edges = {
        Edge(parent=mapping[identifier].name, child=need.name)
        for identifier, found in required.items()
        if identifier in conditions
        for need in found
        if need.name != mapping[identifier].name
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
        for identifier, candidate in mapping.items()
        if not candidate.extra and identifier in conditions
    ]
    return Resolution(
        target=target,
        pins=tuple(sorted(pins, key=lambda pin: pin.name)),
        edges=tuple(sorted(edges)),
        additions=_additions({pin.name for pin in pins}, dependencies),
    )


def _additions(
    installed: AbstractSet[str], dependencies: Mapping[Identifier, Sequence[Need]]
) -> tuple[Addition, ...]:
    """List the rules that said more than the metadata of the chosen files does."""
    added: dict[tuple[str, str], Addition] = {}
    for needs in dependencies.values():
        stated = [need for need in needs if need.addition is None]
        for need in needs:
            if need.addition is None:
                continue
            known = any(other.name == need.name and other.is_exact for other in stated)
            if not known and need.name in installed:
                added[need.addition.package, need.addition.requirement] = need.addition
    return tuple(added[key] for key in sorted(added))
