from __future__ import annotations

import pytest

from lockforge.detect.gather import gather
from tests.unit.detect.machines import (
    AARCH64,
    KERNEL,
    LINUX,
    MAC,
    WINDOWS,
    WSL2,
    Machine,
    facts_of,
    failed,
)

_BARE = LINUX.replace("libc=glibc 2.39\n", "")


@pytest.mark.parametrize(
    ("ldd", "family", "version"),
    [
        ("ldd (Ubuntu GLIBC 2.27-3ubuntu1.6) 2.27\n", "glibc", "2.27"),
        ("ldd (GNU libc) 2.34\nCopyright", "glibc", "2.34"),
        ("ldd (Debian GLIBC 2.36-9+deb12u4) 2.36\r\n", "glibc", "2.36"),
        ("musl libc (x86_64)\nVersion 1.2.5\nDynamic Program Loader\n", "musl", "1.2"),
    ],
)
def test_ldd_tells_the_library(ldd: str, family: str, version: str) -> None:
    """The version is ``X.Y``, and musl's loader tells it although it fails."""
    libc = facts_of({"python": _BARE, "ldd --version": failed(ldd)}).libc

    assert libc is not None
    assert (libc.family, libc.version, libc.source) == (family, version, "ldd")


@pytest.mark.parametrize(
    ("release", "family", "version"),
    [
        ('ID=debian\nVERSION_ID="12"\n', "glibc", "2.36"),
        ("ID=alpine\nVERSION_ID=3.21.0\n", "musl", "1.2"),
        ("ID=alpine\nVERSION_ID=3.12.1\n", "musl", "1.1"),
        ('ID=nixos\nVERSION_ID="25.05"\n', "glibc", "2.40"),
        ('ID=opensuse-tumbleweed\nVERSION_ID="20251120"\n', "glibc", "2.43"),
        ("ID=debian\nVERSION_CODENAME=forky\n", "glibc", "2.42"),
    ],
)
def test_the_distribution_tells_the_library(release: str, family: str, version: str) -> None:
    """Where nothing measured it."""
    libc = facts_of({"python": _BARE, "/etc/os-release": release}).libc

    assert libc is not None
    assert (libc.family, libc.version, libc.source) == (family, version, "os-release")


def test_the_interpreter_knows_its_library_best() -> None:
    """No program is run for what it told."""
    machine = Machine({"python": LINUX})
    gather(machine)

    assert "ldd --version" not in machine.asked


@pytest.mark.parametrize("text", ["", "ldd: nicht gefunden\n", "ldd (GNU libc)", "musl libc\n"])
def test_a_library_that_is_not_told(text: str) -> None:
    """Half a text is no version."""
    assert facts_of({"python": _BARE, "ldd --version": text}).libc is None


@pytest.mark.parametrize(
    ("kernel", "wsl2"),
    [
        (WSL2, True),
        ("Linux host 4.19.104-microsoft-standard #1 SMP x86_64 GNU/Linux", True),
        ("Linux host 6.6.0-own-WSL2+ #1 SMP x86_64 GNU/Linux", True),
        ("Linux host 4.4.0-19041-Microsoft #1237-Microsoft x86_64 GNU/Linux", False),
        ("Linux host 6.8.0-60-generic #1 SMP x86_64 GNU/Linux", False),
        ("", False),
    ],
)
def test_wsl2_by_its_kernel(kernel: str, *, wsl2: bool) -> None:
    """The first WSL, which has no GPU, is not taken for it."""
    assert facts_of({"python": LINUX, KERNEL: kernel}).wsl2 is wsl2


def test_a_kernel_of_ones_own_on_wsl2() -> None:
    """The device through which it reaches the GPU gives it away."""
    assert facts_of({"python": LINUX, KERNEL: "Linux host 6.6.0", "/dev": "dxg\n"}).wsl2


@pytest.mark.parametrize(
    "answers", [{"env": "container=docker\n"}, {"/.dockerenv": ""}, {"/run/.containerenv": ""}]
)
def test_containers(answers: dict[str, str]) -> None:
    """Each runtime leaves a sign of its own."""
    assert facts_of({"python": LINUX, **answers}).container
    assert not facts_of({"python": LINUX}).container


def test_without_an_interpreter_the_kernel_tells() -> None:
    """System and machine are known then, and the Python is not."""
    facts = facts_of({KERNEL: "Linux host 4.18.0-553.el8_10.x86_64 #1 SMP aarch64 GNU/Linux\n"})

    assert (facts.os, facts.arch, facts.python) == ("linux", "aarch64", None)


@pytest.mark.parametrize("line", ["bits=64", "version=3.12.1", "machine=x86_64"])
def test_an_interpreter_of_which_half_is_told(line: str) -> None:
    """Nothing of it is made up."""
    assert facts_of({"python": LINUX.replace(line, line.partition("=")[0] + "=?!")}).os == "linux"
    assert facts_of({"python": LINUX.replace(line, "")}).python is None


@pytest.mark.parametrize(
    ("answers", "version"),
    [
        ({"python": LINUX, "/etc/os-release": "NAME='Arch Linux'\nID=arch\n"}, "Arch Linux"),
        ({"python": MAC, "sw_vers": "ProductName:\tmacOS\nProductVersion:\t\t15.4\n"}, "15.4"),
        ({"python": WINDOWS}, None),
    ],
)
def test_version_of_the_system(answers: dict[str, str], version: str | None) -> None:
    """The distribution by name and release, and macOS by its product version."""
    assert facts_of(answers).os_version == version


@pytest.mark.parametrize(
    ("answers", "tegra"),
    [
        ({"/etc/nv_tegra_release": "# R36 (release), REVISION: 4.3, GCID: 1\n"}, "R36.4.3"),
        ({KERNEL: "Linux host 5.15.148-tegra #1 SMP aarch64 GNU/Linux"}, "Tegra"),
        ({"/proc/device-tree/model": "Raspberry Pi 5 Model B"}, None),
        ({}, None),
    ],
)
def test_signs_of_a_jetson(answers: dict[str, str], tegra: str | None) -> None:
    """Release or kernel are enough; other boards have a model as well."""
    assert facts_of({"python": AARCH64, **answers}).tegra == tegra


_SYSCTL = "sysctl sysctl.proc_translated hw.optional.arm64 machdep.cpu.brand_string"
_ROSETTA = MAC.replace("arm64", "x86_64")


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"python": MAC}, (None, False, "arm64", True)),
        (
            {
                "python": MAC,
                _SYSCTL: "sysctl.proc_translated: 0\nhw.optional.arm64: 1\n"
                "machdep.cpu.brand_string: Apple M1\n",
            },
            ("Apple M1", False, "arm64", True),
        ),
        (
            {
                "python": _ROSETTA,
                KERNEL: "Darwin host 24.4.0 root:xnu~1/RELEASE_ARM64_T6030 x86_64\n",
            },
            (None, True, "arm64", False),
        ),
        (
            {"python": _ROSETTA, _SYSCTL: "sysctl.proc_translated: 0\nhw.optional.arm64: 1\n"},
            (None, True, "arm64", False),
        ),
        (
            {
                "python": _ROSETTA,
                _SYSCTL: failed(
                    "sysctl: unknown oid 'sysctl.proc_translated'\n"
                    "machdep.cpu.brand_string: Intel(R) Core(TM) i7\n"
                ),
            },
            ("Intel(R) Core(TM) i7", False, "x86_64", False),
        ),
    ],
)
def test_macs(answers: dict[str, str], expected: tuple[str | None, bool, str, bool]) -> None:
    """A Python for Intel on Apple's processor is translated, whoever says so."""
    apple = facts_of(answers).apple

    assert apple is not None
    assert (apple.chip, apple.translated, apple.hardware_arch, apple.mps_usable) == expected


def test_a_mac_of_which_nothing_is_told() -> None:
    """Its processor is not guessed."""
    assert facts_of({"python": "sys_platform=darwin\n"}).apple is None


def test_every_intel_adapter_is_listed() -> None:
    """An unknown one by its id, the processor's own beside the card."""
    facts = facts_of(
        {
            "python": LINUX,
            "/sys/bus/pci/devices/*": (
                "- {class: '0x030000', vendor: '0x8086', device: '0xa7a0', driver: 'i915'}\n"
                "- {class: '0x038000', vendor: '0x8086', device: '0xffff'}\n"
                "- {class: '0x030000', vendor: '0x8086', device: '0xe20b', driver: 'xe'}\n"
            ),
        }
    )

    assert facts.intel is not None
    assert [(gpu.pci_id, gpu.xpu_supported, gpu.unvalidated) for gpu in facts.intel.gpus] == [
        ("8086:a7a0", False, True),
        ("8086:ffff", False, False),
        ("8086:e20b", True, False),
    ]
    assert facts.intel.gpus[1].family is None
