"""Random small worlds: packages on several indexes, and a project that locks some of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
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
from tests.property.indexes import EXTENSIONS, FILES, Indexes, Release
from tests.property.releases import (
    MARKERS,
    NAMES,
    TORCHES,
    extensions,
    family,
    ordinary,
    texts,
)
from tests.unit.fakes import NoProgress
from tests.unit.project.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    {"requires-python": ">=3.11.3,<3.13"},
]
_own = texts(NAMES, ["", "", "", "", "", "", "", "", *MARKERS])
_asked = st.sampled_from([*_own, *TORCHES, *TORCHES, *["torchaudio", "torchcodec", "gpuext"] * 40])
_limit = st.sampled_from(
    [
        f"{name}{specifier}" + (f"; {marker}" if marker else "")
        for marker in ["", "", "", *MARKERS]
        for specifier in ["<2", ">=1.5", "!=1.5", "==1.0", "<=2.0", "==1.5"]
        for name in NAMES
    ]
    + ["torch<2.9", "torch==2.8.0", "torch>=2.8; sys_platform == 'linux'"] * 8
)
_override = st.sampled_from(
    [
        f"{name}{extra}{specifier}" + (f"; {marker}" if marker else "")
        for marker in ["", "", "", *MARKERS]
        for specifier in ["<2", "==1.0", "", "==2.0"]
        for extra in ["", "", "[more]"]
        for name in NAMES
    ]
    + ["torch==2.8.0", "torch>=2.8; sys_platform == 'linux'"] * 8
)
_few = st.lists(_asked, max_size=2, unique=True)


@dataclass(frozen=True, kw_only=True)
class World:
    """What the indexes have and what the project asks for."""

    releases: tuple[Release, ...]
    pyproject: dict[str, Any]
    order: tuple[int, ...] = field(default=(0,))
    """In which the files stand on their pages."""

    @property
    def config(self) -> dict[str, Any]:
        found: dict[str, Any] = self.pyproject["tool"]["lockforge"]
        return found

    def loaded(self) -> Loaded:
        files = Files(
            pyproject=self.pyproject,
            python_version=None,
            read=_DISK.read,
            paths=_DISK.paths,
            kind_of=_DISK.kind_of,
            where="pyproject.toml",
        )
        return load_project(Options(), files, CATALOG, _NOW)

    def indexes(self) -> Indexes:
        return Indexes(self.releases, self.order)

    def with_config(self, **keys: Any) -> World:
        """Give the world with some keys of ``[tool.lockforge]`` replaced."""
        config = {name: value for name, value in {**self.config, **keys}.items() if value}
        return replace(self, pyproject={**self.pyproject, "tool": {"lockforge": config}})


def lock_of(world: World, previous: str | None = None, upgrade: Sequence[str] = ()) -> LockOutcome:
    """Lock a world through the command's own function, proof included."""
    request = LockRequest(
        loaded=world.loaded(),
        previous=previous,
        where="the lock",
        upgrade_packages=tuple(upgrade),
        local_path=lambda url: (url, True),
    )
    return lock(request, world.indexes(), CATALOG, NoProgress())


def outcome_of(world: World, previous: str | None = None) -> Outcome:
    """Solve a world, keeping what *previous* has."""
    project = world.loaded().project
    kept = parse_pylock(previous, where="the lock")[0] if previous else None
    preferred = {
        target: preferences(kept, target, moving=()) if kept else {}
        for target in project.matrix.targets
    }
    finder = Finder(project, CATALOG, world.indexes(), preferred)
    return solve_matrix(project, finder, preferred, NoProgress())


def _rows(draw: st.DrawFn, rows: Sequence[str]) -> dict[str, Any]:
    """Settings of some rows."""
    found: dict[str, Any] = {}
    for row in rows:
        settings: dict[str, Any] = {}
        if draw(st.sampled_from([False, False, True])):
            kind = draw(
                st.sampled_from(["dependencies", "exclude", "constraints", "overrides", "floor"])
            )
            if kind == "floor":
                if row.startswith("linux-") and "aarch64" not in row:
                    settings["glibc"] = draw(st.sampled_from(["2.17", "2.34"]))
            elif kind == "exclude":
                settings[kind] = [draw(st.sampled_from([*NAMES, "torch", "gpuext"]))]
            else:
                strategy = {"dependencies": _asked, "constraints": _limit, "overrides": _override}
                settings[kind] = [draw(strategy[kind])]
        if settings:
            found[row] = settings
    return found


def _one_each(overrides: Sequence[str]) -> list[str]:
    # Two overrides of one package that may hold at once are a fault.
    return list({text[:4]: text for text in overrides}.values())


@st.composite
def worlds(draw: st.DrawFn) -> World:
    rows = draw(st.lists(st.sampled_from(ROWS), min_size=1, max_size=4, unique=True))
    config: dict[str, Any] = {"matrix": rows}
    project: dict[str, Any] = {"name": "app"}
    pyproject: dict[str, Any] = {"project": project, "tool": {"lockforge": config}}
    python = draw(st.sampled_from(PYTHONS))
    config |= {key: value for key, value in python.items() if key == "python"}
    project |= {key: value for key, value in python.items() if key != "python"}
    project["dependencies"] = draw(st.lists(_asked, min_size=1, max_size=4, unique=True))
    releases = draw(ordinary())
    releases += draw(family(sorted({row.rpartition("-")[2] for row in rows})))
    releases += draw(extensions())
    config["index"] = [{"name": "ext", "url": EXTENSIONS, "packages": ["gpuext"]}]
    if draw(st.booleans()):
        project["optional-dependencies"] = {"train": draw(_few), "serve": draw(_few)}
        if draw(st.booleans()):
            project["optional-dependencies"]["serve"].append("app[train]")
        config["extras"] = draw(st.sampled_from([["train"], ["serve"], ["serve", "train"]]))
    if draw(st.booleans()):
        lint: list[Any] = draw(_few)
        dev: list[Any] = draw(_few)
        if draw(st.booleans()):
            dev.append({"include-group": "lint"})
        pyproject["dependency-groups"] = {"dev": dev, "lint": lint}
        config["groups"] = draw(st.sampled_from([["dev"], ["lint"], ["lint", "dev"]]))
    if draw(st.booleans()):
        config["constraints"] = draw(st.lists(_limit, max_size=2, unique=True))
    if draw(st.booleans()):
        config["overrides"] = _one_each(draw(st.lists(_override, max_size=2, unique=True)))
    if draw(st.booleans()):
        config["rows"] = _rows(draw, rows)
    if draw(st.booleans()):
        config |= draw(_policy)
    if draw(st.sampled_from([False, False, False, True])):
        address = f"{FILES}delta-1.7-py3-none-any.whl"
        project["dependencies"].append(f"delta @ {address}")
        releases.append(
            Release(index=address, filenames=("delta-1.7-py3-none-any.whl",), requires=())
        )
    return World(releases=tuple(releases), pyproject=pyproject)


_policy = st.sampled_from(
    [
        {"align": "common"},
        {"align": "common"},
        {"align": "common"},
        {"prerelease": "allow"},
        {"prerelease": "disallow"},
        {"resolution": "lowest"},
        {"resolution": "lowest-direct"},
        {"only-binary": [":all:"]},
        {"only-binary": ["alpha"]},
        {"no-binary": ["alpha", "beta"]},
        {"no-binary": [":all:"], "only-binary": ["torch", "torchaudio", "torchcodec"]},
    ]
)
