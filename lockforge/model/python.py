"""Pythons: the minor versions that rows are locked for."""

from __future__ import annotations

from typing import TypeAlias

PythonMinor: TypeAlias = tuple[int, int] | tuple[int, int, int]
"""``(3, 12)``; a third number is the lowest patch release that is covered."""


def render_minor(minor: PythonMinor) -> str:
    """Write ``(3, 12)``, and ``(3, 12, 3)`` too, as ``3.12``."""
    return f"{minor[0]}.{minor[1]}"


def render_python(minor: PythonMinor) -> str:
    """Write ``(3, 12)`` as ``3.12`` and ``(3, 12, 3)`` as ``3.12.3``."""
    return ".".join(map(str, minor))


def parse_minor(text: str) -> PythonMinor:
    """Read ``3.12`` or ``3.12.3``; raises ValueError for anything else."""
    numbers = tuple(map(int, text.split(".")))
    if len(numbers) == 2:  # noqa: PLR2004
        return numbers
    major, minor, patch = numbers
    return major, minor, patch
