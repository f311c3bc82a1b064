"""No order of what is written or listed, and no hash seed, changes a byte of a lock."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.hosts import laws, locked
from tests.property.worlds import World, lock_of, worlds

ROOT = Path(__file__).parents[2]
_PROGRAM = """
import json, sys
from hashlib import sha256
from tests.property.worlds import lock_of, world_from
for given in json.load(sys.stdin):
    print(sha256(lock_of(world_from(given)).text.encode()).hexdigest())
"""


def shuffled(value: Any, random: Random) -> Any:
    """Give a document with every list and every table in another order."""
    if isinstance(value, list):
        return [shuffled(one, random) for one in random.sample(value, len(value))]
    if isinstance(value, dict):
        keys = random.sample(list(value), len(value))
        return {key: shuffled(value[key], random) for key in keys}
    return value


@given(worlds() | worlds(sure=("floors",)), st.randoms(use_true_random=False))
@laws
def test_order_does_not_matter(world: World, random: Random) -> None:
    """The order of rows, Pythons, requirements, settings, indexes and pages changes nothing."""
    text = locked(world).text
    other = replace(
        world,
        pyproject=shuffled(world.pyproject, random),
        releases=tuple(random.sample(world.releases, len(world.releases))),
        order=tuple(random.sample(range(100), 12)),
    )
    assert lock_of(other).text == text


def test_hash_seed_does_not_matter() -> None:
    """Processes with other hash seeds write the same bytes."""
    found: list[World] = []
    texts: list[str] = []

    @given(worlds())
    @settings(laws, max_examples=25)
    def gather(world: World) -> None:
        texts.append(locked(world).text)
        found.append(world)

    gather()
    expected = [sha256(text.encode()).hexdigest() for text in texts]
    for seed in ("1", "2"):
        other = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=json.dumps([asdict(world) for world in found]),
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert other.stdout.split() == expected
