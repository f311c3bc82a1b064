"""What a user reads of a machine, its rows and a fleet, byte for byte.

The texts are those of the real command on the machines of `fixtures/machines`. `pytest tests/golden
--update-golden` writes them anew; read the difference before committing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from lockforge.model.probe import (
    Answer,
    Asked,
    AskNvidiaLibraries,
    ListDirectory,
    ReadFile,
    ReadFiles,
    Run,
    Variables,
)
from lockforge.report.explanation import render_explanation
from tests.support.command import lockforge
from tests.support.machines import LABELS, read_machines

_GOLDEN = Path(__file__).parent / "machines"
_LOCK = Path(__file__).parent / "vision.pylock.toml"
_MACHINES = read_machines()
_WIDTH = 100

Compare: TypeAlias = Callable[[str, str], None]


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Compare:
    """Holds a text against the file of a name."""

    def hold(name: str, text: str) -> None:
        path = _GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, "utf-8", newline="\n")
        assert text == path.read_text("utf-8")

    return hold


@pytest.mark.parametrize(
    "name",
    [
        "alpine",
        "container-for-the-cpu",
        "container-that-sees-the-hosts-kernel",
        "eight-h200",
        "gtx-1080-driver-580",
        "h100-split-by-mig",
        "libraries-newer-than-the-running-driver",
        "python-under-rosetta",
        "rtx-4090-beside-raphael",
        "two-rtx-4090",
        "v100-beside-h100",
    ],
)
def test_a_machine(name: str, compare: Compare, tmp_path: Path) -> None:
    """Host, driver and GPUs, then each accelerator with its reason, then what is odd."""
    folder = _MACHINES[name].write(tmp_path / "machine")
    ended = lockforge("detect", "--facts", folder, "--accelerators", ",".join(LABELS))
    assert max(map(len, ended.out.splitlines())) <= _WIDTH
    compare(f"{name}.txt", ended.out)


@pytest.mark.parametrize(
    ("name", "status"),
    [("four-a100-ubuntu-20.04", 6), ("rtx-3060-beside-strix-halo", 0), ("jetson-thor", 6)],
)
def test_a_machine_beside_a_lock(name: str, status: int, compare: Compare, tmp_path: Path) -> None:
    """The rows of the lock are judged, and where none serves the one to lock is named."""
    folder = _MACHINES[name].write(tmp_path / "machine")
    ended = lockforge("detect", "--facts", folder, "--lock", _LOCK)
    assert ended.status == status
    compare(f"{name}.with-lock.txt", ended.out)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_fleet(form: str, compare: Compare, tmp_path: Path) -> None:
    """A line for each host, then what would serve the others."""
    names = ["alpine", "apple-m1", "container-for-the-cpu", "gtx-1080-driver-580", "grace-hopper"]
    names += ["rtx-5090-laptop-driver-610", "rtx-3060-beside-strix-halo", "two-rtx-4090"]
    for name in names:
        _MACHINES[name].write(tmp_path / name)
    ended = lockforge("plan", "--hosts", tmp_path, "--lock", _LOCK, "--format", form)
    assert ended.status == 6
    compare(f"fleet.{'md' if form == 'markdown' else 'txt'}", ended.out)


def test_explanation(compare: Compare) -> None:
    """Every probe says what was asked, how it ended, and the first of what was said."""
    csv = ("nvidia-smi", "--query-gpu=driver_version,name,compute_cap", "--format=csv,noheader")
    asked = (
        Asked(
            name="variables",
            question=Variables(
                names=(
                    "CUDA_VISIBLE_DEVICES",
                    "HIP_VISIBLE_DEVICES",
                    "LOCKFORGE_CUDA_DRIVER_VERSION",
                    "LOCKFORGE_CUDA_ARCH",
                )
            ),
            answer=Answer(outcome="said", text="CUDA_VISIBLE_DEVICES=0\n", milliseconds=0.04),
        ),
        Asked(
            name="sys_module",
            question=ReadFile(path="/sys/module/nvidia/version"),
            answer=Answer(outcome="absent", milliseconds=0.12),
        ),
        Asked(
            name="dev_nodes",
            question=ListDirectory(path="/dev/dri"),
            answer=Answer(outcome="unreadable", text="Permission denied", milliseconds=0.2),
        ),
        Asked(
            name="kfd",
            question=ReadFiles(path="/sys/class/kfd/kfd/topology/nodes/*/properties"),
            answer=Answer(outcome="absent"),
        ),
        Asked(
            name="nvidia-smi",
            question=Run(argv=csv, places=("/usr/lib/wsl/lib/nvidia-smi",)),
            answer=Answer(
                outcome="failed",
                text="Failed to initialize NVML: \x1b[31mDriver/library version mismatch\r\n",
                status=18,
                milliseconds=40.5,
                by="/usr/lib/wsl/lib/nvidia-smi",
            ),
        ),
        Asked(
            name="rocminfo",
            question=Run(argv=("rocminfo",), environment=(("HSA_ENABLE_DXG_DETECTION", "1"),)),
            answer=Answer(
                outcome="said",
                text="".join(f"Agent {number}\n" for number in range(40)),
                status=0,
                milliseconds=101.25,
            ),
        ),
        Asked(
            name="nvidia-libraries",
            question=AskNvidiaLibraries(),
            answer=Answer(outcome="failed", status=-11, milliseconds=350.0),
        ),
    )

    compare("explanation.txt", render_explanation(asked))
