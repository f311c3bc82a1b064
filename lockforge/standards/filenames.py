"""Wheel and sdist file names, read without building the tag sets that most files never need."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import InvalidVersion, Version

_SDIST_SUFFIXES = (".tar.gz", ".zip")
_WHEEL_PARTS = 5


class WheelName(NamedTuple):
    """A wheel's file name in its parts (binary distribution format)."""

    project: NormalizedName
    version: Version
    build: tuple[int, str]
    """``(0, "")`` without a build tag, which sorts below every build tag."""
    triple: str
    """The compressed tag set, ``python-abi-platform``."""


@lru_cache(maxsize=65536)
def parse_version(text: str) -> Version:
    """Read a version; the same text gives the same object."""
    return Version(text)


@lru_cache(maxsize=65536)
def _normalize(name: str) -> NormalizedName:
    return canonicalize_name(name)


# Every Target judges the same files.
@lru_cache(maxsize=65536)
def parse_wheel_name(filename: str) -> WheelName | None:
    """Read a wheel's file name; None if it is not one."""
    parts = filename.removesuffix(".whl").split("-")
    build = (0, "")
    if len(parts) == _WHEEL_PARTS + 1:
        digits = parts[2][: len(parts[2]) - len(parts[2].lstrip("0123456789"))]
        if not digits:
            return None
        build = (int(digits), parts[2][len(digits) :])
        parts = [*parts[:2], *parts[3:]]
    if len(parts) != _WHEEL_PARTS:
        return None
    try:
        version = parse_version(parts[1])
    except InvalidVersion:
        return None
    return WheelName(
        project=_normalize(parts[0]), version=version, build=build, triple="-".join(parts[2:])
    )


def parse_sdist_name(filename: str) -> tuple[NormalizedName, Version] | None:
    """Read an sdist's file name as (project, version); None if it is not one."""
    for suffix in _SDIST_SUFFIXES:
        if filename.endswith(suffix):
            name, dash, version = filename.removesuffix(suffix).rpartition("-")
            if not dash:
                return None
            try:
                return _normalize(name), parse_version(version)
            except InvalidVersion:
                return None
    return None
