"""Which versions are chosen, and that none is missed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import assume, given
from packaging.utils import canonicalize_name, parse_wheel_filename

from lockforge.standards.tags import target_tags
from tests.property.hosts import all_of, laws, more_laws, solved
from tests.property.oracle import (
    admits,
    broken_limits,
    closure,
    constraints_of,
    holds,
    overrides_of,
    parsed,
    roots,
)
from tests.property.releases import NAMES
from tests.property.worlds import World, outcome_of, worlds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lockforge.model.matrix import Target
    from tests.property.indexes import Release
    from tests.property.oracle import Host

_ENOUGH = 2_000
"""Attempts after which a world is too large to try all there is."""


def _readable(world: World) -> World:
    """The world without sdists that stop a search for the user to decide."""
    return replace(world, releases=tuple(replace(one, readable=True) for one in world.releases))


def _wanted(world: World, release: Release, filename: str) -> bool:
    """Whether the project wants files of that format."""
    only, no = (world.config.get(key, ()) for key in ("only-binary", "no-binary"))
    ours, others = (no, only) if filename.endswith(".whl") else (only, no)
    return release.name not in ours and (":all:" not in ours or release.name in others)


def _best_file(world: World, release: Release, target: Target) -> str:
    """The wheel that an installer takes at the floor of a Target, else the sdist."""
    places = {
        tag: place for place, tag in enumerate(target_tags(target.row.platform, target.python))
    }
    ranked = [
        (min(places[tag] for tag in own), filename)
        for filename in release.filenames
        if filename.endswith(".whl") and _wanted(world, release, filename)
        if (own := parse_wheel_filename(filename)[3] & places.keys())
    ]
    return min(ranked)[1] if ranked else release.filenames[-1]


def _has_file(world: World, release: Release, target: Target, *, wheel: bool) -> bool:
    tags = set(target_tags(target.row.platform, target.python))
    return any(
        _wanted(world, release, filename)
        and (parse_wheel_filename(filename)[3] & tags if wheel else True)
        for filename in release.filenames
        if filename.endswith(".whl") == wheel
    )


def usable(world: World, target: Target) -> dict[str, list[Release]]:
    """The releases that every host of a Target could have, by name; fewer than there may be."""
    hosts = all_of(world, target)
    label = target.row.accelerator.label
    addresses = {
        canonicalize_name(parsed(text).name): parsed(text).url
        for text in world.pyproject["project"]["dependencies"]
        if parsed(text).url
        and canonicalize_name(parsed(text).name) not in overrides_of(world, target.row.name)
    }
    found: dict[str, list[Release]] = {}
    for one in world.releases:
        if (
            (one.index == addresses[one.name] if one.name in addresses else not one.is_direct)
            and one.accelerator in {"", label}
            and "mystery" not in str(one.version.local)
            and not one.yanked
            and not (world.config.get("prerelease") == "disallow" and one.version.is_prerelease)
            and all(one.suits(host.environment["python_full_version"]) for host in hosts)
            and any(_has_file(world, one, target, wheel=wheel) for wheel in (True, False))
        ):
            found.setdefault(one.name, []).append(one)
    return found


class _Search:
    """Tries all there is, one package after the other."""

    def __init__(self, world: World, target: Target) -> None:
        self._world = world
        self._hosts = all_of(world, target)
        self._usable = usable(world, target)
        self._tried = 0

    def solution(self, found: Mapping[str, Release]) -> Mapping[str, Release] | None:
        """Give a set of releases that is right on every host, *found* among them."""
        self._tried += 1
        assume(self._tried < _ENOUGH)
        needed: set[str] = set()
        for host in self._hosts:
            missed, names = closure(self._world, host, found)
            needed |= names
            if any(canonicalize_name(one.name) in found for one in missed):
                return None
            if broken_limits(self._world, host, found):
                return None
        if needed <= found.keys():
            return found
        name = min(needed - found.keys())
        for release in self._usable.get(name, ()):
            if whole := self.solution({**found, name: release}):
                return whole
        return None


@given(worlds() | worlds(sure=("overrides", "rows")))
@laws
def test_no_solution_is_missed(world: World) -> None:
    """Where a row is said to have no solution, none is found by trying all there is."""
    world = _readable(world)
    outcome = outcome_of(world)
    failures = [*outcome.failures, *outcome.left_out]
    assume(failures)
    for failure in failures:
        assert failure.gave_up is None
        assert _Search(world, failure.target).solution({}) is None


def _ranked(world: World, releases: Sequence[Release]) -> list[Release]:
    """Sort releases as the project's policy wants them, the best first."""
    lowest = world.config.get("resolution", "highest") != "highest"
    ranked = sorted(releases, key=lambda one: one.version, reverse=not lowest)
    if "prerelease" not in world.config:
        ranked.sort(key=lambda one: one.version.is_prerelease)
    return ranked


def _stated(world: World, hosts: Sequence[Host], name: str) -> Iterator[str]:
    """What the project says of a package, be it that it requires it or not."""
    for host in hosts:
        for text in (*roots(world, host), *constraints_of(world, host.row)):
            if canonicalize_name(parsed(text).name) == name and holds(text, host.environment):
                yield text


@given(worlds(sure=("policy",)) | worlds(sure=("floors",)))
@more_laws
def test_policy_decides(world: World) -> None:
    """A package that nothing but the project speaks of is the first that the policy admits."""
    releases = (
        replace(one, requires=(), requires_python=None) for one in _readable(world).releases
    )
    world = replace(world, releases=tuple(releases)).with_config(overrides=None, rows=None)
    for resolution in solved(world).resolutions:
        target = resolution.target
        hosts = all_of(world, target)
        found = usable(world, target)
        for name in NAMES:
            stated = [parsed(text) for text in _stated(world, hosts, name)]
            fitting = [
                one
                for one in _ranked(world, found.get(name, ()))
                if all(admits(requirement, one) for requirement in stated)
            ]
            if fitting and (pin := resolution.pin(name)):
                assert pin.version == fitting[0].version
                assert pin.file.filename == _best_file(world, fitting[0], target)
