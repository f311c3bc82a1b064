"""The probes as they were asked -> text: every question, and what the machine said to it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from lockforge.model.probe import (
    AskInterpreter,
    AskNvidiaLibraries,
    ListDirectory,
    ReadFile,
    ReadFiles,
    Run,
    Variables,
)
from lockforge.report.tables import folded, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockforge.model.probe import Answer, Asked, Question

# The banner of nvidia-smi has no more before its list of processes.
_LINES = 24
_COLUMNS = 160
_OUTCOMES = {"said": "answered", "absent": "not there", "timeout": "no answer in time"}


def render_explanation(asked: Sequence[Asked]) -> str:
    """Write all probes in the order asked, each with how it ended and the first of its text."""
    lines = []
    for one in asked:
        asking = f"{one.name}: {_question(one.question)}"
        # A command stays in one piece, to be tried by hand.
        lines += [asking] if isinstance(one.question, Run) else folded(asking, rest="    ")
        lines.append(f"  {_outcome(one.answer)}")
        lines += (f"  | {line}".rstrip(" ") for line in _text(one.answer.text))
    total = sum(one.answer.milliseconds for one in asked)
    probes = "1 probe" if len(asked) == 1 else f"{len(asked)} probes"
    lines.append(f"{probes}, {total:.0f} ms")
    return "\n".join(map(harmless, lines)) + "\n"


def explanation_data(asked: Sequence[Asked]) -> list[dict[str, Any]]:
    """Give the same as plain data, with whole texts."""
    return [
        {
            "name": one.name,
            "question": _question(one.question),
            "outcome": one.answer.outcome,
            "status": one.answer.status,
            "milliseconds": round(one.answer.milliseconds, 1),
            "by": one.answer.by,
            "text": one.answer.text,
        }
        for one in asked
    ]


def _question(question: Question) -> str:
    match question:
        case ReadFile():
            text = f"read {question.path}"
        case ReadFiles(names=()):
            text = f"read each {question.path}"
        case ReadFiles():
            text = f"read {', '.join(question.names)} of each {question.path}"
        case ListDirectory():
            text = f"list {question.path}"
        case Run():
            variables = [f"{name}={shlex.quote(value)}" for name, value in question.environment]
            text = f"run {' '.join([*variables, shlex.join(question.argv)])}"
        case Variables():
            text = f"look up {', '.join(question.names)}"
        case AskInterpreter():
            text = "ask the Python to install for"
        case AskNvidiaLibraries():
            text = "ask libcuda and NVML, in a process of their own"
    return text


def _outcome(answer: Answer) -> str:
    parts: list[str] = [_OUTCOMES.get(answer.outcome, answer.outcome)]
    if answer.outcome == "said" and not answer.text:
        parts.append("no text")
    if answer.status is not None:
        ended = f"signal {-answer.status}" if answer.status < 0 else f"exit status {answer.status}"
        parts.append(ended)
    parts.append(f"{answer.milliseconds:.1f} ms")
    if answer.by is not None:
        parts.append(f"by {answer.by}")
    return ", ".join(parts)


def _text(text: str) -> Iterator[str]:
    """Give the first lines, each only as long as a person reads."""
    # Not `splitlines`, which takes form feeds and the like for ends of lines and hides them.
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n") if text else []
    for line in lines[:_LINES]:
        spaced = line.expandtabs()
        yield spaced if len(spaced) <= _COLUMNS else f"{spaced[:_COLUMNS]} ..."
    if len(lines) > _LINES:
        yield f"... {len(lines) - _LINES} more lines"
