"""What was detected and chosen on one host -> text for people, and plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockforge.report.machine import render_machine
from lockforge.report.tables import folded, harmless, section, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.model.choice import Choice, Verdict, Wanted
    from lockforge.model.machine import Caution, Facts

FORMAT = 1
"""The revision of `detection_data`."""
# As many rows that are refused for the same reason are worded together.
_MANY_ALIKE = 3


def render_detection(
    facts: Facts,
    choice: Choice,
    cautions: Sequence[Caution],
    *,
    command: str | None = None,
    would_serve: str | None = None,
) -> str:
    """Write machine, rows, warnings and what to do.

    *command* installs the chosen row of a lock. *would_serve* is an accelerator to add a row for
    where no row of the lock serves the host.
    """
    lines = render_machine(facts)
    lines += _rows(choice)
    lines += section("warnings", [f"{one.text} [{one.code}]" for one in cautions])
    lines += ["", *folded(_advice(facts, choice, command, would_serve))]
    return "\n".join(map(harmless, lines)) + "\n"


def detection_data(
    facts_data: dict[str, Any], choice: Choice, cautions: Sequence[Caution]
) -> dict[str, Any]:
    """Give the document of `detect --json`, with the facts as they are saved."""
    data: dict[str, Any] = {
        "version": FORMAT,
        "facts": facts_data,
        "rows": [_row_data(verdict) for verdict in choice.verdicts],
        "usable_rows": _names(choice, "usable"),
        "partial_rows": _names(choice, "partial"),
        "best_row": None if choice.best is None else choice.best.build.name,
        "warnings": [{"code": one.code, "text": one.text} for one in cautions],
        "overrides": facts_data.get("overrides", []),
    }
    if choice.wanted is not None:
        data["requested"] = {
            "by": choice.wanted.by,
            "row": choice.wanted.row or choice.wanted.accelerator,
            "forced": choice.best is not None and choice.best.forced,
        }
    return data


def _row_data(verdict: Verdict) -> dict[str, str]:
    return {
        "name": verdict.build.name,
        "accelerator": verdict.build.accelerator.label,
        "status": verdict.status,
        "reason": verdict.reason,
    }


def _names(choice: Choice, status: str) -> list[str]:
    return [one.build.name for one in choice.verdicts if one.status == status]


def _rows(choice: Choice) -> list[str]:
    best = None if choice.best is None else choice.best.build.name
    alike: dict[str, list[str]] = {}
    for verdict in choice.verdicts:
        if verdict.status == "refused" and verdict.build.name != best:
            alike.setdefault(verdict.reason, []).append(verdict.build.name)
    many = {reason: names for reason, names in alike.items() if len(names) >= _MANY_ALIKE}
    shown = [
        verdict
        for verdict in choice.verdicts
        if verdict.build.name == best or verdict.status != "refused" or verdict.reason not in many
    ]
    lines = []
    if shown:
        locked = any(verdict.build.locked for verdict in shown)
        cells = [[" ", "row" if locked else "accelerator", "status", "reason"]]
        for verdict in shown:
            mark = "*" if verdict.build.name == best else " "
            cells.append([mark, verdict.build.name, _status(verdict), verdict.reason])
        lines = ["", *table(cells)]
    return lines + section(
        "also refused" if shown else "refused",
        [f"{', '.join(names)}: {reason}" for reason, names in many.items()],
    )


def _status(verdict: Verdict) -> str:
    return f"{verdict.status}, forced" if verdict.forced else verdict.status


def _advice(facts: Facts, choice: Choice, command: str | None, would_serve: str | None) -> str:
    """Say what would be installed and how to go on, or what to do where nothing is."""
    if choice.best is None:
        return _what_to_do(choice, would_serve)
    build = choice.best.build
    text = f"{build.name} would be installed" if build.locked else f"{build.name} is chosen"
    if choice.best.forced and choice.wanted is not None:
        text += f", forced by {choice.wanted.by}: it does not serve this host"
    elif choice.wanted is not None and _is_wanted(choice.best, choice.wanted):
        text += f", as {choice.wanted.by} asks"
    elif build.accelerator.kind == "cpu" and facts.has_gpu:
        text += f" as a fallback: {_why_no_gpu(facts, locked=build.locked)}"
    if not build.locked:
        row = f"{build.platform.name}-{build.accelerator.label}"
        return f"{text}. Lock it with: lockforge lock --matrix {row}"
    return f"{text}." if command is None else f"{text}. Go on with: {command}"


def _why_no_gpu(facts: Facts, *, locked: bool) -> str:
    visible = [gpu.visible for gpu in facts.nvidia.gpus] if facts.nvidia is not None else []
    visible += [gpu.visible for gpu in facts.amd.gpus] if facts.amd is not None else []
    if facts.hidden_by and not any(visible):
        return f"the GPUs of this host are hidden by {' and '.join(facts.hidden_by)}"
    return f"no row{' of the lock' if locked else ''} serves the GPUs of this host"


def _is_wanted(verdict: Verdict, wanted: Wanted) -> bool:
    return wanted.row == verdict.build.name or wanted.accelerator == verdict.build.accelerator.label


def _what_to_do(choice: Choice, would_serve: str | None) -> str:
    if choice.wanted is not None:
        asked = next(one for one in choice.verdicts if _is_wanted(one, choice.wanted))
        name = asked.build.name
        text = f"{name}, which {choice.wanted.by} asks for, does not serve this host."
        if usable := _names(choice, "usable"):
            text += f" {', '.join(usable)} {'do' if len(usable) > 1 else 'does'}."
        return f"{text} To take it all the same: --force-row {name}" if asked.forcible else text
    partial = _names(choice, "partial")
    if partial:
        return (
            f"No row serves all GPUs of this host. Hide those that {partial[0]} does not serve, or "
            f"take it all the same: --force-row {partial[0]}"
        )
    locked = not choice.verdicts or choice.verdicts[0].build.locked
    text = f"No row{' of the lock' if locked else ''} serves this host"
    if would_serve is not None:
        return f"{text}. Add one for {would_serve} to the matrix, and lock anew."
    return f"{text}. What it would need is said above."
