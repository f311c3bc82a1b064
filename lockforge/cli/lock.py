"""`lockforge lock`: builds the files, the repository and the progress, and says what came of it."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockforge.adapters import printing, stamp
from lockforge.adapters.directories import cache_directory
from lockforge.adapters.files import TextFiles, write_atomically
from lockforge.adapters.paths import (
    kind_of,
    lock_path,
    names_in,
    path_of,
    sha256_of,
    to_file_url,
)
from lockforge.adapters.terminal import LogProgress, NoProgress, TerminalProgress
from lockforge.cli.common import (
    LOCK_NAME,
    exclude_each_other,
    open_catalog,
    project_option,
    warn_of_lock,
)
from lockforge.cli.options import project_options
from lockforge.cli.values import several
from lockforge.commands.lock import LockRequest, current_reasons, lock
from lockforge.commands.report import report_parsed
from lockforge.errors import LockError, UsageError
from lockforge.project.indexes import LocalPaths
from lockforge.project.load import Files, Loaded, load_project
from lockforge.resolve.limits import Limits
from lockforge.standards.addresses import hide_secrets, may_hold_secrets

if TYPE_CHECKING:
    from lockforge.adapters.http import HttpTransport
    from lockforge.catalog import Catalog
    from lockforge.commands.lock import LockOutcome
    from lockforge.ports import Progress, Repository
    from lockforge.project.options import Options

_SUCCESS, _DIFFERENT = 0, 1

_output_option = click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The lock; by default {LOCK_NAME} in the project's directory.",
)


@click.command("lock")
@click.argument("requirements", nargs=-1)
@project_option
@_output_option
@project_options
@click.option(
    "--snapshot",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="Resolve from a recorded snapshot, with no network at all.",
)
@click.option("--offline", is_flag=True, help="Use what the cache holds, and nothing else.")
@click.option("--no-download", is_flag=True, help="Never download a file to hash or read it.")
@click.option("--upgrade", is_flag=True, help="Choose anew, whatever the lock has.")
@click.option(
    "--upgrade-package",
    multiple=True,
    callback=several,
    metavar="NAME,...",
    help="Choose these packages anew.",
)
@click.option(
    "--refresh",
    is_flag=True,
    help="Take files as their pages have them now; versions stay, and changed files are named.",
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit with 1 if the lock is not current."
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("-v", "--verbose", is_flag=True, help="Say what goes on, and why.")
def command(
    *,
    options: Options,
    project: Path,
    output: Path | None,
    snapshot: Path | None,
    offline: bool,
    no_download: bool,
    upgrade: bool,
    upgrade_package: tuple[str, ...],
    refresh: bool,
    check: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Resolve every row of the matrix into one proved pylock.toml, and print the matrix.

    Requirements come from the command line, else from -r files, else from pyproject.toml.

    \b
    Example:
      lockforge lock --matrix linux-cu130,win-cpu,mac-cpu
      lockforge lock torch torchvision --matrix linux-cu130,mac-cpu --python 3.12
    """
    exclude_each_other(
        ("--quiet and --verbose exclude each other", quiet and verbose),
        (
            "--check changes nothing, so there is nothing to upgrade or refresh",
            check and bool(upgrade or upgrade_package or refresh),
        ),
        (
            "--refresh asks the indexes, which --offline and --snapshot forbid",
            refresh and (offline or snapshot is not None),
        ),
    )
    files = TextFiles()
    catalog = open_catalog(files)
    loaded = _load(project, options, catalog, files)
    if not quiet:
        for note in loaded.notes:
            click.echo(f"note: {hide_secrets(note)}", err=True)
    path = output or project / LOCK_NAME
    request = LockRequest(
        loaded=loaded,
        previous=files.read(path, LockError),
        where=str(path),
        upgrade=upgrade,
        upgrade_packages=upgrade_package,
        refresh=refresh,
        local_path=partial(lock_path, path.parent, loaded.relative_paths),
    )
    if not quiet:
        warn_of_lock(path, request.previous)
    if check:
        return _check(request, quiet=quiet)
    progress = _progress(quiet=quiet, verbose=verbose)
    with ExitStack() as opened:
        opened.callback(progress.clear)
        repository = _repository(
            snapshot,
            loaded,
            offline=offline,
            downloads=not (offline or no_download),
            refresh=refresh,
            progress=progress,
            opened=opened,
        )
        limits = Limits(clock=time.monotonic)
        outcome = lock(request, repository, catalog, progress, limits)
    _tell(outcome, verbose=verbose)
    matrix_text = ""
    if not quiet:
        matrix_text = report_parsed(outcome.pylock, outcome.data, catalog, where=str(path)) + "\n"
    if outcome.text != request.previous:
        write_atomically(path, outcome.text)
        state = "is written"
    else:
        state = "is unchanged" if outcome.reasons else "is current"
    if not quiet:
        printing.write(f"{matrix_text}{path} {state}\n")
    if not (loaded.uses_local_files or loaded.expands_variables):
        files.seen[str(path.absolute())] = outcome.text.encode()
        kept = "" if quiet else f"{matrix_text}{path} is current\n"
        stamp.remember(
            click.get_current_context().obj,
            files.seen,
            kept.encode("utf-8", "backslashreplace"),
            may_hold_secrets,
        )
    return _SUCCESS


def _tell(outcome: LockOutcome, *, verbose: bool) -> None:
    if verbose:
        for reason in outcome.reasons:
            click.echo(f"locked anew: {hide_secrets(reason)}", err=True)
    for warning in outcome.warnings:
        click.echo(f"warning: {hide_secrets(warning)}", err=True)


def _progress(*, quiet: bool, verbose: bool) -> NoProgress | LogProgress | TerminalProgress:
    if verbose:
        return LogProgress()
    return TerminalProgress() if sys.stderr.isatty() and not quiet else NoProgress()


def _check(request: LockRequest, *, quiet: bool) -> int:
    reasons = current_reasons(request)
    if not quiet:
        for reason in reasons:
            printing.write(f"{request.where}: {hide_secrets(reason)}\n")
        if not reasons:
            printing.write(f"{request.where} is current\n")
        else:
            printing.write("run `lockforge lock` to bring it up to date\n")
    return _DIFFERENT if reasons else _SUCCESS


def _load(root: Path, options: Options, catalog: Catalog, files: TextFiles) -> Loaded:
    pyproject = root / "pyproject.toml"
    relative: set[str] = set()
    read = Files(
        pyproject=files.read_toml(pyproject),
        python_version=files.read(root / ".python-version", UsageError),
        read=partial(_read, files),
        paths=LocalPaths(
            to_url=partial(to_file_url, root, relative),
            to_url_here=partial(to_file_url, Path(), relative),
            names_in=names_in,
            relative=relative,
        ),
        kind_of=kind_of,
        sha256_of=sha256_of,
        where=str(pyproject),
        environment=os.environ,
    )
    return load_project(options, read, catalog, datetime.now(UTC))  # noqa: TID251


def _read(files: TextFiles, place: str) -> str | None:
    """Read a text at a path or ``file:`` address: a requirements file, unless it is TOML."""
    path = path_of(place) if place.startswith("file:") else Path(place)
    if path.suffix == ".toml":
        return files.read(path, UsageError)
    return files.read_requirements(path)


def _repository(
    snapshot: Path | None,
    loaded: Loaded,
    *,
    offline: bool,
    downloads: bool,
    refresh: bool,
    progress: Progress,
    opened: ExitStack,
) -> Repository:
    """Build the repository, to be closed with *opened*.

    The HTTP client is imported only where something is asked over HTTP.
    """
    from lockforge.adapters.directory import DirectoryRepository
    from lockforge.adapters.routed import RoutedRepository

    if snapshot is not None:
        from lockforge.adapters.snapshot import SnapshotRepository

        return RoutedRepository(DirectoryRepository(), SnapshotRepository(snapshot))
    from lockforge.adapters.cache import Cache
    from lockforge.adapters.client import CachingClient
    from lockforge.adapters.repository import CONNECTIONS, HttpRepository

    def connect() -> HttpTransport:
        from lockforge.adapters.credentials import Keychain, read_netrc
        from lockforge.adapters.http import HttpTransport

        keychain = Keychain(loaded.accesses, os.environ, read_netrc(os.environ))
        return HttpTransport(keychain=keychain, connections=CONNECTIONS)

    cache = Cache(Path(cache_directory()))
    client = CachingClient(cache, connect, offline=offline, refresh=refresh)
    remote = HttpRepository(client, cache, downloads=downloads, progress=progress, refresh=refresh)
    opened.callback(remote.close)
    return RoutedRepository(DirectoryRepository(), remote)
