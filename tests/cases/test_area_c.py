"""Cases on what a machine is and which row it gets."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from lockforge.detect.probes import PROBES
from lockforge.model.probe import Run
from tests.support.command import Ended, lockforge
from tests.support.machines import LABELS, Machine, read_machines

MACHINES = read_machines()
BOUND = 15.0

Judge: TypeAlias = Callable[..., dict[str, Any]]
Detect: TypeAlias = Callable[..., Ended]


def changed(
    name: str, texts: Mapping[str, Any] | None = None, without: Sequence[str] = ()
) -> Machine:
    """Give a machine of the fixtures with other *texts*, and *without* some of its own."""
    machine = MACHINES[name]
    answers = {key: one for key, one in machine.answers.items() if key not in without}
    for probe, one in (texts or {}).items():
        answers[probe] = one if isinstance(one, dict) else {"text": one}
    return replace(machine, answers=answers)


@pytest.fixture
def detect(tmp_path: Path) -> Detect:
    """Run the command on a machine of the fixtures, by its name, or on a changed one."""
    count = iter(range(100))

    def run(machine: Machine | str, *arguments: str) -> Ended:
        found = MACHINES[machine] if isinstance(machine, str) else machine
        folder = found.write(tmp_path / "machines" / str(next(count)))
        labels = ("--accelerators", ",".join(LABELS))
        return lockforge("detect", "--facts", folder, *labels, *arguments)

    return run


@pytest.fixture
def judge(detect: Detect) -> Judge:
    """Give the machine-readable answer for a machine."""

    def run(machine: Machine | str, *arguments: str) -> dict[str, Any]:
        ended = detect(machine, "--json", *arguments)
        assert ended.status == 0, ended.err
        data: dict[str, Any] = json.loads(ended.out)
        return data

    return run


def reason_of(data: dict[str, Any], name: str) -> str:
    return next(str(row["reason"]) for row in data["rows"] if row["name"] == name)


def codes_of(data: dict[str, Any]) -> list[str]:
    return [str(one["code"]) for one in data["warnings"]]


class TestLF019:
    """WSL2: no kernel files, one line per GPU, nvidia-smi not on PATH."""

    def test_two_lines_are_two_gpus_of_one_driver(self, judge: Judge) -> None:
        data = judge("two-rtx-4090")

        nvidia = data["facts"]["nvidia"]
        assert nvidia["kernel_driver_version"] == "572.60"
        assert len(nvidia["gpus"]) == 2

    @pytest.mark.parametrize(
        ("driver", "best"), [("573.24", "cu128"), ("580.88", "cu132"), ("452.39", "cu118")]
    )
    def test_versions_of_two_components_are_valid(
        self, judge: Judge, driver: str, best: str
    ) -> None:
        data = judge(changed("two-rtx-4090", {"nvidia-smi": f"{driver}, 8.6, NVIDIA RTX A2000"}))

        assert data["facts"]["nvidia"]["kernel_driver_version"] == driver
        assert data["best_row"] == best

    def test_it_is_found_where_path_lacks_its_directory(self, judge: Judge) -> None:
        data = judge("nvidia-smi-not-on-path")

        assert data["facts"]["nvidia"]["driver_source"] == "/usr/lib/wsl/lib/nvidia-smi"
        assert data["facts"]["nvidia"]["gpus"][0]["visible"]

    def test_the_row_is_the_newest_that_the_driver_serves(self, judge: Judge) -> None:
        data = judge("two-rtx-4090")

        assert data["best_row"] == "cu128"
        assert reason_of(data, "cu130") == (
            "cu130 needs driver 580 or newer on Windows; this host has 572.60 "
            "(2 x NVIDIA GeForce RTX 4090 (8.9))"
        )


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
                "| NVIDIA-SMI 610.43.02      KMD Version: 610.43.02     CUDA UMD Version: 13.3 |",
                "610.43.02",
                "13.3",
            ),
            (
                "| NVIDIA-SMI 610.47         KMD Version: 610.47        CUDA UMD Version: 13.3 |",
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
    def test_both_spellings_are_read(
        self, judge: Judge, banner: str, driver: str, cuda: str | None
    ) -> None:
        without = ("sys_module", "nvidia-smi")

        data = judge(changed("b200-driver-610", {"nvidia-smi-banner": banner}, without))

        nvidia = data["facts"]["nvidia"]
        assert nvidia["kernel_driver_version"] == driver
        assert nvidia.get("cuda_umd_version") == cuda

    def test_a_b200_gets_the_newest_row_and_never_one_without_kernels(self, judge: Judge) -> None:
        data = judge("b200-driver-610")

        assert data["best_row"] == "cu132"
        assert "cu126" not in data["usable_rows"]

    @pytest.mark.parametrize("name", ["b200-driver-610", "rtx-5090-laptop-driver-610"])
    def test_the_banner_is_not_needed(self, judge: Judge, name: str) -> None:
        whole = judge(name)

        bare = judge(changed(name, without=["nvidia-smi-banner"]))

        assert bare["usable_rows"] == whole["usable_rows"]
        whole["facts"]["nvidia"].pop("cuda_umd_version")
        assert bare["facts"] == whole["facts"]


class TestLF022:
    """An NVIDIA card beside AMD or Intel graphics in the processor."""

    def test_the_card_decides(self, judge: Judge) -> None:
        assert judge("rtx-4090-beside-raphael")["best_row"] == "cu128"

    def test_the_other_gpu_is_listed_and_not_usable(self, judge: Judge) -> None:
        data = judge("rtx-4090-beside-raphael")

        assert [gpu["gfx"] for gpu in data["facts"]["amd"]["gpus"]] == ["gfx1036"]
        assert not [name for name in data["usable_rows"] if name.startswith("rocm")]
        assert "gfx1036" in reason_of(data, "rocm7.2")

    def test_a_second_vendors_usable_row_comes_after_and_can_be_requested(
        self, judge: Judge
    ) -> None:
        data = judge("rtx-3060-beside-strix-halo")
        requested = judge("rtx-3060-beside-strix-halo", "--row", "rocm7.2")

        usable = ["cu132", "cu130", "cu128", "cu126", "cu118", "rocm7.2", "cpu"]
        assert data["usable_rows"] == usable
        assert data["best_row"] == "cu132"
        assert requested["best_row"] == "rocm7.2"

    def test_a_request_that_is_not_usable_is_refused_with_the_reason(self, detect: Detect) -> None:
        ended = detect("rtx-4090-beside-raphael", "--row", "rocm7.2")

        assert ended.status == 6
        assert "gfx1036" in ended.out + ended.err

    def test_a_row_that_is_forced_is_recorded_as_such(self, detect: Detect) -> None:
        ended = detect("rtx-4090-beside-raphael", "--force-row", "rocm7.2")
        data = json.loads(detect("rtx-4090-beside-raphael", "--force-row", "rocm7.2", "--json").out)

        assert ended.status == 0, ended.err
        assert "forced" in ended.out
        assert data["best_row"] == "rocm7.2"
        assert data["requested"] == {"by": "--force-row", "row": "rocm7.2", "forced": True}
        assert "rocm7.2" not in data["usable_rows"]


class TestLF023:
    """AMD: unsupported graphics of the processor, RDNA1, and WSL2 through /dev/dxg."""

    @pytest.mark.parametrize(
        ("agents", "usable"),
        [
            (["gfx000", "gfx1100", "gfx1036"], ["rocm7.2", "rocm6.4", "cpu"]),
            (["gfx000", "gfx1103"], ["cpu"]),
            (["gfx000", "gfx1010"], ["cpu"]),
            (["gfx000", "gfx1151"], ["rocm7.2", "cpu"]),
            (["gfx000", "gfx950"], ["rocm7.2", "cpu"]),
            (["gfx000"], ["cpu"]),
            ([], ["cpu"]),
        ],
    )
    def test_one_gpu_of_the_rows_list_is_enough(
        self, judge: Judge, agents: list[str], usable: list[str]
    ) -> None:
        text = "".join(f"{agent}\n" for agent in agents)

        data = judge(changed("rx-5700-xt", {"rocm_agent_enumerator": text}))

        assert data["usable_rows"] == usable

    def test_processors_and_instruction_sets_are_no_gpus(self, judge: Judge) -> None:
        enumerated = judge(
            changed(
                "rx-5700-xt",
                {"rocm_agent_enumerator": "gfx000\ngfx1100\ngfx11-generic\ngfx9-4-generic\n"},
            )
        )
        by_rocminfo = judge(changed("radeon-780m", without=["rocm_agent_enumerator"]))

        assert [gpu["gfx"] for gpu in enumerated["facts"]["amd"]["gpus"]] == ["gfx1100"]
        assert [gpu["gfx"] for gpu in by_rocminfo["facts"]["amd"]["gpus"]] == ["gfx1103"]
        assert by_rocminfo["usable_rows"] == ["cpu"]

    def test_no_other_architecture_is_assumed_by_a_variable(self, judge: Judge) -> None:
        """Neither set for any program, nor heeded where the user has set it."""
        programs = [probe.question for probe in PROBES if isinstance(probe.question, Run)]
        data = judge(changed("radeon-780m", {"env": "HSA_OVERRIDE_GFX_VERSION=11.0.0\n"}))

        variables = {name for program in programs for name, _ in program.environment}
        assert "HSA_OVERRIDE_GFX_VERSION" not in variables
        assert data["usable_rows"] == ["cpu"]

    def test_on_wsl2_it_is_asked_again_with_the_variable(self, judge: Judge) -> None:
        data = judge("radeon-behind-dxg", "--explain")

        assert data["facts"]["amd"]["source"] == "rocminfo with HSA_ENABLE_DXG_DETECTION=1"
        assert [gpu["gfx"] for gpu in data["facts"]["amd"]["gpus"]] == ["gfx1201"]
        asked = [probe["name"] for probe in data["probes"]]
        assert asked.index("rocminfo") < asked.index("rocminfo-dxg")


_HUNG = {"outcome": "timeout"}


class TestLF025:
    """NVIDIA's tools or files are there, and nothing usable, or in a broken state."""

    @pytest.mark.parametrize(
        ("name", "best", "cautions"),
        [
            (
                "login-node-without-devices",
                "cpu",
                ["nvidia_tools_without_devices", "row_can_be_forced"],
            ),
            (
                "libraries-newer-than-the-running-driver",
                "cu128",
                ["driver_library_mismatch_reboot"],
            ),
            ("nvidia-smi-left-over-beside-amd", "rocm7.2", []),
            ("t4-driver-470", "cu118", ["compute_cap_from_table"]),
            (
                "container-that-sees-the-hosts-kernel",
                "cpu",
                ["driver_visible_no_device_nodes", "row_can_be_forced"],
            ),
            ("all-hidden-by-an-empty-variable", "cpu", ["hidden_by_CUDA_VISIBLE_DEVICES"]),
            ("h100-split-by-mig", "cu132", []),
            ("rtx-5080-without-wmic", "cu128", []),
            ("nvidia-smi-hung", "cu128", ["nvidia_driver_not_answering"]),
            ("l4-split-by-vgpu", "cu128", []),
        ],
    )
    def test_each_state_has_its_row_and_its_caution(
        self, judge: Judge, name: str, best: str, cautions: list[str]
    ) -> None:
        data = judge(name)

        assert data["best_row"] == best
        assert set(cautions) <= set(codes_of(data))
        assert bool(cautions) is bool(codes_of(data))

    def test_one_gpu_of_those_split_is_visible(self, judge: Judge) -> None:
        data = judge("h100-split-by-mig")

        visible = [gpu["visible"] for gpu in data["facts"]["nvidia"]["gpus"]]
        assert visible == [True, False]

    def test_a_tool_that_hangs_is_given_up_within_ten_seconds(self) -> None:
        limits = [one.question.timeout for one in PROBES if isinstance(one.question, Run)]

        assert max(limits) <= 10

    @pytest.mark.parametrize("name", sorted(MACHINES))
    def test_nothing_said_of_a_machine_takes_long(self, detect: Detect, name: str) -> None:
        """Neither when every program hung, nor when each said nothing."""
        start = time.monotonic()
        for answer in (_HUNG, {"text": ""}, {"text": "\ufffd" * 5000, "status": 139}):
            programs = {
                probe: answer for probe in MACHINES[name].answers if probe not in {"python", "env"}
            }
            ended = detect(changed(name, programs))
            assert ended.status == 0, ended.err

        assert time.monotonic() - start < BOUND

    def test_a_tool_that_hangs_is_followed_by_the_next_source(self, judge: Judge) -> None:
        texts = {
            "nvidia-smi": _HUNG,
            "nvidia-libraries": "nvml_driver=580.95.05\ngpu=NVIDIA L4, 8.9\n",
        }

        data = judge(changed("l4-split-by-vgpu", texts, without=["proc", "nvidia-smi-banner"]))

        nvidia = data["facts"]["nvidia"]
        assert (nvidia["state"], nvidia["kernel_driver_version"]) == ("ok", "580.95.05")
        assert nvidia["driver_source"] == "nvml"
        assert data["best_row"] == "cu132"

    @pytest.mark.parametrize("value", ["", "-1", "0", "1,0", "GPU-12", "MIG-1/2/3", "x", "99"])
    def test_the_hardware_is_the_same_whatever_is_hidden(self, judge: Judge, value: str) -> None:
        whole = judge("eight-h200")["facts"]

        hidden = judge(changed("eight-h200", {"env": f"CUDA_VISIBLE_DEVICES={value}\n"}))["facts"]

        for facts in (whole, hidden):
            facts.pop("hidden_by", None)
            for gpu in facts["nvidia"]["gpus"]:
                gpu.pop("visible")
        assert hidden == whole

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("container-for-the-cpu", "no GPU was found"),
            ("all-hidden-by-an-empty-variable", "CUDA_VISIBLE_DEVICES hides NVIDIA H100 80GB HBM3"),
            ("login-node-without-devices", "they find no device"),
            ("container-that-sees-the-hosts-kernel", "no device nodes"),
            ("rx-5700-xt", "no kernels for gfx1010"),
        ],
    )
    def test_the_row_for_the_cpu_says_why_it_is_chosen(
        self, judge: Judge, name: str, why: str
    ) -> None:
        """That no GPU was found, or what keeps those there are from being used."""
        data = judge(name)

        assert data["best_row"] == "cpu"
        assert why in reason_of(data, "cpu")
        assert reason_of(data, "cpu").startswith("a fallback: ") is (
            name != "container-for-the-cpu"
        )

    @pytest.mark.parametrize("name", sorted(MACHINES))
    def test_the_row_for_the_cpu_is_never_just_taken(self, judge: Judge, name: str) -> None:
        """But for a Mac, which has one build for all it is."""
        data = judge(name)

        if data["best_row"] == "cpu" and data["facts"]["os"] != "macos":
            assert reason_of(data, "cpu") != "it runs on the CPU of every host of this platform"


_DISPLAY = "- {{class: '{}', vendor: '0x8086', device: '{}', driver: {}}}\n"


class TestLF026:
    """An Intel display is not an XPU, and a Python under Rosetta is not a native Mac."""

    @pytest.mark.parametrize(
        ("devices", "best"),
        [
            (["0x3e9b"], "cpu"),
            (["0xa7a0"], "cpu"),
            (["0xa780", "0xe20b"], "xpu"),
            (["0x56a0"], "xpu"),
        ],
    )
    @pytest.mark.parametrize("driver", ["i915", "xe", "null"])
    def test_the_family_decides_whatever_the_driver_is(
        self, judge: Judge, devices: list[str], best: str, driver: str
    ) -> None:
        text = "".join(_DISPLAY.format("0x030000", one, driver) for one in devices)

        assert judge(changed("iris-xe", {"pci": text}))["best_row"] == best

    def test_what_nobody_validated_is_said_to_be_so(self, judge: Judge) -> None:
        data = judge("iris-xe")

        assert codes_of(data) == ["intel_gpu_not_validated_for_xpu"]

    def test_what_nobody_validated_can_be_had_on_request(self, judge: Judge) -> None:
        assert judge("iris-xe", "--force-row", "xpu")["best_row"] == "xpu"

    def test_on_windows_the_adapter_of_the_processor_is_no_matter(self, judge: Judge) -> None:
        data = judge("arc-a770-in-a-ryzen")

        assert data["usable_rows"] == ["xpu", "cpu"]

    def test_an_id_that_is_not_known_is_named(self, judge: Judge) -> None:
        data = judge("intel-gpu-that-no-table-knows")

        assert data["best_row"] == "cpu"
        assert "8086:ffee" in data["warnings"][0]["text"]

    @pytest.mark.parametrize(
        ("code", "best"),
        [("0x030000", "xpu"), ("0x038000", "xpu"), ("0x030200", "xpu"), ("0x040300", "cpu")],
    )
    def test_every_class_of_display_counts(self, judge: Judge, code: str, best: str) -> None:
        text = _DISPLAY.format(code, "0x56a0", "xe")

        assert judge(changed("iris-xe", {"pci": text}))["best_row"] == best

    def test_the_message_names_rosetta_and_the_last_torch(self, detect: Detect) -> None:
        ended = detect("python-under-rosetta")

        said = " ".join(ended.out.split())
        assert "Rosetta" in said
        assert "x86_64" in said
        assert "2.2.2" in said
        assert "unsupported" not in said
