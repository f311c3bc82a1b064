"""``exclude-newer`` in every form."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lockforge.errors import Fault
from lockforge.project.faults import Faults
from lockforge.project.times import parse_exclude_newer
from tests.unit.project.gathered import gathered

NOW = datetime(2026, 11, 15, 8, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A date admits all of that day.
        ("2026-11-01", "2026-11-01T23:59:59Z"),
        ("2024-02-29", "2024-02-29T23:59:59Z"),
        ("2026-11-01T12:00:00Z", "2026-11-01T12:00:00Z"),
        ("2026-11-01T12:00:00+02:00", "2026-11-01T10:00:00Z"),
        ("2026-11-01T00:30:00+01:00", "2026-10-31T23:30:00Z"),
        ("2026-11-01T12:00:00.123456Z", "2026-11-01T12:00:00Z"),
        # Without a zone it is UTC, whatever the machine's zone is.
        ("2026-11-01T12:00:00", "2026-11-01T12:00:00Z"),
        ("2026-11-01 12:00", "2026-11-01T12:00:00Z"),
        ("7 days", "2026-11-08T08:30:00Z"),
        ("1 day", "2026-11-14T08:30:00Z"),
        ("0 days", "2026-11-15T08:30:00Z"),
        ("36 hours", "2026-11-13T20:30:00Z"),
        ("2 weeks", "2026-11-01T08:30:00Z"),
        ("1week", "2026-11-08T08:30:00Z"),
        (" 7 days ", "2026-11-08T08:30:00Z"),
        (" 2026-11-01 ", "2026-11-01T23:59:59Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ],
)
def test_moments(text: str, expected: str) -> None:
    """A date, a moment or a duration becomes one moment in UTC."""
    faults = Faults()
    assert parse_exclude_newer(text, NOW, faults, "here") == expected
    assert gathered(faults) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "7",
        "7 months",
        "-7 days",
        "2026-13-01",
        "2026-02-30",
        "01.11.2026",
        # ISO 8601 has more forms than people read as dates.
        "20260601",
        "2026-W23-1",
        "2026-06-01T12",
        "2026-06-01T25:00",
        # Before the first moment there is:
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:00:00-02:00",
        "9999999 days",
        "99999999999 weeks",
    ],
)
def test_faults(text: str) -> None:
    """Anything else is a fault that says what was expected."""
    faults = Faults()
    assert parse_exclude_newer(text, NOW, faults, "tool.lockforge.exclude-newer") is None
    assert gathered(faults) == (
        Fault(
            where="tool.lockforge.exclude-newer",
            message=f"not a date or duration: {text!r}",
            hint='expected "2026-11-01", "2026-11-01T12:00:00Z" or "7 days"',
        ),
    )
