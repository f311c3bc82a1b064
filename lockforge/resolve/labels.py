"""The local version of a GPU extension's wheel -> what it was built for.

There is no standard for it. Publishers write accelerator, torch and C++ ABI in an order and a
spelling of their own; these forms are in use: `cu128torch2.8cxx11abiTRUE` and `cu12torch2.8`
(flash-attn), `pt28cu128` (PyG), `torch2.8.0.cu128`, `pt2.8.0cu128`, `cu.12.8.torch.2.11`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from lockforge.model.accelerator import Accelerator, Kind

# PEP 440 has turned `-` and `_` into `.` and capitals into small letters.
_PART = re.compile(
    r"cu(?:da)?\.?(?:(?P<cuda>\d{1,2}\.\d{1,2})|(?P<cuda_digits>\d{2,3}))(?!\d)"
    r"|rocm\.?(?:(?P<rocm>\d+\.\d+(?:\.\d+)?)|(?P<rocm_digits>\d{1,3}))(?!\d)"
    r"|(?P<bare>cpu|xpu)"
    r"|(?:py)?(?:torch|pt)\.?(?:(?P<torch>\d+\.\d+(?:\.\d+)?)|(?P<torch_digits>\d{2,4}))(?!\d)"
    r"|cxx11\.?abi\.?(?P<abi>true|false|1|0)"
    r"|\."
)
_MENTIONS = re.compile(
    r"(?<![a-z])(?:cu(?:da)?\.?\d|rocm\.?\d|(?:py)?torch\.?\d|pt\.?\d|[cx]pu(?![a-z])|cxx11)"
)
# `cu12` is any CUDA 12, while `cu92` was CUDA 9.2.
_TWO_DIGIT_MAJORS = range(10, 20)
# https://download.pytorch.org/whl/torch/ has no torch 2.1 for a newer one.
_LAST_CUDA_OF_TORCH_2_1 = (12, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What a wheel was built for, as far as its local version says."""

    kind: Kind | None = None
    version: tuple[int, ...] = ()
    """CUDA or ROCm version; a major alone means any of its minors."""
    torch: tuple[int, ...] | None = None
    """``X.Y``, for any of its patch releases, or ``X.Y.Z``."""
    cxx11_abi: bool | None = None

    def suits(self, accelerator: Accelerator) -> bool:
        """Whether the wheel is for rows of *accelerator*."""
        if self.kind is None:
            return True
        own = accelerator.version
        return self.kind == accelerator.kind and (
            self.version == own or (len(self.version) == 1 and self.version == own[:1])
        )

    @property
    def accelerator(self) -> str:
        """The accelerator in PyTorch's spelling, as far as it is told."""
        joint = "." if self.kind == "rocm" else ""
        name = {"cuda": "cu", "rocm": "rocm"}.get(self.kind or "", self.kind or "any")
        return f"{name}{joint.join(map(str, self.version))}"

    @property
    def torch_limits(self) -> SpecifierSet | None:
        """The torch that the wheel works with, None where the label does not say."""
        if self.torch is None:
            return None
        text = ".".join(map(str, self.torch))
        return SpecifierSet(f"=={text}" if len(self.torch) > 2 else f"=={text}.*")  # noqa: PLR2004


def mentions_build(local: str) -> bool:
    """Whether a local version says anything of accelerator, torch or ABI, readable or not."""
    return _MENTIONS.search(local) is not None


@lru_cache(maxsize=4096)
def parse_label(local: str) -> Label | None:
    """Read a normalized local version; None where any part of it cannot be read."""
    at = 0
    found: dict[str, object] = {}
    while at < len(local):
        match = _PART.match(local, at)
        if match is None:
            return None
        for key, value in _read(match).items():
            if found.setdefault(key, value) != value:
                return None
        at = match.end()
    if "torch_digits" in found:
        torch = _torch(str(found.pop("torch_digits")), found.get("version", ()))
        if found.setdefault("torch", torch) != torch:
            return None
    return Label(**found) if found else None  # type: ignore[arg-type]


def _read(match: re.Match[str]) -> dict[str, object]:
    kind = match.lastgroup
    if kind is None:
        return {}
    return _READERS[kind](match[kind])


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def _torch(digits: str, cuda: object) -> tuple[int, ...]:
    """Split `28`, `251`, `113`, `2100` and `210` into a release.

    `210` is 2.1.0 beside a CUDA of its time, and 2.10 otherwise.
    """
    major, rest = int(digits[0]), digits[1:]
    is_old = major > 1 and isinstance(cuda, tuple) and () < cuda <= _LAST_CUDA_OF_TORCH_2_1
    if rest[0] == "1" and not is_old:
        return (major, int(rest[:2]), *map(int, rest[2:]))
    return (major, *map(int, rest))


def _cuda(digits: str) -> tuple[int, ...]:
    if len(digits) > 2:  # noqa: PLR2004
        return int(digits[:-1]), int(digits[-1])
    number = int(digits)
    return (number,) if number in _TWO_DIGIT_MAJORS else (number // 10, number % 10)


_READERS: dict[str, Callable[[str], dict[str, object]]] = {
    "cuda": lambda text: {"kind": "cuda", "version": _numbers(text)},
    "cuda_digits": lambda digits: {"kind": "cuda", "version": _cuda(digits)},
    "rocm": lambda text: {"kind": "rocm", "version": _numbers(text)},
    "rocm_digits": lambda digits: {"kind": "rocm", "version": tuple(map(int, digits))},
    "bare": lambda text: {"kind": text, "version": ()},
    "torch": lambda text: {"torch": _numbers(text)},
    "torch_digits": lambda digits: {"torch_digits": digits},
    "abi": lambda text: {"cxx11_abi": text in {"true", "1"}},
}
