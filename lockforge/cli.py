"""The command tree: reads options, builds adapters, prints, maps errors to exit status."""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from packaging.pylock import is_valid_pylock_path

from lockforge import __version__
from lockforge.adapters import printing, stamp
from lockforge.adapters.directories import cache_directory, config_directory
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
from lockforge.catalog import load_catalog
from lockforge.commands.lock import LockRequest, current_reasons, lock
from lockforge.commands.report import report, report_parsed
from lockforge.errors import LockError, LockforgeError, OutputError, UsageError
from lockforge.options import project_options, several
from lockforge.project.indexes import LocalPaths
from lockforge.project.load import Files, Loaded, load_project
from lockforge.report.errors import render_error
from lockforge.resolve.limits import Limits
from lockforge.standards.addresses import hide_secrets, may_hold_secrets
from lockforge.standards.pylock import newer_minor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.adapters.http import HttpTransport
    from lockforge.catalog import Catalog
    from lockforge.commands.lock import LockOutcome
    from lockforge.ports import Progress, Repository
    from lockforge.project.options import Options

LOCK_NAME = "pylock.toml"
_SUCCESS, _DIFFERENT, _USAGE = 0, 1, 2

_project_option = click.option(
    "--project",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=Path(),
    help="The project's directory; by default the current one.",
)
_output_option = click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The lock; by default {LOCK_NAME} in the project's directory.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="lockforge")
def commands() -> None:
    """One pylock.toml for every platform and accelerator of a PyTorch project.

    \b
    Example:
      lockforge lock --matrix linux-cu130,win-cpu,mac-cpu
      lockforge report
    """


@commands.command("lock")
@click.argument("requirements", nargs=-1)
@_project_option
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
def lock_command(
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
    _exclude_each_other(
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
    catalog = _catalog(files)
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
        _warn_of(path, request.previous)
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


def _warn_of(path: Path, text: str | None) -> None:
    """Warn of what PEP 751 wants to be warned of in the lock at *path*."""
    if not is_valid_pylock_path(path):
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


def _exclude_each_other(*contradictions: tuple[str, bool]) -> None:
    """Refuse options that cannot be given together, by what is said of each and whether it is."""
    for message, given in contradictions:
        if given:
            raise UsageError(message, hint="leave out one of them")


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


@commands.command("report")
@click.argument("lock_file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@_project_option
def report_command(*, lock_file: Path | None, project: Path) -> int:
    """Print the matrix a lock holds, from the lock alone.

    \b
    Example:
      lockforge report
      lockforge report deploy/pylock.toml
    """
    path = lock_file or project / LOCK_NAME
    files = TextFiles()
    text = files.read(path, LockError)
    if text is None:
        raise UsageError("there is no lock", where=str(path), hint="run `lockforge lock` first")
    _warn_of(path, text)
    printing.write(report(text, _catalog(files), where=str(path)))
    return _SUCCESS


def _catalog(files: TextFiles) -> Catalog:
    """Load the catalogue with the user's own additions, where there are some."""
    stated = os.environ.get("LOCKFORGE_CATALOG")
    path = Path(stated) if stated else Path(config_directory()) / "catalog.yaml"
    text = files.read(path, UsageError)
    if text is None and stated:
        raise UsageError(
            "no such file", where=stated, hint="correct LOCKFORGE_CATALOG, or unset it"
        )
    return load_catalog(text, where=str(path))


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


def _check_current_directory() -> None:
    try:
        Path.cwd()
    except OSError as error:
        raise UsageError(
            "the current directory is gone", hint="change to a directory that exists"
        ) from error


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit status; prints every error meant for the user."""
    try:
        _check_current_directory()
        status = commands.main(
            args=list(arguments), prog_name="lockforge", standalone_mode=False, obj=list(arguments)
        )
    except LockforgeError as error:
        click.echo(render_error(error), err=True, nl=False)
        return error.exit_status
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except OSError as error:
        # Help is printed by click.
        if error.errno != errno.ENOSPC:
            raise
        printing.discard()
        full = OutputError(f"cannot be written: {error.strerror}", hint="make room")
        click.echo(render_error(full), err=True, nl=False)
        return full.exit_status
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped; nothing was written", err=True)
        return 130
    return status if isinstance(status, int) else _SUCCESS
