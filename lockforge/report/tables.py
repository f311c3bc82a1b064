"""Tables and lists as plain text, within one width whatever it is written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 100
"""Columns a line keeps within, except where one word is longer."""
_GAP = "  "


def table(cells: Sequence[Sequence[str]]) -> list[str]:
    """Write lines of equal columns; the last column is folded to the width."""
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]) - 1)]
    lines = []
    for line in cells:
        padded = [cell.ljust(width) for cell, width in zip(line[:-1], widths, strict=True)]
        start = "".join(cell + _GAP for cell in padded)
        lines += folded(line[-1], start, " " * len(start))
    return lines


def section(title: str, entries: Sequence[str]) -> list[str]:
    """Write a titled list, each entry folded to the width with its rest indented."""
    if not entries:
        return []
    return ["", f"{title}:", *(line for one in entries for line in folded(one, "  ", "    "))]


def folded(text: str, first: str = "", rest: str = "") -> list[str]:
    """Fold *text* between words, after *first* on its first line and *rest* on the others."""
    lines = []
    line = first
    empty = True
    for word in text.split(" "):
        if not empty and len(line) + 1 + len(word) > WIDTH:
            lines.append(line.rstrip())
            line, empty = rest, True
        line += word if empty else f" {word}"
        empty = False
    return [*lines, line.rstrip()]


def harmless(text: str) -> str:
    """Write every character that a terminal would obey, or not show, as its escape."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text
    )
