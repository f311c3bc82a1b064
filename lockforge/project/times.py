"""``exclude-newer`` -> the last moment at which a file may have been uploaded."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockforge.project.faults import Faults

_DURATION = re.compile(r"([0-9]+)\s*(hour|day|week)s?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# RFC 3339, and without seconds or a zone.
_MOMENT = re.compile(
    rf"{_DATE.pattern}[T ][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]+)?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)


def parse_exclude_newer(text: str, now: datetime, faults: Faults, where: str) -> str | None:
    """Read a date, a moment or a duration before *now* as RFC 3339 in UTC.

    A date admits all of that day in UTC.
    """
    stated = text.strip()
    try:
        if match := _DURATION.fullmatch(stated):
            return _render(now - timedelta(**{f"{match[2]}s": int(match[1])}))
        if _DATE.fullmatch(stated):
            return f"{date.fromisoformat(stated).isoformat()}T23:59:59Z"
        if _MOMENT.fullmatch(stated):
            return _render(datetime.fromisoformat(stated))
    except (ValueError, OverflowError):
        # No day of the calendar, or before the first.
        pass
    faults.add(
        where,
        f"not a date or duration: {text!r}",
        'expected "2026-11-01", "2026-11-01T12:00:00Z" or "7 days"',
    )
    return None


def _render(moment: datetime) -> str:
    stated = moment.replace(tzinfo=moment.tzinfo or UTC)
    return stated.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
