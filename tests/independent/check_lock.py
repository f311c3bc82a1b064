"""Check a lock against the recorded indexes it was made from, without any code of lockforge.

The standard library and `packaging` only: environments, wheel tags and page readers are written
here once more, so that a mistake in one of the two shows. From the repository::

    python tests/independent/check_lock.py pylock.toml --snapshot fixtures/snapshot \\
        --project fixtures/projects/vision --row linux:cu130:3.12 --row mac:cpu:3.12 --all-rows

prints every fault and exits with 1, or exits with 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote, urljoin, urlsplit

from packaging.metadata import parse_email
from packaging.pylock import (
    Package,
    PackageSdist,
    PackageWheel,
    Pylock,
    PylockSelectError,
    PylockValidationError,
)
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import (
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

TORCH_HOSTS = frozenset({"download.pytorch.org", "download-r2.pytorch.org"})
DEFAULT_HOSTS = frozenset({"files.pythonhosted.org"})
TORCH_BASE = "https://download.pytorch.org/whl"
DEFAULT_INDEX = "https://pypi.org/simple"
FAMILY = frozenset(
    {
        "pytorch-triton",
        "pytorch-triton-rocm",
        "pytorch-triton-xpu",
        "torch",
        "torchao",
        "torchaudio",
        "torchcodec",
        "torchvision",
        "triton",
        "triton-rocm",
        "triton-xpu",
        "xformers",
    }
)
"""What comes from PyTorch's indexes alone, but for plain `triton`."""

PATCHES = (0, 11)
"""Patch releases of Python that each row is checked at."""

Selection: TypeAlias = "dict[str, tuple[Package, PackageWheel | PackageSdist]]"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One environment of the lock, and the extra that selects it."""

    platform: str
    label: str
    python: tuple[int, int]
    extra: str | None = None
    glibc: int = 28
    """The minor of glibc 2, on Linux."""

    def __str__(self) -> str:
        return f"{self.platform}-{self.label} on {self.python[0]}.{self.python[1]}"


def parse_row(text: str) -> Row:
    """Read ``linux:cu130:3.12``, or ``linux:cu130:3.12:cu130`` where an extra selects the row."""
    platform, label, python, *extra = text.split(":")
    major, _, minor = python.partition(".")
    return Row(
        platform=platform,
        label=label,
        python=(int(major), int(minor)),
        extra=extra[0] if extra else None,
    )


# --- what a host of a row is ---------------------------------------------------------------------

_HOSTS = {
    "linux": ("posix", "linux", "Linux", "x86_64"),
    "linux-aarch64": ("posix", "linux", "Linux", "aarch64"),
    "win": ("nt", "win32", "Windows", "AMD64"),
    "win-arm64": ("nt", "win32", "Windows", "ARM64"),
    "mac": ("posix", "darwin", "Darwin", "arm64"),
    "mac-x86_64": ("posix", "darwin", "Darwin", "x86_64"),
}


def environment(row: Row, patch: int) -> dict[str, str]:
    """Give the marker environment of one host."""
    os_name, sys_platform, system, machine = _HOSTS[row.platform]
    minor = f"{row.python[0]}.{row.python[1]}"
    return {
        "implementation_name": "cpython",
        "implementation_version": f"{minor}.{patch}",
        "os_name": os_name,
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_release": "6.8.0",
        "platform_system": system,
        "platform_version": "#1 SMP",
        "python_full_version": f"{minor}.{patch}",
        "python_version": minor,
        "sys_platform": sys_platform,
    }


def _manylinux(machine: str, glibc: int) -> Iterator[str]:
    """List the rungs from that glibc down, each with its older name (PEP 600)."""
    older = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
    for minor in range(glibc, 16 if machine == "aarch64" else 4, -1):
        yield f"manylinux_2_{minor}_{machine}"
        if minor in older:
            yield f"{older[minor]}_{machine}"
    yield f"linux_{machine}"


def _macos(machine: str) -> Iterator[str]:
    """List macOS from the floor down: Apple silicon from 14, Intel from 11."""
    if machine == "arm64":
        for major in range(14, 10, -1):
            yield f"macosx_{major}_0_arm64"
            yield f"macosx_{major}_0_universal2"
        for minor in range(16, 3, -1):
            yield f"macosx_10_{minor}_universal2"
        return
    formats = ("x86_64", "intel", "fat64", "fat32", "universal2", "universal")
    for version in ("11_0", *(f"10_{minor}" for minor in range(16, 3, -1))):
        for form in formats:
            yield f"macosx_{version}_{form}"


@lru_cache(maxsize=64)
def tags(row: Row) -> tuple[Tag, ...]:
    """List the wheel tags of a host at the floor of its platform, best first."""
    _, sys_platform, _, machine = _HOSTS[row.platform]
    if sys_platform == "linux":
        platforms = list(_manylinux(machine, row.glibc))
    elif sys_platform == "darwin":
        platforms = list(_macos(machine))
    else:
        platforms = [f"win_{machine.lower()}"]
    interpreter = f"cp{row.python[0]}{row.python[1]}"
    return (
        *cpython_tags(row.python, abis=[interpreter], platforms=platforms),
        *compatible_tags(row.python, interpreter=interpreter, platforms=platforms),
    )


# --- what the indexes say ------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PageFile:
    """A file as its page announces it."""

    filename: str
    url: str
    sha256: str | None
    metadata: str | None
    requires_python: str | None


class _Anchors(HTMLParser):
    """Collects the attributes of all links."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.append({name: value or "" for name, value in attrs})


class Snapshot:
    """Reads a recorded snapshot."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._pages: dict[tuple[str | None, str], dict[str, PageFile]] = {}
        self._texts: dict[Path, dict[str, str]] = {}

    def page(self, label: str | None, project: str) -> dict[str, PageFile]:
        """Give the files of a project by name: of a PyTorch index, or of the default index."""
        key = (label, project)
        if key not in self._pages:
            read = self._html if label else self._json
            self._pages[key] = read(label or "", project)
        return self._pages[key]

    def _html(self, label: str, project: str) -> dict[str, PageFile]:
        path = self._root / "whl" / label / project / "index.html"
        if not path.exists():
            return {}
        parser = _Anchors()
        parser.feed(path.read_text("utf-8"))
        files = {}
        for attributes in parser.found:
            address = urljoin(f"{TORCH_BASE}/{label}/{project}/", attributes["href"])
            url, _, fragment = address.partition("#")
            filename = unquote(url.rpartition("/")[2])
            metadata = attributes.get("data-core-metadata", "")
            files[filename] = PageFile(
                filename=filename,
                url=url,
                sha256=fragment.removeprefix("sha256=") or None,
                metadata=metadata.removeprefix("sha256=") or None,
                requires_python=attributes.get("data-requires-python"),
            )
        return files

    def _json(self, _: str, project: str) -> dict[str, PageFile]:
        path = self._root / "simple" / project / "index.json"
        if not path.exists():
            return {}
        return {
            entry["filename"]: PageFile(
                filename=entry["filename"],
                url=entry["url"],
                sha256=entry["hashes"].get("sha256"),
                metadata=(entry.get("core-metadata") or {}).get("sha256"),
                requires_python=entry.get("requires-python"),
            )
            for entry in json.loads(path.read_text("utf-8"))["files"]
        }

    def requires(self, label: str | None, project: str, file: PageFile) -> tuple[Requirement, ...]:
        """List what the very file requires."""
        if label:
            path = self._root / "whl" / "metadata" / f"{project}.json"
        else:
            path = self._root / "simple" / project / "metadata.json"
        if path not in self._texts:
            self._texts[path] = json.loads(path.read_text("utf-8"))
        return _parse_requires(self._texts[path][file.metadata or ""])


@cache
def _parse_requires(metadata: str) -> tuple[Requirement, ...]:
    raw, _ = parse_email(metadata)
    return tuple(map(Requirement, raw.get("requires_dist", ())))


@cache
def _parse_wheel(filename: str) -> tuple[Version, tuple[int, int | str], frozenset[Tag]] | None:
    """Read a wheel's name as version, build tag, tags; None for any other file."""
    try:
        _, version, build, its_tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return None
    number, suffix = build or (0, "")
    return version, (-number, suffix), its_tags


def project_requirements(project: Path, extras: Iterable[str] = ()) -> list[str]:
    """List what a project itself requires, with some of its extras."""
    table = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    found: list[str] = list(table.get("dependencies", ()))
    for extra in extras:
        found += table["optional-dependencies"][extra]
    return found


# --- the checks ----------------------------------------------------------------------------------


def select(lock: Pylock, row: Row, patch: int = 0, extras: Iterable[str] = ()) -> Selection:
    """Select what one host installs; raises PylockSelectError where an installer must refuse."""
    wanted = [*extras, *([row.extra] if row.extra else [])]
    found: Selection = {}
    for package, source in lock.select(
        environment=environment(row, patch),  # type: ignore[arg-type]
        tags=tags(row),
        extras=wanted,
    ):
        if package.name in found:
            raise PylockSelectError(f"{package.name} is selected twice")
        if not isinstance(source, PackageWheel | PackageSdist):
            raise PylockSelectError(f"{package.name} is neither a wheel nor an sdist")
        found[package.name] = (package, source)
    return found


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a lock must hold."""

    rows: Sequence[Row]
    requirements: Sequence[str] | None = None
    """What the project requires; None takes what the lock says of itself."""
    extras: Sequence[str] = ()
    """Extras of the project's own that are selected in every row."""
    all_rows: bool = False
    """Whether `rows` are all the lock was made for."""


def check(path: Path, snapshot: Snapshot, expected: Expected) -> list[str]:
    """List all faults of a lock."""
    data = tomllib.loads(path.read_text("utf-8"))
    try:
        lock = Pylock.from_dict(data)
    except PylockValidationError as error:
        return [f"not what PEP 751 says: {error}"]
    requirements = expected.requirements
    if requirements is None:
        requirements = data.get("tool", {}).get("lockforge", {}).get("requirements", ())
    roots = list(_parse_roots(requirements))
    faults: list[str] = []
    used: set[str] = set()
    failed = False
    for row in expected.rows:
        for patch in PATCHES:
            try:
                selected = select(lock, row, patch, expected.extras)
            except PylockSelectError as error:
                faults.append(f"{row}: {error}")
                failed = True
                continue
            used |= {source.filename for _, source in selected.values()}
            found = _check_row(selected, row, patch, roots, snapshot)
            faults += [f"{row}: {fault}" for fault in found]
    if expected.all_rows and not failed:
        faults += [
            f"{file.filename} is listed but no row installs it"
            for file in _listed(lock)
            if file.filename not in used
        ]
    return list(dict.fromkeys(faults))


def _listed(lock: Pylock) -> Iterator[PackageWheel | PackageSdist]:
    for package in lock.packages:
        yield from package.wheels or ()
        if package.sdist:
            yield package.sdist


def _parse_roots(texts: Iterable[str]) -> Iterator[Requirement]:
    for text in texts:
        try:
            yield Requirement(text)
        except InvalidRequirement:
            # A lock's own list names rows and extras too; those are asked for with --requirement.
            continue


def _check_row(
    selected: Selection, row: Row, patch: int, roots: Sequence[Requirement], snapshot: Snapshot
) -> Iterator[str]:
    files: dict[str, tuple[str | None, PageFile]] = {}
    for name, (package, source) in selected.items():
        label = None if package.index == DEFAULT_INDEX else row.label
        announced = snapshot.page(label, name).get(source.filename)
        if announced is None:
            yield f"{source.filename} is not on the page of {package.index}"
            continue
        files[name] = (label, announced)
        yield from _check_source(name, package, source, announced, row)
        yield from _check_version(name, package, row)
        yield from check_best(source, snapshot.page(label, name).values(), row, patch)
    requires = {name: snapshot.requires(label, name, file) for name, (label, file) in files.items()}
    yield from check_closure(selected, requires, row, patch, roots)


def _check_source(
    name: str,
    package: Package,
    source: PackageWheel | PackageSdist,
    announced: PageFile,
    row: Row,
) -> Iterator[str]:
    family = name in FAMILY
    from_default = not family or (name == "triton" and package.index == DEFAULT_INDEX)
    index = DEFAULT_INDEX if from_default else f"{TORCH_BASE}/{row.label}"
    hosts = DEFAULT_HOSTS if from_default else TORCH_HOSTS
    if package.index != index:
        yield f"{name} is from {package.index}, not from {index}"
    host = urlsplit(source.url or "").hostname
    if host not in hosts:
        yield f"{source.filename} is served by {host}"
    if source.url != announced.url:
        yield f"{source.filename} has another address than its page says: {source.url}"
    found = source.hashes.get("sha256")
    if found is None or found != announced.sha256:
        yield f"{source.filename} has sha256 {found}, its page says {announced.sha256}"


def _check_version(name: str, package: Package, row: Row) -> Iterator[str]:
    if package.version is None:
        yield f"{name} has no version"
        return
    local = package.version.local
    if name == "torch":
        wanted = None if row.platform.startswith("mac") else row.label
        if local != wanted:
            yield f"torch is {package.version}, not a build for {row.label}"
    elif name in FAMILY and local not in {None, row.label}:
        yield f"{name} is {package.version}, a build for something else"


def check_best(
    source: PackageWheel | PackageSdist, page: Iterable[PageFile], row: Row, patch: int
) -> Iterator[str]:
    """Demand the best wheel its page has of the version that was chosen, else its sdist."""
    ranks = {tag: rank for rank, tag in enumerate(tags(row))}
    is_sdist = isinstance(source, PackageSdist)
    parse = parse_sdist_filename if is_sdist else parse_wheel_filename
    version = parse(source.filename)[1]
    full = f"{row.python[0]}.{row.python[1]}.{patch}"
    ranked: dict[str, tuple[int, tuple[int, int | str]]] = {}
    for file in page:
        wheel = _parse_wheel(file.filename)
        if wheel is None or wheel[0] != version:
            continue
        usable = [ranks[tag] for tag in wheel[2] if tag in ranks]
        if usable and SpecifierSet(file.requires_python or "").contains(full):
            ranked[file.filename] = (min(usable), wheel[1])
    best = min(ranked, key=ranked.__getitem__, default=None)
    if is_sdist:
        if best is not None:
            yield f"{source.filename} is selected, but {best} is a wheel that fits"
    elif source.filename not in ranked:
        yield f"{source.filename} does not fit"
    elif best is not None and ranked[source.filename] != ranked[best]:
        yield f"{source.filename} is selected, but {best} is better"


def check_closure(
    selected: Selection,
    requires: Mapping[str, Sequence[Requirement]],
    row: Row,
    patch: int,
    roots: Sequence[Requirement],
) -> Iterator[str]:
    """Walk from what the project requires: all of it is selected, and nothing else.

    What the selected files require is given by name; a name that is not there is passed over.
    """
    here = environment(row, patch)
    reached: set[tuple[str, str]] = set()
    waiting: list[tuple[str, Requirement]] = [
        ("the project", root)
        for root in roots
        if root.marker is None or root.marker.evaluate({**here, "extra": ""})
    ]
    while waiting:
        parent, requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name not in selected:
            yield f"{parent} requires {requirement}, which is not selected"
            continue
        version = selected[name][0].version or Version("0")
        if not requirement.specifier.contains(version, prereleases=True):
            yield f"{parent} requires {requirement}, selected is {version}"
        extras: list[str] = ["", *map(canonicalize_name, requirement.extras)]
        for extra in extras:
            if (name, extra) in reached or name not in requires:
                continue
            reached.add((name, extra))
            waiting += [
                (name, one)
                for one in requires[name]
                if one.marker is None or one.marker.evaluate({**here, "extra": extra})
            ]
    if roots:
        required = {name for name, _ in reached}
        for surplus in sorted(set(requires) - required):
            yield f"{surplus} is selected, but nothing requires it"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check one lock as the command line says."""
    parser = argparse.ArgumentParser(description="Check a lock against recorded indexes.")
    parser.add_argument("lock", type=Path)
    parser.add_argument("--row", action="append", type=parse_row, required=True, dest="rows")
    parser.add_argument("--snapshot", type=Path, required=True)
    parser.add_argument(
        "--project", type=Path, help="take the requirements from its pyproject.toml"
    )
    parser.add_argument("--requirement", action="append", dest="requirements")
    parser.add_argument("--extra", action="append", default=[], dest="extras")
    parser.add_argument("--all-rows", action="store_true", help="the lock has no other rows")
    options = parser.parse_args(arguments)
    requirements: list[str] | None = options.requirements
    if options.project:
        requirements = [
            *(requirements or ()),
            *project_requirements(options.project, options.extras),
        ]
    expected = Expected(
        rows=options.rows,
        requirements=requirements,
        extras=options.extras,
        all_rows=options.all_rows,
    )
    faults = check(options.lock, Snapshot(options.snapshot), expected)
    for fault in faults:
        print(fault)  # noqa: T201
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
