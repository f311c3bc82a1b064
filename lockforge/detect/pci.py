"""Devices on the PCI bus, as Linux and Windows list them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockforge.detect.answers import Answers

NVIDIA = "10de"
AMD = "1002"
INTEL = "8086"

# The list has one device a `- ` in either of YAML's styles; reading the attributes alone is as
# right, cannot fail, and needs no parser of YAML to be loaded.
_ITEM = re.compile(r"^ {0,8}- ", re.MULTILINE)
_ATTRIBUTE = re.compile(
    r"""(?<![\w'"])(class|vendor|device|driver):[ ]*['"]?([^\s'",}]{1,80})""", re.ASCII
)
_HEX = re.compile(r"0x([0-9a-f]{4})(?:[0-9a-f]{2})?", re.ASCII)
_LSPCI = re.compile(
    r"\S{1,20} [^\[\n]{1,200} \[(?P<class>[0-9a-f]{4})\]: (?P<what>[^\n]{0,500})"
    r" \[(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})\]",
    re.ASCII,
)
_MARKETING_NAME = re.compile(r"\[([^\[\]]{1,200})\]$")
# Drivers that hold a device back for a virtual machine: it is out of this host's reach.
_GIVEN_AWAY = frozenset({"vfio-pci", "pci-stub", "xen-pciback"})
# Windows' generic driver gives its own name, which begins so in every language, to the device.
_GENERIC = "Microsoft "
_PNP = re.compile(r"PCI\\VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", re.ASCII | re.IGNORECASE)


class Device(NamedTuple):
    """One display device or accelerator on the bus."""

    vendor: str
    """Four lower-case digits, as is the next."""
    device: str
    name: str | None = None
    """The marketing name where the list has one."""
    driver_version: str | None = None
    """As Windows spells it, such as ``32.0.15.7283``."""


def read_devices(answers: Answers) -> tuple[Device, ...]:
    """Give the devices in the order of the bus, from the first source that lists any."""
    return (
        read_sysfs(answers.said("pci"))
        or read_lspci(answers.text("lspci"))
        or read_cim(answers.said("cim"))
    )


def of_vendor(devices: tuple[Device, ...], vendor: str) -> tuple[Device, ...]:
    """Give those of one vendor, in the same order."""
    return tuple(device for device in devices if device.vendor == vendor)


def read_sysfs(text: str) -> tuple[Device, ...]:
    """Read the attributes of each device in ``/sys/bus/pci/devices``."""
    return tuple(_sysfs_devices(text))


def _sysfs_devices(text: str) -> Iterator[Device]:
    for item in _ITEM.split(text)[1:]:
        found = dict(_ATTRIBUTE.findall(item))
        codes = [_code(found.get(key, "")) for key in ("class", "vendor", "device")]
        is_own = found.get("driver") not in _GIVEN_AWAY
        if is_own and all(codes) and _is_graphics(codes[0], codes[1]):
            yield Device(vendor=codes[1], device=codes[2])


def _code(text: str) -> str:
    match = _HEX.fullmatch(text.lower())
    return match[1] if match else ""


def read_lspci(text: str) -> tuple[Device, ...]:
    """Read ``lspci -nn``."""
    found = []
    for line in text.splitlines():
        match = _LSPCI.match(line)
        if match and _is_graphics(match["class"], match["vendor"]):
            name = _MARKETING_NAME.search(match["what"].strip())
            found.append(
                Device(vendor=match["vendor"], device=match["device"], name=name and name[1])
            )
    return tuple(found)


def _is_graphics(code: str, vendor: str) -> bool:
    # 03xx are display controllers: VGA, 3D and other. AMD's Instinct since MI300 are 1200,
    # "processing accelerators".
    return code.startswith("03") or (vendor == AMD and code.startswith("12"))


def read_cim(text: str) -> tuple[Device, ...]:
    """Read Win32_VideoController as PowerShell writes JSON: a list, or the one object itself."""
    found = []
    for adapter in _read_json_objects(text):
        match = _PNP.match(str(adapter.get("PNPDeviceID", "")))
        if match:
            name = _text(adapter.get("Name")) or ""
            found.append(
                Device(
                    vendor=match[1].lower(),
                    device=match[2].lower(),
                    name=None if name.startswith(_GENERIC) else name or None,
                    driver_version=_text(adapter.get("DriverVersion")),
                )
            )
    return tuple(found)


def _read_json_objects(text: str) -> list[dict[str, Any]]:
    # A warning may come before the document.
    start = re.search(r"[\[{]", text)
    if start is None:
        return []
    try:
        data, _ = json.JSONDecoder().raw_decode(text, start.start())
    except (ValueError, RecursionError):
        return []
    items = data if isinstance(data, list) else [data]
    return [item for item in items if isinstance(item, dict)]


def _text(value: object) -> str | None:
    return " ".join(value.split())[:200] or None if isinstance(value, str) else None
