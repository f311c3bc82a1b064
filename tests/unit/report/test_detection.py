"""What was detected and chosen, as text and as data; the golden files hold whole texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lockforge.catalog import Source
from lockforge.model.choice import Choice, Wanted
from lockforge.model.machine import (
    Amd,
    AmdGpu,
    Apple,
    Caution,
    Facts,
    Intel,
    IntelGpu,
    Interpreter,
    NvidiaGpu,
    NvidiaState,
    Override,
)
from lockforge.report.detection import detection_data, render_detection
from tests.unit.report.machines import (
    make_choice,
    make_facts,
    make_nvidia,
    make_verdict,
)

H100 = NvidiaGpu(name="NVIDIA H100 80GB HBM3", compute_cap="9.0")
HIDDEN = NvidiaGpu(name="NVIDIA L4", compute_cap="8.9", visible=False)
CPU = make_verdict("linux-cpu", "usable", "it needs no GPU")
CUDA = make_verdict("linux-cu130", "usable", "it has kernels for sm_90")
ROCM = make_verdict("linux-rocm7.2", "refused", "this host has no AMD GPU")

SOURCES = {
    "uv": Source(title="the tables of uv", url="https://example.com/uv"),
    "list": Source(title="a list as printed", url=None),
}


def rendered(facts: Facts, choice: Choice | None = None) -> list[str]:
    return render_detection(facts, choice or make_choice(CPU), []).splitlines()


def labelled(facts: Facts, label: str) -> list[str]:
    """The entries under one label at the top of the text."""
    found = []
    current = ""
    for line in rendered(facts):
        if not line:
            break
        current = line[:8].strip() or current
        if current == label:
            found.append(line[8:])
    return found


def advice(
    facts: Facts, choice: Choice, *, command: str | None = None, would_serve: str | None = None
) -> str:
    text = render_detection(facts, choice, [], command=command, would_serve=would_serve)
    return " ".join(text.rpartition("\n\n")[2].split())


def test_gpus_of_every_vendor() -> None:
    """Each vendor's GPUs are listed in its own terms, equal ones together."""
    facts = make_facts(
        nvidia=make_nvidia(
            "580.95.05",
            H100,
            NvidiaGpu(name="Tesla T4", compute_cap="7.5", compute_cap_source="PCI id table"),
            NvidiaGpu(name="NVIDIA H100 80GB HBM3", compute_cap="9.0", mig=("1g.10gb",) * 7),
            NvidiaGpu(name="NVIDIA L4-12Q", compute_cap="8.9", vgpu=True, visible=False),
            NvidiaGpu(name=None, compute_cap=None),
            H100,
        ),
        amd=Amd(
            gpus=(
                AmdGpu(gfx="gfx1100", integrated=False, name="AMD Radeon RX 7900 XTX"),
                AmdGpu(gfx="gfx1036", integrated=True, visible=False),
                AmdGpu(gfx=None, integrated=None, pci_id="1002:ffff"),
                AmdGpu(gfx=None, integrated=None),
            ),
            source="PCI id table",
        ),
        intel=Intel(
            gpus=(
                IntelGpu(pci_id="8086:e20b", family="Arc B580 (Battlemage)", xpu_supported=True),
                IntelGpu(pci_id="8086:ffff", family=None, xpu_supported=False),
                IntelGpu(
                    pci_id="8086:a7a0", family="Iris Xe", xpu_supported=False, unvalidated=True
                ),
            )
        ),
    )

    assert labelled(facts, "GPUs") == [
        "2 x NVIDIA H100 80GB HBM3 (9.0)",
        "NVIDIA Tesla T4 (7.5 from PCI id table)",
        "NVIDIA H100 80GB HBM3 (9.0), MIG 7 x 1g.10gb",
        "NVIDIA L4-12Q (8.9), vGPU, not visible",
        "NVIDIA GPU (capability unknown)",
        "AMD Radeon RX 7900 XTX (gfx1100)",
        "AMD GPU (gfx1036), integrated, not visible",
        "AMD GPU (1002:ffff)",
        "AMD GPU (architecture unknown)",
        "Intel Arc B580 (Battlemage) (8086:e20b)",
        "Intel GPU (8086:ffff), not for XPU",
        "Intel Iris Xe (8086:a7a0), not validated for XPU",
    ]


@pytest.mark.parametrize(
    ("chip", "usable", "expected"),
    [
        ("Apple M1", True, "Apple M1 (MPS)"),
        ("Intel(R) Core(TM) i7", False, "Intel(R) Core(TM) i7, without MPS here"),
        (None, True, "unknown processor of Apple's (MPS)"),
    ],
)
def test_mac(chip: str | None, usable: bool, expected: str) -> None:  # noqa: FBT001
    """A Mac's processor is named with whether MPS can be used."""
    apple = Apple(chip=chip, translated=False, hardware_arch="arm64", mps_usable=usable)

    assert labelled(make_facts(apple=apple), "GPUs") == [expected]


@pytest.mark.parametrize(
    ("driver", "state", "others", "expected"),
    [
        ("580.95.05", "ok", {}, "NVIDIA 580.95.05 (from /sys/module/nvidia/version)"),
        (
            "610.43.02",
            "ok",
            {"driver_source": "nvidia-smi", "cuda_umd_version": "13.3"},
            "NVIDIA 610.43.02 (from nvidia-smi), CUDA up to 13.3",
        ),
        (
            "550.127.05",
            "driver_library_mismatch",
            {"driver_source": "proc", "user_library_version": "550.144"},
            "NVIDIA 550.127.05 (from /proc/driver/nvidia/version), its libraries are 550.144",
        ),
        (
            "550.54",
            "driver_library_mismatch",
            {"driver_source": "proc"},
            (
                "NVIDIA 550.54 (from /proc/driver/nvidia/version), its libraries are of another "
                "version"
            ),
        ),
        ("580.95.05", "ok", {"driver_source": "stated"}, "NVIDIA 580.95.05 (stated)"),
        (None, "no_devices", {}, "no NVIDIA driver found, nvidia-smi finds no device"),
        (
            None,
            "tools_without_driver",
            {},
            "no NVIDIA driver found, though its tools are installed",
        ),
        (None, "gpu_without_driver", {}, "no NVIDIA driver found, though a GPU is there"),
        (None, "not_answering", {}, "no NVIDIA driver found, its tools do not answer"),
    ],
)
def test_driver(
    driver: str | None, state: NvidiaState, others: dict[str, str], expected: str
) -> None:
    """The driver is told with what told of it, and with what is wrong with it."""
    facts = make_facts(nvidia=make_nvidia(driver, state=state, **others))

    assert labelled(facts, "driver") == [expected]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "Ubuntu 24.04.2 LTS, x86_64, glibc 2.39"),
        ({"os_version": None, "libc": None}, "Linux, x86_64"),
        (
            {"wsl2": True, "container": True},
            "Ubuntu 24.04.2 LTS, x86_64, glibc 2.39, WSL2, in a container",
        ),
        ({"tegra": "R36.4"}, "Ubuntu 24.04.2 LTS, x86_64, glibc 2.39, Jetson (R36.4)"),
        (
            {"os": "windows", "os_version": "10.0.26100", "arch": "AMD64", "libc": None},
            "Windows 10.0.26100, AMD64",
        ),
        (
            {"os": "windows", "os_version": "Windows 11", "arch": "ARM64", "libc": None},
            "Windows 11, ARM64",
        ),
        ({"os": "macos", "os_version": "15.4", "arch": "arm64", "libc": None}, "macOS 15.4, arm64"),
        (
            {"os": None, "os_version": None, "arch": None, "libc": None},
            "unknown system, unknown machine",
        ),
    ],
)
def test_host(changes: dict[str, object], expected: str) -> None:
    """The host is named by system, machine and C library, and by what it runs in."""
    assert labelled(make_facts(**changes), "host") == [expected]


def test_python() -> None:
    """The interpreter is told by what it is built for, which the machine does not say."""
    python = Interpreter(
        version="3.12.1",
        implementation="CPython",
        bits=32,
        machine="AMD64",
        platform="win32",
    )

    assert labelled(make_facts(python=python), "python") == ["CPython 3.12.1 for win32, 32-bit"]
    assert labelled(make_facts(python=None), "python") == []


def test_what_the_user_stated() -> None:
    """Facts that were stated by a variable are shown as that."""
    facts = make_facts(
        overrides=(
            Override(variable="LOCKFORGE_CUDA_DRIVER_VERSION", value="570.86"),
            Override(variable="LOCKFORGE_CUDA_ARCH", value="9.0"),
        )
    )

    assert labelled(facts, "stated") == [
        "LOCKFORGE_CUDA_DRIVER_VERSION=570.86",
        "LOCKFORGE_CUDA_ARCH=9.0",
    ]


def test_text_of_a_probe_does_nothing_to_a_terminal() -> None:
    """Control characters in what a machine said are shown, and not obeyed."""
    gpu = NvidiaGpu(name="NVIDIA \x1b[2J\r\nL4\u202e", compute_cap="8.9")

    assert r"GPUs    NVIDIA \x1b[2J\r\nL4\u202e (8.9)" in rendered(
        make_facts(nvidia=make_nvidia("580.95.05", gpu))
    )


def test_long_texts_keep_within_the_width() -> None:
    """Long reasons, warnings and lists of GPUs are folded."""
    words = "word " * 60 + "end"
    gpu = NvidiaGpu(name="NVIDIA " + words, compute_cap="9.0", mig=("1g.10gb", "2g.20gb"))
    choice = make_choice(
        make_verdict("linux-cu130", "usable", words),
        *(make_verdict(f"win-{one}", "refused", words) for one in ("cu130", "cu126", "cpu")),
    )

    text = render_detection(
        make_facts(nvidia=make_nvidia("580.95.05", gpu)),
        choice,
        [Caution(code="some_code", text=words)],
    )

    assert max(map(len, text.splitlines())) <= 100


def test_rows_with_the_best_marked() -> None:
    """The row to take is marked, and others keep their order."""
    partial = make_verdict("linux-cu126", "partial", "it has kernels for 1 of 2 GPUs")

    lines = rendered(make_facts(), make_choice(partial, CUDA, ROCM, CPU))

    assert lines[lines.index("") + 1 : -2] == [
        "   row            status   reason",
        "   linux-cu126    partial  it has kernels for 1 of 2 GPUs",
        "*  linux-cu130    usable   it has kernels for sm_90",
        "   linux-rocm7.2  refused  this host has no AMD GPU",
        "   linux-cpu      usable   it needs no GPU",
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("linux-cu130", "linux-cu130 is the row for this host. Go on with: pip install x"),
        (
            "cu130",
            (
                "cu130 is the accelerator for this host. Lock it with: "
                "lockforge lock --matrix linux-cu130"
            ),
        ),
    ],
)
def test_how_to_go_on(name: str, expected: str) -> None:
    """A row of a lock is installed by the command given, and another is to be locked first."""
    choice = make_choice(make_verdict(name, "usable", "it has kernels for sm_90"))

    assert advice(make_facts(), choice, command="pip install x") == expected


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"nvidia": make_nvidia("470.86", H100)},
            "no row of the lock serves the GPUs of this host",
        ),
        (
            {"nvidia": make_nvidia("580.95.05", HIDDEN), "hidden_by": ("CUDA_VISIBLE_DEVICES",)},
            "the GPUs of this host are hidden by CUDA_VISIBLE_DEVICES",
        ),
        (
            {
                "amd": Amd(gpus=(AmdGpu(gfx="gfx1103", integrated=True),), source="kfd"),
                "nvidia": make_nvidia("580.95.05", HIDDEN),
                "hidden_by": ("CUDA_VISIBLE_DEVICES",),
            },
            "no row of the lock serves the GPUs of this host",
        ),
    ],
)
def test_fallback_to_the_cpu(changes: dict[str, object], why: str) -> None:
    """The CPU's row is announced as a fallback where there is a GPU that it leaves idle."""
    assert advice(make_facts(**changes), make_choice(CPU)) == (
        f"linux-cpu is the row for this host as a fallback: {why}."
    )


def test_no_fallback() -> None:
    """The CPU's row is none where there is no GPU that PyTorch has a build for."""
    graphics = IntelGpu(pci_id="8086:3e9b", family="UHD 630", xpu_supported=False)

    for facts in (make_facts(), make_facts(intel=Intel(gpus=(graphics,)))):
        assert advice(facts, make_choice(CPU)) == "linux-cpu is the row for this host."


def test_row_that_was_asked_for() -> None:
    """Who asked for the chosen row is told, by row and by accelerator."""
    facts = make_facts(nvidia=make_nvidia("580.95.05", H100))
    verdicts = (CUDA, CPU)

    by_row = Choice(verdicts=verdicts, best=CPU, wanted=Wanted(by="--row", row="linux-cpu"))
    by_label = Choice(
        verdicts=verdicts, best=CPU, wanted=Wanted(by="UV_TORCH_BACKEND", accelerator="cpu")
    )

    assert advice(facts, by_row) == "linux-cpu is taken, as --row asks."
    assert advice(facts, by_label) == "linux-cpu is taken, as UV_TORCH_BACKEND asks."


def test_row_that_was_forced() -> None:
    """A row that is taken although it is refused keeps its reason, and says who forced it."""
    forced = make_verdict("linux-rocm7.2", "refused", "this host has no AMD GPU", forced=True)
    wanted = Wanted(by="--force-row", row="linux-rocm7.2", force=True)

    lines = rendered(make_facts(), Choice(verdicts=(forced, CPU), best=forced, wanted=wanted))

    assert "*  linux-rocm7.2  refused, forced  this host has no AMD GPU" in lines
    assert lines[-1] == (
        "linux-rocm7.2 is taken, forced by --force-row: it does not serve this host."
    )


def test_row_that_was_forced_for_some_gpus() -> None:
    """A row with kernels for some of the GPUs is not said to serve none."""
    forced = make_verdict("linux-cu126", "partial", "it has kernels for 1 of 2", forced=True)
    wanted = Wanted(by="--force-row", row="linux-cu126", force=True)

    assert advice(make_facts(), Choice(verdicts=(forced, CPU), best=forced, wanted=wanted)) == (
        "linux-cu126 is taken, forced by --force-row: it does not serve all GPUs of this host."
    )


def test_row_that_was_asked_for_and_does_not_serve() -> None:
    """A refused request names what would do, and how to insist."""
    wanted = Wanted(by="--row", row="linux-rocm7.2")

    assert advice(make_facts(), Choice(verdicts=(CUDA, ROCM, CPU), best=None, wanted=wanted)) == (
        "linux-rocm7.2, which --row asks for, does not serve this host. linux-cu130, linux-cpu do. "
        "To take linux-rocm7.2 all the same: --force-row linux-rocm7.2"
    )
    assert advice(make_facts(), Choice(verdicts=(ROCM,), best=None, wanted=wanted)) == (
        "linux-rocm7.2, which --row asks for, does not serve this host. To take linux-rocm7.2 "
        "all the same: --force-row linux-rocm7.2"
    )


def test_what_to_do_where_nothing_serves() -> None:
    """A host that no row serves is told what to do, by what is known."""
    facts = make_facts()
    partial = make_verdict("linux-cu126", "partial", "it has kernels for 1 of 2 GPUs")

    assert advice(facts, make_choice(partial, ROCM)) == (
        "No row of the lock serves all GPUs of this host. Hide those that linux-cu126 does not "
        "serve. To take linux-cu126 all the same: --force-row linux-cu126"
    )
    assert advice(facts, make_choice(ROCM)) == (
        "No row of the lock serves this host. What it would need is said above."
    )
    assert advice(facts, make_choice(make_verdict("cpu", "refused", "no wheels for musl"))) == (
        "No accelerator serves this host. What it would need is said above."
    )
    assert advice(facts, make_choice()).startswith("No row of the lock serves this host")


def test_row_that_would_serve() -> None:
    """A row to add is named, and one that the lock has is not told to be added."""
    facts = make_facts(nvidia=make_nvidia("580.95.05", H100))
    anew = "linux-rocm7.2 would at its newest torch and default floor: lock it anew for these."

    assert advice(facts, make_choice(ROCM), would_serve="linux-cu126") == (
        "No row of the lock serves this host. linux-cu126 would: add it to the matrix, and lock "
        "anew."
    )
    assert advice(facts, make_choice(ROCM), would_serve="linux-rocm7.2") == (
        f"No row of the lock serves this host. {anew}"
    )
    assert advice(facts, make_choice(CPU, ROCM), would_serve="linux-rocm7.2") == (
        "linux-cpu is the row for this host as a fallback: no row of the lock serves the GPUs of "
        f"this host. {anew}"
    )


def test_no_row_is_for_the_python() -> None:
    """Where the lock has the platform and not the Python, no other row is told to be added."""
    python = Interpreter(
        version="3.11.9",
        implementation="CPython",
        bits=64,
        machine="x86_64",
        platform="linux-x86_64",
    )
    facts = make_facts(python=python)
    foreign = make_verdict("mac-cpu", "refused", "it is for mac", forcible=False)

    assert advice(facts, make_choice(ROCM, foreign), would_serve="linux-cpu") == (
        "No row of the lock serves this host. Its rows for this platform have no files for Python "
        "3.11: take a Python that they have files for (--python), or lock for this one too."
    )
    assert advice(facts, make_choice(foreign), would_serve="linux-cpu") == (
        "No row of the lock serves this host. linux-cpu would: add it to the matrix, and lock anew."
    )


def test_fallback_without_a_gpu_in_reach() -> None:
    """A fallback that the reason tells of is announced, though no GPU is seen."""
    reason = "a fallback: there are no device nodes"
    cpu = make_verdict("linux-cpu", "usable", reason)

    assert advice(make_facts(), make_choice(cpu)) == (
        "linux-cpu is the row for this host as a fallback: no GPU of this host is reached."
    )


def test_reason_of_a_fallback_is_told_once() -> None:
    """The CPU's row refers to the row whose reason it has."""
    cpu = make_verdict("linux-cpu", "usable", f"a fallback: {ROCM.reason}")

    assert rendered(make_facts(), make_choice(ROCM, cpu))[-3] == (
        "*  linux-cpu      usable   a fallback, because linux-rocm7.2 is refused"
    )


def test_rows_of_other_platforms() -> None:
    """They are told apart from the table, but for one that was asked for."""
    windows, mac = (
        make_verdict(f"{one}-cpu", "refused", f"it is for {one}", forcible=False)
        for one in ("win", "mac")
    )
    wanted = Wanted(by="--row", row="win-cpu")

    def lines(choice: Choice) -> list[str]:
        return rendered(make_facts(), choice)[3:-1]

    assert lines(make_choice(CPU, windows, mac)) == [
        "",
        "   row        status  reason",
        "*  linux-cpu  usable  it needs no GPU",
        "",
        "also refused:",
        "  win-cpu: it is for win",
        "  mac-cpu: it is for mac",
        "",
    ]
    assert lines(Choice(verdicts=(CPU, windows, mac), best=None, wanted=wanted)) == [
        "",
        "   row        status   reason",
        "   linux-cpu  usable   it needs no GPU",
        "   win-cpu    refused  it is for win",
        "",
        "also refused:",
        "  mac-cpu: it is for mac",
        "",
    ]


def test_what_is_to_be_copied_is_in_one_piece() -> None:
    """A command stands on a line of its own, however long it is."""
    command = "pip install " + "--option " * 20
    text = render_detection(make_facts(), make_choice(CPU), [], command=command)

    assert text.endswith(f"Go on with:\n  {command}\n")


def test_sources() -> None:
    """Each source is named once, with the rows that it tells of."""
    choice = make_choice(replace(CUDA, sources=("uv", "list")), replace(ROCM, sources=("uv",)), CPU)

    text = render_detection(make_facts(), choice, [], sources=SOURCES)

    assert (
        "\nsources:\n"
        "  linux-cu130, linux-rocm7.2: the tables of uv\n"
        "  linux-cu130: a list as printed\n\n"
    ) in text


def test_data() -> None:
    """The JSON has facts, rows in order with their reasons and sources, and warnings by code."""
    partial = make_verdict("linux-cu126", "partial", "it has kernels for 1 of 2 GPUs")
    facts = {"os": "linux"}
    caution = Caution(code="python_is_32bit", text="install a 64-bit Python")

    choice = make_choice(replace(CUDA, sources=("uv", "list")), partial, ROCM, CPU)

    assert detection_data(facts, choice, [caution], SOURCES) == {
        "version": 1,
        "facts": facts,
        "rows": [
            {
                "name": "linux-cu130",
                "accelerator": "cu130",
                "status": "usable",
                "reason": "it has kernels for sm_90",
                "sources": ["uv", "list"],
            },
            {
                "name": "linux-cu126",
                "accelerator": "cu126",
                "status": "partial",
                "reason": "it has kernels for 1 of 2 GPUs",
                "sources": [],
            },
            {
                "name": "linux-rocm7.2",
                "accelerator": "rocm7.2",
                "status": "refused",
                "reason": "this host has no AMD GPU",
                "sources": [],
            },
            {
                "name": "linux-cpu",
                "accelerator": "cpu",
                "status": "usable",
                "reason": "it needs no GPU",
                "sources": [],
            },
        ],
        "usable_rows": ["linux-cu130", "linux-cpu"],
        "partial_rows": ["linux-cu126"],
        "best_row": "linux-cu130",
        "warnings": [{"code": "python_is_32bit", "text": "install a 64-bit Python"}],
        "overrides": [],
        "sources": {
            "uv": {"title": "the tables of uv", "url": "https://example.com/uv"},
            "list": {"title": "a list as printed", "url": None},
        },
    }


def test_data_of_a_request() -> None:
    """What was asked for, by whom, and whether it was forced is recorded."""
    forced = make_verdict("linux-rocm7.2", "refused", "this host has no AMD GPU", forced=True)
    by_force = Wanted(by="--force-row", row="linux-rocm7.2", force=True)
    by_label = Wanted(by="UV_TORCH_BACKEND", accelerator="rocm7.2")
    overrides = [{"variable": "LOCKFORGE_CUDA_ARCH", "value": "9.0"}]

    data = detection_data(
        {"overrides": overrides}, Choice(verdicts=(forced,), best=forced, wanted=by_force), []
    )
    refused = detection_data({}, Choice(verdicts=(ROCM,), best=None, wanted=by_label), [])

    assert data["requested"] == {"by": "--force-row", "row": "linux-rocm7.2", "forced": True}
    assert data["best_row"] == "linux-rocm7.2"
    assert data["usable_rows"] == []
    assert data["overrides"] == overrides
    assert refused["requested"] == {"by": "UV_TORCH_BACKEND", "row": "rocm7.2", "forced": False}
    assert refused["best_row"] is None
