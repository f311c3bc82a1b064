"""The rows that are locked, and how to tell from a lock that a row was locked right."""

import re
from dataclasses import dataclass
from typing import Self

TORCH = "2.12.1"
PYTHON = "3.12"

_PLATFORM_TAGS = {
    "linux": r"(?:many)?linux\w*_x86_64",
    "linux-aarch64": r"(?:many)?linux\w*_aarch64",
    "win": "win_amd64",
    "mac": r"macosx_\w+_arm64",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A platform and an accelerator, as lockforge names them."""

    platform: str
    accelerator: str

    @classmethod
    def parse(cls, name: str) -> Self:
        """Split `<platform>-<accelerator>`."""
        platform, _, accelerator = name.rpartition("-")
        return cls(platform=platform, accelerator=accelerator)

    def __str__(self) -> str:
        return f"{self.platform}-{self.accelerator}"

    def is_locked_in(self, lock: str) -> bool:
        """Tell whether the lock, whatever its format, lists this row's own torch wheel."""
        local = "" if self.platform == "mac" else rf"(?:\+|%2B){re.escape(self.accelerator)}"
        python = f"cp{PYTHON.replace('.', '')}"
        tag = _PLATFORM_TAGS[self.platform]
        wheel = rf"\btorch-{re.escape(TORCH)}{local}-{python}-{python}-{tag}\.whl"
        return re.search(wheel, lock) is not None


_THREE = ("linux-cu130", "win-cpu", "mac-cpu")
_TWELVE = (
    "linux-cpu",
    "linux-cu126",
    "linux-cu129",
    "linux-cu130",
    "linux-rocm7.2",
    "linux-xpu",
    "linux-aarch64-cpu",
    "linux-aarch64-cu130",
    "win-cpu",
    "win-cu130",
    "win-xpu",
    "mac-cpu",
)
ROW_SETS = {
    len(names): tuple(Row.parse(name) for name in names) for names in (_THREE[:1], _THREE, _TWELVE)
}
