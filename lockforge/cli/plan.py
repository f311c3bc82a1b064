"""`lockforge plan`: saved facts of many hosts beside one lock."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockforge.adapters import printing
from lockforge.adapters.files import TextFiles
from lockforge.cli.common import LOCK_NAME, open_catalog, project_option, read_own_rows
from lockforge.cli.detect import observe_kept
from lockforge.commands.plan import plan
from lockforge.errors import ConfigError, Fault, LockforgeError, UsageError
from lockforge.report.fleet import fleet_data, render_fleet, render_fleet_markdown

if TYPE_CHECKING:
    from lockforge.catalog import Catalog
    from lockforge.model.machine import Facts

_UNSERVED = 6
_SUFFIXES = (".yaml", ".yml", ".json")


@click.command("plan")
@click.option(
    "--hosts",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    required=True,
    help="A directory of saved facts, a file or folder of captured texts for each host.",
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
    default="text",
    help="How to print it.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(*, hosts: Path, project: Path, lock_file: Path | None, form: str, as_json: bool) -> int:
    """Tell which row of the lock each host of a fleet would get.

    Facts are saved on a host by `lockforge detect --save`. Exits with 6 if no row serves a host.

    \b
    Example:
      lockforge plan --hosts hosts/
      lockforge plan --hosts hosts/ --format markdown
    """
    files = TextFiles()
    catalog = open_catalog(files)
    path = lock_file or project / LOCK_NAME
    rows = read_own_rows(files, path)
    fleet = plan(_read_hosts(hosts, files, catalog), rows, catalog)
    if as_json or form == "json":
        printing.write(json.dumps(fleet_data(fleet), indent=2) + "\n")
    else:
        printing.write(render_fleet_markdown(fleet) if form == "markdown" else render_fleet(fleet))
    return _UNSERVED if fleet.unserved else 0


def _read_hosts(folder: Path, files: TextFiles, catalog: Catalog) -> list[tuple[str, Facts]]:
    """Read the facts of every host, by name; raises ConfigError with the faults of all."""
    found = []
    faults: list[Fault] = []
    for path in sorted(folder.iterdir()):
        is_folder = (path / "manifest.yaml").is_file()
        if not is_folder and path.suffix not in _SUFFIXES:
            continue
        try:
            facts = observe_kept(path, files, catalog).facts
        except LockforgeError as error:
            faults += _faults(error, path)
        else:
            found.append((path.name if is_folder else path.stem, facts))
    if faults:
        raise ConfigError(faults, where=str(folder))
    if not found:
        raise UsageError(
            "there are no facts of hosts",
            where=str(folder),
            hint="save them on each host with `lockforge detect --save`",
        )
    return found


def _faults(error: LockforgeError, path: Path) -> list[Fault]:
    if isinstance(error, ConfigError):
        return [
            Fault(where=f"{path.name}: {one.where}", message=one.message, hint=one.hint)
            for one in error.faults
        ]
    return [Fault(where=path.name, message=error.message, hint=error.hint)]
