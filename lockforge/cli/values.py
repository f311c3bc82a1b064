"""How the values of options are read."""

from __future__ import annotations

import click


def several(_context: click.Context, _option: click.Parameter, values: object) -> tuple[str, ...]:
    """Split values at commas: ``--matrix a,b`` and ``--matrix a --matrix b`` are the same."""
    assert isinstance(values, tuple)
    parts = tuple(part.strip() for value in values for part in value.split(",") if part.strip())
    if values and not parts:
        raise click.BadParameter("it is empty")
    return parts


def stated(_context: click.Context, _option: click.Parameter, value: object) -> object:
    """Refuse a value that says nothing, such as that of a variable of the shell that is not set."""
    values = value if isinstance(value, tuple) else (value,)
    if any(isinstance(one, str) and not one.strip() for one in values):
        raise click.BadParameter("it is empty")
    return value
