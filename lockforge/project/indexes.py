"""The indexes a project names -> Index and UserIndex, with credentials kept apart."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from packaging.utils import canonicalize_name

from lockforge.model.accelerator import is_label
from lockforge.model.access import IndexAccess, variable_part
from lockforge.model.index import Index, Layout, UserIndex
from lockforge.standards.addresses import hide_user_info, is_web

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from lockforge.project.faults import Faults

DEFAULT_INDEX = "https://pypi.org/simple/"
CHANNELS = ("nightly", "test")
DEFAULT_NAME = "default"
"""What the environment calls the default index, beside its own name."""
TORCH_NAME = "torch"
"""What the environment calls the base of PyTorch's indexes."""
_KEYS = ("name", "url", "packages", "accelerators", "default", "format")
_PATTERN = re.compile(r"[a-z0-9*]([a-z0-9*-]*[a-z0-9*])?")
# PEP 503, name normalization; a pattern's `*` stays.
_SEPARATORS = re.compile(r"[-_.]+")
_VARIABLE = re.compile(r"\$\{([^{}]*)\}")
# pip expands no others (Requirements File Format, "Using environment variables").
_VARIABLE_NAME = re.compile(r"[A-Z0-9_]+")
_PLACEHOLDER = re.compile(r"(?<!\$)\{([^{}]*)\}")
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:")
_PLACEHOLDERS = ("accelerator", "torch")


@dataclass(slots=True)
class Credentials:
    """The addresses of indexes with what stood before their hosts; never part of an Index."""

    environment: Mapping[str, str] = field(default_factory=dict)
    found: list[IndexAccess] = field(default_factory=list)

    def strip(self, url: str, *names: str) -> str:
        """Take the credentials out of *url* and remember them, with the names of its index."""
        parts = urlsplit(url)
        user_info, _, host = parts.netloc.rpartition("@")
        public = urlunsplit(parts._replace(netloc=host))
        expanded = _VARIABLE.sub(lambda one: self.environment.get(one[1], one[0]), user_info)
        user, colon, password = expanded.partition(":")
        if names or expanded:
            access = IndexAccess(
                url=public,
                names=names,
                user=unquote(user) if expanded else None,
                password=unquote(password) if colon else None,
            )
            self.found.append(access)
        return public

    def check_variables(self, url: str, faults: Faults, where: str) -> None:
        """Report each ``${NAME}`` of *url* that cannot be expanded, or that may not be."""
        user_info, _, host = urlsplit(url).netloc.rpartition("@")
        for name in _VARIABLE.findall(user_info):
            if not _VARIABLE_NAME.fullmatch(name):
                hint = "write its name in capitals, digits and underscores"
                faults.add(where, f"${{{name}}} does not name an environment variable", hint)
            elif name not in self.environment:
                hint = "set it, or give the credentials in another way"
                faults.add(where, f"the environment variable {name} is not set", hint)
        for name in _VARIABLE.findall(urlunsplit(urlsplit(url)._replace(netloc=host))):
            faults.add(
                where,
                f"${{{name}}} stands outside of user and password",
                "write the address out: all of it but user and password is written to the lock",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalPaths:
    """How a path that the user wrote becomes a ``file:`` address, and what a folder holds."""

    to_url: Callable[[str], str]
    """For a path in the project's files, which is relative to the project."""
    to_url_here: Callable[[str], str]
    """For a path on the command line, which is relative to the current directory."""
    names_in: Callable[[str], tuple[str, ...] | None]
    """Projects with files in a flat folder, by its ``file:`` address; None if it is no folder."""
    relative: AbstractSet[str] = frozenset()
    """The addresses so far of paths that were written relative."""


def local_name(text: str) -> str | None:
    """Name a directory as the user does, without its place on this machine; None for the web."""
    if is_web(text):
        return None
    path = text.removeprefix("file:").rstrip("/\\")
    return re.split(r"[/\\]", path)[-1] if _ABSOLUTE.match(path) else path


def usual_layout(address: str) -> Layout:
    """Say what lies at the address or path of an index unless its layout is stated."""
    page = not is_web(address) or urlsplit(address).path.endswith(".html")
    return "flat" if page else "simple"


def torch_index(base: str, channel: str | None, label: str) -> Index:
    """Give PyTorch's own index of one accelerator."""
    middle = f"/{channel}" if channel else ""
    return Index(
        name=label, url=f"{base.rstrip('/')}{middle}/{label}/", forbidden_means_missing=True
    )


def check_address(url: str, faults: Faults, where: str) -> bool:
    """Whether *url* is a web address or a path; what is neither is added to *faults*."""
    try:
        parts = urlsplit(url)
        if is_web(url):
            usable = bool(parts.hostname) and parts.port != 0
        else:
            usable = "://" not in url or parts.scheme == "file"
    except ValueError:
        usable = False
    if not usable:
        faults.add(where, f"not an address: {hide_user_info(url)!r}", "write https://host/path/")
    return usable


def check_index_address(
    url: str, credentials: Credentials, faults: Faults, where: str, *, template: bool = False
) -> bool:
    """Whether *url* can be an index's; with *template*, a Target may fill in a part of its path."""
    if not check_address(url, faults, where):
        return False
    parts = urlsplit(url)
    credentials.check_variables(url, faults, where)
    _check_placeholders(url, faults, where, template=template)
    if is_web(url) and (parts.query or parts.fragment):
        faults.add(
            where,
            f"an index has no query and no fragment: {parts.scheme}://{_host(url)}{parts.path}",
            "give credentials as user and password; the address is written to the lock",
        )
    return True


def _check_placeholders(url: str, faults: Faults, where: str, *, template: bool) -> None:
    parts = urlsplit(url)
    for word in _PLACEHOLDER.findall(f"{_host(url)}{parts.path}"):
        if word not in _PLACEHOLDERS:
            faults.add(where, f"unknown placeholder {{{word}}}", "use {accelerator} or {torch}")
        elif not template:
            faults.add(
                where,
                f"{{{word}}} has no meaning here",
                "use it in an index of [[tool.lockforge.index]] that is not the default",
            )
        elif f"{{{word}}}" in parts.netloc:
            hint = "write the host out, and use it in the path"
            faults.add(where, f"{{{word}}} stands in the host", hint)


def index_address(
    url: str, credentials: Credentials, to_url: Callable[[str], str], *names: str
) -> str:
    """Give the address of an index by its address or path, without credentials."""
    if is_web(url):
        return credentials.strip(url, *names)
    address = to_url(url)
    for word in _PLACEHOLDERS:
        address = address.replace(f"%7B{word}%7D", f"{{{word}}}")
    return address


def simple_index(
    name: str, url: str, credentials: Credentials, to_url: Callable[[str], str], *names: str
) -> Index:
    """Give a simple index by its address or path; *names* are more of them for the environment."""
    address = index_address(url, credentials, to_url, name, *names)
    return Index(name=name, url=address.rstrip("/") + "/")


def find_links_index(text: str, paths: LocalPaths, faults: Faults, where: str) -> UserIndex | None:
    """Give a flat folder named on the command line as an index that routes what it holds."""
    url = paths.to_url_here(text)
    names = paths.names_in(url)
    if names is None:
        faults.add(where, f"not a directory: {text}", "give a directory of wheels")
        return None
    name = local_name(text) or text
    return UserIndex(index=Index(name=name, url=url, layout="flat"), packages=names)


@dataclass(slots=True)
class Configured:
    """The indexes of the configuration."""

    default: Index | None = None
    others: list[UserIndex] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    """How the user names each directory among them, by its address."""


def parse_indexes(
    tables: Sequence[Any], credentials: Credentials, paths: LocalPaths, faults: Faults
) -> Configured:
    """Read ``[[tool.lockforge.index]]``."""
    found = Configured()
    taken = _Taken()
    for number, table in enumerate(tables):
        at = f"tool.lockforge.index[{number}]"
        if not isinstance(table, dict):
            faults.add(at, f"expected a table, found {hide_user_info(repr(table))}")
            continue
        faults.unknown_keys(table, _KEYS, at)
        url = faults.typed(table, "url", str, at)
        if not url:
            faults.add(f"{at}.url", "missing", "give the address or the directory of the index")
            continue
        is_default = faults.typed(table, "default", bool, at) or False
        if not check_index_address(url, credentials, faults, f"{at}.url", template=not is_default):
            continue
        if is_default and found.default is not None:
            faults.add(f"{at}.default", "there is a default index already", "leave one")
            continue
        stated = faults.typed(table, "name", str, at)
        name = taken.name(stated, url, faults, at, default=is_default)
        taken.check_url(url, faults, at)
        if is_default:
            index = simple_index(name, url, credentials, paths.to_url, DEFAULT_NAME)
            found.default = index
        else:
            user = _parse_index(table, name, url, at, credentials, paths, faults)
            if user is None:
                continue
            found.others.append(user)
            index = user.index
        if (place := local_name(url)) is not None:
            found.places[index.url] = place
    return found


@dataclass(slots=True)
class _Taken:
    """What the tables so far have claimed, by what each must be told apart by."""

    _names: dict[str, str] = field(
        default_factory=lambda: {
            variable_part(TORCH_NAME): "PyTorch's indexes",
            variable_part(DEFAULT_NAME): "the default index",
        }
    )
    """The part of a variable's name -> key path or holder."""
    _urls: dict[str, str] = field(default_factory=dict)

    def name(self, stated: str | None, url: str, faults: Faults, at: str, *, default: bool) -> str:
        """Give the name of an index, its host's where none is stated."""
        name = stated or local_name(url) or _host(url)
        if not stated and variable_part(name) in self._names:
            name = f"{_host(url)}{urlsplit(url).path}"
        part = variable_part(name)
        own = default and part == variable_part(DEFAULT_NAME)
        if stated and not own and part in self._names:
            faults.add(
                f"{at}.name",
                f"the name {stated!r} is that of {self._names[part]}",
                "give each index a name of its own, told apart by more than case and punctuation",
            )
        self._names.setdefault(part, at)
        return name

    def check_url(self, url: str, faults: Faults, at: str) -> None:
        """Report an address that another table has."""
        place = urlunsplit(urlsplit(url)._replace(netloc=_host(url))).rstrip("/")
        if place in self._urls:
            faults.add(
                f"{at}.url",
                f"the same address as in {self._urls[place]}",
                "say all of an index in one table",
            )
        self._urls.setdefault(place, at)


def _host(url: str) -> str:
    """Give host and port as they are written."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _parse_index(
    table: dict[str, Any],
    name: str,
    url: str,
    at: str,
    credentials: Credentials,
    paths: LocalPaths,
    faults: Faults,
) -> UserIndex | None:
    packages = _parse_packages(table, at, faults)
    accelerators = tuple(faults.strings(table, "accelerators", at))
    for number, label in enumerate(accelerators):
        if not is_label(label):
            faults.add(f"{at}.accelerators[{number}]", f"unknown accelerator {label!r}")
    layout = _parse_layout(table, url, at, faults)
    if layout == "simple":
        index = simple_index(name, url, credentials, paths.to_url)
    else:
        address = index_address(url, credentials, paths.to_url, name)
        index = Index(name=name, url=address, layout="flat")
    if layout == "flat" and not is_web(url) and not _PLACEHOLDER.search(address):
        held = paths.names_in(address)
        if held is None:
            faults.add(f"{at}.url", f"not a directory: {url}", "give a directory of wheels")
            return None
        packages = packages or tuple(map(canonicalize_name, held))
    if "{torch}" in index.url and not packages:
        # Its pages depend on which torch is chosen, so it cannot be asked whether it has a name.
        faults.add(
            f"{at}.packages",
            "missing: an index with {torch} in its url serves only what is routed to it",
            'add packages = ["torch-scatter"] or the like',
        )
    for number, pattern in enumerate(packages):
        if "{torch}" in index.url and fnmatch.fnmatchcase("torch", pattern):
            faults.add(
                f"{at}.packages[{number}]",
                f"{pattern!r} routes torch itself, on whose version the url depends",
                "name the packages that are built for it, such as torch-scatter",
            )
    return UserIndex(index=index, packages=packages, accelerators=accelerators)


def _parse_layout(table: dict[str, Any], url: str, at: str, faults: Faults) -> Layout:
    layout = faults.typed(table, "format", str, at)
    if layout == "simple":
        return "simple"
    if layout not in {None, "flat"}:
        faults.add(f"{at}.format", f"unknown format {layout!r}", 'expected "simple" or "flat"')
    return "flat" if layout == "flat" else usual_layout(url)


def _parse_packages(table: dict[str, Any], at: str, faults: Faults) -> tuple[str, ...]:
    packages: tuple[str, ...] = ()
    stated = faults.strings(table, "packages", at)
    if not stated and table.get("packages") == []:
        faults.add(
            f"{at}.packages",
            "empty",
            "name packages, or leave the key out for an index of all that no other index routes",
        )
    for number, text in enumerate(stated):
        pattern = _SEPARATORS.sub("-", text).lower()
        if _PATTERN.fullmatch(pattern):
            packages += (pattern,)
        else:
            faults.add(f"{at}.packages[{number}]", f"not a package name or pattern: {text!r}")
    return packages
