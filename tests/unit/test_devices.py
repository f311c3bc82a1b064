"""The device tables: what a PCI id, a name or a distribution stands for."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockforge.devices import (
    KnownAmd,
    KnownIntel,
    KnownNvidia,
    amd_gpu,
    glibc_of,
    intel_gpu,
    is_integrated,
    nvidia_compute_cap,
    nvidia_gpu,
)

# https://developer.nvidia.com/cuda-gpus and its list of legacy GPUs, under the names that
# nvidia-smi, lspci and Windows print.
CAPABILITIES = [
    ("Tesla T4", "7.5"),
    ("NVIDIA Tesla T4", "7.5"),
    ("NVIDIA GeForce RTX 3050 Laptop GPU", "8.6"),
    ("GeForce RTX 3050 Mobile", "8.6"),
    ("NVIDIA GeForce RTX 3050 6GB Laptop GPU", "8.6"),
    ("NVIDIA A100-SXM4-80GB", "8.0"),
    ("NVIDIA A100 80GB PCIe", "8.0"),
    ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "8.0"),
    ("NVIDIA A30", "8.0"),
    ("NVIDIA A10G", "8.6"),
    ("NVIDIA A16", "8.6"),
    ("NVIDIA A2", "8.6"),
    ("NVIDIA A40", "8.6"),
    ("NVIDIA L4", "8.9"),
    ("NVIDIA L40S", "8.9"),
    ("NVIDIA H100 80GB HBM3", "9.0"),
    ("NVIDIA H100 PCIe", "9.0"),
    ("NVIDIA H100 NVL", "9.0"),
    ("NVIDIA H200", "9.0"),
    ("NVIDIA GH200 480GB", "9.0"),
    ("NVIDIA B200", "10.0"),
    ("NVIDIA GB200", "10.0"),
    ("NVIDIA B300 SXM6 AC", "10.3"),
    ("NVIDIA GB300", "10.3"),
    ("NVIDIA GB10", "12.1"),
    ("NVIDIA Thor", "11.0"),
    ("Orin (nvgpu)", "8.7"),
    ("Quadro RTX 6000", "7.5"),
    ("NVIDIA RTX A6000", "8.6"),
    ("NVIDIA RTX 6000 Ada Generation", "8.9"),
    ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "12.0"),
    ("NVIDIA RTX A1000 6GB Laptop GPU", "8.6"),
    ("NVIDIA RTX 500 Ada Generation Laptop GPU", "8.9"),
    ("NVIDIA T400", "7.5"),
    ("NVIDIA T1000 8GB", "7.5"),
    ("GeForce GTX 1650 Mobile / Max-Q", "7.5"),
    ("NVIDIA GeForce RTX 2080 with Max-Q Design", "7.5"),
    ("NVIDIA GeForce RTX 2050", "8.6"),
    ("NVIDIA GeForce MX450", "7.5"),
    ("NVIDIA GeForce MX550", "7.5"),
    ("NVIDIA GeForce MX570", "8.6"),
    ("GeForce MX150", "6.1"),
    ("GeForce GT 1030", "6.1"),
    ("GeForce GTX 1080 Ti", "6.1"),
    ("GeForce GTX 1060 6GB", "6.1"),
    ("GeForce GTX TITAN X", "5.2"),
    ("TITAN X (Pascal)", "6.1"),
    ("NVIDIA TITAN V", "7.0"),
    ("NVIDIA TITAN RTX", "7.5"),
    ("GeForce GTX 970", "5.2"),
    ("GeForce 940MX", "5.0"),
    ("NVIDIA GeForce RTX 4090", "8.9"),
    ("NVIDIA GeForce RTX 5080", "12.0"),
    ("NVIDIA GeForce RTX 5090 Laptop GPU", "12.0"),
    ("Tesla V100-SXM2-16GB", "7.0"),
    ("Tesla V100S-PCIE-32GB", "7.0"),
    ("Tesla P100-PCIE-16GB", "6.0"),
    ("Tesla P40", "6.1"),
    ("Tesla M60", "5.2"),
    ("Tesla K80", "3.7"),
    ("Tesla K40m", "3.5"),
    ("Quadro K4000", "3.0"),
    ("Quadro P4000", "6.1"),
    ("Quadro GV100", "7.0"),
]
VIRTUAL = [
    ("NVIDIA L4-12Q", "8.9"),
    ("GRID T4-16Q", "7.5"),
    ("NVIDIA A100-1-5C", "8.0"),
    ("NVIDIA A100-1-5CME", "8.0"),
    ("GRID A100D-80C", "8.0"),
    ("GRID V100DX-32Q", "7.0"),
    ("GRID RTX6000-8Q", "7.5"),
    ("NVIDIA RTXA6000-48Q", "8.6"),
    ("NVIDIA RTX6000-Ada-48Q", "8.9"),
]


@pytest.mark.parametrize(("name", "capability"), [*CAPABILITIES, *VIRTUAL])
def test_capability_by_name(name: str, capability: str) -> None:
    """A GPU is known under every name it goes by, whole or as part of a virtual machine."""
    assert nvidia_compute_cap(name) == capability


@pytest.mark.parametrize(
    ("name", "lowest"),
    [
        # GK104 or GM107; GF108, GK107 or GK208; GK106 or GM107.
        ("GeForce GTX 860M", "3.0"),
        ("GeForce GT 730", "2.1"),
        ("GeForce GTX 750 Ti", "3.0"),
    ],
)
def test_several_chips_under_one_name(name: str, lowest: str) -> None:
    """Where one name was sold with several chips, no more is promised than the oldest can."""
    assert nvidia_compute_cap(name) == lowest


@pytest.mark.parametrize(
    "name",
    [
        "",
        "NVIDIA",
        "NVIDIA GeForce",
        "NVIDIA Graphics Device",
        "Device",
        "NVIDIA GeForce RTX 6090",
        "NVIDIA RTX A40000",
        "NVIDIA T4000",
        "NVIDIA L400",
        "NVIDIA H1000",
        "NVIDIA PG506-230",
        "AMD Radeon RX 7900 XTX",
        "Ⅻ\x00\ufffd",
    ],
)
def test_unknown_names(name: str) -> None:
    """A name that only begins like a known one says nothing."""
    assert nvidia_compute_cap(name) is None


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        # As lspci prints them, with the capabilities of NVIDIA's list.
        ("1eb8", KnownNvidia(name="Tesla T4", compute_cap="7.5")),
        ("25a2", KnownNvidia(name="GeForce RTX 3050 Mobile", compute_cap="8.6")),
        ("2204", KnownNvidia(name="GeForce RTX 3090", compute_cap="8.6")),
        ("2684", KnownNvidia(name="GeForce RTX 4090", compute_cap="8.9")),
        ("1f91", KnownNvidia(name="GeForce GTX 1650 Mobile / Max-Q", compute_cap="7.5")),
        ("20b7", KnownNvidia(name="A30 PCIe", compute_cap="8.0")),
        ("102d", KnownNvidia(name="Tesla K80", compute_cap="3.7")),
        ("2b00", KnownNvidia(name="Jetson AGX Thor", compute_cap="11.0")),
        # Audio of an RTX 4090, and a switch between GPUs.
        ("22ba", None),
        ("22a3", None),
        ("ffff", None),
        ("", None),
    ],
)
def test_nvidia_by_id(device: str, expected: KnownNvidia | None) -> None:
    """A device id gives name and capability, and nothing for what is no GPU."""
    assert nvidia_gpu(device) == expected


@pytest.mark.parametrize(
    ("device", "gfx", "integrated"),
    [
        # ROCm's list of GPU specifications, and LLVM's of processors.
        ("744c", "gfx1100", False),
        ("747e", "gfx1101", False),
        ("7480", "gfx1102", False),
        ("7550", "gfx1201", False),
        ("7551", "gfx1201", False),
        ("7590", "gfx1200", False),
        ("73bf", "gfx1030", False),
        ("73df", "gfx1031", False),
        ("731f", "gfx1010", False),
        ("66af", "gfx906", False),
        ("687f", "gfx900", False),
        ("67df", "gfx803", False),
        ("738c", "gfx908", False),
        ("740f", "gfx90a", False),
        ("74a1", "gfx942", False),
        ("75a3", "gfx950", False),
        ("164e", "gfx1036", True),
        ("13c0", "gfx1036", True),
        # Linux, kfd_device.c: GC 10.3.7 has the architecture of 10.3.6.
        ("1506", "gfx1036", True),
        ("1114", "gfx1152", True),
        ("1902", "gfx1153", True),
        ("15bf", "gfx1103", True),
        ("150e", "gfx1150", True),
        ("1586", "gfx1151", True),
        ("1681", "gfx1035", True),
        ("163f", "gfx1033", True),
        ("1638", "gfx90c", True),
        # Picasso or Raven 2.
        ("15d8", None, True),
    ],
)
def test_amd_by_id(device: str, gfx: str | None, integrated: bool) -> None:  # noqa: FBT001
    """A device id gives the architecture and whether the GPU is part of a processor."""
    found = amd_gpu(device)
    assert found is not None
    assert (found.gfx, found.integrated) == (gfx, integrated)


def test_amd_names() -> None:
    """AMD's GPUs have the names that lspci prints; their audio devices are none."""
    assert amd_gpu("744c") == KnownAmd(
        name="Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M", gfx="gfx1100", integrated=False
    )
    assert [amd_gpu(device) for device in ("ab30", "7446", "ffff")] == [None, None, None]


@pytest.mark.parametrize(
    ("gfx", "integrated"),
    [
        ("gfx1035", True),
        ("gfx1036", True),
        ("gfx1037", True),
        ("gfx1103", True),
        ("gfx1150", True),
        ("gfx1152", True),
        ("gfx1153", True),
        ("gfx1151", True),
        ("gfx90c", True),
        ("gfx1100", False),
        ("gfx90a", False),
        ("gfx000", None),
        ("gfx11-generic", None),
        ("-", None),
    ],
)
def test_integrated(gfx: str, integrated: bool | None) -> None:  # noqa: FBT001
    """Some architectures are only found in processors."""
    assert is_integrated(gfx) is integrated


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        # Validated by PyTorch.
        ("56a0", KnownIntel(family="Arc A770 (Alchemist)", xpu="supported")),
        ("e20b", KnownIntel(family="Arc B580 (Battlemage)", xpu="supported")),
        ("0bd5", KnownIntel(family="Data Center GPU Max 1550", xpu="supported")),
        ("7d55", KnownIntel(family="Meteor Lake-H Arc", xpu="supported")),
        ("64a0", KnownIntel(family="Lunar Lake Arc 130V/140V", xpu="supported")),
        ("b080", KnownIntel(family="Panther Lake Arc B390", xpu="supported")),
        # The same architecture as one that is, but not on the list.
        ("7d45", KnownIntel(family="Meteor Lake-U Graphics", xpu="unvalidated")),
        ("7d67", KnownIntel(family="Arrow Lake-S Graphics", xpu="unvalidated")),
        ("56c0", KnownIntel(family="Data Center GPU Flex 170", xpu="unvalidated")),
        ("a7a0", KnownIntel(family="Raptor Lake-P Iris Xe", xpu="unvalidated")),
        ("9a49", KnownIntel(family="Tiger Lake-LP Iris Xe", xpu="unvalidated")),
        ("a780", KnownIntel(family="Raptor Lake-S UHD 770", xpu="unsupported")),
        ("3e9b", KnownIntel(family="Gen9.5 UHD 630", xpu="unsupported")),
        ("1912", KnownIntel(family="Gen9 HD 530", xpu="unsupported")),
        ("0412", KnownIntel(family="Gen7.5 HD", xpu="unsupported")),
        # Audio.
        ("a348", None),
        ("ffff", None),
    ],
)
def test_intel_by_id(device: str, expected: KnownIntel | None) -> None:
    """A device id gives the family and whether PyTorch's XPU builds are made for it."""
    assert intel_gpu(device) == expected


@pytest.mark.parametrize(
    ("name", "version", "glibc"),
    [
        ("ubuntu", "24.04", "2.39"),
        ("ubuntu", "18.04", "2.27"),
        ("debian", "12", "2.36"),
        ("rocky", "8.10", "2.28"),
        ("rhel", "9.4", "2.34"),
        ("centos", "7", "2.17"),
        ("fedora", "42", "2.41"),
        ("amzn", "2023", "2.34"),
        ("amzn", "2", "2.26"),
        ("opensuse-leap", "15.6", "2.38"),
        ("sles", "15.5", "2.31"),
        ("opensuse-leap", "16.0", "2.40"),
        ("opensuse-tumbleweed", "20260801", "2.43"),
        ("fedora", "44", "2.43"),
        ("ubuntu", "26.04", "2.43"),
        ("debian", "forky", "2.42"),
        # nixpkgs pull requests 379542 (2.40 until January 2026) and 523468.
        ("nixos", "25.11", "2.40"),
        ("nixos", "26.05", "2.42"),
        ("arch", None, "2.43"),
        ("arch", "20260801.0.1", "2.43"),
        # A release that the table does not know, a distribution it does not know, and musl.
        ("ubuntu", "99.04", None),
        ("debian", None, None),
        ("plan9", "4", None),
        ("alpine", "3.21.0", None),
    ],
)
def test_glibc(name: str, version: str | None, glibc: str | None) -> None:
    """A release has the glibc of its package list."""
    assert glibc_of(name, version) == glibc


def _gpus(shared: Path, vendor: str) -> list[dict[str, Any]]:
    """All GPUs of one vendor that the given machines have."""
    paths = sorted(shared.glob("hosts/*/expected.yaml"))
    facts = [yaml.safe_load(path.read_text("utf-8"))["facts"] for path in paths]
    return [gpu for one in facts for gpu in (one.get(vendor) or {}).get("gpus", [])]


def test_given_nvidia_gpus(shared: Path) -> None:
    """The table agrees with what the drivers of the given machines say of their GPUs."""
    told = {gpu["name"]: gpu["compute_cap"] for gpu in _gpus(shared, "nvidia")}
    assert told
    assert {name: nvidia_compute_cap(name) for name in told} == told


def test_given_amd_gpus(shared: Path) -> None:
    """The architectures of the given machines are known as cards or parts of a processor."""
    told = {gpu["gfx"]: gpu["integrated"] for gpu in _gpus(shared, "amd")}
    assert told
    assert {gfx: is_integrated(gfx) for gfx in told} == told


def test_given_intel_gpus(shared: Path) -> None:
    """The families of the given machines are told by id."""
    told = {
        gpu["pci_id"].removeprefix("8086:"): (gpu["family"], gpu["xpu_supported"])
        for gpu in _gpus(shared, "intel")
    }
    assert told
    known = {device: intel_gpu(device) for device in told}
    assert {
        device: one and (one.family, one.xpu == "supported") for device, one in known.items()
    } == told


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("nvidia-devices", (r"[0-9a-f]{4}", r"\d+\.\d", r"\S.*")),
        ("nvidia-names", (r"\S.*", r"\d+\.\d")),
        ("amd-devices", (r"[0-9a-f]{4}", r"-|gfx[0-9a-f]+", r"integrated|discrete", r"\S.*")),
        ("intel-devices", (r"[0-9a-f]{4}", r"supported|unvalidated|unsupported", r"\S.*")),
        ("glibc", (r"\S+( [a-z-]+)+", r"2\.\d+")),
    ],
)
def test_tables(table: str, columns: tuple[str, ...]) -> None:
    """Every line of a table has its columns, no key stands twice, and a source is named."""
    text = resources.files("lockforge").joinpath(f"data/{table}.tsv").read_text("utf-8")
    lines = text.splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    assert any(line.startswith("# Source") for line in lines)
    assert [
        row for row in rows if len(row) != len(columns) or not all(map(re.fullmatch, columns, row))
    ] == []
    assert len({row[0] for row in rows}) == len(rows)


@pytest.mark.parametrize(
    ("ask", "unread"),
    [
        ("devices.amd_gpu('744c')", ["nvidia-devices", "nvidia-names", "intel-devices"]),
        ("devices.nvidia_gpu('1eb8')", ["nvidia-names", "amd-devices", "intel-devices"]),
    ],
)
def test_one_vendor_at_a_time(ask: str, unread: list[str]) -> None:
    """A question about one vendor opens no file of another."""
    code = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda name, args: opened.append(args[0]) if name == 'open' else None)\n"
        "from lockforge import devices\n"
        f"{ask}\n"
        "print([str(one) for one in opened if str(one).endswith('.tsv')])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ".tsv" in ended.stdout
    assert [table for table in unread if table in ended.stdout] == []


@pytest.mark.parametrize("ask", [nvidia_gpu, amd_gpu, intel_gpu])
def test_comments_are_no_devices(ask: Callable[[str], object]) -> None:
    """What a table says of itself is not taken for a device."""
    assert [ask(text) for text in ("#", "# Source", "-")] == [None, None, None]
