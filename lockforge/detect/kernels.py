"""Which GPUs a CUDA build has code for.

Compiled code for X.z runs on a GPU of X.y where z <= y. PTX for X.z runs on every GPU of X.z and
newer, where the driver can compile it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from packaging.version import Version

    from lockforge.catalog import Catalog
    from lockforge.model.choice import Build

_PAIR = re.compile(r"(\d{1,9})\.(\d{1,9})", re.ASCII)
_NUMBERS = re.compile(r"\d{1,9}(?:\.\d{1,9})*", re.ASCII)


class Kernels(NamedTuple):
    """What one torch of a build was compiled for."""

    architectures: tuple[str, ...]
    ptx: tuple[str, ...]
    told_by: str
    """Whose list this is, in words."""

    def covering(self, capability: str | None, *, ptx: bool) -> str | None:
        """Name the code that a GPU of *capability* runs; None where there is none.

        *ptx* says whether the driver surely compiles what there is of it.
        """
        have = parse_capability(capability)
        if have is None:
            return None
        same = [pair for pair in _pairs(self.architectures) if pair[0] == have[0] and pair <= have]
        if same:
            return "code for {}.{}".format(*max(same))
        older = [pair for pair in _pairs(self.ptx) if pair <= have]
        return "PTX of {}.{}".format(*max(older)) if ptx and older else None


def parse_capability(text: str | None) -> tuple[int, int] | None:
    """Read ``8.6``; None for anything else."""
    match = _PAIR.fullmatch(text or "")
    return match and (int(match[1]), int(match[2]))


def parse_numbers(text: str | None) -> tuple[int, ...] | None:
    """Read ``525.60.13`` as numbers, which is how versions of drivers compare."""
    return tuple(map(int, text.split("."))) if text and _NUMBERS.fullmatch(text) else None


def _pairs(texts: Iterable[str]) -> Iterator[tuple[int, int]]:
    for text in texts:
        if (pair := parse_capability(text)) is not None:
            yield pair


def torches_of(build: Build, catalog: Catalog) -> tuple[Version, ...]:
    """Give the torches of *build*, the oldest first; the newest known for one that has none."""
    torch = build.torch or catalog.newest_torch(build.accelerator, build.platform)
    return () if torch is None else (torch, *build.other_torches)


def kernels_of(build: Build, catalog: Catalog) -> tuple[Kernels, ...]:
    """Give the kernels of each torch of *build*; nothing where those of any are not known."""
    found = [_known(build, one, catalog) for one in torches_of(build, catalog)]
    if found and all(found):
        return tuple(dict.fromkeys(one for one in found if one is not None))
    return _recorded(build)


def sources_of(build: Build, catalog: Catalog) -> tuple[str, ...]:
    """Give the catalogue's keys of where the needs of *build* and its kernels are from."""
    torches = torches_of(build, catalog)
    facts = [catalog.gpu_architectures(build.accelerator, one, build.platform) for one in torches]
    keys = [None if fact is None else fact.source for fact in facts]
    keys.append(catalog.accelerator_source(build.accelerator))
    return tuple(dict.fromkeys(key for key in keys if key is not None))


def _known(build: Build, torch: Version, catalog: Catalog) -> Kernels | None:
    fact = catalog.gpu_architectures(build.accelerator, torch, build.platform)
    if fact is None:
        return None
    minor = f"{torch.major}.{torch.minor}"
    told = f"torch {minor}'s list"
    if fact.judged_by is not None:
        told = f"torch {fact.judged_by}'s list, taken for {minor}"
    return Kernels(architectures=fact.architectures, ptx=fact.ptx, told_by=told)


def _recorded(build: Build) -> tuple[Kernels, ...]:
    """Give what the lock recorded, where it cannot be that of one torch of several."""
    # An older lock has those of the oldest, and a newer torch may have dropped some.
    if not build.gpu_architectures or build.other_torches:
        return ()
    return (
        Kernels(
            architectures=build.gpu_architectures,
            # It is in the wheels for Linux only.
            ptx=build.gpu_ptx if build.platform.system == "linux" else (),
            told_by="the list in the lock",
        ),
    )
