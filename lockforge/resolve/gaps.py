"""What the wheels of a version lack for a Target: its Python, its floor or its platform."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lockforge.model.resolution import TagGap
from lockforge.standards.tags import tag_ranks, target_tags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.model.matrix import Target
    from lockforge.model.platforms import Floor

_FLOOR = re.compile(r"(?:manylinux|macosx)_(\d+)_(\d+)_")


def find_gap(version: str, triples: Sequence[str], target: Target) -> TagGap:
    """Say what the wheels of a public *version* lack, by their tags, none of which suits."""
    platform = target.row.platform
    known = {tag.platform for tag in target_tags(platform, target.python)}
    for_platform = [triple for triple in triples if known & set(_platforms(triple))]
    if for_platform:
        missing, floor = f"cp{target.python[0]}{target.python[1]}", ""
    else:
        wanted = _lowest_floor(triples, target)
        missing, floor = platform.name, ""
        if wanted is not None:
            missing, floor = (
                f"{platform.floor_key} {bound[0]}.{bound[1]}"
                for bound in (platform.floor, wanted)
                if bound is not None
            )
    told = for_platform or triples
    return TagGap(
        version=version,
        pythons=tuple(sorted({python for triple in told for python in _pythons(triple)})),
        platforms=tuple(sorted({one for triple in told for one in _platforms(triple)})),
        missing=missing,
        floor=floor,
    )


def _platforms(triple: str) -> list[str]:
    return triple.split("-")[2].split(".")


def _pythons(triple: str) -> list[str]:
    """List what a person calls the Pythons of a wheel: ``cp313t`` for ``cp313-cp313t``."""
    pythons, abi, _ = triple.split("-")
    if abi == f"{pythons}t":
        return [abi]
    return [f"{one}-{abi}" if abi.startswith("abi") else one for one in pythons.split(".")]


def _lowest_floor(triples: Sequence[str], target: Target) -> Floor | None:
    """Find the lowest floor of the platform with which one of the wheels would do."""
    platform = target.row.platform
    if platform.floor is None:
        return None
    stated = {
        (int(found[1]), int(found[2]))
        for triple in triples
        for found in map(_FLOOR.match, _platforms(triple))
        if found
    }
    for floor in sorted(one for one in stated if one > platform.floor):
        ranks = tag_ranks(replace(platform, floor=floor), target.python)
        if any(ranks.rank(triple) is not None for triple in triples):
            return floor
    return None
