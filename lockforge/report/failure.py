"""Failures -> words: per row what was asked, what the index has, and what that leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.model.matrix import render_minor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.model.resolution import Cause, Failure, Offer

# More versions or refusals than this say nothing new.
_SHOWN = 5
_SHOWN_REFUSALS = 2


def render_failures(failures: Sequence[Failure]) -> str:
    """Describe all failures; Targets that fail alike are described once."""
    alike: dict[tuple[tuple[Cause, ...], tuple[Offer, ...]], list[Failure]] = {}
    for failure in failures:
        alike.setdefault((failure.causes, failure.offers), []).append(failure)
    blocks = []
    for group in alike.values():
        rows: dict[str, list[str]] = {}
        for failure in group:
            python = render_minor(failure.target.python)
            rows.setdefault(failure.target.row.name, []).append(python)
        names = ", ".join(f"{row} (Python {', '.join(pythons)})" for row, pythons in rows.items())
        lines = [f"no versions satisfy {'row' if len(rows) == 1 else 'rows'} {names}"]
        lines += [f"  {_render_cause(cause)}" for cause in group[0].causes]
        for offer in group[0].offers:
            lines += [f"  {line}" for line in _render_offer(offer)]
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def _render_cause(cause: Cause) -> str:
    return f"{cause.parent or 'the project'} requires {cause.requirement}"


def _render_offer(offer: Offer) -> list[str]:
    place = f"index {offer.index_name} ({offer.index_url})"
    if not offer.found:
        return [f"{place} has no project {offer.project}"]
    if offer.newest is None:
        return [f"{place} has no files of {offer.project}"]
    if offer.usable:
        shown = ", ".join(offer.usable[:_SHOWN])
        more = f" and {len(offer.usable) - _SHOWN} older" if len(offer.usable) > _SHOWN else ""
        lines = [f"{place} has {offer.project} for this row in {shown}{more}"]
    else:
        lines = [f"{place} has no file of {offer.project} for this row"]
    if offer.newest not in offer.usable[:1]:
        tags = f"Pythons {', '.join(offer.pythons)}; platforms {', '.join(offer.platforms)}"
        wheels = f" with wheels for {tags}" if offer.pythons else ", without wheels"
        lines.append(f"  its newest is {offer.newest}{wheels}")
    newest = f"{offer.newest}: wheels for "
    refused = [reason for reason in offer.refused if not reason.startswith(newest)]
    lines += [f"  refused {reason}" for reason in refused[:_SHOWN_REFUSALS]]
    if len(refused) > _SHOWN_REFUSALS:
        lines.append(
            f"  and {len(refused) - _SHOWN_REFUSALS} older versions for the same or like reasons"
        )
    return lines
