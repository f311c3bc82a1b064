"""Locking a world from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command import Ended, lockforge
from tests.support.world import World

LockWorld = Callable[..., Ended]


@pytest.fixture
def lock_path(tmp_path: Path) -> Path:
    return tmp_path / "project" / "pylock.toml"


@pytest.fixture
def lock_world(world: World, lock_path: Path) -> LockWorld:
    """Lock requirements over the served world, into *lock_path*."""
    lock_path.parent.mkdir()

    def lock(
        *requirements: str, rows: str, python: str = "3.12", options: tuple[str, ...] = ()
    ) -> Ended:
        return lockforge(
            "lock",
            *requirements,
            "--project",
            lock_path.parent,
            "--matrix",
            rows,
            "--python",
            python,
            "--index-url",
            world.default_url,
            "--torch-index",
            world.torch_url,
            *options,
        )

    return lock
