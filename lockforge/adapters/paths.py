"""Paths of the user's as ``file:`` addresses and back, and what a file's name says it is of."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from lockforge.standards.filenames import parse_sdist_name, parse_wheel_name

if TYPE_CHECKING:
    from packaging.utils import NormalizedName


def path_of(url: str) -> Path:
    """Give the path of a ``file:`` address."""
    # Slow to import, and few locks have files of this machine.
    from urllib.request import url2pathname  # noqa: PLC0415

    return Path(url2pathname(urlsplit(url).path))


def project_of(filename: str) -> NormalizedName | None:
    """Give the project a distribution file is of; None for any other file."""
    if filename.endswith(".whl"):
        wheel = parse_wheel_name(filename)
        return wheel.project if wheel else None
    sdist = parse_sdist_name(filename)
    return sdist[0] if sdist else None


def to_file_url(root: Path, text: str) -> str:
    """Give the ``file:`` address of a path the user wrote, relative to the project."""
    if text.startswith("file:"):
        return text
    return Path(os.path.normpath(root.absolute() / text)).as_uri()


def names_in(url: str) -> tuple[str, ...] | None:
    """List the projects with files in a flat folder; None if it is no folder."""
    folder = path_of(url)
    if not folder.is_dir():
        return None
    found = {project_of(path.name) for path in folder.iterdir()}
    return tuple(sorted(name for name in found if name is not None))


def kind_of(url: str) -> Literal["file", "directory"] | None:
    """Say what lies at a ``file:`` address; None for nothing."""
    path = path_of(url)
    if path.is_dir():
        return "directory"
    return "file" if path.is_file() else None


def lock_path(root: Path, url: str) -> tuple[str, bool]:
    """Give the path a lock in *root* writes for a file, and whether it is below *root*."""
    path = path_of(url)
    try:
        return path.relative_to(Path(os.path.normpath(root.absolute()))).as_posix(), True
    except ValueError:
        return path.as_posix(), False
