"""What a project means on one host, read independently of the product.

Nothing here is clever: requirements are followed one by one, over the files that a lock selects,
with markers evaluated by `packaging` for one whole environment.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.property.indexes import Release, digest_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from tests.property.worlds import World

Found = "Mapping[str, tuple[Version, Release]]"


@functools.lru_cache(maxsize=65536)
def parsed(text: str) -> Requirement:
    return Requirement(text)


@functools.lru_cache(maxsize=65536)
def _holds(marker: str, environment: frozenset[tuple[str, str]], extra: str) -> bool:
    return Marker(marker).evaluate({**dict(environment), "extra": extra})


def holds(text: str, environment: Mapping[str, str], extra: str = "") -> bool:
    """Whether the marker of a requirement holds on a host."""
    marker = parsed(text).marker
    return marker is None or _holds(str(marker), frozenset(environment.items()), extra)


def by_digest(world: World) -> dict[str, tuple[Release, str]]:
    """The release and name of every file there is, by its sha256."""
    return {
        digest_of(release.index, filename): (release, filename)
        for release in world.releases
        for filename in release.filenames
    }


@dataclass(frozen=True, kw_only=True)
class Host:
    """One machine of a row, with what of the project is asked for on it."""

    row: str
    environment: Mapping[str, str]
    extras: frozenset[str]
    groups: frozenset[str]


def row_settings(world: World, row: str) -> dict[str, Any]:
    found: dict[str, Any] = world.config.get("rows", {}).get(row, {})
    return found


def overrides_of(world: World, row: str) -> dict[str, list[str]]:
    """The overrides of a row by name; what the row says of a name wins."""
    found: dict[str, list[str]] = {}
    for texts in (world.config.get("overrides", ()), row_settings(world, row).get("overrides", ())):
        own: dict[str, list[str]] = {}
        for text in texts:
            own.setdefault(canonicalize_name(parsed(text).name), []).append(text)
        found |= own
    return found


def constraints_of(world: World, row: str) -> list[str]:
    return [
        *world.config.get("constraints", ()),
        *row_settings(world, row).get("constraints", ()),
    ]


def roots(world: World, host: Host) -> Iterator[str]:
    """What the project itself requires there."""
    project = world.pyproject["project"]
    optional = project.get("optional-dependencies", {})
    tables = world.pyproject.get("dependency-groups", {})
    waiting: list[Any] = [*project["dependencies"]]
    for extra in host.extras:
        waiting += optional[extra]
    for group in host.groups:
        waiting += tables[group]
    waiting += row_settings(world, host.row).get("dependencies", ())
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += tables[one["include-group"]]
        elif parsed(one).name == project["name"]:
            for extra in parsed(one).extras:
                waiting += optional[extra]
        else:
            yield one


Need = tuple[str, frozenset[str], Requirement]
"""A package, the extras asked of it, and the requirement that says its version."""


def demanded(
    world: World, host: Host, texts: Iterable[str], extras: Collection[str] = ("",)
) -> Iterator[Need]:
    """What requirements come to on a host, with its exclusions and overrides."""
    overrides = overrides_of(world, host.row)
    excluded = row_settings(world, host.row).get("exclude", ())
    for text in texts:
        requirement = parsed(text)
        name = canonicalize_name(requirement.name)
        if name in excluded or not any(holds(text, host.environment, one) for one in extras):
            continue
        if name not in overrides:
            yield name, frozenset(requirement.extras), requirement
        for override in overrides.get(name, ()):
            if holds(override, host.environment):
                instead = parsed(override)
                yield name, frozenset(requirement.extras | instead.extras), instead


def admits(requirement: Requirement, version: Version, release: Release) -> bool:
    if requirement.url is not None:
        return release.index == requirement.url.partition("#")[0]
    return requirement.specifier.contains(version, prereleases=True)


def closure(
    world: World, host: Host, found: Mapping[str, tuple[Version, Release]]
) -> tuple[list[str], set[str]]:
    """The requirements that are not met by *found*, and the packages that are needed at all."""
    waiting = list(demanded(world, host, roots(world, host)))
    missed: list[str] = []
    seen: set[tuple[str, frozenset[str], str]] = set()
    while waiting:
        name, extras, requirement = waiting.pop()
        if (name, extras, str(requirement)) in seen:
            continue
        seen.add((name, extras, str(requirement)))
        if name not in found or not admits(requirement, *found[name]):
            missed.append(str(requirement))
            continue
        release = found[name][1]
        waiting += demanded(world, host, release.requires, ["", *extras])
        waiting += demanded(world, host, release.untold)
    return missed, {name for name, _, _ in seen}
