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


def tell_kernels(label: str, *, served: str, lost: str, unknown: str, code: str) -> str:
    """Say which of a host's GPUs a build has kernels for, and what it has them for at all.

    Each argument is words, empty where there are none.
    """
    text = f"{label} has kernels for {served}" if served else label
    if lost:
        text += f", and none for {lost}" if served else f" has no kernels for {lost}"
    if unknown:
        doubt = f"has some for {unknown} is not known"
        text = f"{text}, and whether it {doubt}" if served or lost else f"whether {label} {doubt}"
    return f"{text}; its list is {code}" if code else text


def counted(names: Iterable[str]) -> str:
    """List names in order, each once: ``2 x A, B``."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(name if count == 1 else f"{count} x {name}" for name, count in counts.items())


def listed(names: Sequence[str]) -> str:
    """Join names as a sentence does: ``A, B and C``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
