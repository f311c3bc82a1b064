"""Reads `pci.ids`, the list of the PCI ID project."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEVICE = re.compile(r"\t(?P<id>[0-9a-f]{4})  (?P<text>.+)")
_BRACKETED = re.compile(r"(?P<chip>.*?)\s*\[(?P<name>.+)\]")


@dataclass(frozen=True, slots=True)
class Device:
    """One line of a vendor's devices, such as ``AD102 [GeForce RTX 4090]``."""

    id: str
    chip: str
    name: str | None
    """What stands in brackets."""

    @property
    def text(self) -> str:
        return self.chip if self.name is None else f"{self.chip} [{self.name}]"


def read_devices(text: str, vendor: str) -> Iterator[Device]:
    """List the devices of one vendor, in the order of the file."""
    inside = False
    for line in text.splitlines():
        if line[:1] not in {"", "#", "\t"}:
            inside = line.startswith(f"{vendor} ")
        elif inside and (match := _DEVICE.fullmatch(line)):
            named = _BRACKETED.fullmatch(match["text"])
            if named:
                yield Device(match["id"], named["chip"], named["name"])
            else:
                yield Device(match["id"], match["text"], None)
