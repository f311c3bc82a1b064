"""What is judged for a host, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from packaging.version import Version

    from lockforge.model.accelerator import Accelerator
    from lockforge.model.platforms import Platform
    from lockforge.model.python import PythonMinor

Status: TypeAlias = Literal["usable", "partial", "refused"]

FALLBACK = "a fallback: "
"""Begins the reason of a row for the CPU that is taken in place of one for a GPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What a host may be given: a row of a lock, or an accelerator of the catalogue."""

    name: str
    """The row's name, or the accelerator's label where there is no lock."""
    accelerator: Accelerator
    platform: Platform
    """With the row's own floor."""
    pythons: tuple[PythonMinor, ...]
    torch: Version | None
    """The oldest of the row; None for a row without torch."""
    other_torches: tuple[Version, ...] = ()
    """The newer ones of a row whose Pythons do not all have the same."""
    size: int | None = None
    """Bytes to download where a lock tells them."""
    locked: bool = False
    """Whether this is a row of a lock."""
    min_driver: str | None = None
    """What the lock recorded, as are the next two, for accelerators the catalogue does not know."""
    gpu_architectures: tuple[str, ...] = ()
    gpu_ptx: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether one build serves a host, and why."""

    build: Build
    status: Status
    """``partial``: it has kernels for some of the GPUs that are visible, and not for all."""
    reason: str
    """One sentence, without a full stop at its end."""
    sources: tuple[str, ...] = ()
    """The catalogue's keys of where what *reason* says of the build is from."""
    forced: bool = False
    """Whether the user takes it although it is not usable."""
    forcible: bool = False
    """Whether it is for the host's platform, so that its files can be installed at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the user asked for in place of the best."""

    by: str
    """``--row``, ``--force-row``, ``LOCKFORGE_ROW`` or ``UV_TORCH_BACKEND``."""
    row: str | None = None
    accelerator: str | None = None
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The builds as judged for one host."""

    verdicts: tuple[Verdict, ...]
    """In order of preference."""
    best: Verdict | None
    """What would be installed: what the user wanted if that goes, else the first usable."""
    wanted: Wanted | None = None
