"""How the sentences on a host's devices name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lockforge.model.machine import AmdGpu, IntelGpu, NvidiaGpu


def name_nvidia(gpus: Iterable[NvidiaGpu]) -> str:
    """Name GPUs with their compute capabilities, those that are alike together."""
    return counted(
        f"{gpu.name or 'NVIDIA GPU'} ({gpu.compute_cap or 'unknown capability'})" for gpu in gpus
    )


def name_amd(gpus: Iterable[AmdGpu]) -> str:
    """Name GPUs by their architecture, else by what is known of them."""
    return counted(_name_amd(gpu) for gpu in gpus)


def _name_amd(gpu: AmdGpu) -> str:
    if gpu.gfx is None:
        return f"{gpu.name or 'AMD GPU'} ({gpu.pci_id or 'unknown architecture'})"
    return f"{gpu.gfx} ({gpu.name})" if gpu.name else gpu.gfx


def name_intel(gpus: Iterable[IntelGpu]) -> str:
    """Name display devices by family and PCI id."""
    return counted(f"{gpu.family or 'Intel GPU'} ({gpu.pci_id})" for gpu in gpus)


def counted(names: Iterable[str]) -> str:
    """List names in order, each once: ``2 x A, B``."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(name if count == 1 else f"{count} x {name}" for name, count in counts.items())


def listed(names: Sequence[str]) -> str:
    """Join names as a sentence does: ``A, B and C``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
