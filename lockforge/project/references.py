"""Direct references of the project's own: `acme @ ./wheels/acme-1.0-py3-none-any.whl`.

What the user wrote becomes an absolute address without credentials. Nothing is downloaded and
nothing is built: the name is what stands before the ``@``, in the file's name, or in the
directory's pyproject.toml.
"""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from packaging.utils import canonicalize_name

from lockforge.project.indexes import check_address
from lockforge.standards.addresses import hide_secrets
from lockforge.standards.filenames import parse_sdist_name, parse_wheel_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from packaging.utils import NormalizedName

    from lockforge.project.faults import Faults
    from lockforge.project.indexes import Credentials, LocalPaths

Kind: TypeAlias = Literal["file", "directory"]

_DECISIVE = ("version", "requires-python", "dependencies", "optional-dependencies")
# One letter before the colon is a drive of Windows.
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):", re.IGNORECASE)
_NAMED = re.compile(r"[a-z0-9][a-z0-9._-]*\s*(\[[^\]]*\])?\s*@", re.IGNORECASE)
_ARCHIVES = (".whl", ".tar.gz", ".zip")
# A path may have a `#` of its own; pip reads these words after one.
_FRAGMENT = re.compile(r"#(?=(?:md5|sha\d+|egg|subdirectory)=)")


def is_bare(text: str) -> bool:
    """Whether *text* is a path or an address with no name before it."""
    content = text.partition(";")[0].strip()
    if _NAMED.match(content):
        return False
    return (
        content.startswith(".")
        or "/" in content
        or "\\" in content
        or _SCHEME.match(content) is not None
        or content.lower().endswith(_ARCHIVES)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a path was written, which says what it is relative to."""

    to_url: Callable[[str], str]
    name: str
    """What a relative path is relative to, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """Reads direct references, and remembers how a lock is to show them."""

    paths: LocalPaths
    kind_of: Callable[[str], Kind | None]
    """What lies at a ``file:`` address; None for nothing."""
    read: Callable[[str], str | None]
    """The text of the file at a path or ``file:`` address; None for no file."""
    credentials: Credentials
    _shown: dict[str, str] = field(default_factory=dict, init=False)
    _trees: dict[str, str] = field(default_factory=dict, init=False)

    def shown(self, address: str) -> str:
        """Give what stands for *address* in a lock: no credential, and no place of this machine.

        A path below the project is relative to it, another is as the user wrote it.
        """
        return self._shown[address]

    @property
    def tree_texts(self) -> list[str]:
        """Word what each directory's own project requires, which decides the lock too."""
        return [
            f"directory {self._shown[address]}: {text}" for address, text in self._trees.items()
        ]

    def resolve(
        self, text: str, stated: str | None, place: Place, faults: Faults, where: str
    ) -> tuple[NormalizedName, str] | None:
        """Give the name and the address of what *text* refers to.

        *stated* is the name that stands before it, if one does.
        """
        address = self._address(text, place, faults, where)
        if address is None:
            return None
        name = self._name(address, stated, faults, where)
        if name is None:
            return None
        if stated is not None and name != canonicalize_name(stated):
            faults.add(
                where, f"{stated} @ {hide_secrets(text)} is of {name}", "correct one of the two"
            )
            return None
        shown = self._render(address, text)
        # Two spellings of one path must not depend on which comes first.
        self._shown[address] = min(shown, self._shown.get(address, shown))
        return name, address

    def _address(self, text: str, place: Place, faults: Faults, where: str) -> str | None:
        scheme = _SCHEME.match(text)
        kind = scheme[1].lower() if scheme else ""
        if "+" in kind:
            faults.add(
                where,
                f"{hide_secrets(text)} is in version control: only a build tells what it installs",
                "name a wheel or an sdist by its URL, or put the built wheel into a directory and "
                "name its path",
            )
            return None
        if kind in {"http", "https"}:
            if not check_address(text, faults, where):
                return None
            self.credentials.check_variables(text, faults, where)
            return self.credentials.strip(text)
        if kind not in {"", "file"}:
            faults.add(
                where,
                f"not an address of a file: {hide_secrets(text)}",
                "write https://, or a path",
            )
            return None
        path, *fragment = _FRAGMENT.split(text, maxsplit=1)
        address = _file_address(path, place) if kind else place.to_url(path)
        if self.kind_of(address) is None:
            faults.add(
                where,
                f"there is no file or directory {path}",
                f"correct the path; one that is relative starts at {place.name}",
            )
            return None
        return "#".join([address, *fragment])

    def _name(
        self, address: str, stated: str | None, faults: Faults, where: str
    ) -> NormalizedName | None:
        parts = urlsplit(address)
        if parts.scheme == "file" and self.kind_of(_bare_address(address)) == "directory":
            return self._directory_name(_bare_address(address), stated, faults, where)
        filename = unquote(parts.path.rpartition("/")[2])
        found = (
            parse_wheel_name(filename) if filename.endswith(".whl") else parse_sdist_name(filename)
        )
        if found is None:
            faults.add(
                where,
                f"{filename or hide_secrets(address)} is the name of neither a wheel nor an sdist",
                "name acme-1.0-py3-none-any.whl or acme-1.0.tar.gz, for example",
            )
            return None
        return found[0]

    def _directory_name(
        self, address: str, stated: str | None, faults: Faults, where: str
    ) -> NormalizedName | None:
        path = unquote(urlsplit(address).path)
        try:
            document = tomllib.loads(self.read(f"{address}/pyproject.toml") or "")
        except tomllib.TOMLDecodeError as error:
            faults.add(where, f"{path}/pyproject.toml is not TOML: {error}")
            return None
        project = document.get("project")
        if isinstance(project, dict):
            decisive = {key: project[key] for key in _DECISIVE if key in project}
            self._trees[address] = json.dumps(decisive, sort_keys=True, default=str)
        name = project.get("name") if isinstance(project, dict) else None
        if not isinstance(name, str):
            if stated is not None:
                return canonicalize_name(stated)
            faults.add(
                where,
                f"the directory {path} does not say its name",
                'write "acme @ PATH", or set project.name in its pyproject.toml',
            )
            return None
        return canonicalize_name(name)

    def _render(self, address: str, text: str) -> str:
        parts = urlsplit(address)
        if parts.scheme != "file":
            return urlunsplit(parts._replace(query=""))
        root = self.paths.to_url(".").rstrip("/")
        place = _bare_address(address)
        if place == root:
            path = "."
        elif place.startswith(f"{root}/"):
            path = unquote(place.removeprefix(f"{root}/"))
        elif _SCHEME.match(text):
            path = unquote(urlsplit(place).path)
        else:
            path = _FRAGMENT.split(text)[0].replace("\\", "/")
        # A line of the lock is read as a requirement, which has no blank in its address.
        path = path.replace(" ", "%20")
        return f"{path}#{parts.fragment}" if parts.fragment else path


def _bare_address(address: str) -> str:
    return address.partition("#")[0]


def _file_address(text: str, place: Place) -> str:
    """Give the address of ``file:`` with one spelling; ``file:wheels/x.whl`` is a path."""
    parts = urlsplit(text)
    path = unquote(parts.path)
    if not path.startswith("/"):
        return place.to_url(path)
    return f"file://{quote(posixpath.normpath(path), safe='/:')}"
