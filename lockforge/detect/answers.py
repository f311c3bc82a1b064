"""The answers had so far, by the name of the probe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.model.probe import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lockforge.model.probe import Answer, Asked

_CHARACTERS = 400_000
_LINES = 10_000
_LINE = 4000


class Answers:
    """What was asked and answered; a probe that was not asked counts as absent."""

    def __init__(self, asked: Iterable[Asked] = ()) -> None:
        self._answers: dict[str, Answer] = {}
        self._texts: dict[str, str] = {}
        for one in asked:
            self.add(one.name, one.answer)

    def add(self, name: str, answer: Answer) -> None:
        self._answers[name] = answer
        self._texts[name] = _clean(answer.text)

    def get(self, name: str) -> Answer:
        return self._answers.get(name, ABSENT)

    def said(self, name: str) -> str:
        """Give the text of a probe that went well, and nothing of one that did not."""
        return self._texts[name] if self.get(name).outcome == "said" else ""

    def text(self, name: str) -> str:
        """Give what a probe said, were it only why it failed."""
        return self._texts[name] if self.get(name).outcome in {"said", "failed"} else ""

    def whole(self, name: str) -> str:
        """Give everything a probe said, were it cut off; for texts of which each line holds."""
        return self._texts.get(name, "")

    def hung(self, name: str) -> bool:
        return self.get(name).outcome == "timeout"


def _clean(text: str) -> str:
    """Take rubbish down to a size that no parser is slow on, and lines to one kind of end."""
    lines = text[:_CHARACTERS].removeprefix("\ufeff").replace("\0", "").splitlines()
    return "\n".join(line[:_LINE] for line in lines[:_LINES])


def read_pairs(text: str) -> dict[str, str]:
    """Read ``key=value`` lines; the first of a key counts."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            pairs.setdefault(key.strip(), value.strip())
    return pairs
