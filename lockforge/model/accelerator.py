"""Accelerators: the hardware axis for which PEP 508 has no variable."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

Kind: TypeAlias = Literal["cpu", "cuda", "rocm", "xpu"]

# Two digits were enough up to CUDA 9.2; since then `cu13` is a slip for `cu130`.
_LABEL = re.compile(r"(?P<bare>cpu|xpu)|cu(?P<cuda>[89]\d|\d{3})|rocm(?P<rocm>\d+\.\d+(?:\.\d+)?)")


def is_label(text: str) -> bool:
    """Whether *text* is spelt as PyTorch spells an accelerator, known to the catalogue or not."""
    return _LABEL.fullmatch(text) is not None


def names_accelerator(extra: str) -> bool:
    """Whether an extra is how some accelerator is named, as ``rocm7-2`` is for ``rocm7.2``."""
    # A row may be named by `mps` too, although no build is.
    return extra == "mps" or is_label(extra.replace("-", "."))


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One build variant of the stack, named as PyTorch names it."""

    label: str

    def __post_init__(self) -> None:
        if not is_label(self.label):
            raise ValueError(f"not an accelerator label: {self.label!r}")

    @property
    def kind(self) -> Kind:
        match = _LABEL.fullmatch(self.label)
        assert match is not None
        if match["cuda"]:
            return "cuda"
        if match["rocm"]:
            return "rocm"
        return "xpu" if match["bare"] == "xpu" else "cpu"

    @property
    def version(self) -> tuple[int, ...]:
        """CUDA or ROCm version, ``()`` for the others: the last digit of ``cuNNN`` is the minor."""
        match = _LABEL.fullmatch(self.label)
        assert match is not None
        if match["cuda"]:
            return int(match["cuda"][:-1]), int(match["cuda"][-1])
        if match["rocm"]:
            return tuple(int(part) for part in match["rocm"].split("."))
        return ()

    @property
    def extra(self) -> NormalizedName:
        """The name this accelerator goes by in a lock's ``extras``."""
        # PEP 751 wants extras normalized: rocm6.4 is spelt rocm6-4 there. A label has no
        # other character that PEP 503 would change.
        return self.label.replace(".", "-")  # type: ignore[return-value]

    @property
    def preference(self) -> tuple[int, tuple[int, ...]]:
        """Sorts CUDA newest first, then ROCm, XPU, CPU."""
        order = ("cuda", "rocm", "xpu", "cpu").index(self.kind)
        # A patch release is newer than the minor that it patches: 6.2 counts as 6.2.0.
        return order, tuple(-part for part in (*self.version, 0, 0)[:3])
