"""The matrix a lock holds -> text for people, from the lock alone.

No hashes and no addresses of files, in an order of its own, so that it can be read and compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from lockforge.model.accelerator import names_accelerator
from lockforge.model.python import parse_minor
from lockforge.report.tables import section, table
from lockforge.standards.locked_rows import own_rows
from lockforge.standards.pylock import required_name
from lockforge.standards.selection import identity, select_possible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from packaging.pylock import Package, Pylock

    from lockforge.catalog import Catalog
    from lockforge.model.lock import LockedRow
    from lockforge.standards.selection import Source

# As many packages that differ between the same rows are worded together.
_MANY_ALIKE = 3
_STEP = 1000
_UNITS = ("B", "kB", "MB", "GB")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixReport:
    """What the report says, before it is words."""

    rows: tuple[LockedRow, ...]
    versions: dict[str, dict[str, tuple[Version, ...]]]
    """By package and row, sorted."""
    skew: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]
    """Package, then (public version, the rows that have it), oldest first."""
    gaps: tuple[tuple[str, tuple[str, ...]], ...]
    """A requirement of the project that some rows do not have, with those rows."""
    additions: tuple[str, ...]
    built: tuple[tuple[str, tuple[str, ...]], ...]
    """What an installer has to build, with the rows."""
    notes: tuple[str, ...]
    family: frozenset[str]
    """The packages of the PyTorch family among them."""


def matrix_report(
    lock: Pylock, data: dict[str, Any], catalog: Catalog, *, where: str
) -> MatrixReport:
    """Read the report out of a lock of ours; raises LockSyntaxError or LockSelectionError."""
    rows = own_rows(data, where=where)
    own_extras = [extra for extra in lock.extras or () if not names_accelerator(extra)]
    versions: dict[str, dict[str, set[Version]]] = {}
    built: dict[str, dict[str, None]] = {}
    for row in rows:
        extras = [*([row.extra] if row.extra else []), *own_extras]
        for python in map(parse_minor, row.pythons):
            selected = select_possible(
                lock, row.placed, python, extras=extras, groups=lock.dependency_groups or ()
            )
            for name, (package, source) in selected.items():
                if text := _build(package, source):
                    built.setdefault(text, {})[row.name] = None
                # A directory has no version, but it is there.
                by_row = versions.setdefault(name, {}).setdefault(row.name, set())
                if package.version is not None:
                    by_row.add(package.version)
    own = data["tool"]["lockforge"]
    sorted_versions = {
        name: {row: tuple(sorted(found)) for row, found in by_row.items()}
        for name, by_row in sorted(versions.items())
    }
    return MatrixReport(
        rows=rows,
        versions=sorted_versions,
        skew=tuple(_skew(sorted_versions)),
        gaps=tuple(_gaps(own.get("requirements", ()), sorted_versions, rows)),
        additions=tuple(own.get("additions", ())),
        built=tuple((text, tuple(names)) for text, names in sorted(built.items())),
        notes=tuple(own.get("notes", ())),
        family=frozenset(filter(catalog.is_family, sorted_versions)),
    )


def _build(package: Package, source: Source) -> str | None:
    """Say how a source must be built; None for a wheel."""
    filename = identity(source)[0]
    if filename is not None and filename.endswith(".whl"):
        return None
    what = "a directory" if filename is None else "an sdist"
    version = "" if package.version is None else f" {package.version}"
    # Whatever needs torch at run time is likely to import it to build its kernels.
    if any(dependency["name"] == "torch" for dependency in package.dependencies or ()):
        how = "must be built after torch, without build isolation"
    else:
        how = "built when it is installed"
    return f"{package.name}{version} is {what}: {how}"


def _skew(
    versions: dict[str, dict[str, tuple[Version, ...]]],
) -> list[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]]:
    """Find the packages whose public version differs between rows."""
    found = []
    for name, by_row in versions.items():
        rows_of: dict[tuple[str, ...], list[str]] = {}
        for row, held in by_row.items():
            public = tuple(dict.fromkeys(version.public for version in held))
            rows_of.setdefault(public, []).append(row)
        if len(rows_of) > 1:
            oldest_first = sorted(rows_of.items(), key=lambda pair: list(map(Version, pair[0])))
            sides = tuple((" / ".join(one), tuple(rows)) for one, rows in oldest_first)
            found.append((name, sides))
    return found


def _gaps(
    requirements: Sequence[str],
    versions: dict[str, dict[str, tuple[Version, ...]]],
    rows: Sequence[LockedRow],
) -> list[tuple[str, tuple[str, ...]]]:
    # What one row alone asks for is missing nowhere.
    names = {name for text in requirements if (name := required_name(text)) is not None}
    return [
        (name, missing)
        for name in sorted(names)
        if (missing := tuple(row.name for row in rows if row.name not in versions.get(name, {})))
    ]


def render_matrix(report: MatrixReport) -> str:
    """Write the report as plain text."""
    columns: list[tuple[str, Callable[[LockedRow], str]]] = [
        ("row", lambda row: row.name),
        ("torch", lambda row: row.torch or "-"),
        ("python", lambda row: " ".join(row.pythons)),
        ("packages", lambda row: str(row.packages)),
        ("download", _render_download),
        ("driver", lambda row: f">= {row.min_driver}" if row.min_driver else "-"),
    ]
    cells = [[title for title, _ in columns]]
    cells += [[render(row) for _, render in columns] for row in report.rows]
    lines = table(cells)
    lines += section("select", [_render_selection(row) for row in report.rows if row.extra])
    lines += section("GPU architectures", _render_architectures(report.rows))
    lines += section("skew", _render_skew(report))
    lines += section("gaps", [f"{name}: not in {', '.join(rows)}" for name, rows in report.gaps])
    lines += section("added by lockforge", list(report.additions))
    lines += section(
        "built on the host", [f"{text} ({', '.join(rows)})" for text, rows in report.built]
    )
    lines += section("notes", list(report.notes))
    return "\n".join(lines) + "\n"


def _render_skew(report: MatrixReport) -> list[str]:
    """Word the skew: the family and what differs alone with its versions, many alike as a list.

    Each CUDA build pins some twenty libraries of its own; they say nothing that the row's name
    does not.
    """
    alike: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    lines = []
    for name, sides in report.skew:
        if name not in report.family:
            alike.setdefault(tuple(rows for _, rows in sides), []).append(name)
    for name, sides in report.skew:
        group = alike.get(tuple(rows for _, rows in sides), [])
        if name in report.family or len(group) < _MANY_ALIKE:
            versions = " vs ".join(f"{version} ({', '.join(rows)})" for version, rows in sides)
            lines.append(f"{name} {versions}")
    for sides_rows, names in alike.items():
        if len(names) >= _MANY_ALIKE:
            sides_text = " vs ".join(", ".join(rows) for rows in sides_rows)
            lines.append(f"{len(names)} packages, {sides_text}: {', '.join(names)}")
    return lines


def _render_download(row: LockedRow) -> str:
    size = render_size(row.size) if row.size else ""
    if not row.unsized:
        return size or "-"
    # PyTorch's pages give no sizes.
    unsized = f"{row.unsized} unsized"
    return f"{size} + {unsized}" if size else unsized


def _render_selection(row: LockedRow) -> str:
    return f"{row.name}: extra {row.extra}"


def _render_architectures(rows: Sequence[LockedRow]) -> list[str]:
    alike: dict[str, list[str]] = {}
    for row in rows:
        if row.gpu_architectures:
            text = " ".join(row.gpu_architectures)
            if row.gpu_ptx:
                text += f" + PTX {' '.join(row.gpu_ptx)}"
            if row.judged_by:
                text += f" (as torch {row.judged_by}: its own are not in the catalogue)"
            alike.setdefault(text, []).append(row.name)
    return [f"{', '.join(names)}: {text}" for text, names in alike.items()]


def render_size(size: int) -> str:
    """Write bytes in decimal units, as indexes and disks count them."""
    amount = float(size)
    for unit in _UNITS[:-1]:
        if round(amount) < _STEP:
            return f"{amount:.0f} {unit}"
        amount /= _STEP
    return f"{amount:.1f} {_UNITS[-1]}"
