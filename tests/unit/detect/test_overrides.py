from __future__ import annotations

import pytest

from lockforge.catalog import load_catalog
from lockforge.detect.overrides import wanted_from
from lockforge.errors import UsageError
from lockforge.model.accelerator import Accelerator
from lockforge.model.choice import Wanted
from lockforge.model.machine import Override
from lockforge.model.platforms import PLATFORMS
from tests.unit.detect.machines import CSV, LINUX, NODES, WINDOWS, WSL2, facts_of

_A6000 = {"python": LINUX, "/dev": NODES, CSV: "535.183.01, 8.6, NVIDIA RTX A6000\n"}


def test_a_stated_driver_is_the_evidence() -> None:
    """It stands in the place of what was detected, under the variable's name."""
    facts = facts_of({**_A6000, "env": "LOCKFORGE_CUDA_DRIVER_VERSION=580.95.05\n"})

    assert facts.nvidia is not None
    assert (facts.nvidia.kernel_driver_version, facts.nvidia.driver_source) == (
        "580.95.05",
        "LOCKFORGE_CUDA_DRIVER_VERSION",
    )
    assert [gpu.compute_cap for gpu in facts.nvidia.gpus] == ["8.6"]
    assert facts.overrides == (
        Override(variable="LOCKFORGE_CUDA_DRIVER_VERSION", value="580.95.05"),
    )


def test_a_stated_driver_where_there_is_none() -> None:
    """As when an image is built on a machine without a GPU."""
    nvidia = facts_of({"python": LINUX, "env": "UV_CUDA_DRIVER_VERSION=580\n"}).nvidia

    assert nvidia is not None
    assert (nvidia.kernel_driver_version, nvidia.state, nvidia.gpus) == ("580", "ok", ())


def test_own_variables_come_first_then_uv_then_conda() -> None:
    """One driver is used, and only the variable it is from is recorded."""
    lines = [
        "CONDA_OVERRIDE_CUDA=12.4",
        "UV_CUDA_DRIVER_VERSION=570.1",
        "LOCKFORGE_CUDA_DRIVER_VERSION=580.1",
    ]
    used = [
        facts_of({**_A6000, "env": "\n".join(lines[:count])}).overrides[0].variable
        for count in (1, 2, 3)
    ]

    assert used == [line.partition("=")[0] for line in lines]


def test_stated_capabilities() -> None:
    """They are the GPUs, whatever is there and whatever hides it."""
    facts = facts_of({**_A6000, "env": "LOCKFORGE_CUDA_ARCH=9.0, 12.0\nCUDA_VISIBLE_DEVICES=\n"})

    assert facts.nvidia is not None
    assert [(gpu.compute_cap, gpu.visible) for gpu in facts.nvidia.gpus] == [
        ("9.0", True),
        ("12.0", True),
    ]
    assert {gpu.compute_cap_source for gpu in facts.nvidia.gpus} == {"LOCKFORGE_CUDA_ARCH"}
    assert facts.hidden_by == ()


@pytest.mark.parametrize(
    "stated", ["LOCKFORGE_CUDA_ARCH=9.0", "UV_CUDA_DRIVER_VERSION=580.65", "CONDA_OVERRIDE_CUDA=13"]
)
def test_a_container_without_gpus_may_be_made_for_some(stated: str) -> None:
    """What is stated of NVIDIA counts there, as where an image is made."""
    container = {
        "python": LINUX,
        "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Module  580.65.06\n",
        "/dev": "null\n",
    }
    variable = "NVIDIA_VISIBLE_DEVICES=void\n"

    assert facts_of({**container, "env": variable}).hidden_by == ("NVIDIA_VISIBLE_DEVICES",)
    assert facts_of({**container, "env": f"{variable}{stated}\n"}).hidden_by == ()


def test_stated_capabilities_alone_are_no_driver() -> None:
    """A row still needs one."""
    nvidia = facts_of({"python": LINUX, "env": "LOCKFORGE_CUDA_ARCH=9.0\n"}).nvidia

    assert nvidia is not None
    assert (nvidia.kernel_driver_version, nvidia.state) == (None, "gpu_without_driver")


def test_stated_amd_architecture() -> None:
    """uv's variable is known, and lockforge's own comes before it."""
    lines = "UV_AMD_GPU_ARCHITECTURE=gfx1100\nLOCKFORGE_AMD_GPU_ARCHITECTURE=gfx942\n"
    amd = facts_of({"python": LINUX, "env": lines}).amd

    assert amd is not None
    assert [gpu.gfx for gpu in amd.gpus] == ["gfx942"]
    assert amd.source == "LOCKFORGE_AMD_GPU_ARCHITECTURE"


@pytest.mark.parametrize(
    ("python", "kernel", "platform"),
    [(LINUX, "", "linux"), (WINDOWS, "", "win"), (LINUX, WSL2, "win")],
)
@pytest.mark.parametrize(
    ("value", "label"), [("12.4", "cu124"), ("11.8.0", "cu118"), ("13", "cu130"), ("14.0", "cu130")]
)
def test_condas_variable_stands_for_the_lowest_driver(
    python: str, kernel: str, platform: str, value: str, label: str
) -> None:
    """It names a CUDA, for which the catalogue knows the driver on that system."""
    facts = facts_of({"python": python, "uname -a": kernel, "env": f"CONDA_OVERRIDE_CUDA={value}"})

    floor = load_catalog().driver_floor(Accelerator(label), PLATFORMS[platform])
    assert facts.nvidia is not None
    assert floor is not None
    assert facts.nvidia.kernel_driver_version == floor


def test_condas_variable_for_a_cuda_without_a_known_driver() -> None:
    """No driver is made up for it."""
    nvidia = facts_of({**_A6000, "env": "CONDA_OVERRIDE_CUDA=7.5\n"}).nvidia

    assert nvidia is not None
    assert (nvidia.kernel_driver_version, nvidia.driver_source) == (None, "CONDA_OVERRIDE_CUDA")


def test_condas_variable_where_there_is_no_gpu() -> None:
    """Nothing is hidden by it then."""
    facts = facts_of({"python": LINUX, "env": "CONDA_OVERRIDE_CUDA=\n"})

    assert (facts.nvidia, facts.hidden_by) == (None, ())


def test_stated_capabilities_come_before_conda() -> None:
    """To say which GPUs there are is to say that there are some."""
    env = "CONDA_OVERRIDE_CUDA=\nLOCKFORGE_CUDA_ARCH=9.0\n"
    facts = facts_of({**_A6000, "env": env})

    assert facts.nvidia is not None
    assert (facts.nvidia.state, facts.hidden_by) == ("ok", ())
    assert [one.variable for one in facts.overrides] == ["LOCKFORGE_CUDA_ARCH"]


def test_condas_variable_for_no_cuda_at_all() -> None:
    """The GPUs stay in the facts, hidden."""
    facts = facts_of({**_A6000, "env": "CONDA_OVERRIDE_CUDA=\n"})

    assert facts.nvidia is not None
    assert (facts.nvidia.state, facts.nvidia.kernel_driver_version) == ("hidden", "535.183.01")
    assert [gpu.visible for gpu in facts.nvidia.gpus] == [False]
    assert facts.hidden_by == ("CONDA_OVERRIDE_CUDA",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOCKFORGE_CUDA_DRIVER_VERSION", "latest"),
        ("LOCKFORGE_CUDA_DRIVER_VERSION", "580,570"),
        ("UV_CUDA_DRIVER_VERSION", "v580"),
        ("LOCKFORGE_CUDA_ARCH", "sm_90"),
        ("LOCKFORGE_CUDA_ARCH", "9.0,"),
        ("LOCKFORGE_AMD_GPU_ARCHITECTURE", "gfx000"),
        ("UV_AMD_GPU_ARCHITECTURE", "gfx11-generic"),
        ("CONDA_OVERRIDE_CUDA", "cu124"),
    ],
)
def test_malformed(name: str, value: str) -> None:
    """The error names the variable, its value and what was expected."""
    with pytest.raises(UsageError) as caught:
        facts_of({"python": LINUX, "env": f"{name}={value}\n"})

    assert caught.value.where == name
    assert caught.value.message == f"not understood: {value!r}"
    assert caught.value.hint is not None
    assert "such as" in caught.value.hint


def test_an_empty_variable_of_ours_or_uvs_is_not_set() -> None:
    """Only conda's has a meaning when empty."""
    env = "LOCKFORGE_CUDA_ARCH=\nUV_CUDA_DRIVER_VERSION=\nLOCKFORGE_CUDA_DRIVER_VERSION= \n"

    assert facts_of({"python": LINUX, "env": env}).overrides == ()


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({}, None),
        ({"LOCKFORGE_ROW": "linux-cu130"}, Wanted(by="LOCKFORGE_ROW", row="linux-cu130")),
        ({"UV_TORCH_BACKEND": "auto"}, None),
        ({"UV_TORCH_BACKEND": ""}, None),
        ({"UV_TORCH_BACKEND": "cu128"}, Wanted(by="UV_TORCH_BACKEND", accelerator="cu128")),
        (
            {"UV_TORCH_BACKEND": "cpu", "LOCKFORGE_ROW": "a"},
            Wanted(by="LOCKFORGE_ROW", row="a"),
        ),
    ],
)
def test_what_the_user_asks_for(variables: dict[str, str], wanted: Wanted | None) -> None:
    """A row by lockforge's variable, or an accelerator by uv's."""
    assert wanted_from(variables) == wanted


def test_a_backend_that_is_none() -> None:
    """The error names the variable."""
    with pytest.raises(UsageError, match="not understood: 'cuda'") as caught:
        wanted_from({"UV_TORCH_BACKEND": "cuda"})

    assert caught.value.where == "UV_TORCH_BACKEND"
