"""Platforms: operating system, machine and floor, under the names users write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

System: TypeAlias = Literal["linux", "windows", "macos"]
Floor: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """One operating system on one machine type, from a floor upwards."""

    name: str
    """The canonical name: ``linux``, ``linux-aarch64``, ``win``, ``win-arm64``, ``mac``, ..."""
    system: System
    machine: str
    """``platform_machine`` as that system spells it: ``x86_64``, ``AMD64``, ``arm64``, ..."""
    floor: Floor | None
    """Lowest glibc or macOS; None on Windows, which has no such floor."""

    @property
    def floor_key(self) -> str | None:
        """The configuration key of the floor, which is also what the floor is called."""
        return {"linux": "glibc", "macos": "macos", "windows": None}[self.system]

    @property
    def order(self) -> int:
        """The place in reports: Linux, Windows, macOS, the common machine of each first."""
        return list(PLATFORMS).index(self.name)


PLATFORMS: dict[str, Platform] = {
    platform.name: platform
    for platform in (
        Platform(name="linux", system="linux", machine="x86_64", floor=(2, 28)),
        Platform(name="linux-aarch64", system="linux", machine="aarch64", floor=(2, 28)),
        Platform(name="win", system="windows", machine="AMD64", floor=None),
        Platform(name="win-arm64", system="windows", machine="ARM64", floor=None),
        Platform(name="mac", system="macos", machine="arm64", floor=(14, 0)),
        Platform(name="mac-x86_64", system="macos", machine="x86_64", floor=(11, 0)),
    )
}
"""The platforms with their default floors, by canonical name, in the order of reports."""

ALIASES: dict[str, str] = {
    "linux-x86_64": "linux",
    "linux-arm64": "linux-aarch64",
    "win-amd64": "win",
    "mac-arm64": "mac",
}
"""Other spellings that users write, each to its canonical name."""


def parse_platform(text: str) -> Platform | None:
    """Give the platform that *text* names, by canonical name or alias."""
    return PLATFORMS.get(ALIASES.get(text, text))
