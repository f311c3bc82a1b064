"""A lock that is there is kept: nothing moves without a reason, and every reason is seen."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lockforge.commands.lock import current_reasons
from lockforge.errors import ConfigError
from lockforge.model.matrix import Target
from lockforge.model.resolution import Outcome, Pin
from tests.property.hosts import all_of, chosen, laws, locked, solved
from tests.property.indexes import EXTENSIONS
from tests.property.oracle import broken_limits, closure
from tests.property.releases import NAMES
from tests.property.worlds import World, outcome_of, request_of, worlds


def _older(world: World, data: st.DataObject) -> World:
    """The world before some of its releases, or some of their files, were uploaded."""
    older = []
    for one in world.releases:
        # The first version of each package, and what the project names by its address, are for all.
        always = "-1.0-py3" in one.filenames[0] or one.is_direct
        files = one.filenames if always else data.draw(st.sampled_from(_parts(one.filenames)))
        if files:
            older.append(replace(one, filenames=files))
    return replace(world, releases=tuple(older))


def _parts(filenames: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [filenames, filenames[-1:], filenames[:1], ()]


def _pins(outcome: Outcome) -> dict[Target, tuple[Pin, ...]]:
    return {one.target: one.pins for one in outcome.resolutions}


@given(worlds())
@laws
def test_solving_again(world: World) -> None:
    """With a first lock to keep, a second search comes to the same, and so to the same bytes."""
    out = locked(world)
    assert outcome_of(world, out.text) == outcome_of(world)
    assert current_reasons(request_of(world, out.text)) == ()


@given(worlds(sure=("floors",)), st.data())
@laws
def test_new_releases_move_nothing(world: World, data: st.DataObject) -> None:
    """What was uploaded since moves no pin of a lock that is kept."""
    before = _older(world, data)
    text = locked(before).text
    after = _pins(outcome_of(world, text))
    for target, pins in _pins(outcome_of(before)).items():
        assert after.get(target) == pins


@given(worlds(), st.data())
@laws
def test_new_rows(world: World, data: st.DataObject) -> None:
    """A lock to which rows come can be proved like any other, and keeps its pins."""
    rows = world.config["matrix"]
    some = data.draw(st.lists(st.sampled_from(rows), min_size=1, unique=True))
    # To align rows with a new one may move them.
    wider = world.with_config(align=None)
    fewer = wider.with_config(
        matrix=some,
        rows={row: one for row, one in world.config.get("rows", {}).items() if row in some},
    )
    text = locked(fewer).text
    locked(wider, text)
    after = _pins(solved(wider, text))
    for target, pins in _pins(outcome_of(fewer)).items():
        assert after.get(target, pins) == pins


@given(worlds(), st.sampled_from([*NAMES, "torch", "torchaudio", "torchcodec", "gpuext"]))
@laws
def test_adding_and_removing(world: World, name: str) -> None:
    """A requirement that comes and goes leaves the old bytes, where it moved nothing."""
    text = locked(world).text
    project = world.pyproject["project"]
    more = replace(
        world,
        pyproject={
            **world.pyproject,
            "project": {**project, "dependencies": [*project["dependencies"], name]},
        },
    )
    assume(current_reasons(request_of(more, text)))
    between = locked(more, text)
    after = _pins(outcome_of(more, text))
    for target, pins in _pins(outcome_of(world)).items():
        assume({pin.file for pin in pins} <= {pin.file for pin in after.get(target, ())})
    assert locked(world, between.text).text == text


@given(worlds(), st.data())
@laws
def test_upgrading_one(world: World, data: st.DataObject) -> None:
    """What is upgraded moves alone, unless what the others were does not go with it."""
    world = world.with_config(align=None)
    before = _older(world, data)
    text = locked(before).text
    old = _pins(outcome_of(before))
    names = sorted({pin.name for pins in old.values() for pin in pins})
    assume(names)
    name = data.draw(st.sampled_from(names))
    new = _pins(outcome_of(world, text, moving=[name]))
    for target in old.keys() & new.keys():
        kept = {pin.name: pin for pin in old[target] if pin.name != name}
        now = {pin.name: pin for pin in new[target]}
        if all(now.get(one, pin).file == pin.file for one, pin in kept.items()):
            continue
        mixed = chosen(world, {**now, **kept}.values())
        assert any(
            closure(world, host, mixed)[0] or broken_limits(world, host, mixed)
            for host in all_of(world, target)
        )


def _unordered(value: Any) -> Any:
    """What a document says, whatever the order of its lists."""
    if isinstance(value, list):
        return sorted(map(_unordered, value), key=repr)
    return (
        {key: _unordered(one) for key, one in value.items()} if isinstance(value, dict) else value
    )


_CHANGES: list[dict[str, Any]] = [
    {"align": "common"},
    {"align": None},
    {"prerelease": "allow"},
    {"prerelease": None},
    {"resolution": "lowest"},
    {"resolution": None},
    {"only-binary": ["beta"]},
    {"only-binary": None},
    {"no-binary": ["delta"]},
    {"no-binary": None},
    {"constraints": ["alpha!=9"]},
    {"constraints": None},
    {"overrides": ["omega==1"]},
    {"overrides": None},
    {"exclude-newer": "7 days"},
    {"exclude-newer": "2026-06-01", "exclude-newer-strict": True},
    {"torch-index": "https://mirror.example.com/whl"},
    {"channel": "nightly"},
    {"metadata": {"zeta==1.0": {"requires-dist": ["alpha"]}}},
    {"index": [{"name": "ext", "url": EXTENSIONS, "packages": ["gpuext", "other"]}]},
    {"index": [{"name": "ext", "url": f"{EXTENSIONS}other/", "packages": ["gpuext"]}]},
    {"index": None},
    {"matrix": ["linux-xpu"], "rows": None},
    {"python": ["3.10"]},
    {"python": ["3.12.1"]},
    {"extras": ["train"]},
    {"extras": ["serve"]},
    {"extras": None},
    {"groups": ["dev"]},
    {"groups": ["lint"]},
    {"groups": None},
    {"rows": None},
]


@given(worlds())
@settings(laws, max_examples=12)
def test_every_change_is_seen(world: World) -> None:
    """A lock just made is current, and it is not once a setting says something else."""
    text = locked(world).text
    has = {"extras": "optional-dependencies", "groups": "dependency-groups"}
    tables = {**world.pyproject, **world.pyproject["project"]}
    for change in _CHANGES:
        if any(key in has and has[key] not in tables for key in change):
            continue
        changed = world.with_config(**change)
        try:
            request = request_of(changed, text)
        except ConfigError:
            # Not every setting goes with every other.
            continue
        same = _unordered(changed.config) == _unordered(world.config)
        assert (current_reasons(request) == ()) == same, change


@given(worlds(), st.randoms(use_true_random=False))
@laws
def test_every_requirement_is_seen(world: World, random: Random) -> None:
    """A requirement that comes or goes makes a lock stale, be it an extra's, group's or row's."""
    text = locked(world).text
    row = random.choice(world.config["matrix"])
    own = world.config.get("rows", {}).get(row, {})
    for key, entry in (
        ("dependencies", "zeta"),
        ("exclude", "zeta"),
        ("constraints", "zeta<2"),
        ("overrides", "zeta<2"),
    ):
        settings = {**own, key: [*own.get(key, ()), entry]}
        changed = world.with_config(rows={**world.config.get("rows", {}), row: settings})
        assert current_reasons(request_of(changed, text)), key
    project = world.pyproject["project"]
    fewer = replace(
        world,
        pyproject={
            **world.pyproject,
            "project": {**project, "dependencies": [*project["dependencies"], "zeta"]},
        },
    )
    assert current_reasons(request_of(fewer, text))
