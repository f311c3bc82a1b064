from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockforge.detect.facts import read_facts, variables_of
from lockforge.detect.gather import gather
from lockforge.detect.probes import PROBES
from lockforge.errors import UsageError
from lockforge.model.probe import ABSENT, Answer, Outcome, Question, Run
from tests.unit.detect.machines import AARCH64, CATALOG, LINUX, MAC, WINDOWS, WSL2, Machine, Texts

_PHRASES = (
    "580.95.05, 8.6, NVIDIA RTX A6000\n",
    "580.95.05, [N/A], ERR!\n",
    "No devices were found\n",
    "Failed to initialize NVML: Driver/library version mismatch\n",
    "NVML library version: ",
    "NVRM version: ",
    "| NVIDIA-SMI 1   Driver Version: ",
    "CUDA UMD Version: 13.3 |",
    "|   0  NVIDIA B200  On  |   00000000:63:00.0 Off |\n",
    "GPU 0: NVIDIA A100 (UUID: GPU-a)\n",
    "  MIG 1g.5gb  Device  0: (UUID: MIG-b)\n",
    "- {class: '0x030000', vendor: '0x10de', device: '0x2684', driver: 'nouveau'}\n",
    "- {class: '0x030000', vendor: '0x8086', device: '0xe20b'}\n",
    "01:00.0 3D controller [0302]: NVIDIA Corporation X [Tesla T4] [10de:1eb8] (rev a1)\n",
    '{"Name": "A", "DriverVersion": "32.0.15.7283", "PNPDeviceID": "PCI\\\\VEN_10DE&DEV_2C02"}',
    "[{",
    "gfx1100\n",
    "gfx_target_version 110000\n",
    "Agent 1\n  Name:   gfx1100\n  Device Type:   GPU\n",
    "nvml_driver=580.95.05\ngpu=NVIDIA L4, 8.9\n",
    "cuda_error=803\n",
    "CUDA_VISIBLE_DEVICES=",
    "GPU-",
    "ID=debian\nVERSION_ID=",
    "nvidia0\nnvidiactl\nkfd\ndxg\n",
    "sysctl.proc_translated: 1\n",
    "# R36 (release), REVISION: 4.3\n",
    "NVIDIA Jetson AGX Orin",
    WSL2,
    LINUX,
    AARCH64,
    WINDOWS,
    MAC,
)
_RUBBISH = st.one_of(
    st.text(max_size=60), st.binary(max_size=60).map(lambda raw: raw.decode("utf-8", "replace"))
)
_TEXTS = st.lists(st.one_of(st.sampled_from(_PHRASES), _RUBBISH), max_size=6).map("".join)
_OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(
    ("said", "failed", "absent", "timeout", "unreadable")
)
_ANSWERS = st.builds(
    Answer,
    outcome=_OUTCOMES,
    text=_TEXTS,
    status=st.none() | st.integers(-64, 10_000),
    by=st.none() | st.text(max_size=10),
)


class _Rubbish:
    """Answers anything to anything, but for which system it is."""

    def __init__(self, python: str, data: st.DataObject) -> None:
        self._python = python
        self._data = data

    def ask(self, question: Question) -> Answer:
        if question == PROBES[0].question and self._python:
            return Answer(outcome="said", text=self._python)
        return self._data.draw(_ANSWERS)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(python=st.sampled_from(("", LINUX, AARCH64, WINDOWS, MAC)), data=st.data())
def test_rubbish_is_never_an_error(python: str, data: st.DataObject) -> None:
    """Any text in any probe gives facts; only a malformed override is refused, with its name."""
    asked = gather(_Rubbish(python, data))

    refused = None
    try:
        read_facts(asked, CATALOG)
    except UsageError as error:
        refused = error.where

    assert refused is None or refused in variables_of(asked)


@pytest.mark.parametrize("python", [LINUX, AARCH64, WINDOWS, MAC])
@pytest.mark.parametrize(
    "text",
    [
        " " * 10_000_000,
        "\n" * 10_000_000,
        "[" * 10_000_000,
        "GPU 0: " + " " * 10_000_000,
        "- " * 5_000_000,
        "9" * 10_000_000,
        "\0" * 10_000_000,
        "- {class: '" * 900_000,
        "musl libc\n" * 900_000,
    ],
    ids=["blanks", "lines", "lists", "half", "items", "digits", "nul", "attributes", "libc"],
)
def test_ten_megabytes_of_the_same(python: str, text: str) -> None:
    """Nothing is found in it, whatever probe says it, and it takes no time worth speaking of."""

    class Same:
        def ask(self, question: Question) -> Answer:
            said = python if question == PROBES[0].question else text
            return Answer(outcome="said", text=said)

    facts = read_facts(gather(Same()), CATALOG)

    assert (facts.amd, facts.intel, facts.overrides) == (None, None, ())
    # A tool that says something without a driver is all that could be told.
    assert facts.nvidia is None or facts.nvidia.gpus == ()


@pytest.mark.parametrize(
    ("python", "programs"),
    [
        (LINUX, ["uname", "lspci", "nvidia-smi", "rocm_agent_enumerator", "rocminfo"]),
        (WINDOWS, ["powershell", "nvidia-smi"]),
        (MAC, ["uname", "sw_vers", "sysctl"]),
    ],
)
def test_what_is_run_on_each_system(python: str, programs: list[str]) -> None:
    """Where nothing answers, no program of another system is looked for."""
    run = [
        one.question.argv[0]
        for one in gather(Machine({"python": python}))
        if isinstance(one.question, Run)
    ]

    assert list(dict.fromkeys(run)) == programs


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ({}, False),
        ({"/dev": "nvidia0\n"}, True),
        ({"/dev": "dxg\n"}, True),
        ({"/sys/module/nvidia/version": "580.95.05\n"}, True),
        (
            {
                "/dev": "nvidia0\n",
                "nvidia-smi --query-gpu=driver_version,compute_cap,name --format=csv,noheader": (
                    "580.95.05, 8.6, NVIDIA RTX A6000\n"
                ),
            },
            False,
        ),
    ],
)
def test_when_libraries_are_loaded(answers: Texts, *, asked: bool) -> None:
    """Only where there is a sign of NVIDIA's hardware of which something is not known."""
    machine = Machine({"python": LINUX, **answers})
    gather(machine)

    assert ("libraries" in machine.asked) is asked


def test_the_variables_that_are_set() -> None:
    """An empty one is set."""
    asked = gather(Machine({"python": LINUX, "env": "CUDA_VISIBLE_DEVICES=\nLOCKFORGE_ROW=a\n"}))

    assert variables_of(asked) == {"CUDA_VISIBLE_DEVICES": "", "LOCKFORGE_ROW": "a"}


def test_every_probe_says_why() -> None:
    """The record explains itself, and no name stands for two questions on one system."""
    assert all(probe.why.endswith(".") for probe in PROBES)
    for python in (LINUX, AARCH64, WINDOWS, MAC):
        names = [one.name for one in gather(Machine({"python": python}))]
        assert len(names) == len(set(names))


def test_a_machine_that_says_nothing() -> None:
    """Everything is unknown then, and nothing is there."""

    class Silent:
        def ask(self, question: Question) -> Answer:
            return ABSENT

    facts = read_facts(gather(Silent()), CATALOG)

    assert (facts.os, facts.arch, facts.python, facts.libc) == (None, None, None, None)
    assert (facts.nvidia, facts.amd, facts.intel, facts.apple) == (None, None, None, None)
