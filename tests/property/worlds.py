"""Random small worlds: packages on several indexes, and a project that locks some of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from lockforge.lockfile.previous import preferences
from lockforge.standards.pylock import parse_pylock, render_pylock
from tests.unit.fakes import (
    PYPI,
    FakeRepository,
    make_matrix,
    make_project,
    merged,
    required,
    solve_each,
    torch_index,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.model.lock import Lock
    from lockforge.model.project import Project, ProjectRequirement
    from lockforge.model.resolution import Failure, Resolution

ROWS = [
    "linux-cu130",
    "linux-rocm7.2",
    "linux-cpu",
    "linux-aarch64-cpu",
    "win-cu130",
    "win-cpu",
    "mac-cpu",
]
NAMES = ["alpha", "beta", "gamma", "delta"]
VERSIONS = ["1.5", "2.0", "3.0a1"]
SPECIFIERS = ["", "", ">=1.5", "<2", "!=1.5", "==1.0"]
MARKERS = [
    "",
    "sys_platform == 'linux'",
    "sys_platform != 'win32'",
    "platform_machine == 'arm64'",
    "python_version < '3.12'",
    "python_full_version < '3.11.9'",
    "python_full_version < '3.12.9'",
    "python_full_version >= '3.11.2' and sys_platform == 'linux'",
]
LIMITS = [None, None, None, None, ">=3.8", "<3.12", ">=3.12.4", ">=3.8,!=3.11.0"]
_NATIVE = [
    [f"cp3{minor}-cp3{minor}-{platform}" for minor in (11, 12)]
    for platform in (
        "manylinux_2_28_x86_64",
        "manylinux_2_28_aarch64",
        "win_amd64",
        "macosx_11_0_arm64",
    )
]
LINUX, ARM, WIN, MAC = _NATIVE
TAGS = [
    ["py3-none-any"],
    LINUX,
    MAC,
    [*LINUX, *WIN],
    [*LINUX, *ARM, *MAC],
    [*LINUX, *WIN, *MAC],
    [LINUX[0], WIN[1]],
    [LINUX[1], MAC[1]],
    [LINUX[0], "py3-none-any"],
    [*LINUX, "py3-none-any"],
    [*WIN, MAC[0], "py3-none-any"],
]
"""The tags of the wheels of one release."""


def _texts(names: Sequence[str], markers: Sequence[str]) -> list[str]:
    """Every requirement that the parts make, the simplest first."""
    return [
        f"{name}{extra}{specifier}" + (f"; {marker}" if marker else "")
        for marker, specifier, extra, name in itertools.product(
            markers, SPECIFIERS, ["", "", "[more]"], names
        )
    ]


_torch = [f"torch; {marker}" if marker else "torch" for marker in MARKERS] * 8
_required = st.sampled_from(_texts(NAMES, [*MARKERS, "extra == 'more'"]) + _torch)
_requires = st.lists(_required, max_size=3).map(tuple)
_asked = st.tuples(
    st.sampled_from(_texts(NAMES, [""] * len(MARKERS) + MARKERS) + _torch),
    st.sampled_from(["", "", "'train' in extras"]),
)
_versions = st.lists(st.sampled_from(VERSIONS), max_size=2, unique=True)
_tags = st.sampled_from(TAGS)
_limits = st.sampled_from(LIMITS)
_torches = st.sampled_from([["2.8.0"], ["2.9.0"], ["2.8.0", "2.9.0"]])
_rows = st.lists(st.sampled_from(ROWS), min_size=2, max_size=4, unique=True)
_pythons = st.sampled_from([("3.11",), ("3.12",), ("3.11", "3.12"), ("3.12", "3.11")])


@dataclass(frozen=True, kw_only=True)
class Release:
    """One version on one index: its files, and what all of them require."""

    index: str
    """``pypi``, or the label of one of PyTorch's indexes."""
    filenames: tuple[str, ...]
    requires: tuple[str, ...]
    requires_python: str | None = None
    """What the index says, and the metadata too."""


@dataclass(frozen=True, kw_only=True)
class World:
    """What the indexes have and what the project asks for."""

    releases: tuple[Release, ...]
    requirements: tuple[tuple[str, str], ...]
    """Each with its condition, the marker of an extra of the project."""
    rows: tuple[str, ...]
    pythons: tuple[str, ...]

    def repository(self) -> FakeRepository:
        repository = FakeRepository()
        for release in self.releases:
            index = PYPI if release.index == "pypi" else torch_index(release.index)
            for filename in release.filenames:
                repository.add(
                    filename,
                    *release.requires,
                    index=index,
                    requires_python=release.requires_python,
                )
        return repository

    def project(self) -> Project:
        return project(self.rows, self.pythons, [required(*one) for one in self.requirements])


def project(
    rows: Sequence[str], pythons: Sequence[str], requirements: Sequence[ProjectRequirement]
) -> Project:
    return make_project(*requirements, matrix=make_matrix(*rows, pythons=pythons), extras=["train"])


@st.composite
def worlds(draw: st.DrawFn) -> World:
    rows = draw(_rows)
    releases = []
    for name in NAMES:
        # Every package has a version for everyone, so that most worlds have a solution.
        first = (f"{name}-1.0-py3-none-any.whl",)
        releases.append(Release(index="pypi", filenames=first, requires=()))
        releases += [
            Release(
                index="pypi",
                filenames=tuple(f"{name}-{version}-{tags}.whl" for tags in draw(_tags)),
                requires=draw(_requires),
                requires_python=draw(_limits),
            )
            for version in draw(_versions)
        ]
    for label in sorted({row.rpartition("-")[2] for row in rows}):
        for public in draw(_torches):
            requires = draw(_requires)
            filenames = [f"torch-{public}+{label}-py3-none-any.whl"]
            if label == "cpu":
                filenames.append(f"torch-{public}-py3-none-macosx_11_0_arm64.whl")
            releases += [
                Release(index=label, filenames=(filename,), requires=requires)
                for filename in filenames
            ]
    return World(
        releases=tuple(releases),
        requirements=tuple(draw(st.lists(_asked, min_size=2, max_size=5, unique=True))),
        rows=tuple(rows),
        pythons=draw(_pythons),
    )


def lock_of(
    wanted: Project, repository: FakeRepository, previous: str | None = None
) -> tuple[str, Lock, list[Resolution]] | list[Failure]:
    """Lock a project, keeping what *previous* has; the failures where a row has no solution."""
    preferred = {}
    for target in wanted.matrix.targets:
        preferred[target] = (
            preferences(parse_pylock(previous, where="the lock")[0], target, moving=())
            if previous
            else {}
        )
    resolutions, failures = solve_each(wanted, repository, preferred)
    if failures:
        return failures
    lock = merged(wanted, resolutions)
    return render_pylock(lock), lock, resolutions


def requirements_of(world: World, filename: str, index: str) -> tuple[str, ...]:
    """What the metadata of one file says, as it was put on its index."""
    (found,) = {
        release.requires
        for release in world.releases
        if filename in release.filenames and release.index == index
    }
    return found
