"""What the hosts of a fleet get out of one lock -> text, Markdown and plain data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lockforge.report.tables import harmless, section, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.model.fleet import Fleet, HostPlan

FORMAT = 1
"""The revision of `fleet_data`."""
# What Markdown would take for more than text; within words an underscore is one.
_MARKUP = re.compile(r"[\\|<*`\[]")


def render_fleet(fleet: Fleet) -> str:
    """Write a line for each host, then what else to lock, the unused rows and the cheapest ones."""
    lines = [_summary(fleet)]
    if fleet.hosts:
        cells = [[plan.host, plan.row or "-", _reason(plan)] for plan in fleet.hosts]
        lines += ["", *table([["host", "row", "reason"], *cells])]
    for title, entries in _lists(fleet):
        lines += section(title, entries)
    return "\n".join(map(harmless, lines)) + "\n"


def render_fleet_markdown(fleet: Fleet) -> str:
    """Write the same for a pull request."""
    lines = [_summary(fleet)]
    if fleet.hosts:
        lines += ["", "| host | row | reason |", "| --- | --- | --- |"]
        for plan in fleet.hosts:
            row = "**none**" if plan.row is None else _literal(plan.row)
            lines.append(f"| {_literal(plan.host)} | {row} | {_literal(_reason(plan))} |")
    for title, entries in _lists(fleet):
        lines += ["", f"**{title.capitalize()}:** {_literal('; '.join(entries))}"]
    return "\n".join(map(harmless, lines)) + "\n"


def fleet_data(fleet: Fleet) -> dict[str, Any]:
    """Give the document of `plan --json`; *to_lock* is a row that would serve the host."""
    return {
        "version": FORMAT,
        "hosts": [
            {
                "host": plan.host,
                "row": plan.row,
                "reason": plan.reason,
                "fallback": plan.fallback,
            }
            for plan in fleet.hosts
        ],
        "unserved": [
            {
                "host": plan.host,
                "reason": plan.reason,
                "accelerator": plan.would_serve,
                "to_lock": plan.to_lock,
            }
            for plan in fleet.unserved
        ],
        "unused_rows": list(fleet.unused_rows),
        "cheapest": list(fleet.cheapest),
    }


def _summary(fleet: Fleet) -> str:
    total, missing = len(fleet.hosts), len(fleet.unserved)
    hosts = "1 host" if total == 1 else f"{total} hosts"
    fallbacks = sum(plan.fallback for plan in fleet.hosts)
    text = f"{hosts}: {total - missing} served"
    if fallbacks:
        text += f", {fallbacks} of them by a fallback to the CPU"
    return f"{text}, {missing} not served" if missing else text


def _reason(plan: HostPlan) -> str:
    return f"fallback: {plan.reason}" if plan.fallback else plan.reason


def _lists(fleet: Fleet) -> list[tuple[str, list[str]]]:
    """Give what is to be said beside the hosts, leaving out what is empty."""
    to_lock: dict[str, list[str]] = {}
    hopeless = []
    for plan in fleet.unserved:
        if plan.to_lock is None:
            hopeless.append(plan.host)
        else:
            to_lock.setdefault(plan.to_lock, []).append(plan.host)
    lists = (
        (
            "to lock for the hosts that are not served",
            [f"{row} (for {', '.join(hosts)})" for row, hosts in to_lock.items()],
        ),
        ("no accelerator serves", _joined(hopeless)),
        ("rows that no host gets", _joined(fleet.unused_rows)),
        ("cheapest rows for the hosts served", _joined(fleet.cheapest)),
    )
    return [(title, entries) for title, entries in lists if entries]


def _joined(names: Sequence[str]) -> list[str]:
    return [", ".join(names)] if names else []


def _literal(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text)
