"""What hangs is waited for no longer than it may."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from lockforge.adapters.deadline import within


def test_what_ends() -> None:
    """Its result and its error are those of a call."""

    def fail() -> str:
        raise FileNotFoundError("none")

    assert within(60, lambda: "said") == "said"
    with pytest.raises(FileNotFoundError, match="none"):
        within(60, fail)


def test_what_hangs() -> None:
    ended = threading.Event()
    wait: Callable[[], bool] = ended.wait
    start = time.monotonic()

    with pytest.raises(TimeoutError, match=r"no end within 0\.1 s"):
        within(0.1, wait)

    assert time.monotonic() - start < 30
    ended.set()
