"""`lockforge detect`: the machine at hand, or one whose facts or texts are given."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockforge.adapters import printing
from lockforge.adapters.files import TextFiles
from lockforge.adapters.system import LiveSystem
from lockforge.cli.common import (
    LOCK_NAME,
    UNSERVED,
    exclude_each_other,
    open_catalog,
    project_option,
    read_own_rows,
    read_rows,
)
from lockforge.cli.kept import observe_kept
from lockforge.cli.values import several, stated
from lockforge.commands.detect import judge, judged_data, judged_text, observe
from lockforge.errors import LockError, UsageError
from lockforge.model.choice import Wanted
from lockforge.model.probe import AskInterpreter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.catalog import Catalog
    from lockforge.commands.detect import Judged, Observed
    from lockforge.model.lock import LockedRow
    from lockforge.model.machine import Facts
    from lockforge.model.probe import Answer

# Characters shown of what is no Python.
_SHOWN = 200


@click.command("detect")
@project_option
@click.option(
    "--lock",
    "lock_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The lock to choose a row of; by default {LOCK_NAME} in the project's directory.",
)
@click.option(
    "--accelerators",
    multiple=True,
    callback=several,
    metavar="LABEL,...",
    help="Judge these accelerators at their newest torch, in place of a lock.",
)
@click.option(
    "--row", metavar="NAME", callback=stated, help="The row to take, if it serves this host."
)
@click.option(
    "--force-row",
    metavar="NAME",
    callback=stated,
    help="The row to take even if it does not serve this host.",
)
@click.option(
    "--python",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="The Python to install for; by default the one that lockforge runs on.",
)
@click.option(
    "--facts",
    "facts_path",
    type=click.Path(exists=True, path_type=Path),
    help="Judge another machine, by its saved facts or a folder of its captured texts.",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the facts to a YAML file, without anything private.",
)
@click.option(
    "--capture",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write what the machine said to each probe to a new folder, for a bug report.",
)
@click.option(
    "--explain", is_flag=True, help="Tell every probe, what it said and how long it took."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(
    *,
    project: Path,
    lock_file: Path | None,
    accelerators: tuple[str, ...],
    row: str | None,
    force_row: str | None,
    python: Path | None,
    facts_path: Path | None,
    save: Path | None,
    capture: Path | None,
    explain: bool,
    as_json: bool,
) -> int:
    """Tell what this machine is, and which rows of the lock serve it.

    Without a lock the accelerators that lockforge knows are judged, at their newest torch. Exits
    with 6 if no row serves, or the one that is asked for does not.

    \b
    Example:
      lockforge detect
      lockforge detect --accelerators cu130,cu126,cpu --json
      lockforge detect --save hosts/gpu-01.yaml
    """
    exclude_each_other(
        ("--row and --force-row both name the row to take", None not in (row, force_row)),
        ("--accelerators judges no lock", bool(accelerators) and lock_file is not None),
        (
            "--facts asks no machine, so there is nothing to capture and no Python to ask",
            facts_path is not None and (capture is not None or python is not None),
        ),
    )
    files = TextFiles()
    catalog = open_catalog(files)
    observed = _observe(facts_path, python, capture, files, catalog)
    rows = None if accelerators else _rows(files, project, lock_file)
    judged = judge(
        observed, rows, catalog, labels=accelerators or None, wanted=_wanted(row, force_row)
    )
    if as_json:
        printing.write(json.dumps(judged_data(judged, explain=explain), indent=2) + "\n")
    else:
        # Another machine's row is not to be installed here.
        own = rows if facts_path is None else None
        to_install = _install_command(judged, own, lock_file or project / LOCK_NAME)
        printing.write(judged_text(judged, explain=explain, command=to_install))
    if save is not None:
        _save(observed.facts, save)
        click.echo(f"{save} is written", err=True)
    refused = judged.choice.best is None and (rows is not None or judged.choice.wanted is not None)
    return UNSERVED if refused else 0


def _install_command(judged: Judged, rows: Sequence[LockedRow] | None, lock: Path) -> str | None:
    """Give the command that installs the chosen row, which pip tells apart by its extra."""
    best = judged.choice.best
    chosen = [row for row in rows or () if best is not None and row.name == best.build.name]
    if not chosen:
        return None
    extra = chosen[0].extra
    return shlex.join(["pip", "install", "-r", f"{lock}[{extra}]" if extra else str(lock)])


def _save(facts: Facts, path: Path) -> None:
    """Write the facts, into a directory that is made if it is not there."""
    from lockforge.adapters.files import make_parent, write_atomically
    from lockforge.adapters.private import Owner, StandIns
    from lockforge.detect.record import render_saved

    text = render_saved(facts)
    make_parent(path)
    # A driver may put a number of the one device into its name.
    write_atomically(path, StandIns([text], Owner()).replace(text))


def _wanted(row: str | None, force_row: str | None) -> Wanted | None:
    if force_row is not None:
        return Wanted(by="--force-row", row=force_row, force=True)
    return None if row is None else Wanted(by="--row", row=row)


def _observe(
    facts_path: Path | None,
    python: Path | None,
    capture: Path | None,
    files: TextFiles,
    catalog: Catalog,
) -> Observed:
    """Ask the machine at hand, or read what was kept of another."""
    if facts_path is not None:
        return observe_kept(facts_path, files, catalog)
    observed = _ask(LiveSystem(python=None if python is None else str(python)), capture, catalog)
    if python is not None and observed.facts.python is None:
        said = next(one.answer for one in observed.asked if one.question == AskInterpreter())
        raise UsageError(
            f"does not answer as a Python: {_shortened(said)}",
            where=f"--python {python}",
            hint="give the interpreter of the environment that is to be installed into",
        )
    return observed


def _shortened(answer: Answer) -> str:
    """Give the last line of what it said, or how it ended."""
    lines = [line.strip() for line in answer.text.splitlines() if line.strip()]
    if lines:
        return lines[-1][:_SHOWN]
    return f"it said nothing and ended with the status {answer.status}"


def _ask(system: LiveSystem, capture: Path | None, catalog: Catalog) -> Observed:
    """Ask the machine at hand, and write what it says to the folder *capture*."""
    if capture is None:
        return observe(system, catalog)
    from lockforge.adapters.capture import CapturingSystem, prepare_folder

    prepare_folder(capture)
    capturing = CapturingSystem(system)
    observed = observe(capturing, catalog)
    capturing.write(capture, source="lockforge detect --capture")
    click.echo(f"{capture} is written: read it before you send it", err=True)
    return observed


def _rows(files: TextFiles, project: Path, lock_file: Path | None) -> tuple[LockedRow, ...] | None:
    """Read the rows of the lock; None where none was named and there is none of ours."""
    if lock_file is not None:
        return read_own_rows(files, lock_file)
    path = project / LOCK_NAME
    text = files.read(path, LockError)
    if text is None:
        return None
    rows = read_rows(text, path)
    if not rows:
        click.echo(
            f"note: {path} is by another tool and names no rows; judged are the accelerators "
            "that lockforge knows",
            err=True,
        )
    return rows or None
