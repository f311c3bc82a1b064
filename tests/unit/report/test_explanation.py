"""The record of the probes as text; a golden file holds a whole one."""

from __future__ import annotations

import pytest

from lockforge.model.probe import (
    ABSENT,
    Answer,
    Asked,
    AskInterpreter,
    Question,
    ReadFiles,
    Run,
)
from lockforge.report.explanation import explanation_data, render_explanation


def explained(question: Question, answer: Answer = ABSENT) -> list[str]:
    return render_explanation([Asked(name="probe", question=question, answer=answer)]).splitlines()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (AskInterpreter(), "probe: ask the Python to install for"),
        (
            ReadFiles(path="/sys/bus/pci/devices/*/", names=("vendor", "device")),
            "probe: read vendor, device of each /sys/bus/pci/devices/*/",
        ),
        (
            Run(argv=("powershell", "-Command", "Get-CimInstance | ConvertTo-Json")),
            "probe: run powershell -Command 'Get-CimInstance | ConvertTo-Json'",
        ),
        (
            Run(argv=("rocminfo",), environment=(("A", "1"), ("B", "x y"))),
            "probe: run A=1 B='x y' rocminfo",
        ),
    ],
)
def test_question(question: Question, expected: str) -> None:
    """A question is told such that a person can put it, too."""
    assert explained(question)[0] == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ABSENT, "  not there, 0.0 ms"),
        (Answer(outcome="timeout", milliseconds=3000.25), "  no answer in time, 3000.2 ms"),
        (Answer(outcome="failed", status=18, milliseconds=7.0), "  failed, exit status 18, 7.0 ms"),
        (Answer(outcome="failed", status=-9), "  failed, signal 9, 0.0 ms"),
        (
            Answer(outcome="said", status=0, by="/usr/lib/wsl/lib/nvidia-smi"),
            "  answered, no text, exit status 0, 0.0 ms, by /usr/lib/wsl/lib/nvidia-smi",
        ),
    ],
)
def test_outcome(answer: Answer, expected: str) -> None:
    """How a probe ended is told with its time, and with the program where it was not on PATH."""
    assert explained(AskInterpreter(), answer)[1] == expected


def test_text_is_bounded() -> None:
    """Of a flood the first lines are shown, each as far as it can be read."""
    answer = Answer(outcome="said", text=("x" * 100_000 + "\n") * 100)

    shown = explained(AskInterpreter(), answer)[2:-1]

    assert shown == [f"  | {'x' * 160} ..."] * 24 + ["  | ... 76 more lines"]


def test_text_does_nothing_to_a_terminal() -> None:
    """Control characters of a text are shown, its ends of lines and tabs kept."""
    answer = Answer(outcome="said", text="a\tb\r\n\x1b]0;title\x07\r\x0c\n\n")

    assert explained(AskInterpreter(), answer)[2:-1] == [
        "  | a       b",
        r"  | \x1b]0;title\x07\r\x0c",
    ]


def test_total() -> None:
    """The last line has the number of probes and their time."""
    one = Asked(
        name="probe",
        question=AskInterpreter(),
        answer=Answer(outcome="said", milliseconds=20.4),
    )

    assert render_explanation([]).splitlines()[-1] == "0 probes, 0 ms"
    assert render_explanation([one]).splitlines()[-1] == "1 probe, 20 ms"
    assert render_explanation([one, one]).splitlines()[-1] == "2 probes, 41 ms"


def test_data() -> None:
    """The JSON has every probe with its whole text."""
    answer = Answer(
        outcome="failed",
        text="Failed to initialize NVML\n" * 100,
        status=18,
        milliseconds=7.04,
        by="/usr/lib/wsl/lib/nvidia-smi",
    )

    asked = [Asked(name="nvidia-smi", question=Run(argv=("nvidia-smi", "-L")), answer=answer)]

    assert explanation_data(asked) == [
        {
            "name": "nvidia-smi",
            "question": "run nvidia-smi -L",
            "outcome": "failed",
            "status": 18,
            "milliseconds": 7.0,
            "by": "/usr/lib/wsl/lib/nvidia-smi",
            "text": "Failed to initialize NVML\n" * 100,
        }
    ]
