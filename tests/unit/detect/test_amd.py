from __future__ import annotations

import pytest

from lockforge.detect.amd import read_enumerator, read_gfx, read_rocminfo, read_topology
from tests.unit.detect.machines import CSV, LINUX, WINDOWS, WSL2, Texts, facts_of, failed

_NODES = (
    "# 0\ncpu_cores_count 16\nsimd_count 0\ngfx_target_version 0\ndevice_id 0\n"
    "# 1\nsimd_count 192\ngfx_target_version 110000\nvendor_id 4098\ndevice_id 29772\n"
)
_KFD = "/sys/class/kfd/kfd/topology/nodes/*/properties"


@pytest.mark.parametrize(
    ("version", "gfx"),
    [(90010, "gfx90a"), (90402, "gfx942"), (90006, "gfx906"), (110501, "gfx1151")],
)
def test_the_kernel_counts_in_decimals(version: int, gfx: str) -> None:
    """Minor and stepping are one hexadecimal digit each in the name."""
    assert [gpu.gfx for gpu in read_topology(f"gfx_target_version {version}\n")] == [gfx]


def test_processors_are_no_gpus() -> None:
    """A node without a target is a CPU; a GPU's device id goes with it."""
    (gpu,) = read_topology(_NODES)

    assert (gpu.gfx, gpu.pci_id) == ("gfx1100", "1002:744c")


def test_nodes_in_a_list() -> None:
    """Captured texts may have the same properties as a list, a node an item."""
    (gpu,) = read_topology(
        "- {node: 0, gfx_target_version: 0}\n"
        "- {node: 1, gfx_target_version: 110000, vendor_id: 4098, device_id: 29772}\n"
    )

    assert (gpu.gfx, gpu.pci_id) == ("gfx1100", "1002:744c")


@pytest.mark.parametrize(
    ("text", "gfx"),
    [
        ("gfx90a", "gfx90a"),
        ("gfx90a:sramecc+:xnack-", "gfx90a"),
        ("gfx000", None),
        ("gfx11-generic", None),
        ("amdgcn-amd-amdhsa--gfx1103", None),
        ("gfx", None),
        ("", None),
    ],
)
def test_names_of_architectures(text: str, gfx: str | None) -> None:
    """The CPU's placeholder and names of instruction sets are no GPU."""
    assert read_gfx(text) == gfx


def test_rocminfo_lists_processors_too() -> None:
    """Only agents that say they are GPUs count, once each, by their own name."""
    text = (
        "Agent 1\n  Name:                    gfx-like CPU\n  Device Type:             CPU\n"
        "Agent 2\n  Name:                    gfx1201\n"
        "  Marketing Name:          AMD Radeon\n  Device Type:             GPU\n"
        "  ISA 1\n    Name:                    gfx12-generic\n"
        "Agent 3\n  Name:                    gfx1100\n"
    )

    assert [(gpu.gfx, gpu.name) for gpu in read_rocminfo(text)] == [("gfx1201", "AMD Radeon")]


def test_the_kernel_comes_before_rocm() -> None:
    """The first source that lists a GPU is the one; whether HIP can reach it is told besides."""
    facts = facts_of({"python": LINUX, _KFD: _NODES, "/dev": "null\n", "rocminfo": "Agent 1\n"})

    assert facts.amd is not None
    assert facts.amd.source == "kfd"
    assert facts.amd.device_node is False


def test_an_override_of_hsa_is_not_heeded() -> None:
    """HSA_OVERRIDE_GFX_VERSION makes no GPU another one."""
    facts = facts_of(
        {
            "python": LINUX,
            "env": "HSA_OVERRIDE_GFX_VERSION=11.0.0\n",
            "rocm_agent_enumerator": "gfx000\ngfx1103\n",
        }
    )

    assert facts.amd is not None
    assert [gpu.gfx for gpu in facts.amd.gpus] == ["gfx1103"]


def test_behind_windows_rocm_has_to_be_told() -> None:
    """On WSL2 rocminfo is asked anew with the variable, and only there."""
    agent = "Agent 1\n  Name:      gfx1201\n  Device Type:      GPU\n"
    answers: Texts = {
        "python": LINUX,
        "rocminfo": failed("hsa_init Failed\n"),
        "HSA_ENABLE_DXG_DETECTION=1 rocminfo": agent,
    }

    assert facts_of(answers).amd is None
    amd = facts_of({**answers, "uname -a": WSL2, "/dev": "dxg\n"}).amd
    assert amd is not None
    assert (amd.source, amd.device_node) == ("rocminfo with HSA_ENABLE_DXG_DETECTION=1", None)


def test_a_device_the_table_does_not_know() -> None:
    """It is listed by its id, without an architecture."""
    adapter = '{"Name": "AMD X", "PNPDeviceID": "PCI\\\\VEN_1002&DEV_FFFF&0"}'
    command = (
        "powershell -NoProfile -Command Get-CimInstance Win32_VideoController"
        " | Select-Object Name,DriverVersion,PNPDeviceID | ConvertTo-Json"
    )
    amd = facts_of({"python": WINDOWS, command: adapter}).amd

    assert amd is not None
    assert [(gpu.gfx, gpu.pci_id, gpu.integrated) for gpu in amd.gpus] == [
        (None, "1002:ffff", None)
    ]


def test_an_empty_enumerator() -> None:
    """No agent but the processor is no GPU."""
    assert read_enumerator("gfx000\n") == ()
    assert facts_of({"python": LINUX, "rocm_agent_enumerator": "gfx000\n"}).amd is None


def test_the_variable_of_cuda_is_for_nvidia_where_there_is_one() -> None:
    """HIP heeds it on a machine of AMD's alone; beside NVIDIA's GPU it hides that one."""
    texts = {
        "python": LINUX,
        "env": "CUDA_VISIBLE_DEVICES=\n",
        "rocm_agent_enumerator": "gfx000\ngfx1100\n",
    }
    alone, beside = facts_of(texts), facts_of({**texts, CSV: "580.95.05, 8.6, NVIDIA X\n"})

    assert alone.amd is not None
    assert beside.amd is not None
    assert beside.nvidia is not None
    assert [gpu.visible for gpu in (*alone.amd.gpus, *beside.amd.gpus)] == [False, True]
    assert [gpu.visible for gpu in beside.nvidia.gpus] == [False]
    assert (alone.hidden_by, beside.hidden_by) == (("CUDA_VISIBLE_DEVICES",),) * 2


def test_rocminfo_lists_what_is_left() -> None:
    """ROCm's own variable is applied before rocminfo lists the GPUs, and not once more."""
    agent = "Agent 1\n  Name:      gfx1201\n  Device Type:      GPU\n"
    facts = facts_of({"python": LINUX, "env": "ROCR_VISIBLE_DEVICES=1\n", "rocminfo": agent})

    assert facts.amd is not None
    assert [gpu.visible for gpu in facts.amd.gpus] == [True]
