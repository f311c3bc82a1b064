"""The machines of a Target, and what an installer takes on each, by `packaging` alone."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from hypothesis import assume, reject, settings
from packaging.markers import Marker
from packaging.pylock import PackageArchive, PackageSdist, PackageWheel, Pylock

from lockforge.errors import NoSolutionError
from lockforge.standards.environment import host_environment
from lockforge.standards.tags import target_tags
from tests.property.indexes import digest_of
from tests.property.oracle import Host, subsets
from tests.property.releases import PATCHES
from tests.property.worlds import lock_of, outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from random import Random

    from lockforge.commands.lock import LockOutcome
    from lockforge.model.matrix import Target
    from lockforge.model.resolution import Outcome, Pin, Resolution
    from tests.property.indexes import Release
    from tests.property.worlds import World

_ABOVE = {"linux": (2, 39), "macos": (15, 0), "windows": None}
"""What a host may have that is newer than any floor of these worlds."""

laws = settings(max_examples=25, deadline=None, derandomize=True)
more_laws = settings(laws, max_examples=40)
"""For laws on which many settings of a project bear."""


def locked(world: World, previous: str | None = None, upgrade: Sequence[str] = ()) -> LockOutcome:
    """The lock of a world that has one."""
    try:
        return lock_of(world, previous, upgrade)
    except NoSolutionError:
        return reject()


def solved(world: World, previous: str | None = None) -> Outcome:
    """The Resolutions of a world that has them."""
    outcome = outcome_of(world, previous)
    assume(not outcome.failures)
    return outcome


def read(text: str) -> Pylock:
    """The lock as another tool reads it."""
    return Pylock.from_dict(tomllib.loads(text))


def patches_of(target: Target) -> list[int]:
    """Patch releases of a Target's Python, one at least on each side of every boundary."""
    stated = target.python[2:]
    lowest = stated[0] if stated else 0
    return sorted({patch for patch in PATCHES if patch >= lowest} | {lowest})


def hosts_of(world: World, target: Target, random: Random, most: int = 4) -> Iterator[Host]:
    """Some of the hosts that a Target is for, whatever is asked for on them.

    Half of them are above the floor: a row is one exact set of files there too.
    """
    limits = world.loaded.project.requires_python
    platform = target.row.platform
    above = replace(platform, floor=_ABOVE[platform.system])
    choices = list(product(patches_of(target), subsets(world)))
    for patch, (extras, groups) in random.sample(choices, min(most, len(choices))):
        environment = host_environment(target.row.platform, target.python, patch)
        if limits is None or limits.contains(environment["python_full_version"]):
            yield Host(
                row=target.row.name,
                platform=random.choice([platform, above]),
                environment=environment,
                extras=extras,
                groups=groups,
            )


def all_of(world: World, target: Target) -> list[Host]:
    """Hosts at every patch release that matters, with all that the project has to ask for."""
    extras, groups = list(subsets(world))[-1]
    return [
        Host(
            row=target.row.name,
            platform=target.row.platform,
            environment=host_environment(target.row.platform, target.python, patch),
            extras=extras,
            groups=groups,
        )
        for patch in patches_of(target)
    ]


def installed(resolution: Resolution, host: Host) -> list[Pin]:
    """The pins of a Resolution that one host is to get."""
    values: dict[str, str | frozenset[str]] = {
        **host.environment,
        "extras": host.extras,
        "dependency_groups": host.groups,
    }
    return [
        pin
        for pin in resolution.pins
        if not pin.condition or Marker(pin.condition).evaluate(values, "lock_file")
    ]


def selected(world: World, pylock: Pylock, target: Target, host: Host) -> dict[str, str]:
    """What an installer takes on a host: the sha256 of its file by name.

    Raises PylockSelectError where it must refuse.
    """
    platforms = [row.platform.name for row in world.loaded.project.matrix.rows]
    shared = platforms.count(target.row.platform.name) > 1
    own = {target.row.accelerator.label.replace(".", "-")} if shared else set()
    found: dict[str, str] = {}
    for package, source in pylock.select(
        environment=host.environment,  # type: ignore[arg-type]
        tags=target_tags(host.platform, target.python),
        extras=host.extras | own,
        dependency_groups=host.groups,
    ):
        assert isinstance(source, PackageWheel | PackageSdist | PackageArchive)
        assert package.name not in found
        found[package.name] = source.hashes["sha256"]
        assert (package.name, package.version) == world.by_digest[found[package.name]].project
    return found


def file_of(pin: Pin) -> str:
    """The sha256 of the file of a pin."""
    return digest_of(urldefrag(pin.index.url)[0], pin.file.filename)


def chosen(world: World, pins: Iterable[Pin]) -> dict[str, Release]:
    """The releases of pins, by name."""
    return {pin.name: world.by_digest[file_of(pin)] for pin in pins}


def suits(found: Mapping[str, Release], host: Host) -> bool:
    """Whether each release admits the Python of the host."""
    return all(one.suits(host.environment["python_full_version"]) for one in found.values())
