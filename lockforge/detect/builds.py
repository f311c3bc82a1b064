"""What a host is judged for: the platform it is, and the builds that there are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.version import Version

from lockforge.model.accelerator import Accelerator
from lockforge.model.choice import Build
from lockforge.model.platforms import PLATFORMS
from lockforge.model.python import parse_minor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.catalog import Catalog
    from lockforge.model.lock import LockedRow
    from lockforge.model.machine import Facts, Interpreter
    from lockforge.model.platforms import Platform

BITS = 64
"""What an interpreter must have: torch has no wheels for 32-bit ones."""
_NAMES = {
    "linux-x86_64": "linux",
    "linux-aarch64": "linux-aarch64",
    "win-amd64": "win",
    "win-arm64": "win-arm64",
    "macosx-arm64": "mac",
    "macosx-x86_64": "mac-x86_64",
}
"""Platforms by what `platform_base` gives."""
_MACOS = re.compile(r"macosx-[\d.]+-(?P<machine>\w+)", re.ASCII)


def platform_base(python: Interpreter) -> str:
    """Give the interpreter's platform without a version of macOS, such as ``macosx-arm64``.

    The interpreter's and not the machine's: a Python for Intel's Macs runs on Apple's too, and a
    32-bit one on a 64-bit Windows.
    """
    match = _MACOS.fullmatch(python.platform)
    if match is None:
        return python.platform
    # One that has the code for both runs as what the system says the machine is.
    machine = python.machine if match["machine"] == "universal2" else match["machine"]
    return f"macosx-{machine}"


def platform_of(facts: Facts) -> Platform | None:
    """Give the platform of a host, None where torch has no wheels for it."""
    python = facts.python
    if python is None or python.bits != BITS:
        return None
    if facts.libc is not None and facts.libc.family == "musl":
        return None
    name = _NAMES.get(platform_base(python))
    return None if name is None else PLATFORMS[name]


def driver_platform(facts: Facts, own: Platform) -> Platform:
    """Give the platform whose floors hold for NVIDIA's driver: *own*, but Windows on WSL2."""
    return PLATFORMS["win"] if facts.wsl2 else own


def locked_builds(rows: Sequence[LockedRow]) -> tuple[Build, ...]:
    """Give the rows of a lock, in its order."""
    return tuple(map(_locked_build, rows))


def _locked_build(row: LockedRow) -> Build:
    torches = sorted(map(Version, row.torch.split(", "))) if row.torch else [None]
    return Build(
        name=row.name,
        accelerator=Accelerator(row.accelerator),
        platform=row.placed,
        pythons=tuple(map(parse_minor, row.pythons)),
        torch=torches[0],
        other_torches=tuple(torch for torch in torches[1:] if torch is not None),
        size=row.size,
        locked=True,
        min_driver=row.min_driver,
        gpu_architectures=row.gpu_architectures,
        gpu_ptx=row.gpu_ptx,
    )


def catalog_builds(
    catalog: Catalog, platform: Platform | None, labels: Sequence[str] | None
) -> tuple[Build, ...]:
    """Give the catalogue's accelerators on *platform*, each at its newest torch there.

    Without *labels* it is all those whose newest torch is known there. One of *labels* that has no
    wheels there, and each for a host of no platform, is given on the first platform that it has, so
    that it can be said why it is refused. Raises ValueError for what is no label.
    """
    chosen = catalog.labels if labels is None else labels
    builds = []
    for accelerator in map(Accelerator, dict.fromkeys(chosen)):
        platforms = catalog.platforms_of(accelerator)
        own = platform if platform in platforms else platforms[0]
        is_known = catalog.newest_torch(accelerator, own) is not None
        if labels is not None or (is_known and platform in {own, None}):
            builds.append(_catalog_build(catalog, own, accelerator))
    return tuple(builds)


def _catalog_build(catalog: Catalog, platform: Platform, accelerator: Accelerator) -> Build:
    torch = catalog.newest_torch(accelerator, platform)
    return Build(
        name=accelerator.label,
        accelerator=accelerator,
        platform=platform,
        # An accelerator that is newer than the catalogue is taken to have the Pythons of all.
        pythons=catalog.pythons if torch is None else catalog.pythons_of(accelerator, platform),
        torch=torch,
    )
