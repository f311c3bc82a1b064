"""Random small worlds: packages on several indexes, and a project that locks some of them."""

from __future__ import annotations

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
VERSIONS = ["1.0", "1.5", "2.0", "3.0a1"]
PLATFORM_TAGS = [
    "manylinux_2_28_x86_64",
    "manylinux_2_28_aarch64",
    "win_amd64",
    "macosx_11_0_arm64",
]
SPECIFIERS = ["", "", ">=1.5", "<2", "!=1.5", "==1.0"]
LIMITS = [None, None, None, None, ">=3.8", "<3.12", ">=3.12.4", ">=3.8,!=3.11.0"]
MARKERS = [
    "",
    "",
    "sys_platform == 'linux'",
    "sys_platform != 'win32'",
    "platform_machine == 'arm64'",
    "python_version < '3.12'",
    "python_full_version < '3.11.9'",
    "python_full_version < '3.12.9'",
    "python_full_version >= '3.11.2' and sys_platform == 'linux'",
    "extra == 'more'",
]


@dataclass(frozen=True, kw_only=True)
class Release:
    """One version on one index: its files, and what all of them require."""

    index: str
    """``pypi``, or the label of one of PyTorch's indexes."""
    filenames: tuple[str, ...]
    requires: tuple[str, ...]
    requires_python: str | None = None


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
def _requirements(draw: st.DrawFn, of: str) -> tuple[str, ...]:
    found = []
    for name in draw(st.lists(st.sampled_from([*NAMES, "torch"]), max_size=3, unique=True)):
        if name == of:
            continue
        specifier = "" if name == "torch" else draw(st.sampled_from(SPECIFIERS))
        extra = draw(st.sampled_from(["", "", "", "[more]"])) if name != "torch" else ""
        marker = draw(st.sampled_from(MARKERS))
        found.append(f"{name}{extra}{specifier}" + (f"; {marker}" if marker else ""))
    return tuple(found)


@st.composite
def _release(draw: st.DrawFn, name: str, version: str, index: str) -> Release:
    if draw(st.booleans()):
        filenames = [f"{name}-{version}-py3-none-any.whl"]
    else:
        tags = draw(st.lists(st.sampled_from(PLATFORM_TAGS), min_size=1, max_size=4, unique=True))
        minors = draw(st.lists(st.sampled_from([11, 12]), min_size=1, max_size=2, unique=True))
        filenames = [
            f"{name}-{version}-cp3{minor}-cp3{minor}-{tag}.whl" for minor in minors for tag in tags
        ]
        if draw(st.booleans()):
            filenames.append(f"{name}-{version}-py3-none-any.whl")
    return Release(
        index=index,
        filenames=tuple(filenames),
        requires=draw(_requirements(of=name)),
        requires_python=draw(st.sampled_from(LIMITS)),
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    rows = draw(st.lists(st.sampled_from(ROWS), min_size=2, max_size=4, unique=True))
    pythons = draw(st.lists(st.sampled_from(["3.11", "3.12"]), min_size=1, max_size=2, unique=True))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique=True))
    releases = []
    for name in NAMES:
        # Every package has a version for everyone, so that most worlds have a solution.
        releases.append(
            Release(index="pypi", filenames=(f"{name}-1.0-py3-none-any.whl",), requires=())
        )
        newer = draw(st.lists(st.sampled_from(VERSIONS[1:]), max_size=2, unique=True))
        releases += [draw(_release(name, version, "pypi")) for version in newer]
    for label in sorted({row.rpartition("-")[2] for row in rows}):
        for public in draw(st.sampled_from([["2.8.0"], ["2.9.0"], ["2.8.0", "2.9.0"]])):
            requires = draw(_requirements(of="torch"))
            bare = f"torch-{public}-cp312-none-macosx_11_0_arm64.whl"
            wheels = [f"torch-{public}+{label}-py3-none-any.whl", bare]
            releases += [
                Release(index=label, filenames=(filename,), requires=requires)
                for filename in wheels[: 2 if label == "cpu" else 1]
            ]
    asked = [
        (
            name + draw(st.sampled_from(["", "", "[more]"])) + draw(st.sampled_from(SPECIFIERS)),
            draw(st.sampled_from(["", "", "'train' in extras"])),
        )
        for name in names
    ]
    if draw(st.booleans()):
        asked.append(("torch", ""))
    if draw(st.booleans()):
        marker = draw(st.sampled_from([one for one in MARKERS if one and "extra" not in one]))
        asked.append((f"{names[0]}; {marker}", ""))
    return World(
        releases=tuple(releases),
        requirements=tuple(asked),
        rows=tuple(rows),
        pythons=tuple(pythons),
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
