"""Intel: family and support by PyTorch, from id and name in `pci.ids`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from device_tools.pci import Device, read_devices

if TYPE_CHECKING:
    from collections.abc import Iterator

# Linux, include/drm/intel/pciids.h: the first digits of a display device's id tell its generation.
GENERATIONS = {
    r"004[26]": "Gen5",
    r"01[012]": "Gen6",
    r"01[567]|0f3": "Gen7",
    r"04|0a|0d": "Gen7.5",
    r"16|22b": "Gen8",
    r"19|5a8": "Gen9",
    r"3e|59|318|87|9b": "Gen9.5",
    r"455|457|4e|8a|984": "Gen11",
}
XE_LP = {
    r"9a": "Tiger Lake",
    r"4c": "Rocket Lake",
    r"46": "Alder Lake",
    r"490": "DG1",
    r"a7[2-9a-f]": "Raptor Lake",
}
# docs.pytorch.org, "Getting Started on Intel GPU": Arc A and B, Data Center GPU Max, and the
# processors with the code names Meteor Lake-H, Arrow Lake-H, Lunar Lake and Panther Lake. Which ids
# are the H ones is told by Linux (above) and intel/compute-runtime: 7d40, 7d45 and 7d60 are
# Meteor Lake-U, 7d41 is Arrow Lake-U, 7d67 and b640 are Arrow Lake-S.
PROCESSORS = {
    r"7d55|7dd5": ("Meteor Lake-H", "supported"),
    r"7d4[05]|7d60": ("Meteor Lake-U", "unvalidated"),
    r"7d51|7dd1": ("Arrow Lake-H", "supported"),
    r"7d41": ("Arrow Lake-U", "unvalidated"),
    r"7d67|b640": ("Arrow Lake-S", "unvalidated"),
    r"6420|64[ab]0": ("Lunar Lake", "supported"),
    r"b0[89ab][0-9a-f]": ("Panther Lake", "supported"),
    r"fd8[01]": ("Wildcat Lake", "unvalidated"),
}
CARDS = {
    "DG2": ("Alchemist", "supported"),
    "Battlemage G21": ("Battlemage", "supported"),
    "Battlemage G31": ("Battlemage", "supported"),
}
_GRAPHICS = re.compile(r"graphics|iris|display", re.IGNORECASE)
_NO_GPU = re.compile(
    r"dram|audio|bridge|chipset|port|thermal|imaging|gaussian|management|hub|memory",
    re.IGNORECASE,
)
_BRAND = re.compile(r"(?:HD|UHD|Iris|Arc|Data)\b.*?(?= \(| Gen11| GPU$|$)")


def _short(name: str | None) -> str:
    """Give a product's name without what every one has: ``UHD Graphics 630`` is ``UHD 630``."""
    words = (name or "").replace("Graphics", " ").replace("Intel ", " ").split()
    found = _BRAND.search(" ".join(words))
    return found[0] if found else ""


def _first(table: dict[str, str], device: Device) -> str | None:
    return next((text for ids, text in table.items() if re.match(ids, device.id)), None)


def _card(device: Device) -> tuple[str, str] | None:
    """Tell a card with a memory of its own."""
    if device.chip in CARDS:
        code_name, support = CARDS[device.chip]
        product = _short(device.name)
        return support, f"{product} ({code_name})" if product.startswith("Arc ") else code_name
    if device.chip.startswith("Ponte Vecchio"):
        return "supported", device.name or "Data Center GPU Max"
    if device.chip == "ATS-M":
        return "unvalidated", device.name or "Data Center GPU Flex"
    return None


def _xe_lp(device: Device, family: str) -> tuple[str, str]:
    """Tell an Iris Xe, which has the execution units that a UHD of the time lacks."""
    product = _short(device.name or device.chip) or ("Graphics" if device.name else "UHD")
    # `Raptor Lake-P`, `TigerLake-LP`; what has no code name here is an Alder Lake-P.
    part = re.search(r"Lake-(\w+)", device.chip)
    suffix = f"-{part[1]}" if part else "-P"
    many = "Iris" in product or (family == "Raptor Lake" and product == "Graphics")
    place = family if family == "DG1" else family + suffix
    return "unvalidated" if many else "unsupported", f"{place} {product}"


def _tell(device: Device) -> tuple[str, str] | None:
    if card := _card(device):
        return card
    for ids, (processor, support) in PROCESSORS.items():
        if re.fullmatch(ids, device.id):
            return support, f"{processor} {_short(device.name or device.chip) or 'Graphics'}"
    if not _GRAPHICS.search(device.text) or _NO_GPU.search(device.text):
        return None
    if family := _first(XE_LP, device):
        return _xe_lp(device, family)
    if generation := _first(GENERATIONS, device):
        return "unsupported", f"{generation} {_short(device.name or device.chip) or 'HD'}"
    return None


def make_table(pci_ids: str) -> Iterator[str]:
    """Give the lines: id, support by PyTorch, family."""
    for device in read_devices(pci_ids, "8086"):
        if found := _tell(device):
            yield "\t".join((device.id, *found))
