"""What a user reads of a machine and its rows, byte for byte.

`pytest tests/golden --update-golden` writes the texts anew; read the difference before committing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from lockforge.model.choice import Choice, Fleet, HostPlan
from lockforge.model.machine import (
    Amd,
    AmdGpu,
    Apple,
    Caution,
    Facts,
    Interpreter,
    Libc,
    NvidiaGpu,
)
from lockforge.model.platforms import PLATFORMS
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
from lockforge.report.detection import render_detection
from lockforge.report.explanation import render_explanation
from lockforge.report.fleet import render_fleet, render_fleet_markdown
from tests.unit.report.machines import (
    make_choice,
    make_facts,
    make_nvidia,
    make_verdict,
)

_GOLDEN = Path(__file__).parent / "machines"

Compare: TypeAlias = Callable[[str], None]


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Compare:
    """Holds a text against the file named after the running test."""
    path = _GOLDEN / f"{request.node.name.removeprefix('test_')}.txt"

    def hold(text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.write_text(text, "utf-8", newline="\n")
        assert text == path.read_text("utf-8")

    return hold


def _within_width(text: str) -> str:
    assert max(map(len, text.splitlines())) <= 100
    return text


def test_eight_h100(compare: Compare) -> None:
    """Equal GPUs are one line, and rows of other platforms are told together."""
    gpu = NvidiaGpu(name="NVIDIA H100 80GB HBM3", compute_cap="9.0")
    facts = make_facts(nvidia=make_nvidia("580.95.05", *[gpu] * 8, cuda_umd_version="13.0"))
    covers = "torch 2.13.0 has kernels for it (8 x NVIDIA H100 80GB HBM3, 9.0: sm_90)"
    choice = make_choice(
        make_verdict(
            "linux-cu130", "usable", f"{covers}, and driver 580.95.05 is no older than 580"
        ),
        make_verdict(
            "linux-cu126", "usable", f"{covers}, and driver 580.95.05 is no older than 525.60.13"
        ),
        make_verdict("linux-rocm7.2", "refused", "it is for AMD GPUs, and this host has none"),
        make_verdict("linux-cpu", "usable", "it needs no GPU"),
        *(
            make_verdict(
                row, "refused", f"this row is for {on}, and this host is linux", forcible=False
            )
            for row, on in (
                ("linux-aarch64-cu130", "linux-aarch64"),
                ("win-cu130", "win"),
                ("win-cpu", "win"),
                ("mac-cpu", "mac"),
            )
        ),
    )

    command = "pip install -r 'pylock.toml[cu130]'"
    compare(_within_width(render_detection(facts, choice, [], command=command)))


def test_rtx_4090_and_raphael(compare: Compare) -> None:
    """The graphics in the processor are listed, and stand in nobody's way."""
    facts = make_facts(
        os_version="Ubuntu 22.04.5 LTS",
        libc=Libc(family="glibc", version="2.35", source="os-release"),
        nvidia=make_nvidia(
            "550.144.03",
            NvidiaGpu(name="NVIDIA GeForce RTX 4090", compute_cap="8.9"),
            driver_source="proc",
        ),
        amd=Amd(
            gpus=(AmdGpu(gfx="gfx1036", integrated=True, name="AMD Raphael"),),
            source="rocm_agent_enumerator",
        ),
    )
    too_old = "driver 550.144.03 is older than the 580 that {} needs on Linux"
    covers = "torch {} has kernels for NVIDIA GeForce RTX 4090 (8.9: sm_86), driver 550.144.03 does"
    choice = make_choice(
        make_verdict("cu132", "refused", too_old.format("cu132")),
        make_verdict("cu130", "refused", too_old.format("cu130")),
        make_verdict("cu128", "usable", covers.format("2.11.0")),
        make_verdict("cu126", "usable", covers.format("2.13.0")),
        make_verdict("cu118", "usable", covers.format("2.7.1")),
        make_verdict(
            "rocm7.2",
            "refused",
            "torch 2.13.0 has no kernels for gfx1036, but for gfx900, gfx906, gfx908, gfx90a, "
            "gfx942, gfx950, gfx1030, gfx1100, gfx1101, gfx1102, gfx1150, gfx1151, gfx1200 and "
            "gfx1201",
        ),
        make_verdict("xpu", "refused", "this host has no Intel GPU"),
        make_verdict("cpu", "usable", "it needs no GPU"),
    )

    compare(_within_width(render_detection(facts, choice, [])))


def test_pascal_at_the_end_of_its_row(compare: Compare) -> None:
    """A row that will not be built much longer is the best, with a warning and its code."""
    facts = make_facts(
        nvidia=make_nvidia(
            "580.95.05", *[NvidiaGpu(name="NVIDIA GeForce GTX 1080 Ti", compute_cap="6.1")] * 2
        )
    )
    lacks = "torch 2.13.0 has no kernels for NVIDIA GeForce GTX 1080 Ti (6.1) in {}"
    choice = make_choice(
        *(make_verdict(one, "refused", lacks.format(one)) for one in ("cu132", "cu130")),
        make_verdict(
            "cu126", "usable", "torch 2.13.0 has kernels for NVIDIA GeForce GTX 1080 Ti (6.1)"
        ),
        make_verdict("cpu", "usable", "it needs no GPU"),
    )
    cautions = [
        Caution(
            code="row_support_ends:cu126:2.15",
            text=(
                "torch 2.14 is the last that is built for cu126, the only CUDA row that serves "
                "NVIDIA GeForce GTX 1080 Ti (6.1)"
            ),
        )
    ]

    compare(_within_width(render_detection(facts, choice, cautions)))


def test_musl(compare: Compare) -> None:
    """Where nothing can serve, the one reason is told once."""
    facts = make_facts(
        os_version="Alpine Linux v3.20",
        libc=Libc(family="musl", version="1.2", source="interpreter"),
        container=True,
    )
    reason = "PyTorch has no wheels for musl, and this host has musl 1.2"
    choice = make_choice(
        *(make_verdict(one, "refused", reason) for one in ("cu132", "cu130", "xpu", "cpu"))
    )
    cautions = [
        Caution(
            code="no_wheels_for_musl",
            text="use an image with glibc 2.28 or newer, such as one of Debian, Ubuntu or Rocky",
        )
    ]

    compare(_within_width(render_detection(facts, choice, cautions)))


def test_rosetta(compare: Compare) -> None:
    """A Python built for Intel is named as that, next to the processor it runs on."""
    facts = Facts(
        os="macos",
        os_version="15.4",
        arch="x86_64",
        python=Interpreter(
            version="3.10.16",
            implementation="CPython",
            bits=64,
            machine="x86_64",
            platform="macosx-11.0-x86_64",
        ),
        apple=Apple(chip="Apple M3 Pro", translated=True, hardware_arch="arm64", mps_usable=False),
    )
    choice = make_choice(
        make_verdict(
            "cpu",
            "usable",
            "torch 2.2.2 is the last with wheels for macOS on x86_64",
            platform=PLATFORMS["mac-x86_64"],
        )
    )
    cautions = [
        Caution(
            code="x86_64_python_on_apple_silicon",
            text=(
                "this Python is built for x86_64 and runs under Rosetta; install one for arm64 to "
                "get the newest torch, and MPS"
            ),
        ),
        Caution(
            code="torch_max_2.2.2_for_macos_x86_64",
            text="no torch newer than 2.2.2 has wheels for macOS on x86_64",
        ),
    ]

    compare(_within_width(render_detection(facts, choice, cautions)))


def test_no_gpu(compare: Compare) -> None:
    """A host without a GPU is served by the CPU, which is no fallback."""
    choice = make_choice(
        *(
            make_verdict(one, "refused", "this host has no NVIDIA GPU")
            for one in ("cu130", "cu126")
        ),
        make_verdict("rocm7.2", "refused", "this host has no AMD GPU"),
        make_verdict("xpu", "refused", "this host has no Intel GPU"),
        make_verdict("cpu", "usable", "it needs no GPU"),
    )

    compare(_within_width(render_detection(make_facts(container=True), choice, [])))


def test_wsl2(compare: Compare) -> None:
    """Windows' driver is what counts, and where it was found is told."""
    facts = make_facts(
        wsl2=True,
        nvidia=make_nvidia(
            "572.60",
            *[NvidiaGpu(name="NVIDIA GeForce RTX 4090", compute_cap="8.9")] * 2,
            driver_source="/usr/lib/wsl/lib/nvidia-smi",
        ),
    )
    choice = make_choice(
        make_verdict(
            "linux-cu130",
            "refused",
            "driver 572.60 is older than the 580 that cu130 needs on WSL2, by Windows' driver",
        ),
        make_verdict("linux-cpu", "usable", "it needs no GPU"),
    )

    compare(_within_width(render_detection(facts, choice, [])))


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

    compare(render_explanation(asked))


def _fleet() -> Fleet:
    nothing = Choice(verdicts=(), best=None)

    def plan(host: str, row: str | None, reason: str, **others: object) -> HostPlan:
        return HostPlan(host=host, choice=nothing, row=row, reason=reason, **others)  # type: ignore[arg-type]

    return Fleet(
        hosts=(
            plan(
                "train-01",
                "linux-cu130",
                "torch 2.13.0 has kernels for 8 x NVIDIA H100 80GB HBM3 (9.0: sm_90), and driver "
                "580.95.05 is no older than 580",
            ),
            plan(
                "old-lab",
                None,
                "no row has kernels for Tesla P100-PCIE-16GB (6.0)",
                would_serve="cu126",
            ),
            plan(
                "old-desk",
                None,
                "no row has kernels for NVIDIA GeForce GTX 1080 (6.1)",
                would_serve="cu126",
            ),
            plan("alpine", None, "PyTorch has no wheels for musl, and this host has musl 1.2"),
            plan("strix", "linux-cpu", "no row of the lock has kernels for gfx1151", fallback=True),
            plan("ci", "linux-cpu", "it has no GPU"),
        ),
        unused_rows=("win-cu130", "mac-cpu"),
        cheapest=("linux-cu130", "linux-cpu"),
    )


def test_fleet(compare: Compare) -> None:
    """A line for each host, then what would serve the others."""
    compare(_within_width(render_fleet(_fleet())))


def test_fleet_in_markdown(compare: Compare) -> None:
    """The same as a pull request shows it."""
    compare(render_fleet_markdown(_fleet()))
