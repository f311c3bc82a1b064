"""Paths of the user's as ``file:`` addresses and back, and what a file's name says it is of."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from lockforge.standards.filenames import parse_sdist_name, parse_wheel_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from packaging.utils import NormalizedName


_CHUNK = 1 << 20


def file_sha256(path: Path) -> str:
    """Hash a file without holding it in memory."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def sha256_of(url: str) -> str | None:
    """Hash the file at a ``file:`` address; None for one that cannot be read."""
    try:
        return file_sha256(path_of(url))
    except OSError:
        return None


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


def to_file_url(root: Path, relative: set[str], text: str) -> str:
    """Give the ``file:`` address of a path the user wrote, relative to *root*.

    Where it was written relative, the address is added to *relative*.
    """
    if text.startswith("file:"):
        return text
    url = Path(os.path.normpath(root.absolute() / text)).as_uri()
    if not Path(text).is_absolute():
        relative.add(url)
    return url


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


def lock_path(root: Path, relative: Collection[str], url: str) -> tuple[str, bool]:
    """Give the path a lock in *root* writes for a file, and whether it is below *root*.

    A path outside stays as the user wrote it, absolute, or relative where it is below one of the
    addresses in *relative*: neither tells more of this machine than the user did.
    """
    path = path_of(url)
    top = Path(os.path.normpath(root.absolute()))
    if path.is_relative_to(top):
        return path.relative_to(top).as_posix(), True
    if any(url == one or url.startswith(f"{one}/") for one in relative):
        return Path(os.path.relpath(path, top)).as_posix(), False
    return path.as_posix(), False
