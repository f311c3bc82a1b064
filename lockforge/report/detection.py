"""What was detected and chosen on one host -> text for people, and plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockforge.model.choice import FALLBACK
from lockforge.model.python import render_minor
from lockforge.report.machine import render_machine
from lockforge.report.tables import folded, harmless, section, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.catalog import Source
    from lockforge.model.choice import Choice, Verdict, Wanted
    from lockforge.model.machine import Caution, Facts

FORMAT = 1
"""The revision of `detection_data`."""
_NO_SOURCES: Mapping[str, Source] = {}
# As many rows that are refused for the same reason are worded together.
_MANY_ALIKE = 3


def render_detection(
    facts: Facts,
    choice: Choice,
    cautions: Sequence[Caution],
    *,
    sources: Mapping[str, Source] = _NO_SOURCES,
    command: str | None = None,
    would_serve: str | None = None,
) -> str:
    """Write machine, rows, warnings and what to do.

    *sources* are those that the verdicts name.
    *command* installs the chosen row of a lock. *would_serve* names the row that would serve the
    host, or its GPUs, where no row of the lock does.
    """
    lines = render_machine(facts)
    lines += _rows(choice)
    lines += section("warnings", [f"{one.text} [{one.code}]" for one in cautions])
    lines += section("sources", _sourced(choice, sources))
    text, to_copy = _advice(facts, choice, command, would_serve)
    lines += ["", *folded(text)]
    # What is to be copied stays in one piece.
    lines += [] if to_copy is None else [f"  {to_copy}"]
    return "\n".join(map(harmless, lines)) + "\n"


def detection_data(
    facts_data: dict[str, Any],
    choice: Choice,
    cautions: Sequence[Caution],
    sources: Mapping[str, Source] = _NO_SOURCES,
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
        "sources": {key: {"title": one.title, "url": one.url} for key, one in sources.items()},
    }
    if choice.wanted is not None:
        data["requested"] = {
            "by": choice.wanted.by,
            "row": choice.wanted.row or choice.wanted.accelerator,
            "forced": choice.best is not None and choice.best.forced,
        }
    return data


def _row_data(verdict: Verdict) -> dict[str, Any]:
    return {
        "name": verdict.build.name,
        "accelerator": verdict.build.accelerator.label,
        "status": verdict.status,
        "reason": verdict.reason,
        "sources": list(verdict.sources),
    }


def _names(choice: Choice, status: str) -> list[str]:
    return [one.build.name for one in choice.verdicts if one.status == status]


def _rows(choice: Choice) -> list[str]:
    apart = {id(one) for one in (choice.best, _asked(choice)) if one is not None}
    alike: dict[str, list[Verdict]] = {}
    for verdict in choice.verdicts:
        if verdict.status == "refused" and id(verdict) not in apart:
            alike.setdefault(verdict.reason, []).append(verdict)
    together = {
        reason: verdicts
        for reason, verdicts in alike.items()
        if len(verdicts) >= _MANY_ALIKE or all(map(_is_foreign, verdicts))
    }
    shown = [one for one in choice.verdicts if one not in together.get(one.reason, ())]
    lines = []
    if shown:
        locked = any(verdict.build.locked for verdict in shown)
        cells = [[" ", "row" if locked else "accelerator", "status", "reason"]]
        for verdict in shown:
            mark = "*" if verdict is choice.best else " "
            reason = _reason(verdict, shown)
            cells.append([mark, verdict.build.name, _status(verdict), reason])
        lines = ["", *table(cells)]
    return lines + section(
        "also refused" if shown else "refused",
        [
            f"{', '.join(one.build.name for one in verdicts)}: {reason}"
            for reason, verdicts in together.items()
        ],
    )


def _sourced(choice: Choice, sources: Mapping[str, Source]) -> list[str]:
    """Name each source once, after the rows that it tells of."""
    return [
        f"{', '.join(one.build.name for one in choice.verdicts if key in one.sources)}: "
        f"{source.title}"
        for key, source in sources.items()
    ]


def _is_foreign(verdict: Verdict) -> bool:
    """Whether it is a row of the lock for another platform."""
    return verdict.build.locked and not verdict.forcible


def _reason(verdict: Verdict, shown: Sequence[Verdict]) -> str:
    """Refer a fallback to the row whose reason it has, which is shown in full."""
    for one in shown:
        if verdict.reason == f"{FALLBACK}{one.reason}":
            return f"a fallback, because {one.build.name} is {one.status}"
    return verdict.reason


def _status(verdict: Verdict) -> str:
    return f"{verdict.status}, forced" if verdict.forced else verdict.status


def _advice(
    facts: Facts, choice: Choice, command: str | None, would_serve: str | None
) -> tuple[str, str | None]:
    """Say what to take and how to go on, or what to do where nothing serves.

    The second is what the text asks to be copied.
    """
    best, wanted = choice.best, choice.wanted
    if best is None:
        return _what_to_do(facts, choice, would_serve)
    name, locked = best.build.name, best.build.locked
    what = "row" if locked else "accelerator"
    if best.forced and wanted is not None:
        lacks = "all GPUs of this host" if best.status == "partial" else "this host"
        text = f"{name} is taken, forced by {wanted.by}: it does not serve {lacks}."
    elif wanted is not None and _is_wanted(best, wanted):
        text = f"{name} is taken, as {wanted.by} asks."
    elif best.build.accelerator.kind == "cpu" and _is_fallback(facts, best):
        text = f"{name} is the {what} for this host as a fallback: {_why_no_gpu(facts, what)}."
        if would_serve is not None:
            text += f" {_would_serve(choice, would_serve)}"
    else:
        text = f"{name} is the {what} for this host."
    if not locked:
        row = f"{best.build.platform.name}-{best.build.accelerator.label}"
        return f"{text} Lock it with:", f"lockforge lock --matrix {row}"
    return (text, None) if command is None else (f"{text} Go on with:", command)


def _is_fallback(facts: Facts, verdict: Verdict) -> bool:
    return facts.has_gpu or verdict.reason.startswith(FALLBACK)


def _why_no_gpu(facts: Facts, what: str) -> str:
    visible = [gpu.visible for gpu in facts.nvidia.gpus] if facts.nvidia is not None else []
    visible += [gpu.visible for gpu in facts.amd.gpus] if facts.amd is not None else []
    if facts.hidden_by and not any(visible):
        return f"the GPUs of this host are hidden by {' and '.join(facts.hidden_by)}"
    if not facts.has_gpu:
        return "no GPU of this host is reached"
    return f"no {what}{' of the lock' if what == 'row' else ''} serves the GPUs of this host"


def _asked(choice: Choice) -> Verdict | None:
    if choice.wanted is None:
        return None
    return next((one for one in choice.verdicts if _is_wanted(one, choice.wanted)), None)


def _is_wanted(verdict: Verdict, wanted: Wanted) -> bool:
    return wanted.row == verdict.build.name or wanted.accelerator == verdict.build.accelerator.label


def _what_to_do(facts: Facts, choice: Choice, would_serve: str | None) -> tuple[str, str | None]:
    asked = _asked(choice)
    if asked is not None and choice.wanted is not None:
        name = asked.build.name
        text = f"{name}, which {choice.wanted.by} asks for, does not serve this host."
        if usable := _names(choice, "usable"):
            text += f" {', '.join(usable)} {'do' if len(usable) > 1 else 'does'}."
        return _or_force(text, name) if asked.forcible else (text, None)
    locked = not choice.verdicts or choice.verdicts[0].build.locked
    none = "No row of the lock" if locked else "No accelerator"
    if partial := _names(choice, "partial"):
        text = f"{none} serves all GPUs of this host. Hide those that {partial[0]} does not serve."
        return _or_force(text, partial[0])
    text = f"{none} serves this host."
    if would_serve is None:
        return f"{text} What it would need is said above.", None
    locked_for = {
        render_minor(python)
        for one in choice.verdicts
        if one.forcible
        for python in one.build.pythons
    }
    if locked_for and facts.python is not None and facts.python.minor not in locked_for:
        return (
            f"{text} Its rows for this platform have no files for Python {facts.python.minor}: "
            "take a Python that they have files for (--python), or lock for this one too."
        ), None
    return f"{text} {_would_serve(choice, would_serve)}", None


def _or_force(text: str, name: str) -> tuple[str, str]:
    return f"{text} To take {name} all the same:", f"--force-row {name}"


def _would_serve(choice: Choice, row: str) -> str:
    """Say how to come by a row that serves at its newest torch and with no floor stated."""
    locked = [f"{one.build.platform.name}-{one.build.accelerator.label}" for one in choice.verdicts]
    if row in locked:
        return f"{row} would at its newest torch and default floor: lock it anew for these."
    return f"{row} would: add it to the matrix, and lock anew."
