"""Ask a machine the probes that are worth asking there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.detect.answers import Answers
from lockforge.detect.probes import PROBES
from lockforge.model.probe import Asked

if TYPE_CHECKING:
    from lockforge.ports import System


def gather(system: System) -> tuple[Asked, ...]:
    """Ask in the order of the table, each probe in the light of the answers before it."""
    answers = Answers()
    asked = []
    for probe in PROBES:
        if not probe.when(answers):
            continue
        answer = system.ask(probe.question)
        answers.add(probe.name, answer)
        asked.append(Asked(name=probe.name, question=probe.question, answer=answer))
    return tuple(asked)
