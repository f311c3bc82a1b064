"""Failures -> words: per row what was asked, what the index has, and what would work."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lockforge.model.python import render_python

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockforge.model.resolution import (
        Cause,
        Effort,
        Failure,
        Misalignment,
        Offer,
        Refusal,
        Suggestion,
        TagGap,
    )

# More versions, refusals or causes than this say nothing new.
_SHOWN = 5
_SHOWN_REFUSALS = 2
_SHOWN_CAUSES = 3


def render_failures(failures: Sequence[Failure]) -> str:
    """Describe all failures; Targets that fail alike are described once."""
    alike: dict[tuple[tuple[Cause, ...], Effort | None], list[Failure]] = {}
    for failure in failures:
        alike.setdefault((failure.causes, failure.gave_up), []).append(failure)
    return "\n".join("\n".join(_render_group(group)) for group in alike.values())


def render_misalignments(found: Sequence[Misalignment]) -> str:
    """Say of which packages the rows have no version in common, and which row stands in the way."""
    lines = []
    for one in found:
        beside = f" beside {', '.join(one.beside)}, or beside any older" if one.beside else ""
        lines.append(f'align = "common", but no version of {one.name} suits every row{beside}')
        for row, versions in one.offers:
            shown = ", ".join(versions[:_SHOWN])
            more = f" and {len(versions) - _SHOWN} older" if len(versions) > _SHOWN else ""
            lines.append(f"  {row} has {shown or 'none'}{more}")
        lines += [
            f"  {row} stands in the way: the other rows have a version in common"
            for row in one.blocking
        ]
    return "\n".join(lines)


def _render_group(group: Sequence[Failure]) -> Iterator[str]:
    first = group[0]
    rows = _name_rows(group)
    if first.gave_up is None:
        yield f"no versions satisfy {rows}"
    else:
        rounds = _count(first.gave_up.rounds, "round")
        seconds = _count(first.gave_up.seconds, "second")
        yield f"gave up after {rounds} ({seconds}) in {rows}, which proves nothing"
        if first.causes:
            yield "  the last conflict was:"
    yield from (f"  {line}" for line in _render_causes(first.causes))
    # Rows have indexes of their own, so what these offer may differ where the causes do not.
    offers: dict[Offer, list[Failure]] = {}
    suggestions: dict[Suggestion, list[Failure]] = {}
    for failure in group:
        for offer in failure.offers:
            offers.setdefault(offer, []).append(failure)
        if failure.suggestion is not None:
            suggestions.setdefault(failure.suggestion, []).append(failure)
    for offer, having in offers.items():
        prefix = "" if len(having) == len(group) else f"{_name_some(having, group)}: "
        start, *details = _render_offer(offer)
        yield f"  {prefix}{start}"
        yield from (f"    {line}" for line in details)
    for suggestion, helped in suggestions.items():
        where = "" if len(helped) == len(group) else f" in {_name_some(helped, group)}"
        yield f"  this works{where}: {_render_suggestion(suggestion, helped)}"


def _name_rows(failures: Sequence[Failure]) -> str:
    """Name rows with their Pythons, once where these are the same in all."""
    rows: dict[str, list[str]] = {}
    for failure in failures:
        rows.setdefault(failure.target.row.name, []).append(render_python(failure.target.python))
    alike: dict[str, list[str]] = {}
    for row, pythons in rows.items():
        alike.setdefault(", ".join(pythons), []).append(row)
    names = ", ".join(f"{', '.join(found)} (Python {key})" for key, found in alike.items())
    return f"{'row' if len(rows) == 1 else 'rows'} {names}"


def _name_some(failures: Sequence[Failure], group: Sequence[Failure]) -> str:
    """Name rows of a group, without Pythons where all that failed there are meant."""
    rows = dict.fromkeys(failure.target.row.name for failure in failures)
    if any(one.target.row.name in rows and one not in failures for one in group):
        return _name_rows(failures)
    return f"{'row' if len(rows) == 1 else 'rows'} {', '.join(rows)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _render_causes(causes: Sequence[Cause]) -> Iterator[str]:
    """Say who asks for what; versions of one package that ask alike are told together."""
    alike: dict[tuple[str, str, str, str, str], list[Cause]] = {}
    for cause in causes:
        key = (_package(cause), cause.requirement, cause.kind, cause.where, cause.reason)
        alike.setdefault(key, []).append(cause)
    told: Counter[str] = Counter()
    for (package, *_), group in alike.items():
        told[package] += 1
        if not package or told[package] <= _SHOWN_CAUSES:
            yield " -> ".join([*map(_render_cause, group[0].via), _render_asker(group)])
    for package, number in told.items():
        if package and number > _SHOWN_CAUSES:
            rest = _count(number - _SHOWN_CAUSES, "more requirement")
            yield f"and {rest} of other versions of {package}"


def _package(cause: Cause) -> str:
    return "" if cause.parent is None else cause.parent.rpartition(" ")[0]


def _render_asker(group: Sequence[Cause]) -> str:
    cause = group[0]
    if len(group) == 1:
        return _render_cause(cause)
    versions = [str(one.parent).rpartition(" ")[2] for one in group]
    more = f" and {len(versions) - _SHOWN} older" if len(versions) > _SHOWN else ""
    asker = f"{_package(cause)} {', '.join(versions[:_SHOWN])}{more}"
    return f"{asker} require {_render_demand(cause)}"


def _render_cause(cause: Cause) -> str:
    if cause.kind == "constraint":
        return f"the constraint is {_render_demand(cause)}"
    return f"{cause.parent or 'the project'} requires {_render_demand(cause)}"


def _render_demand(cause: Cause) -> str:
    notes = []
    if cause.kind == "override":
        notes.append("override")
    if cause.where:
        notes.append(cause.where)
    if cause.reason:
        notes.append(f"added by lockforge: {cause.reason}")
    return f"{cause.requirement} ({', '.join(notes)})" if notes else cause.requirement


def _render_offer(offer: Offer) -> Iterator[str]:
    """Say in one line what there is, and in more of them why the rest is of no use."""
    place = f"index {offer.index_name} ({offer.index_url})"
    if not offer.index_url:
        place = f"the direct reference {offer.index_name}"
    if not offer.found:
        shown = ", ".join(offer.torches[:_SHOWN])
        more = f" and {len(offer.torches) - _SHOWN} older" if len(offer.torches) > _SHOWN else ""
        pages = f" for torch {shown}{more}" if shown else ""
        yield f"{place} has no project {offer.project}{pages}"
        return
    if offer.newest is None:
        yield f"{place} has no files of {offer.project}"
        return
    if offer.usable:
        shown = ", ".join(offer.usable[:_SHOWN])
        more = f" and {len(offer.usable) - _SHOWN} older" if len(offer.usable) > _SHOWN else ""
        yield f"{place} has {offer.project} for this row in {shown}{more}"
    else:
        yield f"{place} has no file of {offer.project} for this row"
    if offer.prereleases:
        shown = ", ".join(offer.prereleases[:_SHOWN])
        yield f"only pre-releases match: {shown}; --prerelease allow admits them"
    yield from map(_render_gap, offer.gaps[:_SHOWN_REFUSALS])
    if len(offer.gaps) > _SHOWN_REFUSALS:
        older = len(offer.gaps) - _SHOWN_REFUSALS
        yield f"and {_count(older, 'older version')} {'has' if older == 1 else 'have'} none either"
    for refusal in offer.refused[:_SHOWN_REFUSALS]:
        yield from _render_refusal(refusal, offer)
    if len(offer.refused) > _SHOWN_REFUSALS:
        rest = len(offer.refused) - _SHOWN_REFUSALS
        yield f"and {rest} more for the same or like reasons"
    told = [*offer.usable, *(gap.version for gap in offer.gaps)]
    told += [refusal.version for refusal in offer.refused]
    # The wheels of a version may bear several labels, of which the row has one.
    if _public(offer.newest) not in map(_public, told):
        yield f"its newest is {offer.newest}, which is not for this row"


def _public(version: str) -> str:
    return version.partition("+")[0]


def _render_gap(gap: TagGap) -> str:
    if gap.floor:
        return f"{gap.version} needs {gap.floor}, and this row is for {gap.missing}"
    tags = gap.pythons if gap.missing.startswith("cp") else gap.platforms
    return f"{gap.version} has wheels for {', '.join(tags)}, none for {gap.missing}"


def _render_refusal(refusal: Refusal, offer: Offer) -> Iterator[str]:
    subject = refusal.version
    if refusal.filename:
        subject = f"{offer.project} {refusal.version} ({refusal.filename})"
    yield f"refused {subject}: {refusal.reason}"
    if refusal.setting:
        yield f"state its requirements in {refusal.setting}"


def _render_suggestion(suggestion: Suggestion, helped: Sequence[Failure]) -> str:
    if suggestion.kind == "pin":
        where = f" ({suggestion.where})" if suggestion.where else ""
        return f"{suggestion.subject} instead of {suggestion.replaces}{where}"
    if suggestion.kind == "exclude":
        rows = dict.fromkeys(failure.target.row.name for failure in helped)
        tables = " and ".join(f"[tool.lockforge.rows.{row}]" for row in rows)
        return f'exclude = ["{suggestion.subject}"] in {tables}'
    what = "Python" if suggestion.kind == "python" else "row"
    return f"{what} {suggestion.subject} in its place"
