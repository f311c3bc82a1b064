"""The Resolutions of all Targets -> one Lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from lockforge.merge.rows import locked_row
from lockforge.merge.selector import Selector
from lockforge.model.lock import Dependency, Lock, LockedFile, LockedPackage
from lockforge.model.python import render_minor, render_python
from lockforge.standards.environment import decided_environment
from lockforge.standards.filenames import parse_wheel_name
from lockforge.standards.markers import Atom, Node, conjoin, disjoin, join, render
from lockforge.standards.patches import lowest_patch, narrowing_clauses, python_fits
from lockforge.standards.tags import tag_ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from lockforge.catalog import Catalog
    from lockforge.model.matrix import Matrix, Target
    from lockforge.model.python import PythonMinor
    from lockforge.model.release import DistributionFile
    from lockforge.model.resolution import Addition, Pin, Resolution


class _Entry:
    """One lock entry in the making: the Targets it serves and the files they install."""

    def __init__(self, pin: Pin) -> None:
        self.name, self.version, self.index = pin.name, pin.version, pin.index
        self.is_direct = pin.index.layout == "direct"
        self.is_tree = pin.file.source_tree
        self.pins: dict[Target, Pin] = {}
        self._by_environment: dict[tuple[str, PythonMinor], str] = {}

    def takes(self, target: Target, pin: Pin) -> bool:
        """Add the pin unless an installer could then take another file than it should.

        Rows of one platform may have different floors, and a host above both would see the files
        of both. Elsewhere a file of one Target may suit another better than its own, which it
        kept from an earlier lock.
        """
        environment = (target.row.platform.name, target.python)
        filename = pin.file.filename
        if self._by_environment.get(environment, filename) != filename:
            return False
        pins = {**self.pins, target: pin}
        # The limit of an entry holds for all that it serves.
        limits = {one.requires_python for one in pins.values()} - {None}
        if len(limits) > 1 or any(
            python_fits(limit, one.python) != "all"
            for limit in filter(None, limits)
            for one, chosen in pins.items()
            if chosen.requires_python is None
        ):
            return False
        names = sorted({one.file.filename for one in pins.values()})
        if len(names) > 1 and any(
            _best_wheel(names, one) not in {None, chosen.file.filename}
            for one, chosen in pins.items()
        ):
            return False
        self._by_environment[environment] = filename
        self.pins = pins
        return True


def _best_wheel(names: Sequence[str], target: Target) -> str | None:
    """Say which of *names*, in the order of the lock, an installer takes there."""
    ranks = tag_ranks(target.row.platform, target.python)
    ranked = [
        (rank, place, name)
        for place, name in enumerate(names)
        if (wheel := parse_wheel_name(name)) and (rank := ranks.rank(wheel.triple)) is not None
    ]
    return min(ranked)[2] if ranked else None


def merge(
    matrix: Matrix,
    resolutions: Sequence[Resolution],
    *,
    asked: Matrix,
    catalog: Catalog,
    locate: Callable[[DistributionFile], LockedFile],
    requires_python: SpecifierSet | None,
    extras: Sequence[str],
    groups: Sequence[str],
    requirements: Iterable[str],
    settings: Iterable[str],
    torch_indexes: Mapping[str, str],
    told: Collection[str] = (),
) -> Lock:
    """Merge one Resolution per Target of *matrix*; *locate* says where a file is to be found.

    *asked* is the Matrix before Pythons were left out of it, *told* what the previous lock says
    that lockforge added.
    """
    places = {target: place for place, target in enumerate(matrix.targets)}
    resolutions = sorted(resolutions, key=lambda one: places[one.target])
    selector = Selector(matrix)
    entries = _entries(resolutions)
    markers = {entry: _marker(entry, selector) for entry in entries}
    owners: dict[tuple[Target, str], _Entry] = {
        (target, entry.name): entry for entry in entries for target in entry.pins
    }
    required = {one.target: _required(one) for one in resolutions}
    packages = [_package(entry, markers, entries, owners, required, locate) for entry in entries]
    packages.sort(key=lambda one: (one.name, one.version or "", one.index or "", one.marker))
    labels = {row.accelerator.extra for row in matrix.rows if selector.needs_extra(row)}
    return Lock(
        environments=_environments(matrix),
        requires_python=_requires_python(matrix.pythons, requires_python, resolutions),
        extras=tuple(sorted({*labels, *extras})),
        dependency_groups=tuple(sorted(groups)),
        default_groups=(),
        packages=tuple(packages),
        rows=tuple(
            locked_row(
                row,
                [one for one in resolutions if one.target.row == row],
                needs_extra=selector.needs_extra(row),
                catalog=catalog,
                locate=locate,
                index=torch_indexes[row.accelerator.label],
                left_out=[
                    python
                    for python in asked.pythons_of(row)
                    if python not in matrix.pythons_of(row)
                ],
            )
            for row in matrix.rows
        ),
        requirements=tuple(sorted(set(requirements))),
        settings=tuple(sorted(set(settings))),
        additions=_additions(resolutions, told),
        notes=(),
    )


def _additions(resolutions: Sequence[Resolution], told: Collection[str]) -> tuple[str, ...]:
    """Word what rules added; what is kept because an earlier lock has it is told again.

    A rule that decided once decides nothing when its outcome is preferred.
    """
    added = {_word(one) for resolution in resolutions for one in resolution.additions}
    agreeing = {_word(one) for resolution in resolutions for one in resolution.agreeing}
    return tuple(sorted(added | agreeing.intersection(told)))


def _word(addition: Addition) -> str:
    reason = f"{addition.reason}; source: {addition.source}"
    return f"{addition.package}: {addition.requirement} ({reason})"


def _entries(resolutions: Sequence[Resolution]) -> list[_Entry]:
    found: dict[tuple[str, str, str], list[_Entry]] = {}
    for resolution in resolutions:
        for pin in resolution.pins:
            known = found.setdefault((pin.name, str(pin.version), pin.index.url), [])
            if not any(entry.takes(resolution.target, pin) for entry in known):
                known.append(_Entry(pin))
                known[-1].takes(resolution.target, pin)
    return [entry for known in found.values() for entry in known]


def _required(resolution: Resolution) -> dict[str, list[str]]:
    """Give what each package of one Target requires, by name."""
    required: dict[str, list[str]] = {}
    for edge in resolution.edges:
        required.setdefault(edge.parent, []).append(edge.child)
    return required


def _marker(entry: _Entry, selector: Selector) -> str:
    by_condition: dict[str, list[Target]] = {}
    for target, pin in entry.pins.items():
        by_condition.setdefault(pin.condition, []).append(target)
    return disjoin(
        *sorted(
            conjoin(selector.select(targets), condition)
            for condition, targets in by_condition.items()
        )
    )


def _package(
    entry: _Entry,
    markers: Mapping[_Entry, str],
    entries: Sequence[_Entry],
    owners: Mapping[tuple[Target, str], _Entry],
    required: Mapping[Target, Mapping[str, Sequence[str]]],
    locate: Callable[[DistributionFile], LockedFile],
) -> LockedPackage:
    files = {pin.file.filename: pin.file for pin in entry.pins.values()}
    located = {name: locate(file) for name, file in sorted(files.items())}
    direct = next(iter(located.values())) if entry.is_direct else None
    wheels = [] if direct else [one for name, one in located.items() if files[name].is_wheel]
    sdists = [] if direct else [one for name, one in located.items() if not files[name].is_wheel]
    children: dict[str, dict[_Entry, set[Target]]] = {}
    for target in entry.pins:
        for name in required[target].get(entry.name, ()):
            child = owners[target, name]
            children.setdefault(name, {}).setdefault(child, set()).add(target)
    limits = {pin.requires_python for pin in entry.pins.values()} - {None}
    return LockedPackage(
        name=entry.name,
        version=None if entry.is_tree else str(entry.version),
        index=_index_url(entry),
        marker=markers[entry],
        requires_python=",".join(sorted(filter(None, limits))) or None,
        dependencies=tuple(
            sorted(
                (
                    _dependency(
                        child, entries, markers, everywhere=_is_everywhere(entry, same_name)
                    )
                    for same_name in children.values()
                    for child in same_name
                ),
                key=lambda one: (one.name, one.version or "", one.index or "", one.marker or ""),
            )
        ),
        wheels=tuple(wheels),
        sdist=sdists[0] if sdists else None,
        archive=None if entry.is_tree else direct,
        directory=direct if entry.is_tree else None,
        editable=any(pin.editable for pin in entry.pins.values()),
    )


def _is_everywhere(parent: _Entry, children: Mapping[_Entry, AbstractSet[Target]]) -> bool:
    """Whether one of *children* is there wherever *parent* is, whatever its Targets leave open."""
    covered = {
        target
        for child, targets in children.items()
        for target in targets
        if child.pins[target].condition in {"", parent.pins[target].condition}
    }
    return covered == set(parent.pins)


def _index_url(entry: _Entry) -> str | None:
    url = entry.index.url
    return None if url.startswith("file:") or entry.is_direct else url.rstrip("/")


def _dependency(
    child: _Entry, entries: Sequence[_Entry], markers: Mapping[_Entry, str], *, everywhere: bool
) -> Dependency:
    """Name an entry by the fewest keys that no other entry has (PEP 751, packages.dependencies).

    The entry's marker is a key too where the dependency is not for every Target of its parent:
    a reader then knows where its absence is right.
    """
    twins = [entry for entry in entries if entry.name == child.name and entry is not child]
    version = index = None
    if twins:
        version = None if child.is_tree else str(child.version)
        twins = [entry for entry in twins if version is None or entry.version == child.version]
    if twins:
        index = _index_url(child)
        # What has no index has no key that its twins lack.
        twins = [entry for entry in twins if index is None or entry.index.url == child.index.url]
    marker = markers[child] or None if twins or not everywhere else None
    return Dependency(name=child.name, version=version, index=index, marker=marker)


def _environments(matrix: Matrix) -> tuple[str, ...]:
    """List the platforms, with their Pythons where those are not all of the lock's."""
    markers = []
    for platform in dict.fromkeys(row.platform.name for row in matrix.rows):
        targets = [one for one in matrix.targets if one.row.platform.name == platform]
        environment = decided_environment(targets[0].row.platform, matrix.pythons[0])
        parts: list[Node] = [
            Atom(f"{variable} == '{environment[variable]}'")
            for variable in ("sys_platform", "platform_machine")
        ]
        pythons = sorted({target.python for target in targets})
        if tuple(pythons) != matrix.pythons:
            parts.append(
                join("or", [Atom(f"python_version == '{render_minor(one)}'") for one in pythons])
            )
        markers.append(render(join("and", parts)))
    return tuple(sorted(markers))


def _common_limits(pythons: Sequence[PythonMinor], resolutions: Sequence[Resolution]) -> list[str]:
    """List the clauses that exclude patch releases of a minor in each of its Targets.

    What limits some rows only stands on their entries, and so does what would exclude another
    minor altogether.
    """
    common: dict[PythonMinor, set[str]] = {}
    for resolution in resolutions:
        python = resolution.target.python
        own = {
            clause
            for pin in resolution.pins
            if pin.requires_python and not pin.condition
            for clause in narrowing_clauses(SpecifierSet(pin.requires_python), [python])
        }
        common[python] = common[python] & own if python in common else own
    return sorted(
        clause
        for clause in set().union(*common.values())
        if all(
            clause in common.get(python, ()) or python_fits(clause, python) == "all"
            for python in pythons
        )
    )


def _requires_python(
    pythons: Sequence[PythonMinor],
    stated: SpecifierSet | None,
    resolutions: Sequence[Resolution],
) -> str:
    """Say which Pythons the lock really covers; minors have no gap but what is excluded here."""
    first, last = pythons[0], pythons[-1]
    clauses = [f">={render_python(first)}", f"<{last[0]}.{last[1] + 1}"]
    covered = {python[:2] for python in pythons}
    clauses += [
        f"!={first[0]}.{minor}.*"
        for minor in range(first[1], last[1])
        if (first[0], minor) not in covered
    ]
    clauses += [
        f"!={render_minor(python)}.{patch}"
        for python in pythons[1:]
        for patch in range(lowest_patch(python))
    ]
    if stated is not None:
        clauses += narrowing_clauses(stated, pythons)
    clauses += _common_limits(pythons, resolutions)
    limits = SpecifierSet(",".join(clauses))
    return ",".join(sorted(map(str, limits), key=lambda text: (text[0] != ">", text)))
