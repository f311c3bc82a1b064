"""NVIDIA: the chip in a line of `pci.ids` gives the compute capability of the device."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from device_tools.pci import Device, read_devices
from lockforge.devices import name_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# NVIDIA, CUDA C++ Programming Guide, "Compute Capabilities", and https://developer.nvidia.com/cuda-gpus.
CHIPS = {
    r"GF1(00|10)": "2.0",
    r"GF1(04|06|08|14|16|17|19)": "2.1",
    r"GK10[467]": "3.0",
    r"GK1(10|80)": "3.5",
    r"GK208": "3.5",
    r"GK210": "3.7",
    r"GM10[78]": "5.0",
    r"GM20[046]": "5.2",
    r"GP100": "6.0",
    r"GP10[24678]": "6.1",
    r"GV100": "7.0",
    r"TU1(02|04|06|16|17)": "7.5",
    r"GA100": "8.0",
    r"GA10[23467]": "8.6",
    r"AD10[23467]": "8.9",
    r"GH100": "9.0",
    r"GB10[02]": "10.0",
    r"GB110": "10.3",
    r"GB10B": "11.0",
    r"GB20[23567]": "12.0",
    r"GB20B": "12.1",
}
# A letter behind it is a variant of the chip, but for GB10B and GB20B.
_CHIP = re.compile(r"[A-Z]{2}\d{2}[0-9A-F]")
_NO_GPU = re.compile(r"audio|usb|ucsi|bridge|controller|reserved|nvswitch", re.IGNORECASE)
# A GeForce GT 1030 with a GK107, which NVIDIA never made.
_MISTAKEN = frozenset({"0fc5"})
_PRODUCT = re.compile(r"\|\s*(?P<name>\S.*?)\s*\|\s*(?P<id>[0-9A-F]{4})\b.*\|")

# What a driver calls a GPU for which `pci.ids` has another name or none: Jetsons, whose GPU is no
# PCI device, and the boards in the names of NVIDIA's virtual GPU types (NVIDIA vGPU User Guide).
OTHER_NAMES = {
    "Tegra X1": "5.3",
    "Tegra X2": "6.2",
    "Xavier": "7.2",
    "Orin": "8.7",
    "Thor": "11.0",
    "GRID P100X": "6.0",
    "GRID P100C": "6.0",
    "GRID V100D": "7.0",
    "GRID V100DX": "7.0",
    "GRID V100L": "7.0",
    "GRID V100S": "7.0",
    "GRID V100X": "7.0",
    "GRID RTX6000": "7.5",
    "GRID RTX6000P": "7.5",
    "GRID RTX8000": "7.5",
    "GRID RTX8000P": "7.5",
    "GRID A100D": "8.0",
    "GRID A100DX": "8.0",
    "GRID A100X": "8.0",
    "NVIDIA H100L": "9.0",
    "NVIDIA H100XL": "9.0",
    "NVIDIA H100XM": "9.0",
    "NVIDIA H100XS": "9.0",
    "TITAN X (Pascal)": "6.1",
}


def _capability(device: Device) -> str | None:
    chip = _CHIP.match(device.chip)
    if chip is None or _NO_GPU.search(device.text) or device.id in _MISTAKEN:
        return None
    caps = (cap for pattern, cap in CHIPS.items() if re.fullmatch(pattern, chip[0]))
    return next(caps, None)


def split_names(text: str) -> Iterator[str]:
    """List the products that share one device: ``Quadro RTX 6000/8000`` are two."""
    for part in text.split(" / "):
        first, *others = part.split("/")
        yield first
        before = first.rpartition(" ")[0]
        for other in others:
            yield f"{before} {other}".strip()
            # Some of these stand for themselves: `GeForce GTX 680/Quadro K5000`.
            yield other


def _names(devices: Iterable[tuple[Device, str]], readme: str) -> Iterator[tuple[str, str]]:
    known = {device.id: cap for device, cap in devices}
    for device, cap in devices:
        for name in split_names(device.name or ""):
            yield name, cap
    for line in readme.splitlines():
        if (match := _PRODUCT.fullmatch(line)) and (found := known.get(match["id"].lower())):
            yield match["name"], found
    yield from OTHER_NAMES.items()


def make_tables(pci_ids: str, readme: str) -> tuple[list[str], list[str]]:
    """Give the lines of both tables: devices by id, and capabilities by name."""
    devices = [
        (device, cap) for device in read_devices(pci_ids, "10de") if (cap := _capability(device))
    ]
    lines = [f"{one.id}\t{cap}\t{one.name or one.chip}" for one, cap in devices]
    lowest: dict[str, tuple[str, str]] = {}
    for name, cap in _names(devices, readme):
        key = name_key(name)
        # A bare number or brand is the rest of a name that was cut wrongly.
        if not re.search(r"[a-z]", key) or not re.search(r"\d|titan|orin|thor|xavier", key):
            continue
        if key not in lowest or float(cap) < float(lowest[key][1]):
            lowest[key] = (name, cap)
    return lines, sorted(f"{name}\t{cap}" for name, cap in lowest.values())
