"""The shortest marker for a set of points of one axis: platforms, or Pythons.

An axis has few points, so every subset's shortest expression is found by combining shorter ones
until nothing gets shorter.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from packaging.markers import Marker

from lockforge.standards.markers import Atom, Node, join, render

Axis = tuple[tuple[tuple[str, str], ...], ...]
"""Points as sorted (variable, value) pairs."""


class Term(NamedTuple):
    """One expression with what is compared to find the shortest."""

    atoms: int
    machines: int
    """Atoms on the machine, which reads worse than the system and has several spellings."""
    negations: int
    text: str
    node: Node

    @property
    def length(self) -> tuple[int, int, int, str]:
        return self[:4]


def _atoms(axis: Axis) -> dict[str, None]:
    atoms: dict[str, None] = {}
    for variable, value in (pair for point in axis for pair in point):
        comparisons = ["==", "!="]
        if variable == "python_version":
            comparisons += [">=", "<"]
        for comparison in comparisons:
            atoms[f"{variable} {comparison} '{value}'"] = None
    return atoms


@lru_cache(maxsize=64)
def _terms(axis: Axis) -> dict[int, Term]:
    """Give the shortest term of each subset, as a bit mask over the points of *axis*."""
    best: dict[int, Term] = {}

    def offer(mask: int, term: Term) -> bool:
        known = best.get(mask)
        if known is None or term.length < known.length:
            best[mask] = term
            return True
        return False

    for atom in _atoms(axis):
        marker = Marker(atom)
        mask = sum(
            1 << place for place, point in enumerate(axis) if marker.evaluate_prepared(dict(point))
        )
        offer(mask, Term(1, int("machine" in atom), int("!=" in atom), atom, Atom(atom)))
    improved = True
    while improved:
        improved = False
        for left_mask, left in sorted(best.items()):
            for right_mask, right in sorted(best.items()):
                if right_mask <= left_mask:
                    continue
                for mask, joint in (
                    (left_mask & right_mask, "and"),
                    (left_mask | right_mask, "or"),
                ):
                    improved |= offer(mask, _joined(joint, left, right, best.get(mask)))  # type: ignore[arg-type]
    return best


def _joined(joint: Literal["and", "or"], left: Term, right: Term, known: Term | None) -> Term:
    counts = (
        left.atoms + right.atoms,
        left.machines + right.machines,
        left.negations + right.negations,
    )
    if known is not None and counts > known[:3]:
        return known
    node = join(joint, sorted((left.node, right.node), key=render))
    return Term(*counts, render(node), node)


def express(axis: Axis, required: int, allowed: int) -> Node | None:
    """Give the shortest marker true on *required* and false outside *allowed*; None for "any"."""
    everything = (1 << len(axis)) - 1
    if allowed == everything:
        return None
    terms = _terms(axis)
    free = allowed & ~required
    found: list[Term] = []
    extra = free
    while True:
        if (term := terms.get(required | extra)) is not None:
            found.append(term)
        if extra == 0:
            break
        extra = (extra - 1) & free
    return min(found, key=lambda term: term.length).node
