"""Laws of a lock, over random small worlds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.pylock import PackageWheel, Pylock
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lockforge.catalog import load_catalog
from lockforge.lockfile.freshness import stale_reasons
from lockforge.merge.verify import verify
from lockforge.report.matrix import matrix_report
from lockforge.standards.environment import host_environment
from lockforge.standards.pylock import locked_rows, parse_pylock
from lockforge.standards.selection import select
from lockforge.standards.tags import target_tags
from tests.property.worlds import World, lock_of, project, requirements_of, worlds
from tests.unit.fakes import required

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from random import Random

    from lockforge.model.lock import Lock
    from lockforge.model.matrix import Target
    from lockforge.model.resolution import Resolution

PATCHES = (0, 5, 12)
"""Before, between and after the patch releases that limits and markers of the worlds name."""

laws = settings(max_examples=30, deadline=None, derandomize=True)


def locked(world: World) -> tuple[str, Lock, list[Resolution]]:
    """The lock of a world that has one."""
    made = lock_of(world.project(), world.repository())
    assume(isinstance(made, tuple))
    assert isinstance(made, tuple)
    return made


def hosts(lock: Lock, resolution: Resolution) -> Iterator[tuple[dict[str, str], frozenset[str]]]:
    """Environments and extras of the hosts of a Target that all its packages admit."""
    target = resolution.target
    (row,) = [row for row in lock.rows if row.name == target.row.name]
    own = frozenset({row.extra} if row.extra else ())
    limits = [SpecifierSet(pin.requires_python or "") for pin in resolution.pins]
    for patch in PATCHES:
        environment = host_environment(target.row.platform, target.python, patch)
        if all(limit.contains(environment["python_full_version"]) for limit in limits):
            yield environment, own
            yield environment, own | {"train"}


def selected(
    pylock: Pylock, target: Target, environment: Mapping[str, str], extras: frozenset[str]
) -> dict[str, tuple[str, str, str]]:
    """What an installer takes, by `packaging` alone: version, file and hash by name."""
    found = {}
    for package, source in pylock.select(
        environment=environment,  # type: ignore[arg-type]
        tags=target_tags(target.row.platform, target.python),
        extras=extras,
        dependency_groups=(),
    ):
        assert isinstance(source, PackageWheel)
        found[str(package.name)] = (
            str(package.version),
            source.filename,
            source.hashes["sha256"],
        )
    return found


def resolved(
    resolution: Resolution, environment: Mapping[str, str], extras: frozenset[str]
) -> dict[str, tuple[str, str, str]]:
    """The pins of a Resolution that are installed on one host."""
    values: dict[str, str | frozenset[str]] = {
        **environment,
        "extras": extras,
        "dependency_groups": frozenset(),
    }
    return {
        pin.name: (str(pin.version), pin.file.filename, pin.file.sha256 or "")
        for pin in resolution.pins
        if not pin.condition or Marker(pin.condition).evaluate(values, "lock_file")
    }


@given(worlds())
@laws
def test_selection_is_the_resolution(world: World) -> None:
    """For every host of every Target the lock selects exactly the Target's Resolution."""
    text, lock, resolutions = locked(world)
    pylock, _ = parse_pylock(text, where="the lock")
    for resolution in resolutions:
        for environment, extras in hosts(lock, resolution):
            found = selected(pylock, resolution.target, environment, extras)
            assert found == resolved(resolution, environment, extras)


@given(worlds())
@laws
def test_own_selection_agrees(world: World) -> None:
    """Our own reader takes the same, and misses no dependency that is rightly absent."""
    text, lock, resolutions = locked(world)
    pylock, _ = parse_pylock(text, where="the lock")
    for resolution in resolutions:
        target = resolution.target
        for environment, extras in hosts(lock, resolution):
            patch = int(environment["python_full_version"].rpartition(".")[2])
            found = select(pylock, target.row.platform, target.python, extras=extras, patch=patch)
            expected = resolved(resolution, environment, extras)
            assert {name: str(one.version) for name, (one, _) in found.items()} == {
                name: version for name, (version, _, _) in expected.items()
            }


def unmet(
    world: World,
    resolution: Resolution,
    environment: Mapping[str, str],
    extras: frozenset[str],
    found: Mapping[str, tuple[str, str, str]],
) -> tuple[list[str], set[str]]:
    """The requirements that hold on one host and are not met; and the packages that are needed."""
    indexes = {pin.name: pin.index.name for pin in resolution.pins}
    waiting = [
        (text, "") for text, condition in world.requirements if not condition or "train" in extras
    ]
    missed, seen = [], set()
    while waiting:
        text, extra = waiting.pop()
        requirement = Requirement(text)
        marker = requirement.marker
        if (text, extra) in seen or (
            marker and not marker.evaluate({**environment, "extra": extra})
        ):
            continue
        seen.add((text, extra))
        name = canonicalize_name(requirement.name)
        version, filename, _ = found.get(name, ("0", "", ""))
        if not requirement.specifier.contains(version, prereleases=True) or not filename:
            missed.append(text)
            continue
        waiting += [
            (required, asked)
            for required in requirements_of(world, filename, indexes[name])
            for asked in ("", *requirement.extras)
        ]
    return missed, {canonicalize_name(Requirement(text).name) for text, _ in seen}


@given(worlds())
@laws
def test_closed(world: World) -> None:
    """On every host all requirements that hold there are met, and nothing else is installed."""
    text, lock, resolutions = locked(world)
    pylock, _ = parse_pylock(text, where="the lock")
    for resolution in resolutions:
        for environment, extras in hosts(lock, resolution):
            found = selected(pylock, resolution.target, environment, extras)
            assert unmet(world, resolution, environment, extras, found) == ([], set(found))


@given(worlds())
@laws
def test_proved_and_current(world: World) -> None:
    """What was locked can be proved, is current, and can be reported."""
    text, lock, resolutions = locked(world)
    shared = frozenset(row.platform for row in lock.rows if row.extra)
    pylock, data = verify(text, resolutions, extras=["train"], groups=[], shared=shared)
    reasons = stale_reasons(
        pylock,
        data,
        matrix=world.project().matrix,
        requirements=lock.requirements,
        settings=lock.settings,
        where="the lock",
    )
    assert reasons == ()
    report = matrix_report(pylock, data, load_catalog(), where="the lock")
    assert set(report.versions) == {package.name for package in lock.packages}


@given(worlds(), st.randoms(use_true_random=False))
@laws
def test_order_does_not_matter(world: World, random: Random) -> None:
    """The order of rows, Pythons, requirements and pages does not change a byte."""
    text, _, _ = locked(world)
    for _ in range(2):
        rows, pythons = list(world.rows), list(world.pythons)
        requirements = [required(*one) for one in world.requirements]
        for order in (rows, pythons, requirements):
            random.shuffle(order)
        keys = [random.randrange(100) for _ in range(12)]
        again = lock_of(project(rows, pythons, requirements), world.repository().reordered(keys))
        assert isinstance(again, tuple)
        assert again[0] == text


@given(worlds())
@laws
def test_locking_again(world: World) -> None:
    """With the first lock to keep, the second is the same bytes."""
    text, _, _ = locked(world)
    again = lock_of(world.project(), world.repository(), previous=text)
    assert isinstance(again, tuple)
    assert again[0] == text


@given(worlds(), st.data())
@laws
def test_new_releases_move_nothing(world: World, data: st.DataObject) -> None:
    """What was uploaded since changes no byte of a lock that is kept."""
    # The first version of each package is for everyone.
    older = [
        one for one in world.releases if "-1.0-py3" in one.filenames[0] or data.draw(st.booleans())
    ]
    text, _, _ = locked(replace(world, releases=tuple(older)))
    again = lock_of(world.project(), world.repository(), previous=text)
    assert isinstance(again, tuple)
    assert again[0] == text


@given(worlds(), st.data())
@laws
def test_new_rows(world: World, data: st.DataObject) -> None:
    """A lock to which rows and Pythons come is proved like any other."""
    fewer = replace(
        world,
        rows=tuple(data.draw(st.lists(st.sampled_from(world.rows), min_size=1, unique=True))),
        pythons=world.pythons[:1],
    )
    before, _, _ = locked(fewer)
    made = lock_of(world.project(), world.repository(), previous=before)
    assume(isinstance(made, tuple))
    assert isinstance(made, tuple)
    text, lock, resolutions = made
    shared = frozenset(row.platform for row in lock.rows if row.extra)
    verify(text, resolutions, extras=["train"], groups=[], shared=shared)


@given(worlds())
@laws
def test_read_back(world: World) -> None:
    """What is written is read back: the rows as they were, the packages as PEP 751 has them."""
    text, lock, _ = locked(world)
    pylock, data = parse_pylock(text, where="the lock")
    assert Pylock.from_dict(pylock.to_dict()) == pylock
    assert locked_rows(data, where="the lock") == lock.rows
    assert [
        (one.name, str(one.version), sorted(wheel.filename for wheel in one.wheels or ()))
        for one in pylock.packages
    ] == [(one.name, one.version, [wheel.name for wheel in one.wheels]) for one in lock.packages]
