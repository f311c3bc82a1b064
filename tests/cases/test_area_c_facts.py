"""Cases on what a machine is, as far as the facts go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockforge.adapters.captured import CapturedSystem
from lockforge.detect.facts import read_facts
from lockforge.detect.gather import gather
from lockforge.model.machine import Facts, Nvidia
from lockforge.model.probe import Answer, Asked, Variables
from tests.unit.detect.machines import CSV, HUNG, LINUX, NODES, WSL2, Texts, facts_of, failed


def _captured(shared: Path, host: str) -> tuple[Asked, ...]:
    return gather(CapturedSystem.open(shared / "hosts" / host))


def _facts(shared: Path, host: str) -> Facts:
    return read_facts(_captured(shared, host))


def _nvidia(answers: Texts) -> Nvidia:
    found = facts_of({"python": LINUX, **answers}).nvidia
    assert found is not None
    return found


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _as_expected(facts: Facts) -> dict[str, Any]:
    """Give the facts in the form that the given machines' are written in."""
    plain: dict[str, Any] = _plain(facts)
    if facts.python:
        plain["python"] = {
            "version": facts.python.minor,
            "bits": facts.python.bits,
            "arch": facts.python.machine,
        }
    return plain


def _differences(expected: Any, found: Any, at: str) -> Iterator[str]:
    """Compare what is expected, and leave out what only we tell."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from _differences(value, found.get(key, "missing"), f"{at}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (value, other) in enumerate(zip(expected, found, strict=True)):
            yield from _differences(value, other, f"{at}[{number}]")
    elif expected != found:
        yield f"{at}: {expected!r} is {found!r}"


def test_the_given_machines(shared: Path) -> None:
    """Every fact of every given machine follows from its texts."""
    hosts = sorted(path.parent for path in (shared / "hosts").glob("*/expected.yaml"))
    wrong = [
        difference
        for host in hosts
        for expected in [yaml.safe_load((host / "expected.yaml").read_text("utf-8"))["facts"]]
        for difference in _differences(expected, _as_expected(_facts(shared, host.name)), host.name)
    ]

    assert len(hosts) == 36
    assert wrong == []


class TestLF019:
    """WSL2: no kernel files, one line for each GPU, nvidia-smi not on PATH."""

    def test_one_line_for_each_gpu(self) -> None:
        found = _nvidia(
            {
                "uname -a": WSL2,
                "/dev": "dxg\n",
                CSV: "572.60, 8.9, NVIDIA GeForce RTX 4090\n" * 2,
            }
        )

        assert (found.state, found.kernel_driver_version, len(found.gpus)) == ("ok", "572.60", 2)

    def test_found_where_path_does_not_lead(self) -> None:
        place = "/usr/lib/wsl/lib/nvidia-smi"
        answer = Answer(outcome="said", text="573.24, 8.6, NVIDIA RTX A1000\n", by=place)

        found = _nvidia({"uname -a": WSL2, "/dev": "dxg\n", CSV: answer})

        assert (found.kernel_driver_version, found.driver_source) == ("573.24", place)


class TestLF020:
    """Driver 610 renamed the fields of nvidia-smi's banner."""

    @pytest.mark.parametrize(
        ("banner", "driver", "cuda"),
        [
            (
                "| NVIDIA-SMI 580.95.05   Driver Version: 580.95.05    CUDA Version: 13.0 |",
                "580.95.05",
                "13.0",
            ),
            (
                "| NVIDIA-SMI 610.43.02       KMD Version: 610.43.02     CUDA UMD Version: 13.3  |",
                "610.43.02",
                "13.3",
            ),
            (
                "| NVIDIA-SMI 610.47          KMD Version: 610.47        CUDA UMD Version: 13.3  |",
                "610.47",
                "13.3",
            ),
            (
                "| NVIDIA-SMI 455.45.01    Driver Version: 455.45.01    CUDA Version: N/A      |",
                "455.45.01",
                None,
            ),
        ],
    )
    def test_both_spellings(self, banner: str, driver: str, cuda: str | None) -> None:
        found = _nvidia({"nvidia-smi": banner, "/dev": NODES})

        assert (found.kernel_driver_version, found.cuda_umd_version) == (driver, cuda)

    def test_the_banner_is_not_needed(self, shared: Path) -> None:
        asked = _captured(shared, "nv_610_b200_new_banner")
        without = [one for one in asked if one.name != "nvidia-smi-banner"]

        facts = read_facts(asked)

        assert facts.nvidia is not None
        assert read_facts(without) == replace(
            facts, nvidia=replace(facts.nvidia, cuda_umd_version=None)
        )


class TestLF022:
    """An NVIDIA card beside graphics of AMD or Intel in the processor."""

    @pytest.mark.parametrize(
        ("host", "vendors"),
        [
            ("hybrid_rtx4090_raphael", ["nvidia", "amd"]),
            ("hybrid_nvidia_plus_supported_amd", ["nvidia", "amd"]),
            ("hybrid_uhd630_gtx1650", ["nvidia", "intel"]),
        ],
    )
    def test_all_vendors_are_facts(self, shared: Path, host: str, vendors: list[str]) -> None:
        facts = _facts(shared, host)

        assert [one for one in ("nvidia", "amd", "intel") if getattr(facts, one)] == vendors


class TestLF023:
    """AMD's GPUs by their own architecture, and no other name."""

    @pytest.mark.parametrize(
        ("said", "gfx"),
        [
            ("gfx000\ngfx1100\ngfx1036\n", ["gfx1100", "gfx1036"]),
            ("gfx000\ngfx1103\n", ["gfx1103"]),
            ("gfx000\n", []),
            ("", []),
            ("gfx000\ngfx12-generic\n", []),
        ],
    )
    def test_agents_that_are_gpus(self, said: str, gfx: list[str]) -> None:
        amd = facts_of({"python": LINUX, "rocm_agent_enumerator": said}).amd

        assert [gpu.gfx for gpu in amd.gpus] == gfx if amd else gfx == []

    def test_nobody_overrides_an_architecture(self, shared: Path) -> None:
        asked = _captured(shared, "wsl2_amd_r9700_dxg")

        names = [
            name
            for one in asked
            for name, _ in getattr(one.question, "environment", ())
            if name.startswith("HSA_")
        ]

        assert names == ["HSA_ENABLE_DXG_DETECTION"]


class TestLF025:
    """NVIDIA's tools or files are there, and nothing of it can be used."""

    @pytest.mark.parametrize(
        ("answers", "state"),
        [
            ({CSV: "No devices were found\n"}, "no_devices"),
            (
                {
                    CSV: failed(
                        "Failed to initialize NVML: Driver/library version mismatch\n"
                        "NVML library version: 550.144\n",
                        18,
                    ),
                    "/proc/driver/nvidia/version": "NVRM version: NVIDIA  550.127.05  Tue\n",
                },
                "driver_library_mismatch",
            ),
            (
                {
                    CSV: failed(
                        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA"
                        " driver. Make sure that the latest NVIDIA driver is installed.\n",
                        9,
                    )
                },
                "tools_without_driver",
            ),
            (
                {
                    "/proc/driver/nvidia/version": "NVRM version: NVIDIA  550.127.05  Tue\n",
                    "/dev": "null\n",
                },
                "driver_visible_no_device_nodes",
            ),
            ({CSV: HUNG, "/dev": NODES}, "not_answering"),
        ],
    )
    def test_each_state(self, answers: Texts, state: str) -> None:
        assert _nvidia(answers).state == state

    @pytest.mark.parametrize("value", ["", "-1", "MIG-00000000-0000-0000-0000-00000000000a", "1"])
    def test_variables_hide_and_change_nothing_else(self, shared: Path, value: str) -> None:
        asked = _captured(shared, "mig_h100_uuid_visible")
        hidden = Answer(outcome="said", text=f"CUDA_VISIBLE_DEVICES={value}\n")
        unset = Answer(outcome="said")

        first, second = (
            _hardware(read_facts([_answered(one, variables) for one in asked]))
            for variables in (hidden, unset)
        )

        assert first == second

    def test_a_tool_that_hangs_is_followed_by_the_next_source(self) -> None:
        found = _nvidia(
            {CSV: HUNG, "/dev": NODES, "libraries": "nvml_driver=580.95.05\ngpu=NVIDIA L4, 8.9\n"}
        )

        assert (found.state, found.kernel_driver_version) == ("ok", "580.95.05")


class TestLF026:
    """An Intel display is not yet an XPU; a Python under Rosetta is no native one."""

    @pytest.mark.parametrize("code", ["0x030000", "0x038000", "0x030200"])
    def test_every_class_of_display(self, code: str) -> None:
        bus = f"- {{class: '{code}', vendor: '0x8086', device: '0xe20b', driver: 'any'}}\n"

        intel = facts_of({"python": LINUX, "/sys/bus/pci/devices/*": bus}).intel

        assert intel is not None
        assert [gpu.xpu_supported for gpu in intel.gpus] == [True]

    def test_an_unknown_device_is_listed_by_its_id(self) -> None:
        bus = "- {class: '0x030000', vendor: '0x8086', device: '0xfffe'}\n"

        intel = facts_of({"python": LINUX, "/sys/bus/pci/devices/*": bus}).intel

        assert intel is not None
        assert [(gpu.pci_id, gpu.family, gpu.xpu_supported) for gpu in intel.gpus] == [
            ("8086:fffe", None, False)
        ]

    def test_rosetta(self, shared: Path) -> None:
        apple = _facts(shared, "mac_rosetta_python").apple

        assert apple is not None
        assert (apple.translated, apple.hardware_arch, apple.mps_usable) == (True, "arm64", False)


def _answered(asked: Asked, variables: Answer) -> Asked:
    return replace(asked, answer=variables) if isinstance(asked.question, Variables) else asked


def _hardware(facts: Facts) -> Facts:
    """Leave out which GPUs are visible, and what hides them."""
    assert facts.nvidia is not None
    gpus = tuple(replace(gpu, visible=True) for gpu in facts.nvidia.gpus)
    return replace(facts, nvidia=replace(facts.nvidia, gpus=gpus), hidden_by=())
