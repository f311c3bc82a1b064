"""The project's own files on this machine."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from lockforge.adapters.directory import path_of, project_of
from lockforge.adapters.files import read_text
from lockforge.errors import ConfigError, Fault, UsageError


def read_pyproject(path: Path) -> dict[str, Any]:
    """Read pyproject.toml; empty if there is none, ConfigError if it is not TOML."""
    text = read_text(path, UsageError)
    if text is None:
        return {}
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        fault = Fault(where=str(path), message=f"not TOML: {error}")
        raise ConfigError([fault], where=str(path)) from error


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


def lock_path(root: Path, url: str) -> tuple[str, bool]:
    """Give the path a lock in *root* writes for a file, and whether it is below *root*."""
    path = path_of(url)
    try:
        return path.relative_to(Path(os.path.normpath(root.absolute()))).as_posix(), True
    except ValueError:
        return path.as_posix(), False
