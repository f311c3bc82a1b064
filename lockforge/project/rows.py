"""``linux-cu130`` -> Row, and the rows of a Matrix with their floors and Pythons."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from lockforge.model.accelerator import Accelerator, is_label
from lockforge.model.matrix import Matrix, Row, Target
from lockforge.model.platforms import ALIASES, PLATFORMS, Floor, parse_platform
from lockforge.model.python import PythonMinor, parse_minor, render_minor, render_python
from lockforge.project.faults import TABLE, nearest
from lockforge.standards.patches import python_fits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.catalog import Catalog
    from lockforge.model.platforms import Platform
    from lockforge.project.faults import Faults

_FLOOR = re.compile(r"([0-9]{1,2})(?:\.([0-9]{1,2}))?")
# Lists are made of all that lies below a floor or patch release, so neither may be without end.
_FLOORS: dict[str, tuple[Floor, Floor]] = {
    # PEP 513 and PEP 599: no policy of wheels for an older glibc. PEP 600 knows glibc 2 alone.
    "linux": ((2, 5), (2, 99)),
    "linux-aarch64": ((2, 17), (2, 99)),
    "mac": ((11, 0), (99, 99)),
    "mac-x86_64": ((10, 4), (99, 99)),
}
_PYTHON = re.compile(r"3\.([0-9]{1,2})(?:\.([0-9]{1,2}))?")
# As pyenv and uv write it: `3.12.3`, `cpython-3.12.3-linux-x86_64-gnu`, `cpython@3.12`.
_NAMED_PYTHON = re.compile(
    rf"(?P<version>{_PYTHON.pattern})|(?:cpython|python|cp)[-@]?(?P<named>{_PYTHON.pattern})(-.*)?"
)


def parse_row(name: str, catalog: Catalog, faults: Faults, where: str) -> Row | None:
    """Read one row's name; what is wrong with it is added to *faults*."""
    platform_text, _, label = name.strip().rpartition("-")
    platform = parse_platform(platform_text)
    if platform is None or parse_platform(name.strip()) is not None:
        _add_fault_of_platform(name, platform_text, faults, where)
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
            nearest(label, catalog.labels, _newest(catalog.labels)),
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


def _add_fault_of_platform(name: str, platform_text: str, faults: Faults, where: str) -> None:
    """Say what is wrong where *name* is not a platform and something more."""
    if parse_platform(name.strip()) is not None:
        faults.add(where, f"row {name!r} names no accelerator", f"write {name}-cpu, for example")
    elif not platform_text:
        faults.add(
            where,
            f"not a row: {name!r}: a row is a platform and an accelerator, joined by -",
            "write linux-cu130, win-cpu, mac-cpu or the like",
        )
    else:
        faults.add(
            where,
            f"unknown platform {platform_text!r} in row {name!r}",
            nearest(platform_text, [*PLATFORMS, *ALIASES]),
        )


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


def _newest(labels: Sequence[str]) -> list[str]:
    """Take the first, which is the newest, of each kind of accelerator."""
    kinds: dict[str, str] = {}
    for label in labels:
        kinds.setdefault(Accelerator(label).kind, label)
    return list(kinds.values())


def parse_floor(text: str, platform: Platform, faults: Faults, where: str) -> Floor | None:
    """Read the glibc or macOS version from which a platform is to be served."""
    lowest, highest = _FLOORS[platform.name]
    match = _FLOOR.fullmatch(text)
    found = (int(match[1]), int(match[2] or 0)) if match else None
    if found is None or not lowest <= found <= highest:
        faults.add(
            where,
            f"not a version of {platform.floor_key} that {platform.name} can start from: {text!r}",
            f'expected "{render_minor(lowest)}" to "{render_minor(highest)}"',
        )
        return None
    return found


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

    What is stated, else the minor of the first CPython of ``.python-version``, else every minor
    that requires-python and the catalogue allow.
    """
    limits: SpecifierSet | None = None
    if requires_python is not None:
        try:
            limits = SpecifierSet(requires_python)
        except InvalidSpecifier:
            faults.add("project.requires-python", f"not a version specifier: {requires_python!r}")
    if stated:
        pythons = parse_pythons(stated, faults, stated_where)
    elif names := _names_in(python_version_file or ""):
        stated_where = ".python-version"
        pythons = _first_python(names, faults, stated_where)
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


def _names_in(text: str) -> list[str]:
    lines = text.removeprefix("\ufeff").splitlines()
    return [name for line in lines for name in line.partition("#")[0].split()]


def _first_python(names: Sequence[str], faults: Faults, where: str) -> list[PythonMinor]:
    for match in filter(None, map(_NAMED_PYTHON.fullmatch, names)):
        version = match["version"] or match["named"]
        # It names one interpreter, which is no floor for other hosts.
        return [parse_minor(version)[:2]]
    faults.add(
        where,
        f"it names no CPython: {', '.join(names)}",
        f'write "3.12" or the like, or state the Pythons in {TABLE}.python',
    )
    return []


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
