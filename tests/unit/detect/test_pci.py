from __future__ import annotations

import json

import pytest

from lockforge.detect.pci import Device, read_cim, read_lspci, read_sysfs


@pytest.mark.parametrize(
    "text",
    [
        (
            "- {class: '0x030000', vendor: '0x8086', device: '0xa780', driver: 'i915'}\n"
            "- {class: '0x040300', vendor: '0x8086', device: '0xa348', driver: 'snd'}\n"
        ),
        "- {slot: '0000:00:02.0', class: 0x030000, vendor: 0x8086, device: 0xa780, driver: i915}",
        "- class: '0x030000'\n  vendor: '0x8086'\n  device: '0xA780'\n  driver: i915\n",
    ],
)
def test_sysfs_in_either_style(text: str) -> None:
    """Only display devices are taken, however the list is written."""
    assert read_sysfs(text) == (Device(vendor="8086", device="a780"),)


@pytest.mark.parametrize("code", ["0x030000", "0x030200", "0x038000"])
def test_every_display_class(code: str) -> None:
    """VGA, 3D and other display controllers are displays alike; a driver may be missing."""
    text = f"- {{class: '{code}', vendor: '0x8086', device: '0x0bd5'}}\n"

    assert read_sysfs(text) == (Device(vendor="8086", device="0bd5"),)


@pytest.mark.parametrize("driver", ["vfio-pci", "pci-stub"])
def test_what_is_given_to_a_virtual_machine_is_not_there(driver: str) -> None:
    """A driver that holds a device back takes it from the host; the others stay."""
    text = (
        "- {class: '0x030000', vendor: '0x8086', device: '0x4680', driver: i915}\n"
        f"- {{class: '0x030000', vendor: '0x8086', device: '0xe20b', driver: {driver}}}\n"
    )

    assert read_sysfs(text) == (Device(vendor="8086", device="4680"),)


def test_the_generic_driver_of_windows_names_no_device() -> None:
    """Its own name stands where that of the GPU would."""
    text = json.dumps(
        {
            "Name": "Microsoft Basic Display Adapter",
            "DriverVersion": "10.0.26100.1",
            "PNPDeviceID": r"PCI\VEN_10DE&DEV_2684&SUBSYS_00000000&REV_A1\0",
        }
    )

    assert read_cim(text) == (Device(vendor="10de", device="2684", driver_version="10.0.26100.1"),)


def test_instincts_are_accelerators_on_the_bus() -> None:
    """AMD's newer ones are no display; others of that class, such as Gaudi, are no GPUs."""
    text = (
        "- {class: '0x120000', vendor: '0x1002', device: '0x74a1'}\n"
        "- {class: '0x120000', vendor: '0x1da3', device: '0x1020'}\n"
    )

    assert read_sysfs(text) == (Device(vendor="1002", device="74a1"),)


@pytest.mark.parametrize(
    "text", ["", "- {class: '0x030000', vendor: '0x80", "[]", "- \n- - -\n", "class: 0x030000"]
)
def test_half_a_list(text: str) -> None:
    """A device that is not wholly told is none."""
    assert read_sysfs(text) == ()


def test_lspci() -> None:
    """The name is the bracket that ends the description; a vendor's bracket is none."""
    text = (
        "00:1f.3 Audio device [0403]: Intel Corporation Cannon Lake [8086:a348]\n"
        "01:00.0 3D controller [0302]: NVIDIA Corporation TU104GL [Tesla T4] [10de:1eb8] (rev a1)\n"
        "12:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Device"
        " [1002:164e] (rev c1)\n"
        "13:00.0 VGA compatible controller: NVIDIA Corporation Device 2684\n"
        "14:00.0 VGA compatible controller [0300]: NVIDIA"
    )

    assert read_lspci(text) == (
        Device(vendor="10de", device="1eb8", name="Tesla T4"),
        Device(vendor="1002", device="164e"),
    )


_ADAPTER = {
    "Name": "NVIDIA GeForce RTX 5080",
    "DriverVersion": "32.0.15.7283",
    "PNPDeviceID": "PCI\\VEN_10DE&DEV_2C02&SUBSYS_00000000&REV_A1\\0",
}


def test_cim_gives_an_object_or_a_list() -> None:
    """One adapter is an object; adapters that are on no bus are left out."""
    device = Device(
        vendor="10de",
        device="2c02",
        name="NVIDIA GeForce RTX 5080",
        driver_version="32.0.15.7283",
    )
    virtual = {"Name": "Remote Display", "PNPDeviceID": "SWD\\REMOTEDISPLAYENUM\\0"}

    assert read_cim("WARNUNG: langsam\r\n" + json.dumps(_ADAPTER)) == (device,)
    assert read_cim(json.dumps([virtual, _ADAPTER, None, {"PNPDeviceID": None}])) == (device,)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, '{"PNPDeviceID": 1}', "null", "Get-CimInstance : Zugriff verweigert"],
)
def test_cim_says_something_else(text: str) -> None:
    """What is no list of adapters lists none."""
    assert read_cim(text) == ()
