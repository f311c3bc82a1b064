"""A conflict that resolvelib found -> Failure: who asked for what, and what the indexes have."""

from __future__ import annotations

from collections import deque
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

from lockforge.model.resolution import Cause, Failure
from lockforge.resolve.offers import find_offers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from packaging.utils import NormalizedName
    from packaging.version import Version
    from resolvelib.structs import RequirementInformation

    from lockforge.model.matrix import Target
    from lockforge.model.resolution import Effort
    from lockforge.resolve.demands import Demands
    from lockforge.resolve.finder import Finder
    from lockforge.resolve.need import Candidate, Identifier, Need

    Information: TypeAlias = RequirementInformation[Need, Candidate]
    Chains: TypeAlias = Mapping[tuple[Identifier, Version], tuple[Cause, ...]]


def explain(
    causes: Iterable[Information],
    target: Target,
    demands: Demands,
    finder: Finder,
    asked: Iterable[tuple[Candidate, Sequence[Need]]],
    *,
    gave_up: Effort | None = None,
) -> Failure:
    """Describe why *target* has no solution; *asked* is what the candidates tried require."""
    conflict = _in_order(_without_echoes(list(causes)))
    needs: dict[NormalizedName, list[Need]] = {}
    for one in conflict:
        needs.setdefault(one.requirement.name, []).append(one.requirement)
    chains = _find_chains(demands.needs, asked, target)
    described = [_describe(one.requirement, one.parent, target, chains) for one in conflict]
    for name in sorted(needs):
        for limit in demands.constraints.get(name, ()):
            needs[name].append(limit)
            described.append(_describe(limit, None, target, chains))
    parents = {one.parent.name for one in conflict if one.parent is not None}
    return Failure(
        target=target,
        causes=tuple(dict.fromkeys(described)),
        offers=find_offers(needs, parents - needs.keys(), target, finder),
        gave_up=gave_up,
    )


def _without_echoes(causes: Sequence[Information]) -> list[Information]:
    """Leave out that extras require their own package, where there is more to say of it."""
    told = {one.requirement.name for one in causes if not _is_echo(one.requirement, one.parent)}
    return [
        one
        for one in causes
        if not _is_echo(one.requirement, one.parent) or one.requirement.name not in told
    ]


def _is_echo(need: Need, parent: Candidate | None) -> bool:
    return parent is not None and parent.name == need.name


def _in_order(causes: Sequence[Information]) -> list[Information]:
    """Sort by package, then by who asks: the project first, then each package, newest first."""
    newest_first = sorted(
        (one for one in causes if one.parent is not None),
        key=attrgetter("parent.version"),
        reverse=True,
    )
    own = [one for one in causes if one.parent is None]
    return sorted(
        [*sorted(own, key=attrgetter("requirement.text")), *newest_first],
        key=lambda one: (one.requirement.name, one.parent.identifier if one.parent else ""),
    )


def _find_chains(
    roots: Sequence[Need], asked: Iterable[tuple[Candidate, Sequence[Need]]], target: Target
) -> dict[tuple[Identifier, Version], tuple[Cause, ...]]:
    """Find the shortest way from the project to each candidate that was tried.

    The states of the search are gone by now, but every requirement it met is remembered.
    """
    tried: dict[Identifier, list[tuple[Candidate, Sequence[Need]]]] = {}
    for candidate, needs in asked:
        tried.setdefault(candidate.identifier, []).append((candidate, needs))
    for found in tried.values():
        found.sort(key=lambda pair: (pair[0].version, pair[0].file.filename), reverse=True)
    chains: dict[tuple[Identifier, Version], tuple[Cause, ...]] = {}
    waiting: deque[tuple[Candidate | None, Sequence[Need]]] = deque([(None, roots)])
    while waiting:
        parent, needs = waiting.popleft()
        for need in needs:
            if need.only_limits or _is_echo(need, parent):
                continue
            for candidate, further in tried.get(need.identifier, ()):
                key = (candidate.identifier, candidate.version)
                if key not in chains and need.admits(candidate.version):
                    link = _describe(need, parent, target, {})
                    chains[key] = (*_chain(parent, chains), link)
                    waiting.append((candidate, further))
    return chains


def _chain(parent: Candidate | None, chains: Chains) -> tuple[Cause, ...]:
    return () if parent is None else chains.get((parent.identifier, parent.version), ())


def _describe(need: Need, parent: Candidate | None, target: Target, chains: Chains) -> Cause:
    if need.kind == "constraint":
        return Cause(requirement=need.text, parent=None, kind=need.kind, where=need.where)
    return Cause(
        requirement=need.text,
        parent=None if parent is None else _name(parent, target),
        kind=need.kind,
        where=need.where,
        reason=need.addition.reason if need.addition else "",
        via=_chain(parent, chains),
    )


def _name(candidate: Candidate, target: Target) -> str:
    """Name a candidate without the label of the row, so that rows can fail alike."""
    version = candidate.version
    own = version.local == target.row.accelerator.label
    return f"{candidate.identifier} {version.public if own else version}"
