"""The options that say what to lock, as the command line has them."""

from __future__ import annotations

import functools
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from lockforge.cli.values import several, stated
from lockforge.project.options import Options
from lockforge.project.policy import ALIGNMENTS, PRERELEASES, STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Callable


_PROJECT_OPTIONS = (
    click.option(
        "--matrix",
        multiple=True,
        callback=several,
        metavar="ROW,...",
        help="The rows, such as linux-cu130,win-cpu,mac-cpu.",
    ),
    click.option(
        "--python",
        multiple=True,
        callback=several,
        metavar="X.Y,...",
        help="The Pythons to lock for, such as 3.12; 3.12.3 covers that patch release and later.",
    ),
    click.option(
        "-r",
        "--requirement",
        "requirement_files",
        multiple=True,
        metavar="FILE",
        callback=stated,
        help="Take the requirements from a file instead of from pyproject.toml.",
    ),
    click.option(
        "-e",
        "--editable",
        "editables",
        multiple=True,
        metavar="DIR",
        callback=stated,
        help="Require the project in a directory, to be installed in place.",
    ),
    click.option(
        "-c",
        "--constraint",
        "constraint_files",
        multiple=True,
        metavar="FILE",
        callback=stated,
        help="Limit versions as a file says, without requiring what it names.",
    ),
    click.option(
        "--override",
        "override_files",
        multiple=True,
        metavar="FILE",
        callback=stated,
        help="Replace every requirement on the packages that a file names by what it says.",
    ),
    click.option(
        "--extra",
        "extras",
        multiple=True,
        callback=several,
        metavar="NAME,...",
        help="An extra of the project's own, beside those configured.",
    ),
    click.option("--all-extras", is_flag=True, help="Every extra of the project's own."),
    click.option(
        "--group",
        "groups",
        multiple=True,
        callback=several,
        metavar="NAME,...",
        help="A dependency group, beside those configured.",
    ),
    click.option("--all-groups", is_flag=True, help="Every dependency group."),
    click.option(
        "--no-default-groups", is_flag=True, help="Leave out the groups that are configured."
    ),
    click.option("--index-url", metavar="URL", callback=stated, help="The default index."),
    click.option(
        "--torch-index",
        metavar="URL",
        callback=stated,
        help="The base of PyTorch's indexes, or a mirror's.",
    ),
    click.option(
        "--channel", callback=stated, help="A channel of PyTorch's indexes: nightly or test."
    ),
    click.option(
        "--find-links",
        multiple=True,
        metavar="DIR|URL",
        callback=stated,
        help="A directory, or a page of links, whose files are taken.",
    ),
    click.option(
        "--prerelease",
        metavar="|".join(PRERELEASES),
        callback=stated,
        help="Whether pre-releases may be chosen; by default only where there is nothing else.",
    ),
    click.option(
        "--resolution",
        metavar="|".join(STRATEGIES),
        callback=stated,
        help="Which of the versions that fit; lowest-direct is for the project's own requirements.",
    ),
    click.option(
        "--align",
        metavar="|".join(ALIGNMENTS),
        callback=stated,
        help="The family's newest versions of each row, or the newest that every row has.",
    ),
    click.option(
        "--only-binary",
        multiple=True,
        callback=several,
        metavar="NAME,...",
        help="Take no sdist of these packages; :all: for every one, :none: to start anew.",
    ),
    click.option(
        "--no-binary",
        multiple=True,
        callback=several,
        metavar="NAME,...",
        help="Take no wheel of these packages; :all: for every one, :none: to start anew.",
    ),
    click.option(
        "--exclude-newer",
        metavar="DATE",
        callback=stated,
        help='Leave out files uploaded later: a date, or a duration such as "7 days".',
    ),
    click.option(
        "--exclude-newer-strict",
        is_flag=True,
        help="Leave out files too whose upload time no page tells.",
    ),
)


def project_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give *command* the options that say what to lock, gathered as its argument *options*."""

    @functools.wraps(command)
    def gathered(**values: Any) -> int:
        found = {field.name: values.pop(field.name) for field in fields(Options)}
        return command(options=Options(**found), **values)

    for option in reversed(_PROJECT_OPTIONS):
        gathered = option(gathered)
    return gathered
