"""AMD: the code name in a line of `pci.ids` gives the architecture."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from device_tools.pci import Device, read_devices

if TYPE_CHECKING:
    from collections.abc import Iterator

# LLVM, "User Guide for AMDGPU Backend", processors; Linux, drivers/gpu/drm/amd/amdkfd/kfd_device.c.
DISCRETE = {
    r"Tahiti": "gfx600",
    r"Pitcairn|Cape Verde|Curacao": "gfx601",
    r"Oland|Hainan": "gfx602",
    r"Hawaii": "gfx701",
    r"Bonaire": "gfx704",
    r"Tonga|Topaz": "gfx802",
    r"Fiji|Ellesmere|Baffin|Polaris ?\d\d|Lexa": "gfx803",
    r"Vega 10": "gfx900",
    r"Vega 12": "gfx904",
    r"Vega 20": "gfx906",
    r"Arcturus": "gfx908",
    r"Aldebaran": "gfx90a",
    r"Navi 10": "gfx1010",
    r"Navi 12": "gfx1011",
    r"Navi 14": "gfx1012",
    r"Navi 21": "gfx1030",
    r"Navi 22": "gfx1031",
    r"Navi 23": "gfx1032",
    r"Navi 24": "gfx1034",
    r"Navi 31": "gfx1100",
    r"Navi 32": "gfx1101",
    r"Navi 33": "gfx1102",
    r"Navi 44": "gfx1200",
    r"Navi 48": "gfx1201",
}
INTEGRATED = {
    r"Kaveri": "gfx700",
    r"Kabini|Mullins": "gfx703",
    r"Carrizo|Wani": "gfx801",
    r"Stoney": "gfx810",
    # Raven 2 is gfx909, and has the id of Picasso.
    r"Picasso/Raven 2": "-",
    r"Raven Ridge": "gfx902",
    r"Renoir|Cezanne|Lucienne|Barcelo": "gfx90c",
    r"Van ?Gogh|Sephiroth": "gfx1033",
    r"Rembrandt": "gfx1035",
    # Linux before 6.0 called Mendocino gfx1037, which LLVM has not.
    r"Raphael|Granite Ridge|Mendocino": "gfx1036",
    r"Phoenix|Hawk ?Point": "gfx1103",
    r"Strix Halo": "gfx1151",
    r"Strix": "gfx1150",
    r"Krackan2": "gfx1153",
    r"Krackan": "gfx1152",
}
# `pci.ids` calls all of these Aqua Vanjaram, the first of them.
INSTINCT = {"74": "gfx942", "75": "gfx950"}
_NO_GPU = re.compile(r"audio|usb|bridge|hdmi|port|crypto|controller", re.IGNORECASE)


def _architecture(device: Device) -> tuple[str, str] | None:
    if _NO_GPU.search(device.text):
        return None
    if device.chip == "Aqua Vanjaram":
        return INSTINCT[device.id[:2]], "discrete"
    for kind, chips in (("discrete", DISCRETE), ("integrated", INTEGRATED)):
        for pattern, gfx in chips.items():
            if re.match(pattern, device.chip):
                return gfx, kind
    return None


def make_table(pci_ids: str) -> Iterator[str]:
    """Give the lines: id, architecture, kind, name."""
    for device in read_devices(pci_ids, "1002"):
        if found := _architecture(device):
            gfx, kind = found
            yield f"{device.id}\t{gfx}\t{kind}\t{device.name or device.chip}"
