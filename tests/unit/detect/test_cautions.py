"""What a person is told beside the choice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.detect.builds import catalog_builds, platform_of
from lockforge.detect.cautions import cautions_of
from lockforge.detect.choose import choose
from lockforge.model.accelerator import Accelerator
from lockforge.model.choice import Build
from lockforge.model.machine import Apple, Facts, Intel, IntelGpu, Libc, NvidiaGpu, Override
from lockforge.model.platforms import PLATFORMS
from tests.support.hosts import amd, linux, mac, nvidia, python, windows

CATALOG = load_catalog()
LABELS = ("cu132", "cu130", "cu128", "cu126", "cu118", "rocm7.2", "xpu", "cpu")
_ARC = IntelGpu(pci_id="8086:e20b", family="Arc B580", xpu_supported=True)
_UHD = IntelGpu(pci_id="8086:3e9b", family="UHD 630", xpu_supported=False)


def codes(facts: Facts, *labels: str) -> list[str]:
    """Give the codes for a host without a lock, after a look at every text."""
    builds = catalog_builds(CATALOG, platform_of(facts), labels or LABELS)
    found = cautions_of(facts, choose(facts, builds, CATALOG), CATALOG)
    assert all(one.text and not one.text.endswith(".") for one in found)
    return [one.code for one in found]


def locked_codes(facts: Facts, *builds: Build) -> list[str]:
    return [one.code for one in cautions_of(facts, choose(facts, builds, CATALOG), CATALOG)]


def row(label: str, platform: str = "linux", **more: Any) -> Build:
    build = Build(
        name=f"{platform}-{label}",
        accelerator=Accelerator(label),
        platform=PLATFORMS[platform],
        pythons=((3, 12),),
        torch=Version("2.11.0"),
        locked=True,
    )
    return replace(build, **more)


@pytest.mark.parametrize(
    "facts",
    [
        linux(),
        linux("aarch64"),
        windows(),
        mac(),
        linux(nvidia=nvidia("580.95.05", "8.6", "9.0")),
        linux(nvidia=nvidia("470.1", "8.6")),
        linux(nvidia=nvidia("580.95.05", "8.9"), amd=amd("gfx1036")),
        windows(nvidia=nvidia("572.83", "12.0"), amd=amd("gfx1201")),
        linux(amd=amd("gfx1100", "gfx1036")),
        linux(nvidia=nvidia(None, state="tools_without_driver"), amd=amd("gfx1100")),
        linux("aarch64", tegra="NVIDIA Jetson AGX Thor", nvidia=nvidia("580.0", "11.0")),
    ],
)
def test_nothing_odd(facts: Facts) -> None:
    """A machine where nothing is odd has no cautions."""
    assert codes(facts) == []


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (linux(libc=Libc(family="musl", version="1.2", source="ldd")), "no_wheels_for_musl"),
        (linux(libc=Libc(family="glibc", version="2.17", source="ldd")), "glibc_too_old:2.17<2.28"),
        (mac("13.6.1"), "macos_too_old:13.6<14.0"),
        (windows(python=python("win32", bits=32, machine="AMD64")), "python_is_32bit"),
        (linux("ppc64le"), "no_wheels_for:linux_ppc64le:cp312"),
        (
            linux(python=python("linux-x86_64", implementation="PyPy", version="3.11.9")),
            "no_wheels_for:linux_x86_64:pp311",
        ),
        (
            linux("aarch64", python=python("linux-aarch64", version="3.15.0")),
            "no_wheels_for:linux_aarch64:cp315",
        ),
        (
            windows(python=python("win-arm64", machine="ARM64", version="3.14.0")),
            "no_wheels_for:win_arm64:cp314",
        ),
        (
            mac(python=python("macosx-11.0-universal2", machine="arm64", version="3.9.6")),
            "no_wheels_for:macosx_arm64:cp39",
        ),
    ],
)
def test_a_host_that_no_wheel_is_for(facts: Facts, code: str) -> None:
    """One code says what keeps all of them from it."""
    assert codes(facts) == [code]


def test_an_x86_64_python_on_a_mac() -> None:
    """The last torch is named, and Rosetta where it is Apple's own processor."""
    intel = Apple(chip="Intel Core i7", translated=False, hardware_arch="x86_64", mps_usable=False)
    facts = mac(arch="x86_64", python=python("macosx-11.0-x86_64"), apple=intel)
    assert codes(facts) == ["torch_max_2.2.2_for_macos_x86_64"]
    rosetta = Apple(chip="Apple M3", translated=True, hardware_arch="arm64", mps_usable=False)
    assert codes(replace(facts, apple=rosetta)) == [
        "x86_64_python_on_apple_silicon",
        "torch_max_2.2.2_for_macos_x86_64",
    ]
    newer = replace(facts, python=python("macosx-11.0-x86_64", version="3.13.1"))
    assert "no_wheels_for:macosx_x86_64:cp313" in codes(newer)


def test_a_lock_without_this_python_is_no_lack_of_wheels() -> None:
    """That a lock has no row for Python 3.13 does not say that there are no wheels for it."""
    facts = linux(python=python("linux-x86_64", version="3.13.1"))
    assert locked_codes(facts, row("cpu")) == []


def test_one_row_with_a_lower_floor_is_enough() -> None:
    """A system is too old only where it is for all rows of its platform."""
    facts = linux(libc=Libc(family="glibc", version="2.27", source="ldd"))
    lower = replace(row("cpu"), platform=replace(PLATFORMS["linux"], floor=(2, 17)))
    assert locked_codes(facts, row("cu118"), lower) == []
    assert locked_codes(facts, row("cu118")) == ["glibc_too_old:2.27<2.28"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (nvidia("550.1", "8.6", state="driver_library_mismatch"), "driver_library_mismatch_reboot"),
        (nvidia(None, "8.6", state="gpu_without_driver"), "nvidia_gpu_without_driver"),
        (nvidia("550.1", "8.6", state="not_answering"), "nvidia_driver_not_answering"),
        (nvidia(None, state="tools_without_driver"), "nvidia_tools_without_driver"),
        (nvidia("580.1", "8.6", "8.9", order_unstated=True), "cuda_device_order_unknown"),
        (
            nvidia("580.1", NvidiaGpu(name="T4", compute_cap="7.5", compute_cap_source="table")),
            "compute_cap_from_table",
        ),
        (
            nvidia("580.1", NvidiaGpu(name="X", compute_cap=None)),
            "gpu_architecture_unknown",
        ),
    ],
)
def test_nvidia(given: Any, expected: str) -> None:
    """Each oddity of driver and GPUs has its code."""
    assert codes(linux(nvidia=given)) == [expected]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("no_devices", "nvidia_tools_without_devices"),
        ("driver_visible_no_device_nodes", "driver_visible_no_device_nodes"),
    ],
)
def test_a_row_can_be_forced_where_there_are_traces_of_a_gpu(state: str, code: str) -> None:
    """The first CUDA row that could be installed is named, if there is one."""
    facts = linux(nvidia=nvidia("580.1", state=state))
    assert codes(facts) == [code, "row_can_be_forced"]
    choice = choose(facts, [row("cu130", pythons=((3, 13),)), row("cu126")], CATALOG)
    assert "--force-row linux-cu126 " in cautions_of(facts, choice, CATALOG)[-1].text
    assert codes(facts, "cpu") == [code]


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        (linux(nvidia=nvidia("550.1", state="driver_visible_no_device_nodes")), "cu128"),
        (linux(nvidia=nvidia(None, state="no_devices")), "cu132"),
        (linux(nvidia=nvidia("400.1", state="driver_visible_no_device_nodes")), None),
        (linux(amd=amd("gfx950", device_node=False)), "rocm7.2"),
        (linux(amd=amd("gfx1031", device_node=False)), None),
        (linux(intel=Intel(gpus=(_ARC,), device_node=False)), "xpu"),
        (linux(intel=Intel(gpus=(_UHD,), device_node=False)), None),
    ],
)
def test_no_row_is_to_be_forced_against_what_is_known(facts: Facts, name: str | None) -> None:
    """The one named suits the driver and has kernels for a GPU, as far as these are known."""
    choice = choose(facts, catalog_builds(CATALOG, platform_of(facts), LABELS), CATALOG)
    texts = [one.text for one in cautions_of(facts, choice, CATALOG) if "--force-row" in one.text]
    assert [f"--force-row {name} " in text for text in texts] == ([True] if name else [])


def test_a_container_without_gpus_is_to_be_started_with_them() -> None:
    """Inside of it no variable helps."""
    found = nvidia("580.1", state="driver_visible_no_device_nodes")
    facts = linux(nvidia=found, hidden_by=("NVIDIA_VISIBLE_DEVICES",))
    choice = choose(facts, catalog_builds(CATALOG, platform_of(facts), LABELS), CATALOG)
    (text,) = [one.text for one in cautions_of(facts, choice, CATALOG) if "hidden" in one.code]
    assert "unset" not in text
    assert "--gpus all" in text


def test_hidden_gpus() -> None:
    """The variable is named."""
    gpu = NvidiaGpu(name="H100", compute_cap="9.0", visible=False)
    facts = linux(nvidia=nvidia("580.1", gpu), hidden_by=("CUDA_VISIBLE_DEVICES",))
    assert codes(facts) == ["hidden_by_CUDA_VISIBLE_DEVICES"]


def test_stated_facts() -> None:
    """A stated driver leaves the architecture unknown, stated GPUs the driver."""
    name = "LOCKFORGE_CUDA_DRIVER_VERSION"
    facts = linux(
        nvidia=nvidia("580.1", driver_source=name),
        overrides=(Override(variable=name, value="580.1"),),
    )
    assert codes(facts) == ["gpu_architecture_unknown"]
    name = "LOCKFORGE_CUDA_ARCH"
    gpu = NvidiaGpu(name=None, compute_cap="8.6", compute_cap_source=name)
    stated = (Override(variable=name, value="8.6"),)
    facts = linux(nvidia=nvidia(None, gpu, state="gpu_without_driver"), overrides=stated)
    assert codes(facts) == ["nvidia_driver_unknown"]
    assert codes(linux(nvidia=nvidia("580.1", gpu), overrides=stated)) == []


@pytest.mark.parametrize(
    ("driver", "gpus", "expected"),
    [
        ("580.1", ["6.1"], ["row_support_ends:cu126:2.15"]),
        ("580.1", ["7.0"], ["row_support_ends:cu126:2.15"]),
        ("580.1", ["7.0", "8.0"], ["row_support_ends:cu126:2.15"]),
        ("470.1", ["6.1"], ["row_support_ends:cu118:2.8"]),
        ("470.1", ["7.5"], []),
        ("570.1", ["12.0"], []),
        ("535.1", ["8.0"], []),
    ],
)
def test_the_end_of_support(driver: str, gpus: list[str], expected: list[str]) -> None:
    """It is told of GPUs that no accelerator that goes on serves, and not of old drivers."""
    assert codes(linux(nvidia=nvidia(driver, *gpus))) == expected


def test_rows_for_some_of_the_gpus() -> None:
    """That some rows would do for some GPUs is told where no GPU is used for it."""
    facts = linux(nvidia=nvidia("580.1", "5.2", "12.0"))
    assert codes(facts) == ["rows_cover_some_gpus"]


@pytest.mark.parametrize("tegra", ["NVIDIA Jetson AGX Orin", None])
def test_a_jetson_before_thor(tegra: str | None) -> None:
    """It needs NVIDIA's own builds, which its capability tells where nothing else does."""
    facts = linux("aarch64", tegra=tegra, nvidia=nvidia("540.4.0", "8.7"))
    assert codes(facts) == ["jetson_needs_jetpack_wheels"]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (linux(amd=amd("gfx1010")), ["amd_gpu_not_in_any_rocm_row"]),
        (linux(amd=amd("gfx1103", "gfx1036")), ["amd_gpu_not_in_any_rocm_row"]),
        (linux(amd=amd(None)), ["gpu_architecture_unknown"]),
        (
            linux(amd=amd("gfx1100", device_node=False)),
            ["amd_gpu_without_device_node", "row_can_be_forced"],
        ),
        (windows(amd=amd("gfx1201")), ["no_rocm_wheels_on_windows"]),
        (windows(amd=amd("gfx1201", "gfx1036")), ["no_rocm_wheels_on_windows"]),
        (windows(amd=amd("gfx1036")), ["amd_gpu_not_in_any_rocm_row"]),
    ],
)
def test_amd(facts: Facts, expected: list[str]) -> None:
    """Where nothing else serves, it is told why AMD's GPUs do not."""
    assert codes(facts) == expected


def test_amd_in_a_lock_without_rocm() -> None:
    """A GPU that a build lists is not said to be in none, whatever rows the lock has."""
    assert locked_codes(linux(amd=amd("gfx1100")), row("cpu")) == []


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        (
            IntelGpu(pci_id="8086:a7a0", family="Iris Xe", xpu_supported=False, unvalidated=True),
            ["intel_gpu_not_validated_for_xpu"],
        ),
        (
            IntelGpu(pci_id="8086:ffff", family=None, xpu_supported=False),
            ["intel_gpu_unknown:8086:ffff"],
        ),
        (IntelGpu(pci_id="8086:3e9b", family="UHD 630", xpu_supported=False), []),
    ],
)
def test_intel(gpu: IntelGpu, expected: list[str]) -> None:
    """What may do is told, and what is not known; what surely does not needs no word."""
    assert codes(linux(intel=Intel(gpus=(gpu,)))) == expected
    arc = IntelGpu(pci_id="8086:e20b", family="Arc B580", xpu_supported=True)
    assert codes(linux(intel=Intel(gpus=(gpu, arc)))) == []


def test_a_gpu_that_no_build_serves() -> None:
    """It is told where the CPU is taken for want of kernels, and not where a driver would help."""
    code = "nvidia_gpu_not_in_any_cuda_row"
    assert code in codes(linux(nvidia=nvidia("470.82", "3.0")))
    assert code not in codes(linux(nvidia=nvidia("400.1", "8.6")))


def test_an_unknown_libc() -> None:
    """That nothing tells the C library is why every row is refused."""
    assert "libc_unknown" in codes(replace(linux(), libc=None))
