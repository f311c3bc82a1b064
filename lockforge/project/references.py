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
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lockforge.project.indexes import check_address
from lockforge.project.record import worded
from lockforge.standards.addresses import (
    hide_secrets,
    is_web,
    public_address,
    without_fragment,
)
from lockforge.standards.filenames import parse_sdist_name, parse_wheel_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from packaging.utils import NormalizedName

    from lockforge.project.faults import Faults
    from lockforge.project.indexes import Credentials, LocalPaths

Kind: TypeAlias = Literal["file", "directory"]

_REQUIRING = ("dependencies", "optional-dependencies")
_DECISIVE = ("version", "requires-python", *_REQUIRING)
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
    sha256_of: Callable[[str], str | None]
    """The sha256 of the file at a ``file:`` address; None for one that cannot be read."""
    _shown: dict[str, str] = field(default_factory=dict, init=False)
    _contents: dict[str, tuple[str, str]] = field(default_factory=dict, init=False)
    _webbed: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict, init=False)
    """By name and what the lock holds of an address: the address itself, and where it stands."""
    _notes: dict[str, None] = field(default_factory=dict, init=False)

    def shown(self, address: str) -> str:
        """Give what stands for *address* in a lock: no credential, and no place of this machine.

        A path below the project is relative to it, another is as the user wrote it.
        """
        return self._shown[address]

    @property
    def content_texts(self) -> list[str]:
        """Word what lies at each reference on this machine, which decides the lock too.

        That is the bytes of a file, and what the project in a directory requires.
        """
        paths = {without_fragment(one): without_fragment(self._shown[one]) for one in self._shown}
        return [
            f"{kind} {paths[address]}: {text}" for address, (kind, text) in self._contents.items()
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the references."""
        return tuple(self._notes)

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
        self._check_query(name, address, faults, where)
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
            address, _, fragment = self.credentials.strip(text).partition("#")
            return _with_fragment(address, fragment)
        if kind not in {"", "file"}:
            faults.add(
                where,
                f"not an address of a file: {hide_secrets(text)}",
                "write https://, or a path",
            )
            return None
        return self._local_address(text, place, faults, where)

    def _local_address(self, text: str, place: Place, faults: Faults, where: str) -> str | None:
        path, *fragments = _FRAGMENT.split(text, maxsplit=1)
        address = _file_address(path, place) if _SCHEME.match(text) else place.to_url(path)
        found = self.kind_of(address)
        if found is None and "%" in path:
            # PEP 508: an address has no blank, so that a path with one is written as in a URL.
            address = place.to_url(unquote(path))
            found = self.kind_of(address)
        if found is None:
            faults.add(
                where,
                f"there is no file or directory {path}",
                f"correct the path; one that is relative starts at {place.name}",
            )
            return None
        address = _with_fragment(address, *fragments)
        if found == "directory" and "#" in address:
            faults.add(
                where,
                f"a directory has no sha256 and no subdirectory: {text}",
                "name the directory with the project in it, and nothing after it",
            )
            return None
        return address

    def _check_query(self, name: str, address: str, faults: Faults, where: str) -> None:
        """Refuse two addresses that only a query tells apart, and say that it is left out."""
        place, public = without_fragment(address), public_address(address)
        if not is_web(address):
            return
        other, there = self._webbed.setdefault((name, public), (place, where))
        if other != place:
            faults.add(
                where,
                f"{public} has another query than in {there}, and a lock holds it without one",
                "leave one of them, or give each file an address of its own",
            )
        if place != public:
            self._notes[
                f"{where}: the lock holds {public} without its query, which may be a secret: an "
                "installer has to get the file without it"
            ] = None

    def _name(
        self, address: str, stated: str | None, faults: Faults, where: str
    ) -> NormalizedName | None:
        parts = urlsplit(address)
        place = without_fragment(address)
        if parts.scheme == "file" and self.kind_of(place) == "directory":
            return self._directory_name(place, stated, faults, where)
        if parts.scheme == "file" and (digest := self.sha256_of(place)) is not None:
            self._contents[place] = ("file", f"sha256 {digest}")
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
            self._contents[address] = ("directory", _tree_text(project))
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
        place = without_fragment(address)
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


def _with_fragment(address: str, fragment: str = "") -> str:
    """Keep of a fragment what decides which file it is; the other keys of pip's decide nothing."""
    keys = dict(part.partition("=")[::2] for part in fragment.split("&"))
    kept = []
    if "sha256" in keys:
        kept.append(f"sha256={keys['sha256'].lower()}")
    if "subdirectory" in keys:
        kept.append(f"subdirectory={keys['subdirectory']}")
    return "#".join([address, *(["&".join(kept)] if kept else [])])


def _tree_text(project: dict[str, Any]) -> str:
    """Word what decides a lock of the project in a directory."""
    decisive = {key: project[key] for key in _DECISIVE if key in project}
    for key in _REQUIRING:
        if key in decisive:
            decisive[key] = _shown_requirements(decisive[key])
    dynamic = project.get("dynamic")
    if isinstance(dynamic, list) and (needed := [key for key in _REQUIRING if key in dynamic]):
        decisive["dynamic"] = needed
    return hide_secrets(json.dumps(decisive, sort_keys=True, default=str))


def _shown_requirements(value: Any) -> Any:
    """Give the requirements in *value*, of whatever shape, with what may be shown of addresses."""
    if isinstance(value, dict):
        return {key: _shown_requirements(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_shown_requirements(one) for one in value]
    try:
        requirement = Requirement(str(value))
    except InvalidRequirement:
        return value
    return value if requirement.url is None else worded(requirement)


def _file_address(text: str, place: Place) -> str:
    """Give the address of ``file:`` with one spelling; ``file:wheels/x.whl`` is a path."""
    parts = urlsplit(text)
    path = unquote(parts.path)
    if not path.startswith("/"):
        return place.to_url(path)
    return f"file://{quote(posixpath.normpath(path), safe='/:')}"
