from __future__ import annotations

import pytest

from lockforge.detect.nvidia_texts import Identity
from lockforge.detect.visibility import visible_to_cuda, visible_to_hip
from tests.unit.detect.machines import CSV, LINUX, NODES, facts_of

_IDENTITIES = {
    0: Identity(uuid="GPU-aaa1", migs=(("1g.5gb", "MIG-bb"), ("1g.5gb", "MIG-GPU-aaa1/7/0"))),
    1: Identity(uuid="GPU-aaa2"),
    2: Identity(uuid="GPU-c", migs=(("1g.5gb", "MIG-dd"),)),
}


@pytest.mark.parametrize(
    ("value", "visible"),
    [
        (None, {0, 1, 2}),
        ("", set()),
        (" ", set()),
        ("-1", set()),
        ("NoDevFiles", set()),
        ("none", set()),
        ("1", {1}),
        ("2,0", {0, 2}),
        (" 0 , 1 ", {0, 1}),
        ("0,-1,1", {0}),
        ("0,7,1", {0}),
        ("7", set()),
        ("0,0", set()),
        ("0,,1", {0}),
        ("GPU-aaa2", {1}),
        ("GPU-c", {2}),
        ("GPU-aaa", set()),
        ("GPU-c,GPU-x,GPU-aaa1", {2}),
        ("MIG-bb", {0}),
        ("MIG-dd,MIG-bb", {0, 2}),
        ("MIG-GPU-aaa1/7/0", {0}),
        ("MIG-GPU-aaa2/1/0", {1}),
        ("MIG-zz", set()),
        ("99999999999999999999", set()),
        ("²", set()),
    ],
)
def test_cuda(value: str | None, visible: set[int]) -> None:
    """A list counts up to its first entry that is no GPU, and void where one is there twice."""
    assert visible_to_cuda(value, 3, _IDENTITIES) == visible


def test_uuids_that_nothing_explains() -> None:
    """Without a list of UUIDs none can be told from another, so no GPU is taken as hidden."""
    assert visible_to_cuda("GPU-aaa1", 2, {}) == {0, 1}
    assert visible_to_cuda("MIG-bb", 2, {0: Identity(uuid=None)}) == {0, 1}


@pytest.mark.parametrize(
    ("variables", "visible"),
    [
        ({}, {0, 1, 2}),
        ({"HIP_VISIBLE_DEVICES": "1"}, {1}),
        ({"HIP_VISIBLE_DEVICES": ""}, set()),
        ({"CUDA_VISIBLE_DEVICES": "2"}, {2}),
        ({"CUDA_VISIBLE_DEVICES": "GPU-x"}, {0, 1, 2}),
        ({"HIP_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "2"}, {0}),
        ({"ROCR_VISIBLE_DEVICES": "1,2", "HIP_VISIBLE_DEVICES": "1"}, {2}),
        ({"ROCR_VISIBLE_DEVICES": "0", "HIP_VISIBLE_DEVICES": "1"}, set()),
        ({"ROCR_VISIBLE_DEVICES": "GPU-1234"}, {0, 1, 2}),
    ],
)
def test_hip(variables: dict[str, str], visible: set[int]) -> None:
    """The layer below filters first, and CUDA's variable acts where HIP's is not set."""
    assert visible_to_hip(variables, 3) == visible


_TWO = "580.95.05, 8.6, NVIDIA RTX A6000\n580.95.05, 12.0, NVIDIA GeForce RTX 5090\n"


@pytest.mark.parametrize(
    ("variables", "unstated"),
    [
        ("CUDA_VISIBLE_DEVICES=0\n", True),
        ("CUDA_VISIBLE_DEVICES=0\nCUDA_DEVICE_ORDER=FASTEST_FIRST\n", True),
        ("CUDA_VISIBLE_DEVICES=0\nCUDA_DEVICE_ORDER=PCI_BUS_ID\n", False),
        ("CUDA_VISIBLE_DEVICES=0,1\n", False),
        ("CUDA_VISIBLE_DEVICES=\n", False),
        ("", False),
    ],
)
def test_which_gpu_a_number_means(variables: str, *, unstated: bool) -> None:
    """CUDA numbers GPUs that differ by speed unless told otherwise, and that is kept as doubt."""
    facts = facts_of({"python": LINUX, "/dev": NODES, CSV: _TWO, "env": variables})

    assert facts.nvidia is not None
    assert facts.nvidia.order_unstated is unstated


def test_rocr_hides_all() -> None:
    """The variable that did it is named, not the one that is merely set."""
    facts = facts_of(
        {
            "python": LINUX,
            "rocm_agent_enumerator": "gfx1151\n",
            "env": "ROCR_VISIBLE_DEVICES=5\nHIP_VISIBLE_DEVICES=0\n",
        }
    )

    assert facts.hidden_by == ("ROCR_VISIBLE_DEVICES",)


@pytest.mark.parametrize("value", ["void", "none", ""])
def test_a_container_that_was_given_no_gpu(value: str) -> None:
    """The runtime's variable explains why there is none, and hides none that are listed."""
    container = {"python": LINUX, "env": f"NVIDIA_VISIBLE_DEVICES={value}\n"}
    bare = {"/dev": "null\n", "/sys/module/nvidia/version": "580.95.05\n"}

    assert facts_of({**container, **bare}).hidden_by == ("NVIDIA_VISIBLE_DEVICES",)
    assert facts_of({**container, "/dev": NODES, CSV: _TWO}).hidden_by == ()
