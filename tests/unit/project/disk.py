"""A disk of given files: the project in /project, the command run in /here."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Mapping
from urllib.parse import quote, unquote

from lockforge.project.indexes import LocalPaths
from lockforge.project.references import Kind
from lockforge.standards.filenames import parse_wheel_name


class Disk:
    """Answers from the texts of files by absolute path."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files

    @property
    def paths(self) -> LocalPaths:
        return LocalPaths(
            to_url=lambda text: _url("/project", text),
            to_url_here=lambda text: _url("/here", text),
            names_in=self.names_in,
        )

    def read(self, path: str) -> str | None:
        if not path.startswith("file://"):
            path = _url("/here", path)
        return self.files.get(_path(path))

    def kind_of(self, url: str) -> Kind | None:
        path = _path(url)
        if path in self.files:
            return "file"
        return "directory" if any(one.startswith(f"{path}/") for one in self.files) else None

    def sha256_of(self, url: str) -> str | None:
        text = self.files.get(_path(url))
        return None if text is None else hashlib.sha256(text.encode()).hexdigest()

    def names_in(self, url: str) -> tuple[str, ...] | None:
        if self.kind_of(url) != "directory":
            return None
        wheels = (
            parse_wheel_name(posixpath.basename(path))
            for path in self.files
            if posixpath.dirname(path) == _path(url)
        )
        return tuple(wheel.project for wheel in wheels if wheel is not None)


def _path(url: str) -> str:
    return unquote(url.removeprefix("file://"))


def _url(folder: str, text: str) -> str:
    return f"file://{quote(posixpath.normpath(posixpath.join(folder, text)))}"
