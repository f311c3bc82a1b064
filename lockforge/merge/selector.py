"""A set of Targets -> the marker that picks them out of the Matrix.

Rows on different platforms are told apart by the environment, rows of one platform by the extra
named after their accelerator. A platform with a single row needs no extra, and giving it that
row's extra must change nothing there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lockforge.merge.terms import Axis, express
from lockforge.model.python import render_minor
from lockforge.standards.environment import decided_environment
from lockforge.standards.markers import Atom, Node, join, render

if TYPE_CHECKING:
    from collections.abc import Collection

    from lockforge.model.matrix import Matrix, Row, Target
    from lockforge.model.python import PythonMinor


class Clause(NamedTuple):
    """Some rows of a platform at some Pythons; None where the axis does not matter."""

    labels: tuple[str, ...] | None
    pythons: tuple[PythonMinor, ...] | None


class Selector:
    """Writes markers over the environments one Matrix declares."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._platforms = tuple(dict.fromkeys(row.platform.name for row in matrix.rows))
        self._rows: dict[str, list[Row]] = {name: [] for name in self._platforms}
        for row in matrix.rows:
            self._rows[row.platform.name].append(row)
        self._targets: dict[str, list[Target]] = {name: [] for name in self._platforms}
        for target in matrix.targets:
            self._targets[target.row.platform.name].append(target)
        first_python = matrix.pythons[0]
        self._platform_axis: Axis = tuple(
            tuple(
                (variable, environment[variable])
                for variable in ("sys_platform", "platform_machine")
            )
            for environment in (
                decided_environment(self._rows[name][0].platform, first_python)
                for name in self._platforms
            )
        )
        self._python_axis: Axis = tuple(
            (("python_version", render_minor(python)),) for python in matrix.pythons
        )

    def needs_extra(self, row: Row) -> bool:
        """Whether other rows share the platform of *row*."""
        return len(self._rows[row.platform.name]) > 1

    def select(self, targets: Collection[Target]) -> str:
        """Give the marker true for *targets* and for no other Target; empty for all of them."""
        chosen = frozenset(targets)
        clauses: dict[Clause, list[str]] = {}
        for name in self._platforms:
            for clause in self._clauses(name, chosen):
                clauses.setdefault(clause, []).append(name)
        self._unite(clauses)
        nodes = [
            node
            for clause, names in clauses.items()
            if (node := self._express(clause, names, chosen)) is not None
        ]
        if len(nodes) < len(clauses):
            return ""
        return render(join("or", sorted(nodes, key=render)))

    def _clauses(self, name: str, chosen: frozenset[Target]) -> list[Clause]:
        """Describe what is chosen of one platform."""
        covered: dict[str, list[PythonMinor]] = {}
        picked: dict[str, list[PythonMinor]] = {}
        for target in self._targets[name]:
            label = target.row.accelerator.label
            covered.setdefault(label, []).append(target.python)
            if target in chosen:
                picked.setdefault(label, []).append(target.python)
        by_pythons: dict[tuple[PythonMinor, ...] | None, list[str]] = {}
        for label, pythons in picked.items():
            key = None if pythons == covered[label] else tuple(pythons)
            by_pythons.setdefault(key, []).append(label)
        return [
            Clause(None if len(labels) == len(covered) else tuple(labels), pythons)
            for pythons, labels in by_pythons.items()
        ]

    def _unite(self, clauses: dict[Clause, list[str]]) -> None:
        """Let a clause take over a narrower one whose platforms lack the labels it has more of."""
        by_width = sorted(
            (clause for clause in clauses if clause.labels is not None),
            key=lambda clause: (len(clause.labels or ()), clause.labels, clause.pythons or ()),
        )
        for place, narrow in enumerate(by_width):
            for wide in by_width[place + 1 :]:
                surplus = set(wide.labels or ()) - set(narrow.labels or ())
                offered = {
                    row.accelerator.label for name in clauses[narrow] for row in self._rows[name]
                }
                if (
                    wide.pythons == narrow.pythons
                    and set(narrow.labels or ()) <= set(wide.labels or ())
                    and not surplus & offered
                ):
                    clauses[wide] += clauses.pop(narrow)
                    break

    def _express(self, clause: Clause, names: list[str], chosen: frozenset[Target]) -> Node | None:
        parts: list[Node] = []
        if clause.labels is not None:
            extras = sorted(label.replace(".", "-") for label in clause.labels)
            parts.append(join("or", [Atom(f"'{extra}' in extras") for extra in extras]))
        required = allowed = 0
        for place, name in enumerate(self._platforms):
            if name in names:
                required |= 1 << place
            if name in names or not self._wrongly_picked(clause, name, chosen):
                allowed |= 1 << place
        platform = express(self._platform_axis, required, allowed)
        if platform is not None:
            parts.append(platform)
        if clause.pythons is not None:
            parts.append(self._express_pythons(clause, names))
        return join("and", parts) if parts else None

    def _wrongly_picked(self, clause: Clause, name: str, chosen: frozenset[Target]) -> bool:
        """Whether *clause* without a platform would pick a Target of *name* not chosen."""
        return any(
            target not in chosen
            and (clause.labels is None or target.row.accelerator.label in clause.labels)
            and (clause.pythons is None or target.python in clause.pythons)
            for target in self._targets[name]
        )

    def _express_pythons(self, clause: Clause, names: list[str]) -> Node:
        assert clause.pythons is not None
        covered = {
            target.python
            for name in names
            for target in self._targets[name]
            if (clause.labels is None or target.row.accelerator.label in clause.labels)
        }
        required = allowed = 0
        for place, python in enumerate(self._matrix.pythons):
            if python in clause.pythons:
                required |= 1 << place
            if python in clause.pythons or python not in covered:
                allowed |= 1 << place
        node = express(self._python_axis, required, allowed)
        assert node is not None
        return node
