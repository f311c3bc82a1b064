"""What a project means on one host, read independently of the product.

Nothing here is clever: requirements are followed one by one, over the files that a lock selects,
with markers evaluated by `packaging` for one whole environment.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.property.indexes import EXTENSIONS, Release

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from lockforge.model.platforms import Platform
    from tests.property.worlds import World

Found: TypeAlias = "Mapping[str, Release]"
"""What is installed: the release of each package by name."""


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


@dataclass(frozen=True, kw_only=True)
class Host:
    """One machine of a row, with what of the project is asked for on it."""

    row: str
    platform: Platform
    environment: Mapping[str, str]
    extras: frozenset[str]
    groups: frozenset[str]


def subsets(world: World) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Every choice among the extras and groups that the lock is to have; all of them last."""
    names = [("extra", name) for name in world.config.get("extras", ())]
    names += [("group", name) for name in world.config.get("groups", ())]
    for count in range(len(names) + 1):
        for chosen in combinations(names, count):
            yield (
                frozenset(name for kind, name in chosen if kind == "extra"),
                frozenset(name for kind, name in chosen if kind == "group"),
            )


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


def admits(requirement: Requirement, release: Release) -> bool:
    """Whether a release is what a requirement asks for; pre-releases are the policy's to judge."""
    if requirement.url is not None:
        return release.index == requirement.url
    return requirement.specifier.contains(release.version, prereleases=True)


def closure(world: World, host: Host, found: Found) -> tuple[list[Requirement], set[str]]:
    """The requirements that are not met by *found*, and the packages that are needed at all."""
    waiting = list(demanded(world, host, roots(world, host)))
    missed: list[Requirement] = []
    seen: set[Need] = set()
    while waiting:
        name, extras, requirement = need = waiting.pop()
        if need in seen:
            continue
        seen.add(need)
        if name not in found or not admits(requirement, found[name]):
            missed.append(requirement)
            continue
        waiting += demanded(world, host, found[name].requires, {"", *extras})
        waiting += demanded(world, host, found[name].untold)
    return missed, {name for name, _, _ in seen}


def broken_limits(world: World, host: Host, found: Found) -> list[str]:
    """What *found* breaks of that which limits packages without requiring them."""
    overridden = overrides_of(world, host.row)
    limits = [text for text in constraints_of(world, host.row) if holds(text, host.environment)]
    for release in found.values():
        limits += [text for text in release.limits if parsed(text).name not in overridden]
        # What a wheel is built for no override can change.
        limits += release.untold if release.index == EXTENSIONS else ()
    return [
        text
        for text in limits
        if (other := found.get(canonicalize_name(parsed(text).name)))
        and not admits(parsed(text), other)
    ]


def names_exactly(world: World, release: Release) -> bool:
    """Whether the project itself names the very version of a release somewhere."""
    project = world.pyproject["project"]
    lists: list[Any] = [project["dependencies"], world.config.get("constraints", ())]
    lists += [*project.get("optional-dependencies", {}).values(), world.config.get("overrides", ())]
    lists += world.pyproject.get("dependency-groups", {}).values()
    for settings in world.config.get("rows", {}).values():
        lists += [settings.get(key, ()) for key in ("dependencies", "constraints", "overrides")]
    return any(
        canonicalize_name(parsed(text).name) == release.name
        and str(parsed(text).specifier) == f"=={release.version}"
        for texts in lists
        for text in texts
        if isinstance(text, str)
    )
