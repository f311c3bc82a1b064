"""What rows and Pythons have to do with one another, and what they do not."""

from __future__ import annotations

from hypothesis import assume, given

from lockforge.model.resolution import Outcome
from tests.property.hosts import chosen, laws, locked, more_laws, read, solved
from tests.property.worlds import CATALOG, World, outcome_of, worlds


def _alone(world: World, row: str) -> World:
    """The world for one row of its matrix."""
    settings = world.config.get("rows", {})
    return world.with_config(matrix=[row], rows={row: settings[row]} if row in settings else None)


def _lost(outcome: Outcome, other: Outcome) -> bool:
    """Whether the other outcome is for fewer Pythons, where nobody stated them."""
    return {one.target for one in outcome.resolutions} > {one.target for one in other.resolutions}


@given(worlds())
@laws
def test_rows_are_independent(world: World) -> None:
    """A row's Resolution is what it would be without the other rows, unless they are aligned."""
    world = world.with_config(align=None)
    together = solved(world)
    for row in world.config["matrix"]:
        apart = {one.target: one.pins for one in solved(_alone(world, row)).resolutions}
        for resolution in together.resolutions:
            if resolution.target.row.name == row:
                assert apart[resolution.target] == resolution.pins


@given(worlds(align="common", asks=("torch", "torchaudio")))
@laws
def test_aligned(world: World) -> None:
    """Aligned rows differ in no package of the family but those that are reported."""
    outcome = solved(world)
    publics: dict[str, set[str]] = {}
    for resolution in outcome.resolutions:
        for pin in resolution.pins:
            if CATALOG.is_family(pin.name):
                publics.setdefault(pin.name, set()).add(pin.version.public)
    skewed = {name for name, versions in publics.items() if len(versions) > 1}
    assert skewed <= {one.name for one in outcome.misalignments}


@given(worlds(align="common", asks=("torch", "torchaudio")))
@more_laws
def test_no_false_misalignment(world: World) -> None:
    """What is said to have no common version has none when one is asked for either."""
    outcome = solved(world)
    for misaligned in outcome.misalignments:
        targets = {one.target for one in outcome.resolutions if one.pin(misaligned.name)}
        for version in {version for _, versions in misaligned.offers for version in versions}:
            constraints = [*world.config.get("constraints", ()), f"{misaligned.name}=={version}"]
            other = outcome_of(world.with_config(constraints=constraints))
            assert (
                other.failures
                or other.misalignments
                or {one.target for one in other.resolutions if one.pin(misaligned.name)} != targets
            )


@given(worlds(align="common", asks=("torch",)))
@laws
def test_newest_in_common(world: World) -> None:
    """Aligned rows have the newest torch that all of them could have."""
    world = world.with_config(prerelease=None, resolution=None)
    outcome = solved(world)
    assume(not outcome.misalignments)
    torches = {pin.version.public for one in outcome.resolutions if (pin := one.pin("torch"))}
    for newer in ("2.9.0", "2.9.1"):
        if torches and newer > max(torches):
            constraints = [*world.config.get("constraints", ()), f"torch=={newer}"]
            other = outcome_of(world.with_config(constraints=constraints))
            assert other.failures or other.misalignments or _lost(outcome, other)


@given(worlds(sure=("limits",)))
@more_laws
def test_python_covered(world: World) -> None:
    """The lock admits the Pythons that one of its Targets serves, and none that it is not for."""
    outcome = solved(world)
    admitted = read(locked(world).text).requires_python
    limits = world.loaded.project.requires_python
    assert admitted is not None
    assert {one.target.row.name for one in outcome.resolutions} == set(world.config["matrix"])
    for minor in range(8, 16):
        serving = [one for one in outcome.resolutions if one.target.python[:2] == (3, minor)]
        for patch in range(20):
            version = f"3.{minor}.{patch}"
            stated = [
                one
                for one in serving
                if one.target.python[2:] <= (patch,) and (limits is None or version in limits)
            ]
            suited = [
                one
                for one in stated
                if all(
                    release.suits(version)
                    for release in chosen(
                        world, (pin for pin in one.pins if not pin.condition)
                    ).values()
                )
            ]
            assert admitted.contains(version) >= bool(suited), version
            assert admitted.contains(version) <= bool(stated), version
