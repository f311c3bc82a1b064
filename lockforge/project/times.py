"""``exclude-newer`` -> the last moment at which a file may have been uploaded."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockforge.project.faults import Faults

_DURATION = re.compile(r"(\d+)\s*(hour|day|week)s?")


def parse_exclude_newer(text: str, now: datetime, faults: Faults, where: str) -> str | None:
    """Read a date, a moment or a duration before *now* as RFC 3339 in UTC.

    A date admits all of that day in UTC.
    """
    try:
        if match := _DURATION.fullmatch(text.strip()):
            return _render(now - timedelta(**{f"{match[2]}s": int(match[1])}))
        if len(text) == len("2026-11-01"):
            return f"{date.fromisoformat(text).isoformat()}T23:59:59Z"
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        faults.add(
            where,
            f"not a date or duration: {text!r}",
            'expected "2026-11-01", "2026-11-01T12:00:00Z" or "7 days"',
        )
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return _render(moment)


def _render(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
