"""Devices by PCI id or name, and distributions: what a host's texts leave out.

Each answer is None where the tables do not know. A table is read when it is first asked, so that
a host pays for no vendor whose hardware it lacks. `scripts/update_devices` writes the tables of
devices; each says at its top where its facts are from.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pkgutil import get_data
from typing import Literal, NamedTuple, TypeAlias

XpuSupport: TypeAlias = Literal["supported", "unvalidated", "unsupported"]

# `L4-12Q`, `A100-20C`, `A100-1-5CME`: size and kind of a virtual GPU, after the slices of a MIG
# device if it has one.
_VGPU = re.compile(r"-(?:\d+-)?\d+[ABCQ](?:ME)?$", re.IGNORECASE)
_MIG = re.compile(r"\s+MIG\s.*$", re.IGNORECASE)
_RTX = re.compile(r"\brtx(?=a?\d)")
_MEMORY = re.compile(r"\d+gb?")
_FORM = re.compile(r"(?:sxm|hbm)\d*e?")
_SEPARATORS = str.maketrans("-/()", "    ")
# Words that stand in one spelling of a product's name and not in another. None of them tells two
# chips apart: where the words left over name several, the lowest capability is the answer.
_FILLERS = frozenset(
    {"nvidia", "geforce", "tesla", "grid", "gpu", "nvgpu", "laptop", "mobile", "maxq", "with"}
    | {"design", "generation", "edition", "collectors", "ceo", "refresh", "oem", "active"}
    | {"pcie", "nvl", "pascal"}
)


class KnownNvidia(NamedTuple):
    """One of NVIDIA's devices."""

    name: str
    compute_cap: str


class KnownAmd(NamedTuple):
    """One of AMD's devices."""

    name: str
    gfx: str | None
    """None where one id stands for chips of several architectures."""
    integrated: bool


class KnownIntel(NamedTuple):
    """One of Intel's display devices."""

    family: str
    xpu: XpuSupport
    """``unvalidated`` for what may run but is not on PyTorch's list of validated hardware."""


@lru_cache(maxsize=8)
def _rows(table: str) -> dict[str, tuple[str, ...]]:
    """Read one table: the first column, and the others of its row."""
    text = get_data("lockforge", f"data/{table}.tsv")
    assert text is not None
    lines = (line.split("\t") for line in text.decode().splitlines() if not line.startswith("#"))
    return {first: tuple(others) for first, *others in lines}


def nvidia_gpu(device_id: str) -> KnownNvidia | None:
    """Give the GPU with a PCI device id, four lower-case hexadecimal digits."""
    row = _rows("nvidia-devices").get(device_id)
    return KnownNvidia(compute_cap=row[0], name=row[1]) if row else None


def name_key(name: str) -> str:
    """Reduce a product's name to what all spellings of it share."""
    text = _VGPU.sub("", _MIG.sub("", name.strip())).lower()
    text = _RTX.sub("rtx ", text.replace("max-q", "maxq")).translate(_SEPARATORS)
    return " ".join(
        word
        for word in text.split()
        if not (word in _FILLERS or _MEMORY.fullmatch(word) or _FORM.fullmatch(word))
    )


@lru_cache(maxsize=1)
def _capabilities() -> dict[str, str]:
    return {name_key(name): row[0] for name, row in _rows("nvidia-names").items()}


def nvidia_compute_cap(name: str) -> str | None:
    """Give the capability of the GPU that a driver or `lspci` calls *name*.

    The lowest one where several chips were sold under the name.
    """
    return _capabilities().get(name_key(name))


def amd_gpu(device_id: str) -> KnownAmd | None:
    """Give the GPU with a PCI device id, four lower-case hexadecimal digits."""
    row = _rows("amd-devices").get(device_id)
    if row is None:
        return None
    gfx, kind, name = row
    return KnownAmd(name=name, gfx=None if gfx == "-" else gfx, integrated=kind == "integrated")


@lru_cache(maxsize=1)
def _kinds() -> dict[str, set[str]]:
    # What Linux before 6.0 calls a gfx1036.
    kinds: dict[str, set[str]] = {"gfx1037": {"integrated"}}
    for gfx, kind, _ in _rows("amd-devices").values():
        kinds.setdefault(gfx, set()).add(kind)
    return kinds


def is_integrated(gfx: str) -> bool | None:
    """Whether GPUs of an architecture are part of a processor; None where only some are."""
    kinds = _kinds().get(gfx, set())
    return kinds == {"integrated"} if len(kinds) == 1 and gfx != "-" else None


def intel_gpu(device_id: str) -> KnownIntel | None:
    """Give the display device with a PCI device id, four lower-case hexadecimal digits."""
    row = _rows("intel-devices").get(device_id)
    if row is None:
        return None
    xpu: XpuSupport = "unvalidated"
    if row[0] == "supported":
        xpu = "supported"
    elif row[0] == "unsupported":
        xpu = "unsupported"
    return KnownIntel(family=row[1], xpu=xpu)


@lru_cache(maxsize=1)
def _glibcs() -> dict[tuple[str, str], str]:
    return {
        (name, version): row[0]
        for key, row in _rows("glibc").items()
        for version, _, names in (key.partition(" "),)
        for name in names.split()
    }


def glibc_of(distribution_id: str, version_id: str | None) -> str | None:
    """Give the glibc of a distribution, by ``ID`` and ``VERSION_ID`` of its os-release.

    None for a distribution without glibc, too. One without releases has that of the table's date.
    """
    known = _glibcs()
    version = version_id or "rolling"
    for asked in (version, version.partition(".")[0], "rolling"):
        if found := known.get((distribution_id, asked)):
            return found
    return None
