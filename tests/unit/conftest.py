"""Tests here read no disk and no environment, so they need no directories of their own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_directories() -> None:
    """Stand in for the fixture that makes them, which is most of a short test's time."""
