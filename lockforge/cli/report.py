"""`lockforge report`."""

from __future__ import annotations

from pathlib import Path

import click

from lockforge.adapters import printing
from lockforge.adapters.files import TextFiles
from lockforge.cli.common import LOCK_NAME, open_catalog, project_option, read_lock
from lockforge.commands.report import report


@click.command("report")
@click.argument("lock_file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@project_option
def command(*, lock_file: Path | None, project: Path) -> int:
    """Print the matrix a lock holds, from the lock alone.

    \b
    Example:
      lockforge report
      lockforge report deploy/pylock.toml
    """
    path = lock_file or project / LOCK_NAME
    files = TextFiles()
    text = read_lock(files, path)
    printing.write(report(text, open_catalog(files), where=str(path)))
    return 0
