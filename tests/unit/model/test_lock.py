"""What a locked row says of its platform."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lockforge.model.lock import LockedRow
from lockforge.model.platforms import PLATFORMS, Platform

ROW = LockedRow(
    name="linux-cpu",
    platform="linux",
    accelerator="cpu",
    pythons=("3.12",),
    floor="glibc 2.28",
    extra=None,
    torch=None,
    index="https://download.pytorch.org/whl/cpu/",
    packages=0,
    digest="",
    size=0,
    unsized=0,
    min_driver=None,
    gpu_architectures=(),
    gpu_ptx=(),
    judged_by=None,
)


@pytest.mark.parametrize(
    ("platform", "floor", "expected"),
    [
        ("linux", "glibc 2.34", replace(PLATFORMS["linux"], floor=(2, 34))),
        ("mac", "macos 15.0", replace(PLATFORMS["mac"], floor=(15, 0))),
        ("win", None, PLATFORMS["win"]),
    ],
)
def test_placed(platform: str, floor: str | None, expected: Platform) -> None:
    """The platform of a row is the named one with the row's own floor."""
    assert replace(ROW, platform=platform, floor=floor).placed == expected
