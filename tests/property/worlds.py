"""Random small worlds: packages on several indexes, and a project that locks some of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from lockforge.catalog import load_catalog
from lockforge.commands.lock import LockOutcome, LockRequest, lock
from lockforge.lockfile.previous import preferences
from lockforge.project.load import Files, Loaded, load_project
from lockforge.project.options import Options
from lockforge.resolve.finder import Finder
from lockforge.resolve.matrix import solve_matrix
from lockforge.standards.pylock import parse_pylock
from tests.property.indexes import EXTENSIONS, FILES, Indexes, Release, digest_of
from tests.property.releases import (
    LIMITS,
    MARKERS,
    NAMES,
    TAGS,
    TORCHES,
    extensions,
    family,
    ordinary,
    texts,
)
from tests.unit.fakes import NoProgress
from tests.unit.project.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lockforge.model.resolution import Outcome

CATALOG = load_catalog()
_NOW = datetime(2026, 11, 1, tzinfo=UTC)
_DISK = Disk({})
ROWS = [
    "linux-cu130",
    "linux-rocm7.2",
    "linux-cpu",
    "linux-aarch64-cpu",
    "win-cu130",
    "win-cpu",
    "mac-cpu",
]
PYTHONS: list[dict[str, Any]] = [
    {"python": ["3.11"]},
    {"python": ["3.12"]},
    {"python": ["3.11", "3.12"]},
    {"python": ["3.12", "3.11"]},
    {"python": ["3.12.3"]},
    {"python": ["3.11.4", "3.12"]},
    {"python": ["3.11", "3.12.3"], "requires-python": ">=3.8"},
    {"python": ["3.12"], "requires-python": ">=3.11,!=3.12.2"},
    {"requires-python": ">=3.11,<3.13"},
    {"requires-python": ">=3.11,<3.13"},
    {"requires-python": ">=3.11.3,<3.13"},
]
_own = texts(NAMES, ["", "", "", "", "", "", "", "", *MARKERS])
_asked = st.one_of(
    st.sampled_from(_own),
    st.sampled_from(_own),
    st.sampled_from([*TORCHES, "torchaudio", "torchcodec", "gpuext"]),
    st.sampled_from(["torch", "torchaudio", "torchcodec", "gpuext"]),
)
_with_extras = st.sampled_from([f"{name}[{extra}]" for extra in ("more", "all") for name in NAMES])
_limit = st.sampled_from(
    [
        f"{name}{specifier}" + (f"; {marker}" if marker else "")
        for marker in ["", "", "", *MARKERS]
        for specifier in ["<2", "!=1.5", "==1.0", "!=3.0a1", "<=2.0", "!=2.0", ">=1.5"]
        for name in NAMES
    ]
    + ["torch<2.9", "torch==2.8.0", "torch>=2.8; sys_platform == 'linux'"] * 60
)
_override = st.sampled_from(
    [
        f"{name}{extra}{specifier}" + (f"; {marker}" if marker else "")
        for marker in ["", "", "", *MARKERS]
        for specifier in ["<2", "", "", ">=1.5", "==1.0"]
        for extra in ["", "[more]"]
        for name in NAMES
    ]
    + ["torch==2.8.0", "torch>=2.8; sys_platform == 'linux'"] * 60
)
_any_rows = st.lists(st.sampled_from(ROWS), min_size=1, max_size=4, unique=True)
_rows_of_one_platform = st.sampled_from(
    [
        ["linux-cu130", "linux-cpu"],
        ["linux-rocm7.2", "mac-cpu", "linux-cu130"],
        ["win-cpu", "linux-cpu", "win-cu130", "linux-cu130"],
    ]
)
_few = st.lists(_asked, max_size=2, unique=True)


@dataclass(frozen=True, kw_only=True)
class World:
    """What the indexes have and what the project asks for."""

    releases: tuple[Release, ...]
    pyproject: dict[str, Any]
    order: tuple[int, ...] = (0,)
    """In which the files stand on their pages."""

    @cached_property
    def by_digest(self) -> dict[str, Release]:
        """The release of every file there is, by its sha256."""
        return {
            digest_of(release.index, filename): release
            for release in self.releases
            for filename in release.filenames
        }

    @property
    def config(self) -> dict[str, Any]:
        found: dict[str, Any] = self.pyproject["tool"]["lockforge"]
        return found

    @cached_property
    def loaded(self) -> Loaded:
        files = Files(
            pyproject=self.pyproject,
            python_version=None,
            read=_DISK.read,
            paths=_DISK.paths,
            kind_of=_DISK.kind_of,
            sha256_of=_DISK.sha256_of,
            where="pyproject.toml",
        )
        return load_project(Options(), files, CATALOG, _NOW)

    def indexes(self) -> Indexes:
        return Indexes(self.releases, self.order)

    def with_config(self, **keys: Any) -> World:
        """Give the world with some keys of ``[tool.lockforge]`` replaced; none is empty."""
        config = {name: value for name, value in {**self.config, **keys}.items() if value}
        return replace(self, pyproject={**self.pyproject, "tool": {"lockforge": config}})


def world_from(given: dict[str, Any]) -> World:
    """Make the world that `dataclasses.asdict` made plain data of."""
    releases: list[dict[str, Any]] = [
        {key: tuple(value) if isinstance(value, list) else value for key, value in one.items()}
        for one in given["releases"]
    ]
    return World(
        releases=tuple(Release(**one) for one in releases),
        pyproject=given["pyproject"],
        order=tuple(given["order"]),
    )


def request_of(world: World, previous: str | None, upgrade: Sequence[str] = ()) -> LockRequest:
    return LockRequest(
        loaded=world.loaded,
        previous=previous,
        where="the lock",
        upgrade_packages=tuple(upgrade),
        local_path=lambda url: (url, True),
    )


def lock_of(world: World, previous: str | None = None, upgrade: Sequence[str] = ()) -> LockOutcome:
    """Lock a world through the command's own function, proof included."""
    return lock(request_of(world, previous, upgrade), world.indexes(), CATALOG, NoProgress())


def outcome_of(world: World, previous: str | None = None, moving: Sequence[str] = ()) -> Outcome:
    """Solve a world, keeping what *previous* has but for the names in *moving*."""
    project = world.loaded.project
    kept = parse_pylock(previous, where="the lock")[0] if previous else None
    preferred = {
        target: preferences(kept, target, moving=moving) if kept else {}
        for target in project.matrix.targets
    }
    finder = Finder(project, CATALOG, world.indexes(), preferred)
    return solve_matrix(project, finder, preferred, NoProgress())


def _names(texts: Sequence[str]) -> list[str]:
    return [re.split(r"[^a-z]", text)[0] for text in texts]


def _rows(draw: st.DrawFn, world: dict[str, Any]) -> dict[str, Any]:
    """Settings of some rows: floors, and what may differ from what is said of all."""
    config = world["tool"]["lockforge"]
    asked = _names(world["project"]["dependencies"])
    replaced = [text for text in config.get("overrides", ()) if text.split("=")[0] in NAMES]
    found: dict[str, Any] = {}
    for row in config["matrix"]:
        settings: dict[str, Any] = {}
        if row.startswith("linux-") and "aarch64" not in row:
            floor = draw(st.sampled_from([None, "2.34", "2.17", "2.34"]))
            settings |= {"glibc": floor} if floor else {}
        kind = draw(st.sampled_from(["", "dependencies", "exclude", "constraints", "overrides"]))
        if kind == "exclude":
            settings[kind] = [draw(st.sampled_from(asked))]
        elif replaced and (kind == "overrides" or draw(st.booleans())):
            kind = "overrides"
            # Said of all rows in one way, and of this one in another.
            settings[kind] = [f"{replaced[0].split('=')[0]}==1.0"]
        elif kind:
            strategy = {"dependencies": _asked, "constraints": _limit, "overrides": _override}
            settings[kind] = [draw(strategy[kind])]
        if settings:
            found[row] = settings
    return found


def _one_each(overrides: Sequence[str]) -> list[str]:
    # Two overrides of one package that may hold at once are a fault.
    return list({_names([text])[0]: text for text in overrides}.values())


@st.composite
def _projects(draw: st.DrawFn, asks: Sequence[str], sure: Collection[str]) -> dict[str, Any]:
    """The requirements of a project: its own, its extras' and its groups'."""
    asked = draw(st.lists(_asked, min_size=1, max_size=4, unique=True))
    if "extras" in sure:
        asked.append(draw(_with_extras))
    project: dict[str, Any] = {"name": "app", "dependencies": list(dict.fromkeys([*asks, *asked]))}
    config: dict[str, Any] = {}
    found: dict[str, Any] = {"project": project, "tool": {"lockforge": config}}
    if "extras" in sure or draw(st.booleans()):
        project["optional-dependencies"] = {"train": draw(_few), "serve": draw(_few)}
        if draw(st.booleans()):
            project["optional-dependencies"]["serve"].append("app[train]")
        config["extras"] = draw(st.sampled_from([["train"], ["serve"], ["serve", "train"]]))
    if "groups" in sure or draw(st.booleans()):
        dev: list[Any] = draw(_few)
        if draw(st.booleans()):
            dev.append({"include-group": "lint"})
        found["dependency-groups"] = {"dev": dev, "lint": draw(_few)}
        config["groups"] = draw(st.sampled_from([["dev"], ["lint"], ["lint", "dev"]]))
    return found


@st.composite
def worlds(
    draw: st.DrawFn,
    *,
    align: str | None = None,
    asks: Sequence[str] = (),
    sure: Collection[str] = (),
) -> World:
    """Draw a world whose project requires what it *asks* for, and more.

    Of what a world may have or not have, it has all in *sure*.
    """

    def has(feature: str) -> bool:
        return feature in sure or draw(st.booleans())

    pyproject = draw(_projects(asks, sure))
    project, config = pyproject["project"], pyproject["tool"]["lockforge"]
    rows = draw(_rows_of_one_platform if "floors" in sure else _any_rows)
    config["matrix"] = rows
    pythons = PYTHONS[3:] if "limits" in sure else PYTHONS
    for key, value in draw(st.sampled_from(pythons)).items():
        (config if key == "python" else project)[key] = value
    releases = draw(
        ordinary(
            TAGS[-4:] if "floors" in sure else TAGS, LIMITS[4:] if "limits" in sure else LIMITS
        )
    )
    releases += draw(family(sorted({row.rpartition("-")[2] for row in rows})))
    releases += draw(extensions())
    config["index"] = [{"name": "ext", "url": EXTENSIONS, "packages": ["gpuext"]}]
    if has("constraints"):
        config["constraints"] = draw(st.lists(_limit, min_size=1, max_size=2, unique=True))
    if has("overrides"):
        overrides = draw(st.lists(_override, min_size=1, max_size=2, unique=True))
        if "overrides" in sure:
            asked = [name for name in _names(project["dependencies"]) if name in NAMES] or NAMES
            overrides.append(f"{draw(st.sampled_from(asked))}[more]")
        config["overrides"] = _one_each(overrides)
    if "floors" in sure or has("rows"):
        config["rows"] = _rows(draw, pyproject)
    if has("policy"):
        config |= draw(_policy)
    if align:
        config["align"] = align
    if draw(st.sampled_from([False, False, False, True])):
        address = f"{FILES}delta-1.7-py3-none-any.whl"
        project["dependencies"].append(f"delta @ {address}")
        releases.append(Release(index=address, filenames=("delta-1.7-py3-none-any.whl",)))
    return World(releases=tuple(releases), pyproject=pyproject).with_config()


_policy = st.sampled_from(
    [
        *[{"align": "common"}] * 3,
        {"prerelease": "allow"},
        {"prerelease": "disallow"},
        {"resolution": "lowest"},
        {"resolution": "lowest-direct"},
        {"only-binary": [":all:"]},
        {"only-binary": ["alpha"]},
        *[{"no-binary": ["alpha", "beta"]}] * 2,
        {"no-binary": [":all:"], "only-binary": ["torch", "torchaudio", "torchcodec"]},
        {"exclude-newer": "2026-06-01"},
    ]
)
