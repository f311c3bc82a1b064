"""Laws of what a lock selects, over random small worlds."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.pylock import Pylock, PylockSelectError

from lockforge.commands.lock import current_reasons
from lockforge.model.platforms import PLATFORMS
from lockforge.report.matrix import matrix_report
from lockforge.standards.environment import host_environment
from lockforge.standards.locked_rows import locked_rows
from lockforge.standards.pylock import parse_pylock
from lockforge.standards.selection import select
from tests.property.hosts import (
    all_of,
    chosen,
    file_of,
    hosts_of,
    installed,
    laws,
    locked,
    more_laws,
    read,
    selected,
    solved,
    suits,
)
from tests.property.oracle import broken_limits, closure, names_exactly
from tests.property.worlds import CATALOG, World, request_of, worlds

_randoms = st.randoms(use_true_random=False)


@given(worlds(sure=("floors",)) | worlds(sure=("limits",)), _randoms)
@more_laws
def test_selection_is_the_resolution(world: World, random: Random) -> None:
    """Every host selects its Target's Resolution, or is refused where a file does not suit it."""
    pylock = read(locked(world).text)
    for resolution in solved(world).resolutions:
        for host in hosts_of(world, resolution.target, random):
            pins = installed(resolution, host)
            if suits(chosen(world, pins), host):
                files = selected(world, pylock, resolution.target, host)
                assert files == {pin.name: file_of(pin) for pin in pins}
            else:
                with pytest.raises(PylockSelectError):
                    selected(world, pylock, resolution.target, host)


@given(worlds(), _randoms)
@laws
def test_own_selection_agrees(world: World, random: Random) -> None:
    """Our own reader takes the same, and misses no dependency that is rightly absent."""
    out = locked(world)
    shared = {row.name: {row.extra} - {None} for row in locked_rows(out.data, where="the lock")}
    for resolution in solved(world).resolutions:
        target = resolution.target
        for host in hosts_of(world, target, random):
            expected = chosen(world, installed(resolution, host))
            if not suits(expected, host):
                continue
            found = select(
                out.pylock,
                target.row.platform,
                target.python,
                extras=host.extras | shared[target.row.name],  # type: ignore[operator]
                groups=host.groups,
                patch=int(host.environment["python_full_version"].rpartition(".")[2]),
            )
            assert {name: one.version for name, (one, _) in found.items()} == {
                name: release.version for name, release in expected.items()
            }


@given(worlds(sure=("extras", "groups")) | worlds(sure=("overrides", "rows")), _randoms)
@more_laws
def test_closed(world: World, random: Random) -> None:
    """On every host all requirements that hold there are met, and nothing else is installed.

    So an extra or group brings in what it requires, an override stands in for what it replaces,
    and what a row excludes is not there.
    """
    pylock = read(locked(world).text)
    for resolution in solved(world).resolutions:
        for host in hosts_of(world, resolution.target, random):
            if suits(chosen(world, installed(resolution, host)), host):
                files = selected(world, pylock, resolution.target, host)
                found = {name: world.by_digest[sha256] for name, sha256 in files.items()}
                assert closure(world, host, found) == ([], set(found))


@given(worlds(sure=("constraints",)) | worlds(asks=("gpuext",), sure=("overrides",)), _randoms)
@more_laws
def test_limits_hold(world: World, random: Random) -> None:
    """Constraints hold, and so does what wheels are built for; nothing is yanked unasked."""
    outcome = solved(world)
    for resolution in outcome.resolutions:
        label = resolution.target.row.accelerator.label
        for host in hosts_of(world, resolution.target, random):
            found = chosen(world, installed(resolution, host))
            assert broken_limits(world, host, found) == []
            assert all(names_exactly(world, one) for one in found.values() if one.yanked)
            assert {one.accelerator for one in found.values()} <= {"", label}


@given(worlds(sure=("floors",)))
@laws
def test_rows_are_disjoint(world: World) -> None:
    """Two rows at once are refused where both have torch, and so are hosts of no row."""
    pylock = read(locked(world).text)
    resolutions = solved(world).resolutions
    platforms = {one.target.row.platform.name for one in resolutions}
    for resolution in resolutions:
        target = resolution.target
        twins = [
            other.target.row.accelerator.label.replace(".", "-")
            for other in resolutions
            if other.target.row.platform.name == target.row.platform.name
            and other.target.python == target.python
            and (torch := other.pin("torch"))
            and not torch.condition
        ]
        host = all_of(world, target)[0]
        if len(twins) > 1:
            with pytest.raises(PylockSelectError):
                selected(world, pylock, target, replace(host, extras=host.extras | {*twins}))
        for name in PLATFORMS.keys() - platforms:
            environment = host_environment(PLATFORMS[name], target.python)
            with pytest.raises(PylockSelectError):
                selected(world, pylock, target, replace(host, environment=environment))


@given(worlds())
@laws
def test_current_and_reported(world: World) -> None:
    """What was locked is current, and can be reported."""
    out = locked(world)
    assert current_reasons(request_of(world, out.text)) == ()
    report = matrix_report(out.pylock, out.data, CATALOG, where="the lock")
    assert set(report.versions) == {package.name for package in out.pylock.packages}


@given(worlds())
@laws
def test_read_back(world: World) -> None:
    """What is written is read back as PEP 751 has it, with every row of the matrix."""
    text = locked(world).text
    pylock, data = parse_pylock(text, where="the lock")
    assert Pylock.from_dict(pylock.to_dict()) == pylock
    assert [row.name for row in locked_rows(data, where="the lock")] == [
        row.name for row in world.loaded.project.matrix.rows
    ]
