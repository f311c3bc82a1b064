"""Indexes in memory and short ways to rows, Targets and Projects."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from lockforge.catalog import load_catalog
from lockforge.errors import MetadataError, MissingHashError, ProjectNotFoundError
from lockforge.merge.merge import merge
from lockforge.model.accelerator import Accelerator
from lockforge.model.index import Index, UserIndex
from lockforge.model.lock import Lock, LockedFile
from lockforge.model.matrix import Matrix, Row, Target
from lockforge.model.platforms import parse_platform
from lockforge.model.project import Policy, Project, ProjectRequirement, RowSettings
from lockforge.model.python import parse_minor
from lockforge.model.release import DistributionFile, Listing, Metadata
from lockforge.model.resolution import Failure, Preferred, Resolution
from lockforge.resolve.finder import Finder
from lockforge.resolve.limits import ROUNDS_ONLY, Limits
from lockforge.resolve.matrix import solve_matrix
from lockforge.standards.filenames import parse_sdist_name, parse_wheel_name
from lockforge.standards.pylock import render_pylock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from packaging.version import Version

    from lockforge.catalog import Catalog

PYPI = Index(name="pypi", url="https://pypi.org/simple/")


def torch_index(label: str) -> Index:
    return Index(
        name=label,
        url=f"https://download.pytorch.org/whl/{label}/",
        forbidden_means_missing=True,
    )


def digest_of(index: Index, filename: str) -> str:
    """The sha256 a file of a fake index has."""
    return hashlib.sha256(f"{index.url}{filename}".encode()).hexdigest()


def name_and_version(filename: str) -> tuple[NormalizedName, Version]:
    if wheel := parse_wheel_name(filename):
        return wheel.project, wheel.version
    found = parse_sdist_name(filename)
    assert found is not None, filename
    return found


class FakeRepository:
    """A Repository of files added one by one; implements `lockforge.ports.Repository`."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, NormalizedName], list[DistributionFile]] = {}
        self._metadata: dict[tuple[str, str], Metadata | MetadataError] = {}
        self._at_hand: set[tuple[str, str]] = set()
        self.asked: list[tuple[str, str]] = []
        """Index name and project or file name of every question, in order."""

    def add(
        self,
        filename: str,
        *requires: str,
        index: Index = PYPI,
        requires_python: str | None = None,
        metadata_requires_python: str | None = None,
        yanked: str | None = None,
        upload_time: str | None = None,
        hashed: bool = True,
        size: int | None = None,
        broken: str | None = None,
    ) -> DistributionFile:
        """Add one file; *broken* is what a reader of its metadata is told instead."""
        name, version = name_and_version(filename)
        file = DistributionFile(
            filename=filename,
            url=f"{index.url}files/{filename}",
            sha256=digest_of(index, filename) if hashed else None,
            requires_python=requires_python,
            yanked=yanked,
            metadata=True,
            size=size,
            upload_time=upload_time,
        )
        self._files.setdefault((index.url, name), []).append(file)
        self._metadata[index.url, filename] = (
            MetadataError(broken, where=filename)
            if broken
            else Metadata(
                version=version,
                requires_python=metadata_requires_python or requires_python,
                requires_dist=tuple(map(Requirement, requires)),
            )
        )
        return file

    def wheels(
        self, name: str, *versions: str, requires: Sequence[str] = (), index: Index = PYPI
    ) -> None:
        """Add a pure Python wheel of each version, all with the same requirements."""
        for version in versions:
            stem = f"{name.replace('-', '_')}-{version}"
            self.add(f"{stem}-py3-none-any.whl", *requires, index=index)

    def reordered(self, keys: Sequence[int]) -> FakeRepository:
        """Give the same indexes with the files of each page in another order."""
        other = FakeRepository()
        other._metadata = self._metadata
        for place, files in self._files.items():
            ranked = sorted(enumerate(files), key=lambda pair: (keys[pair[0] % len(keys)], pair[0]))
            other._files[place] = [file for _, file in ranked]
        return other

    def listing(self, index: Index, project: NormalizedName) -> Listing:
        self.asked.append((index.name, project))
        try:
            files = self._files[index.url, project]
        except KeyError:
            raise ProjectNotFoundError(f"no project {project}", where=index.url) from None
        return Listing(project=project, index_url=index.url, files=tuple(files))

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        self.asked.append((index.name, file.filename))
        found = self._metadata[index.url, file.filename]
        if isinstance(found, MetadataError):
            raise found
        return found

    def has_metadata(self, index: Index, file: DistributionFile) -> bool:
        return True

    def sha256(self, index: Index, file: DistributionFile) -> str:
        raise MissingHashError(f"no sha256 of {file.filename}", where=index.url)

    def prefetch(
        self,
        listings: Iterable[tuple[Index, NormalizedName]],
        metadata: Iterable[tuple[Index, DistributionFile]],
    ) -> bool:
        wanted = {(index.name, str(project)) for index, project in listings}
        wanted |= {(index.name, file.filename) for index, file in metadata}
        new = wanted - self._at_hand
        self._at_hand |= new
        return bool(new)


class NoProgress:
    """A Progress nobody looks at."""

    def download(self, filename: str, done: int, length: int | None) -> None:
        return

    def stage(self, text: str) -> None:
        return


def make_row(name: str, floor: tuple[int, int] | None = None) -> Row:
    """Give the row ``<platform>-<accelerator>``."""
    platform_name, _, label = name.rpartition("-")
    platform = parse_platform(platform_name)
    assert platform is not None, name
    if floor is not None:
        platform = replace(platform, floor=floor)
    return Row(name=name, platform=platform, accelerator=Accelerator(label))


def make_target(name: str, python: str = "3.12", floor: tuple[int, int] | None = None) -> Target:
    return Target(row=make_row(name, floor), python=parse_minor(python))


def make_matrix(*rows: str | Row, pythons: Sequence[str] = ("3.12",)) -> Matrix:
    return Matrix(
        targets=tuple(
            Target(row=make_row(row) if isinstance(row, str) else row, python=parse_minor(python))
            for row in rows
            for python in pythons
        )
    )


def required(text: str, condition: str = "") -> ProjectRequirement:
    return ProjectRequirement(requirement=Requirement(text), where="test", condition=condition)


def make_project(
    *requirements: str | ProjectRequirement,
    matrix: Matrix | None = None,
    rows: Mapping[str, RowSettings] | None = None,
    user_indexes: Sequence[UserIndex] = (),
    metadata: Mapping[tuple[NormalizedName, str], Metadata] | None = None,
    exclude_newer: str | None = None,
    requires_python: str | None = None,
    extras: Sequence[str] = (),
    groups: Sequence[str] = (),
    policy: Policy | None = None,
    constraints: Sequence[str] = (),
    overrides: Sequence[str] = (),
    pythons_derived: bool = False,
) -> Project:
    matrix = matrix or make_matrix("linux-cpu")
    return Project(
        requirements=tuple(required(one) if isinstance(one, str) else one for one in requirements),
        requires_python=SpecifierSet(requires_python) if requires_python else None,
        matrix=matrix,
        rows=rows or {},
        default_index=PYPI,
        torch_indexes={
            row.accelerator.label: torch_index(row.accelerator.label) for row in matrix.rows
        },
        user_indexes=tuple(user_indexes),
        metadata=metadata or {},
        policy=policy or Policy(exclude_newer=exclude_newer),
        constraints=tuple(map(required, constraints)),
        overrides=tuple(map(required, overrides)),
        pythons_derived=pythons_derived,
        extras=tuple(map(canonicalize_name, extras)),
        groups=tuple(map(canonicalize_name, groups)),
    )


Preferences: TypeAlias = "Mapping[str, Sequence[Preferred]]"
"""What each package should be again, by name."""


def solve(
    project: Project,
    repository: FakeRepository,
    *,
    preferred: Preferences | None = None,
    catalog: Catalog | None = None,
    limits: Limits = ROUNDS_ONLY,
) -> tuple[list[Resolution], list[Failure]]:
    """Solve every Target of *project*, each with the same preferences."""
    wanted = {target: preferred or {} for target in project.matrix.targets}
    return solve_each(project, repository, wanted, catalog=catalog, limits=limits)


def solve_each(
    project: Project,
    repository: FakeRepository,
    preferred: Mapping[Target, Mapping[str, Sequence[Preferred]]],
    *,
    catalog: Catalog | None = None,
    limits: Limits = ROUNDS_ONLY,
) -> tuple[list[Resolution], list[Failure]]:
    """Solve every Target of *project*, each with preferences of its own."""
    finder = Finder(project, catalog or load_catalog(), repository, preferred)
    outcome = solve_matrix(project, finder, preferred, NoProgress(), limits)
    return list(outcome.resolutions), list(outcome.failures)


def solved(
    project: Project,
    repository: FakeRepository,
    *,
    preferred: Preferences | None = None,
    catalog: Catalog | None = None,
) -> list[Resolution]:
    """Solve every Target of *project*, where all of them must have a solution."""
    resolutions, failures = solve(project, repository, preferred=preferred, catalog=catalog)
    assert failures == []
    return resolutions


def versions(resolution: Resolution) -> dict[str, str]:
    return {pin.name: str(pin.version) for pin in resolution.pins}


def locate(file: DistributionFile) -> LockedFile:
    assert file.sha256 is not None
    return LockedFile(name=file.filename, sha256=file.sha256, url=file.url, size=file.size)


def merged(project: Project, resolutions: Sequence[Resolution]) -> Lock:
    """Merge Resolutions of *project* into a Lock, as ``lockforge lock`` does."""
    return merge(
        project.matrix,
        resolutions,
        asked=project.matrix,
        catalog=load_catalog(),
        locate=locate,
        requires_python=project.requires_python,
        extras=project.extras,
        groups=project.groups,
        requirements=[str(one.requirement) for one in project.requirements],
        settings=[],
        torch_indexes={label: index.url for label, index in project.torch_indexes.items()},
    )


def lock_text(project: Project, repository: FakeRepository) -> str:
    """Solve and merge *project*, without the proof."""
    return render_pylock(merged(project, solved(project, repository)))
