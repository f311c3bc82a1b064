"""`lockforge plan`: saved facts of many hosts beside one lock."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockforge.adapters import printing
from lockforge.adapters.captured import MANIFEST
from lockforge.adapters.files import TextFiles
from lockforge.cli.common import (
    LOCK_NAME,
    UNSERVED,
    exclude_each_other,
    open_catalog,
    project_option,
    read_own_rows,
)
from lockforge.cli.kept import observe_kept
from lockforge.commands.plan import plan
from lockforge.detect.record import is_other_document
from lockforge.errors import ConfigError, Fault, LockforgeError, UsageError
from lockforge.report.fleet import fleet_data, render_fleet, render_fleet_markdown

if TYPE_CHECKING:
    from lockforge.catalog import Catalog
    from lockforge.model.machine import Facts

# Characters to tell a document of something else by.
_SHORT = 1 << 16
_SUFFIXES = (".yaml", ".yml", ".json")


@click.command("plan")
@click.option(
    "--hosts",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    required=True,
    help="A directory with a file of saved facts, or a folder of captured texts, for each host.",
)
@project_option
@click.option(
    "--lock",
    "lock_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The lock; by default {LOCK_NAME} in the project's directory.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    help="How to print it; by default text.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(
    *, hosts: Path, project: Path, lock_file: Path | None, form: str | None, as_json: bool
) -> int:
    """Tell which row of the lock each host of a fleet would get.

    Facts are saved on a host by `lockforge detect --save`. Exits with 6 if no row serves a host.

    \b
    Example:
      lockforge plan --hosts hosts/
      lockforge plan --hosts hosts/ --format markdown
    """
    exclude_each_other(
        (f"--json and --format {form} name two forms", as_json and form not in {None, "json"})
    )
    files = TextFiles()
    catalog = open_catalog(files)
    path = lock_file or project / LOCK_NAME
    rows = read_own_rows(files, path)
    fleet = plan(_read_hosts(hosts, files, catalog), rows, catalog)
    if as_json or form == "json":
        printing.write(json.dumps(fleet_data(fleet), indent=2) + "\n")
    else:
        printing.write(render_fleet_markdown(fleet) if form == "markdown" else render_fleet(fleet))
    return UNSERVED if fleet.unserved else 0


def _read_hosts(folder: Path, files: TextFiles, catalog: Catalog) -> list[tuple[str, Facts]]:
    """Read the facts of every host, by name; raises ConfigError with the faults of all."""
    found: list[tuple[Path, Facts]] = []
    faults: list[Fault] = []
    for path in _find_hosts(folder):
        if path.exists() and not (path.is_file() or path.is_dir()):
            # To read a pipe may never end.
            faults.append(Fault(where=path.name, message="is not a file"))
            continue
        try:
            found.append((path, observe_kept(path, files, catalog).facts))
        except LockforgeError as error:
            if isinstance(error, ConfigError) and _is_other_document(path, files):
                click.echo(f"note: {path} holds no facts of a host, and is left out", err=True)
            else:
                faults += _faults(error, path)
    if faults:
        raise ConfigError(faults, where=str(folder))
    if not found:
        raise UsageError(
            "there are no facts of hosts",
            where=str(folder),
            hint="save them on each host with `lockforge detect --save`",
        )
    names = Counter(_host(path) for path, _ in found)
    return [(path.name if names[_host(path)] > 1 else _host(path), one) for path, one in found]


def _find_hosts(folder: Path) -> list[Path]:
    """Find what is to be read as a host, in order; a hidden file is an editor's or the system's."""
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise UsageError(
            f"cannot be read: {(error.strerror or str(error)).lower()}",
            where=str(folder),
            hint="check the directory and its permissions",
        ) from error
    return [path for path in paths if _is_captured(path) or path.suffix.lower() in _SUFFIXES]


def _is_other_document(path: Path, files: TextFiles) -> bool:
    """Whether it is a document of something else, as may lie beside the hosts."""
    # One that is long enough to be cut here is no document, and read as facts all the same.
    return not path.is_dir() and is_other_document((files.read(path, UsageError) or "")[:_SHORT])


def _is_captured(path: Path) -> bool:
    return (path / MANIFEST).is_file()


def _host(path: Path) -> str:
    return path.name if _is_captured(path) else path.stem


def _faults(error: LockforgeError, path: Path) -> list[Fault]:
    if not isinstance(error, ConfigError):
        return [Fault(where=path.name, message=error.message, hint=error.hint)]
    return [
        Fault(
            where=path.name if one.where == str(path) else f"{path.name}: {one.where}",
            message=one.message,
            hint=one.hint,
        )
        for one in error.faults
    ]
