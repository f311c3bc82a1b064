"""The tables of devices, made from a few lines in the form of the published lists."""

from __future__ import annotations

import pytest
from device_tools import amd, intel, nvidia

PCI_IDS = """\
#
#	Version: 2026.08.22
#
1001  Kolter Electronic
	0010  PCI 1616 Measurement card
1002  Advanced Micro Devices, Inc. [AMD/ATI]
	164e  Raphael
	744c  Navi 31 [Radeon RX 7900 XT/7900 XTX]
		1002 0e3b  RX 7900 GRE [XFX]

# nee Fiji
	7300  Fiji [Radeon R9 FURY]
	75a3  Aqua Vanjaram [Instinct MI355X]
	ab30  Navi 31 HDMI/DP Audio
10de  NVIDIA Corporation
	102d  GK210GL [Tesla K80]
	119a  GK104M [GeForce GTX 860M]
	1392  GM107M [GeForce GTX 860M]
	1e30  TU102GL [Quadro RTX 6000/8000]
	22a3  GH100 [H100 NVSwitch]
	25e2  GA107BM [GeForce RTX 3050 Mobile]
	2b00  GB10B [Jetson AGX Thor]
	3000  GR100 [Reserved Dev ID A]
8086  Intel Corporation
	3e9b  CoffeeLake-H GT2 [UHD Graphics 630]
	7d55  Meteor Lake-P [Intel Arc Graphics]
	a348  Cannon Lake PCH cAVS
	a7a0  Raptor Lake-P [Iris Xe Graphics]
	e20b  Battlemage G21 [Arc B580]
"""
README = """\
| Product Name                                | PCI ID         |
| ------------------------------------------- | -------------- |
| NVIDIA GeForce RTX 3050 A Laptop GPU        | 25E2 1028 0001 |
| NVIDIA GeForce RTX 9999                     | FFFF           |
"""


def test_nvidia() -> None:
    """The chip tells the capability; a name has the lowest of its chips."""
    devices, names = nvidia.make_tables(PCI_IDS, README)
    assert devices == [
        "102d\t3.7\tTesla K80",
        "119a\t3.0\tGeForce GTX 860M",
        "1392\t5.0\tGeForce GTX 860M",
        "1e30\t7.5\tQuadro RTX 6000/8000",
        "25e2\t8.6\tGeForce RTX 3050 Mobile",
        "2b00\t11.0\tJetson AGX Thor",
    ]
    assert {
        "GeForce GTX 860M\t3.0",
        "Quadro RTX 6000\t7.5",
        "Quadro RTX 8000\t7.5",
        "NVIDIA GeForce RTX 3050 A Laptop GPU\t8.6",
    } <= set(names)
    assert not any("9999" in name for name in names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tesla T4", ["Tesla T4"]),
        ("GeForce 610M/710M", ["GeForce 610M", "GeForce 710M", "710M"]),
        ("GeForce GTX 1650 Mobile / Max-Q", ["GeForce GTX 1650 Mobile", "Max-Q"]),
    ],
)
def test_names_of_one_device(text: str, expected: list[str]) -> None:
    """One line may name several products, of which the later ones leave out what is the same."""
    assert list(nvidia.split_names(text)) == expected


def test_amd() -> None:
    """The code name tells the architecture, but for the Instincts, which share one."""
    assert list(amd.make_table(PCI_IDS)) == [
        "164e\tgfx1036\tintegrated\tRaphael",
        "744c\tgfx1100\tdiscrete\tRadeon RX 7900 XT/7900 XTX",
        "7300\tgfx803\tdiscrete\tRadeon R9 FURY",
        "75a3\tgfx950\tdiscrete\tInstinct MI355X",
    ]


def test_intel() -> None:
    """Id and name tell the family, and whether PyTorch validates it."""
    assert list(intel.make_table(PCI_IDS)) == [
        "3e9b\tunsupported\tGen9.5 UHD 630",
        "7d55\tsupported\tMeteor Lake-H Arc",
        "a7a0\tunvalidated\tRaptor Lake-P Iris Xe",
        "e20b\tsupported\tArc B580 (Battlemage)",
    ]
