"""The indexes a project names -> Index and UserIndex, with credentials kept apart."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from packaging.utils import canonicalize_name

from lockforge.model.accelerator import is_label
from lockforge.model.index import Index, UserIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lockforge.project.faults import Faults

DEFAULT_INDEX = "https://pypi.org/simple/"
CHANNELS = ("nightly", "test")
_KEYS = ("name", "url", "packages", "accelerators", "default", "format")
_PATTERN = re.compile(r"[a-z0-9*]([a-z0-9*-]*[a-z0-9*])?")
# PEP 503, name normalization; a pattern's `*` stays.
_SEPARATORS = re.compile(r"[-_.]+")
_WEB = ("http", "https")


@dataclass(slots=True)
class Credentials:
    """User and password by origin (``https://host:port``); never part of an Index."""

    by_origin: dict[str, tuple[str, str]] = field(default_factory=dict)

    def strip(self, url: str) -> str:
        """Take the credentials out of *url* and remember them for its origin."""
        parts = urlsplit(url)
        user_info, at, host = parts.netloc.rpartition("@")
        if not at:
            return url
        user, _, password = user_info.partition(":")
        self.by_origin[f"{parts.scheme}://{host}"] = (unquote(user), unquote(password))
        return urlunsplit(parts._replace(netloc=host))


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalPaths:
    """How a path that the user wrote becomes a ``file:`` address, and what a folder holds."""

    to_url: Callable[[str], str]
    """For a path in the project's files, which is relative to the project."""
    to_url_here: Callable[[str], str]
    """For a path on the command line, which is relative to the current directory."""
    names_in: Callable[[str], tuple[str, ...] | None]
    """Projects with files in a flat folder, by its ``file:`` address; None if it is no folder."""


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
        usable = parts.scheme not in _WEB or (bool(parts.hostname) and parts.port != 0)
    except ValueError:
        usable = False
    if not usable:
        faults.add(where, f"not an address: {url!r}", "write https://host/path/")
    return usable


def simple_index(
    name: str, url: str, credentials: Credentials, to_url: Callable[[str], str]
) -> Index:
    """Give a simple index by its address or path."""
    address = credentials.strip(url) if urlsplit(url).scheme in _WEB else to_url(url)
    return Index(name=name, url=address.rstrip("/") + "/")


def find_links_index(text: str, paths: LocalPaths, faults: Faults, where: str) -> UserIndex | None:
    """Give a flat folder named on the command line as an index that routes what it holds."""
    url = paths.to_url_here(text)
    names = paths.names_in(url)
    if names is None:
        faults.add(where, f"not a directory: {text}", "give a directory of wheels")
        return None
    return UserIndex(index=Index(name=text, url=url, layout="flat"), packages=names)


def parse_indexes(
    tables: Sequence[Any], credentials: Credentials, paths: LocalPaths, faults: Faults
) -> tuple[Index | None, list[UserIndex]]:
    """Read ``[[tool.lockforge.index]]`` as (the default index if one is named, the others)."""
    default: Index | None = None
    others: list[UserIndex] = []
    for number, table in enumerate(tables):
        at = f"tool.lockforge.index[{number}]"
        if not isinstance(table, dict):
            faults.add(at, f"expected a table, found {table!r}")
            continue
        faults.unknown_keys(table, _KEYS, at)
        url = faults.typed(table, "url", str, at)
        if not url:
            faults.add(f"{at}.url", "missing", "give the address or the directory of the index")
            continue
        if not check_address(url, faults, f"{at}.url"):
            continue
        name = faults.typed(table, "name", str, at) or urlsplit(url).netloc or url
        if faults.typed(table, "default", bool, at):
            if default is not None:
                faults.add(f"{at}.default", "there is a default index already", "leave one")
            default = simple_index(name, url, credentials, paths.to_url)
            continue
        index = _parse_index(table, name, url, at, credentials, paths, faults)
        if index is not None:
            others.append(index)
    return default, others


def _parse_index(
    table: dict[str, Any],
    name: str,
    url: str,
    at: str,
    credentials: Credentials,
    paths: LocalPaths,
    faults: Faults,
) -> UserIndex | None:
    local = urlsplit(url).scheme not in _WEB
    layout = faults.typed(table, "format", str, at) or ("flat" if local else "simple")
    if layout not in {"simple", "flat"}:
        faults.add(f"{at}.format", f"unknown format {layout!r}", 'expected "simple" or "flat"')
    packages: tuple[str, ...] = ()
    for number, text in enumerate(faults.strings(table, "packages", at)):
        pattern = _SEPARATORS.sub("-", text).lower()
        if _PATTERN.fullmatch(pattern):
            packages += (pattern,)
        else:
            faults.add(f"{at}.packages[{number}]", f"not a package name or pattern: {text!r}")
    accelerators = tuple(faults.strings(table, "accelerators", at))
    for number, label in enumerate(accelerators):
        if not is_label(label):
            faults.add(f"{at}.accelerators[{number}]", f"unknown accelerator {label!r}")
    if layout == "flat" and local:
        address = paths.to_url(url)
        held = paths.names_in(address)
        if held is None:
            faults.add(f"{at}.url", f"not a directory: {url}", "give a directory of wheels")
            return None
        index = Index(name=name, url=address, layout="flat")
        packages = packages or tuple(map(canonicalize_name, held))
    elif layout == "flat":
        index = Index(name=name, url=credentials.strip(url), layout="flat")
    else:
        index = simple_index(name, url, credentials, paths.to_url)
    if not packages and not (layout == "flat" and local):
        faults.add(
            f"{at}.packages",
            "missing: an index that is not the default serves only what is routed to it",
            'add packages = ["acme-*"], or default = true',
        )
    return UserIndex(index=index, packages=packages, accelerators=accelerators)
