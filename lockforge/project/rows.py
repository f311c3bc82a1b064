"""``linux-cu130`` -> Row, and the rows of a Matrix with their floors and Pythons."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from lockforge.model.accelerator import Accelerator, is_label
from lockforge.model.matrix import Matrix, PythonMinor, Row, Target, render_minor, render_python
from lockforge.model.platforms import ALIASES, PLATFORMS, Floor, parse_platform
from lockforge.project.faults import nearest
from lockforge.standards.patches import python_fits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.catalog import Catalog
    from lockforge.project.faults import Faults

_FLOOR = re.compile(r"(\d+)(?:\.(\d+))?")
_PYTHON = re.compile(r"3\.(\d+)(?:\.(\d+))?")


def parse_row(name: str, catalog: Catalog, faults: Faults, where: str) -> Row | None:
    """Read one row's name; what is wrong with it is added to *faults*."""
    platform_text, _, label = name.strip().rpartition("-")
    platform = parse_platform(platform_text)
    if parse_platform(name.strip()) is not None:
        faults.add(where, f"row {name!r} names no accelerator", f"write {name}-cpu, for example")
        return None
    if platform is None:
        known = [*PLATFORMS, *ALIASES]
        faults.add(
            where,
            f"unknown platform {platform_text!r} in row {name!r}",
            nearest(platform_text, known),
        )
        return None
    if label == "mps":
        if platform.system != "macos":
            faults.add(where, f"row {name!r}: mps is on a Mac only", "write mac-mps")
            return None
        # PyTorch has no build of that name: its macOS wheels have MPS and lie on the cpu index.
        label = "cpu"
    if not is_label(label):
        faults.add(
            where,
            f"unknown accelerator {label!r} in row {name!r}",
            nearest(label, catalog.labels),
        )
        return None
    accelerator = Accelerator(label)
    served = catalog.platforms_of(accelerator)
    if platform.name not in {one.name for one in served}:
        existing = ", ".join(f"{one.name}-{label}" for one in served)
        faults.add(
            where,
            f"row {name!r}: PyTorch has no {label} builds for {platform.name}",
            f"rows that exist: {existing}",
        )
        return None
    return Row(name=name.strip(), platform=platform, accelerator=accelerator)


def parse_rows(names: Sequence[str], catalog: Catalog, faults: Faults, where: str) -> list[Row]:
    """Read the rows of a matrix; a row given twice, in whatever spelling, is a fault."""
    rows: dict[tuple[str, str], Row] = {}
    for number, name in enumerate(names):
        at = f"{where}[{number}]"
        row = parse_row(name, catalog, faults, at)
        if row is None:
            continue
        if row.identity in rows:
            twin = rows[row.identity].name
            same = "is given twice" if twin == row.name else f"is the same as {twin!r}"
            faults.add(at, f"row {row.name!r} {same}", "leave one of them out")
            continue
        rows[row.identity] = row
    return list(rows.values())


def parse_floor(text: str, faults: Faults, where: str) -> Floor | None:
    """Read a glibc or macOS version."""
    match = _FLOOR.fullmatch(text)
    if match is None:
        faults.add(where, f"not a version: {text!r}", 'expected "2.28" or the like')
        return None
    return int(match[1]), int(match[2] or 0)


def parse_pythons(texts: Sequence[str], faults: Faults, where: str) -> list[PythonMinor]:
    """Read Python versions; a minor given twice, with another patch release, is a fault."""
    found: dict[tuple[int, int], PythonMinor] = {}
    for number, text in enumerate(texts):
        at = f"{where}[{number}]"
        match = _PYTHON.fullmatch(text.strip())
        if match is None:
            faults.add(at, f"not a Python version: {text!r}", 'expected "3.12" or "3.12.3"')
            continue
        minor = int(match[1])
        python: PythonMinor = (3, minor) if match[2] is None else (3, minor, int(match[2]))
        other = found.setdefault((3, minor), python)
        if other != python:
            faults.add(
                at,
                f"Python {render_minor(python)} is given twice, from {render_python(other)} on "
                f"and from {render_python(python)} on",
                "leave the lower of the two",
            )
    return list(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Pythons:
    """The Pythons to lock for."""

    chosen: list[PythonMinor]
    limits: SpecifierSet | None
    """What the project itself requires."""
    derived: bool
    """Whether they follow from requires-python and the catalogue alone."""


def choose_pythons(
    stated: Sequence[str],
    stated_where: str,
    *,
    python_version_file: str | None,
    requires_python: str | None,
    catalog: Catalog,
    faults: Faults,
) -> Pythons:
    """Say which Pythons to lock for, and what the project itself requires.

    What is stated, else the minor of the first line of ``.python-version``, else every minor that
    requires-python and the catalogue allow.
    """
    limits: SpecifierSet | None = None
    if requires_python is not None:
        try:
            limits = SpecifierSet(requires_python)
        except InvalidSpecifier:
            faults.add("project.requires-python", f"not a version specifier: {requires_python!r}")
    if stated:
        pythons = parse_pythons(stated, faults, stated_where)
    elif python_version_file is not None and python_version_file.split():
        stated_where = ".python-version"
        named = parse_pythons(python_version_file.split()[:1], faults, stated_where)
        # It names one interpreter, which is no floor for other hosts.
        pythons = [(python[0], python[1]) for python in named]
    else:
        allowed = [one for one in catalog.pythons if limits is None or _admits(limits, one)]
        if not allowed:
            known = ", ".join(map(render_minor, catalog.pythons))
            faults.add(
                "project.requires-python",
                f"no Python that PyTorch has wheels for ({known}) is in {requires_python!r}",
                "widen it, or state the Pythons in tool.lockforge.python",
            )
        return Pythons(chosen=allowed, limits=limits, derived=True)
    for python in pythons:
        if limits is not None and not _admits(limits, python):
            faults.add(
                stated_where,
                f"Python {render_python(python)} is outside of requires-python {requires_python!r}",
                "change one of the two",
            )
    return Pythons(chosen=pythons, limits=limits, derived=False)


def _admits(limits: SpecifierSet, minor: PythonMinor) -> bool:
    """Whether the stated patch release of *minor*, or else some, is within *limits*."""
    return python_fits(str(limits), minor) != "none"


def build_matrix(
    rows: Sequence[Row], pythons: Sequence[PythonMinor], floors: Mapping[str, Floor]
) -> Matrix:
    """Put the floors in and cross the rows with the Pythons."""
    placed = [
        replace(row, platform=replace(row.platform, floor=floors[row.name]))
        if row.name in floors
        else row
        for row in rows
    ]
    return Matrix(
        targets=tuple(Target(row=row, python=python) for row in placed for python in pythons)
    )
