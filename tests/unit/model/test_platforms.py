"""Platforms by every name a user may write."""

from __future__ import annotations

import pytest

from lockforge.model.platforms import PLATFORMS, Platform, parse_platform

# design: name (alias), system, platform_machine, default floor and its key.
TABLE = [
    (("linux", "linux-x86_64"), "linux", "x86_64", (2, 28), "glibc"),
    (("linux-aarch64", "linux-arm64"), "linux", "aarch64", (2, 28), "glibc"),
    (("win", "win-amd64"), "windows", "AMD64", None, None),
    (("win-arm64",), "windows", "ARM64", None, None),
    (("mac", "mac-arm64"), "macos", "arm64", (14, 0), "macos"),
    (("mac-x86_64",), "macos", "x86_64", (11, 0), "macos"),
]


@pytest.mark.parametrize(("names", "system", "machine", "floor", "floor_key"), TABLE)
def test_names(
    names: tuple[str, ...],
    system: str,
    machine: str,
    floor: tuple[int, int] | None,
    floor_key: str | None,
) -> None:
    """Each name and alias gives the platform with its default floor."""
    expected = Platform(
        name=names[0],
        system=system,  # type: ignore[arg-type]
        machine=machine,
        floor=floor,
    )
    assert [parse_platform(name) for name in names] == [expected] * len(names)
    assert expected.floor_key == floor_key


def test_order() -> None:
    """Reports list Linux, Windows, macOS, the common machine of each first."""
    names = [names[0] for names, *_ in TABLE]
    assert sorted(names, key=lambda name: PLATFORMS[name].order) == names


@pytest.mark.parametrize("text", ["", "linux-", "Linux", "macos", "windows", "linux-i686", "cpu"])
def test_unknown(text: str) -> None:
    """Other spellings name no platform."""
    assert parse_platform(text) is None
