"""The command tree, and the one place where errors become an exit status.

A command's module is imported when the command is run: those that read a lock or look at the
machine need neither the resolver nor the HTTP client.
"""

from __future__ import annotations

import errno
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockforge import __version__
from lockforge.adapters import printing
from lockforge.errors import LockforgeError, OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

# In the order of the help.
_COMMANDS = ("lock", "report", "detect", "plan")
_SUCCESS = 0
_INTERRUPTED = 130


class _Commands(click.Group):
    """The commands, each in the module of its name."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command = import_module(f"lockforge.cli.{name}").command
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="lockforge")
def commands() -> None:
    """One pylock.toml for every platform and accelerator of a PyTorch project.

    \b
    Example:
      lockforge lock --matrix linux-cu130,win-cpu,mac-cpu
      lockforge report
      lockforge detect
    """


def _check_current_directory() -> None:
    try:
        Path.cwd()
    except OSError as error:
        raise UsageError(
            "the current directory is gone", hint="change to a directory that exists"
        ) from error


def _tell(error: LockforgeError) -> int:
    """Print *error* and give its status."""
    from lockforge.report.errors import render_error

    click.echo(render_error(error), err=True, nl=False)
    return error.exit_status


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit status; prints every error meant for the user."""
    try:
        _check_current_directory()
        status = commands.main(
            args=list(arguments), prog_name="lockforge", standalone_mode=False, obj=list(arguments)
        )
    except LockforgeError as error:
        return _tell(error)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except OSError as error:
        # Help is printed by click.
        if error.errno != errno.ENOSPC:
            raise
        printing.discard()
        full = OutputError(f"cannot be written: {error.strerror}", hint="make room")
        return _tell(full)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped; nothing was written", err=True)
        return _INTERRUPTED
    return status if isinstance(status, int) else _SUCCESS
