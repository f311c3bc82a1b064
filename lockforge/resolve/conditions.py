"""Under which conditions each package of a solution is installed.

A condition is what a Target leaves open: a patch release, a kernel release, an extra or group of
the project. Along a path conditions add up, and several paths are alternatives, so a package's
condition is a set of sets of markers, kept free of alternatives that another one covers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from lockforge.standards.markers import conjoin, disjoin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.resolve.need import Identifier, Need

_Alternatives: TypeAlias = frozenset[frozenset[str]]


def find_conditions(
    roots: Sequence[Need], dependencies: Mapping[Identifier, Sequence[Need]]
) -> dict[Identifier, str]:
    """Give the marker of every identifier that *roots* reach; empty for "always"."""
    reached: dict[Identifier, _Alternatives] = {}
    waiting: list[Identifier] = []

    def reach(need: Need, through: _Alternatives) -> None:
        own = frozenset({need.condition} - {""})
        before = reached.get(need.identifier, frozenset())
        after = _absorb(before | {path | own for path in through})
        if after != before:
            reached[need.identifier] = after
            waiting.append(need.identifier)

    always: _Alternatives = frozenset({frozenset()})
    for need in roots:
        reach(need, always)
    while waiting:
        identifier = waiting.pop()
        for need in dependencies[identifier]:
            reach(need, reached[identifier])
    return {identifier: _render(paths) for identifier, paths in reached.items()}


def _absorb(paths: _Alternatives) -> _Alternatives:
    """Drop every alternative that a less demanding one covers."""
    if frozenset() in paths:
        return frozenset({frozenset()})
    return frozenset(path for path in paths if not any(other < path for other in paths))


def _render(paths: _Alternatives) -> str:
    return disjoin(*sorted(conjoin(*sorted(path)) for path in paths))
