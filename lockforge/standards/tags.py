"""Target -> ordered PEP 425 tags, foreign platforms included, and the rank of a wheel among them.

`packaging.tags` finds the platform tags of the host only, so the manylinux ladder (PEP 600) is
made here; the order within it is the one `packaging.tags` gives on a host with that glibc.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockforge.model.platforms import Floor, Platform
    from lockforge.model.python import PythonMinor

# PEP 600: the legacy names of three rungs.
_LEGACY_MANYLINUX = {(2, 17): "manylinux2014", (2, 12): "manylinux2010", (2, 5): "manylinux1"}
# The lowest glibc of each machine for which a manylinux policy exists.
_LOWEST_GLIBC = {"x86_64": 5, "aarch64": 17}


def _linux_platforms(machine: str, floor: Floor) -> Iterator[str]:
    # `packaging.tags` puts the unspecific tag first, and so do installers built on it.
    yield f"linux_{machine}"
    major, minor = floor
    for rung in range(minor, _LOWEST_GLIBC[machine] - 1, -1):
        yield f"manylinux_{major}_{rung}_{machine}"
        if legacy := _LEGACY_MANYLINUX.get((major, rung)):
            yield f"{legacy}_{machine}"


def platform_tags(platform: Platform) -> list[str]:
    """List the platform tags a host at the floor accepts, best first."""
    if platform.system == "windows":
        return [{"AMD64": "win_amd64", "ARM64": "win_arm64"}[platform.machine]]
    assert platform.floor is not None
    if platform.system == "macos":
        return list(mac_platforms(platform.floor, platform.machine))
    return list(_linux_platforms(platform.machine, platform.floor))


@lru_cache(maxsize=256)
def target_tags(platform: Platform, python: PythonMinor) -> tuple[Tag, ...]:
    """List the tags of a standard (not free-threaded) CPython there, best first."""
    platforms = platform_tags(platform)
    interpreter = f"cp{python[0]}{python[1]}"
    return (
        *cpython_tags(python, abis=[interpreter], platforms=platforms),
        *compatible_tags(python, interpreter=interpreter, platforms=platforms),
    )


class TagRanks:
    """The rank of a wheel's tag triple on one Target; smaller is better."""

    def __init__(self, platform: Platform, python: PythonMinor) -> None:
        self._ranks: dict[tuple[str, str, str], int] = {}
        for rank, tag in enumerate(target_tags(platform, python)):
            self._ranks.setdefault((tag.interpreter, tag.abi, tag.platform), rank)
        self._known: dict[str, int | None] = {}

    def rank(self, triple: str) -> int | None:
        """Rank a compressed tag set such as ``cp39.cp310-abi3-win_amd64``; None if unusable."""
        try:
            return self._known[triple]
        except KeyError:
            parts = triple.split("-")
            ranks = [
                rank
                for tag in product(*(part.split(".") for part in parts))
                if (rank := self._ranks.get(tag)) is not None  # type: ignore[arg-type]
            ]
            self._known[triple] = result = min(ranks, default=None)
            return result


@lru_cache(maxsize=256)
def tag_ranks(platform: Platform, python: PythonMinor) -> TagRanks:
    """Give the shared ranks of one platform and Python minor."""
    return TagRanks(platform, python)
