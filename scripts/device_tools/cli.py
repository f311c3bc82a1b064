"""The command line of `update_devices`."""

from __future__ import annotations

import argparse
from pathlib import Path

from device_tools import amd, intel, nvidia

DATA = Path(__file__).resolve().parents[2] / "lockforge" / "data"
PCI_IDS = "pci.ids of the PCI ID project (https://github.com/pciutils/pciids), {version}"
SOURCES = {
    "nvidia-devices": (
        "NVIDIA's GPUs: device id, compute capability, name.",
        PCI_IDS,
        "capability of each chip: https://developer.nvidia.com/cuda-gpus",
    ),
    "nvidia-names": (
        "NVIDIA's GPUs: name, compute capability; the lowest where several chips have the name.",
        PCI_IDS,
        "names of the driver: README of https://github.com/NVIDIA/open-gpu-kernel-modules",
    ),
    "amd-devices": (
        "AMD's GPUs: device id, architecture, kind, name.",
        PCI_IDS,
        "architecture of each chip: https://llvm.org/docs/AMDGPUUsage.html#processors",
    ),
    "intel-devices": (
        "Intel's display devices: device id, support by PyTorch's XPU builds, family.",
        PCI_IDS,
        "support: https://docs.pytorch.org/docs/2.15/notes/get_start_xpu.html",
    ),
}


def _version(pci_ids: str) -> str:
    line = next(line for line in pci_ids.splitlines() if line.startswith("#\tVersion:"))
    return line.removeprefix("#\tVersion:").strip()


def main() -> int:
    """Write the four tables of devices."""
    parser = argparse.ArgumentParser(prog="update_devices", description=main.__doc__)
    parser.add_argument("pci_ids", type=Path, help="pci.ids of the PCI ID project")
    parser.add_argument("readme", type=Path, help="README.md of NVIDIA/open-gpu-kernel-modules")
    asked = parser.parse_args()
    pci_ids = asked.pci_ids.read_text("utf-8")
    devices, names = nvidia.make_tables(pci_ids, asked.readme.read_text("utf-8"))
    tables = {
        "nvidia-devices": devices,
        "nvidia-names": names,
        "amd-devices": list(amd.make_table(pci_ids)),
        "intel-devices": list(intel.make_table(pci_ids)),
    }
    for name, lines in tables.items():
        about, *sources = SOURCES[name]
        head = [f"# {about}", *(f"# Source: {one}" for one in sources)]
        text = "\n".join([*head, *lines, ""]).format(version=_version(pci_ids))
        (DATA / f"{name}.tsv").write_text(text, "utf-8")
        print(f"{name}: {len(lines)} lines")
    return 0
