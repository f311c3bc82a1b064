from __future__ import annotations

import pytest

from lockforge.detect.gather import gather
from lockforge.model.machine import Nvidia
from tests.unit.detect.machines import (
    AARCH64,
    CSV,
    CSV_BEFORE_510,
    HUNG,
    LINUX,
    NODES,
    WINDOWS,
    WSL2,
    Machine,
    Texts,
    facts_of,
    failed,
)

_T4 = "00:1e.0 3D controller [0302]: NVIDIA Corporation TU104GL [Tesla T4] [10de:1eb8] (rev a1)\n"
_MODULE = "/sys/module/nvidia/version"
_ADAPTERS = (
    "powershell -NoProfile -Command Get-CimInstance Win32_VideoController"
    " | Select-Object Name,DriverVersion,PNPDeviceID | ConvertTo-Json"
)
_NO_DRIVER = failed(
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", 9
)
_MISMATCH = failed(
    "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.144\n",
    18,
)


def _nvidia(answers: Texts, python: str = LINUX) -> Nvidia | None:
    return facts_of({"python": python, **answers}).nvidia


def _state(answers: Texts, python: str = LINUX) -> str | None:
    found = _nvidia(answers, python)
    return found.state if found else None


@pytest.mark.parametrize("status", [0, 6])
def test_no_devices_were_found(status: int) -> None:
    """The exit status says nothing, and the driver that is running is told all the same."""
    text = "No devices were found\n"
    answer = failed(text, status) if status else text

    found = _nvidia({"/dev": NODES, _MODULE: "580.95.05\n", CSV: answer})

    assert found is not None
    assert (found.state, found.kernel_driver_version, found.gpus) == ("no_devices", "580.95.05", ())


def test_a_mismatch_keeps_the_running_driver() -> None:
    """The version of the libraries is told beside it; the GPU is known from the bus."""
    found = _nvidia({"/dev": NODES, _MODULE: "550.127.05\n", CSV: _MISMATCH, "lspci -nn": _T4})

    assert found is not None
    assert (found.state, found.user_library_version) == ("driver_library_mismatch", "550.144")
    assert (found.kernel_driver_version, found.driver_source) == ("550.127.05", "sys_module")
    assert [(gpu.name, gpu.compute_cap_source) for gpu in found.gpus] == [
        ("Tesla T4", "PCI id table")
    ]


def test_the_libraries_tell_of_a_mismatch_too() -> None:
    """Where there is no nvidia-smi to say so."""
    answers = {"/dev": NODES, _MODULE: "550.127.05\n", "libraries": "nvml_error=18\n"}

    assert _state(answers) == "driver_library_mismatch"


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        ({}, None),
        ({CSV: _NO_DRIVER}, "tools_without_driver"),
        ({CSV: failed("rubbish")}, "tools_without_driver"),
        ({CSV: failed("sh: nvidia-smi: command not found", 127)}, None),
        ({CSV: failed("bash: nvidia-smi: Kommando nicht gefunden.")}, None),
        ({CSV: failed('Der Befehl "nvidia-smi" ist entweder falsch geschrieben')}, None),
        ({CSV: failed("Please run 'nvidia-smi -h' for help.")}, "tools_without_driver"),
        ({CSV: _NO_DRIVER, "lspci -nn": _T4}, "gpu_without_driver"),
        ({"lspci -nn": _T4}, "gpu_without_driver"),
        ({CSV: HUNG, "lspci -nn": _T4}, "not_answering"),
        ({CSV: "\ufffd\ufffd", "lspci -nn": _T4}, "not_answering"),
        ({CSV: HUNG, _MODULE: "580.95.05\n", "/dev": NODES}, "not_answering"),
        ({CSV: HUNG, _MODULE: "580.95.05\n", "/dev": "null\n"}, "driver_visible_no_device_nodes"),
        ({_MODULE: "580.95.05\n", "/dev": "null\n"}, "driver_visible_no_device_nodes"),
        ({_MODULE: "580.95.05\n", "/dev": NODES}, "ok"),
        ({_MODULE: "580.95.05\n"}, "ok"),
        ({"/dev": NODES}, "not_answering"),
        ({CSV: HUNG, "uname -a": WSL2, "/dev": "dxg\n"}, "not_answering"),
        ({"uname -a": WSL2, "/dev": "dxg\n"}, None),
    ],
)
def test_states(answers: Texts, state: str | None) -> None:
    """Neither a tool nor a file proves a GPU that can be used, and none is missed for one."""
    assert _state(answers) == state


def test_gpus_that_only_have_a_device_node() -> None:
    """They are there, and nothing is known of them."""
    found = _nvidia({_MODULE: "580.95.05\n", "/dev": "nvidia0\nnvidia1\nnvidiactl\n"})

    assert found is not None
    assert [(gpu.name, gpu.compute_cap) for gpu in found.gpus] == [(None, None)] * 2


def test_libraries_stand_in_for_a_tool_that_hangs() -> None:
    """nvidia-smi is not asked again, and what libcuda says is the driver's word."""
    machine: Texts = {
        "python": LINUX,
        "/dev": NODES,
        CSV: HUNG,
        "libraries": "nvml_driver=580.95.05\ngpu=NVIDIA L4, 8.9\ncuda_version=13.0\n",
    }

    found = facts_of(machine).nvidia

    assert found is not None
    assert (found.state, found.driver_source, found.cuda_umd_version) == ("ok", "nvml", "13.0")
    assert [(gpu.compute_cap, gpu.compute_cap_source) for gpu in found.gpus] == [("8.9", None)]


def test_a_driver_without_the_field() -> None:
    """The capability is looked up by the id where the bus tells it, and by name where not."""
    refused = failed('Field "compute_cap" is not a valid field to query.\n', 2)
    answers: Texts = {CSV: refused, CSV_BEFORE_510: "470.182.03, Tesla T4\n"}

    for found in (_nvidia(answers), _nvidia({**answers, "lspci -nn": _T4})):
        assert found is not None
        assert (found.state, found.kernel_driver_version) == ("ok", "470.182.03")
        assert [(gpu.compute_cap, gpu.compute_cap_source) for gpu in found.gpus] == [
            ("7.5", "name or PCI id table")
        ]


def test_only_a_banner() -> None:
    """It tells the driver and the GPUs' names where nothing else does."""
    banner = (
        "| NVIDIA-SMI 610.43.02   KMD Version: 610.43.02     CUDA UMD Version: 13.3     |\n"
        "|   0  NVIDIA L4                      On  |   00000000:63:00.0 Off |       0 |\n"
    )

    found = _nvidia({"nvidia-smi": banner})

    assert found is not None
    assert (found.kernel_driver_version, found.cuda_umd_version) == ("610.43.02", "13.3")
    assert [(gpu.name, gpu.compute_cap) for gpu in found.gpus] == [("NVIDIA L4", "8.9")]


def test_windows_without_the_tool() -> None:
    """Windows names the adapter and its driver; the generic driver is none of NVIDIA's."""
    adapter = (
        '{"Name": "%s", "DriverVersion": "%s", "PNPDeviceID": "PCI\\\\VEN_10DE&DEV_1EB8&SUBSYS_0"}'
    )

    found = _nvidia({_ADAPTERS: adapter % ("NVIDIA Tesla T4", "32.0.15.7283")}, WINDOWS)
    generic = adapter % ("Microsoft Basic Display Adapter", "10.0.22621.1")

    assert found is not None
    assert (found.state, found.kernel_driver_version, found.driver_source) == (
        "ok",
        "572.83",
        "CIM",
    )
    assert [gpu.compute_cap for gpu in found.gpus] == ["7.5"]
    assert _state({_ADAPTERS: generic}, WINDOWS) == "gpu_without_driver"


@pytest.mark.parametrize(
    ("model", "capability"),
    [
        ("NVIDIA Jetson AGX Orin Developer Kit", "8.7"),
        ("NVIDIA Jetson Orin Nano Developer Kit", "8.7"),
        ("NVIDIA Jetson Xavier NX Developer Kit", "7.2"),
        ("NVIDIA Jetson Nano Developer Kit", "5.3"),
        ("quill TX2 Jetson", "6.2"),
        ("NVIDIA Jetson AGX Thor Developer Kit", "11.0"),
    ],
)
def test_a_jetson_is_known_by_its_model(model: str, capability: str) -> None:
    """It has no nvidia-smi and no device nodes of the usual names."""
    facts = facts_of({"python": AARCH64, "/proc/device-tree/model": model, "/dev": "nvmap\n"})

    assert facts.tegra == model
    assert facts.nvidia is not None
    assert (facts.nvidia.state, facts.nvidia.kernel_driver_version) == ("ok", None)
    assert [gpu.compute_cap for gpu in facts.nvidia.gpus] == [capability]


def test_a_jetson_whose_tool_tells_half() -> None:
    """What nvidia-smi does not tell of it is filled in from the model."""
    found = _nvidia(
        {
            "/proc/device-tree/model": "NVIDIA Jetson AGX Orin",
            CSV: "540.4.0, [N/A], Orin (nvgpu)\n",
        },
        AARCH64,
    )

    assert found is not None
    assert [(gpu.name, gpu.compute_cap) for gpu in found.gpus] == [("Orin (nvgpu)", "8.7")]


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ({CSV: HUNG}, [CSV]),
        ({CSV: "580.95.05, 8.6, NVIDIA RTX A6000\n"}, [CSV, "nvidia-smi"]),
        (
            {CSV: "580.95.05, 9.0, NVIDIA H100 80GB HBM3\n"},
            [CSV, "nvidia-smi -L", "nvidia-smi"],
        ),
        (
            {CSV: "580.95.05, 8.6, NVIDIA RTX A6000\n", "env": "CUDA_VISIBLE_DEVICES=GPU-1\n"},
            [CSV, "nvidia-smi -L", "nvidia-smi"],
        ),
        ({CSV: failed("not a valid field to query")}, [CSV, CSV_BEFORE_510, "nvidia-smi"]),
    ],
)
def test_how_often_the_tool_is_run(answers: Texts, asked: list[str]) -> None:
    """A tool that hung is not asked again, and each further question has its reason."""
    machine = Machine({"python": LINUX, **answers})
    gather(machine)

    assert [one for one in machine.asked if one.startswith("nvidia-smi")] == asked
