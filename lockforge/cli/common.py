"""What several commands share: where the lock lies, the catalogue, and what PEP 751 warns of."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockforge.adapters.directories import config_directory
from lockforge.catalog import load_catalog
from lockforge.errors import LockError, UsageError

if TYPE_CHECKING:
    from lockforge.adapters.files import TextFiles
    from lockforge.catalog import Catalog
    from lockforge.model.lock import LockedRow

LOCK_NAME = "pylock.toml"
UNSERVED = 6
"""The exit status where no row serves a host."""

project_option = click.option(
    "--project",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=Path(),
    help="The project's directory; by default the current one.",
)


def open_catalog(files: TextFiles) -> Catalog:
    """Load the catalogue with the user's own additions, where there are some."""
    stated = os.environ.get("LOCKFORGE_CATALOG")
    path = Path(stated) if stated else Path(config_directory()) / "catalog.yaml"
    text = files.read(path, UsageError)
    if text is None and stated:
        raise UsageError(
            "no such file", where=stated, hint="correct LOCKFORGE_CATALOG, or unset it"
        )
    return load_catalog(text, where=str(path))


def read_lock(files: TextFiles, path: Path) -> str:
    """Read a lock that has to be there, and warn of what PEP 751 wants to be warned of."""
    text = files.read(path, LockError)
    if text is None:
        raise UsageError("there is no lock", where=str(path), hint="run `lockforge lock` first")
    warn_of_lock(path, text)
    return text


def read_rows(text: str, path: Path) -> tuple[LockedRow, ...]:
    """Read the rows of a lock, none for one by another tool; raises LockSyntaxError."""
    from lockforge.standards.locked_rows import locked_rows, parse_lock

    return locked_rows(parse_lock(text, where=str(path)), where=str(path))


def read_own_rows(files: TextFiles, path: Path) -> tuple[LockedRow, ...]:
    """Read the rows of a lock that has to be there and be ours."""
    from lockforge.standards.locked_rows import own_rows, parse_lock

    return own_rows(parse_lock(read_lock(files, path), where=str(path)), where=str(path))


def warn_of_lock(path: Path, text: str | None) -> None:
    """Warn of a name that other tools do not know, and of a newer minor of the specification."""
    from lockforge.standards.locked_rows import is_lock_name, newer_minor

    if not is_lock_name(path.name):
        click.echo(
            f"warning: {path} is not named pylock.toml or pylock.<name>.toml: other tools do not "
            "read it as a lock",
            err=True,
        )
    if (version := newer_minor(text or "")) is not None:
        click.echo(
            f"warning: {path} is of lock-version {version}: what is new in it is not understood",
            err=True,
        )


def exclude_each_other(*contradictions: tuple[str, bool]) -> None:
    """Refuse options that cannot be given together, by what is said of each and whether it is."""
    for message, given in contradictions:
        if given:
            raise UsageError(message, hint="leave out one of them")
