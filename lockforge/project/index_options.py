"""The indexes of a project: those configured, and those of options and requirements files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lockforge.model.index import Index, UserIndex
from lockforge.project.indexes import (
    DEFAULT_INDEX,
    DEFAULT_NAME,
    check_index_address,
    find_links_index,
    local_name,
    parse_indexes,
    simple_index,
)
from lockforge.project.requirements_file import Stated
from lockforge.standards.addresses import is_web, public_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lockforge.project.faults import Faults
    from lockforge.project.indexes import Credentials, LocalPaths
    from lockforge.project.options import Options
    from lockforge.project.requirements_file import RequirementsFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexes:
    """Where packages come from, beside PyTorch's own indexes."""

    default: Index
    others: tuple[UserIndex, ...]
    notes: tuple[str, ...]
    places: Mapping[str, str]
    """How the user names each directory among them that has a name of its own, by its address."""


def load_indexes(
    options: Options,
    tables: Sequence[Any],
    files: Sequence[RequirementsFile],
    torch_bases: Iterable[str],
    *,
    paths: LocalPaths,
    credentials: Credentials,
    faults: Faults,
) -> Indexes:
    """Gather the indexes; the command line wins over files, and both over the configuration.

    *torch_bases* are the addresses below which PyTorch's own indexes lie.
    """
    configured = parse_indexes(tables, credentials, paths, faults)
    default, others = configured.default, configured.others
    named = _Named(
        torch_bases=tuple(torch_bases), paths=paths, credentials=credentials, faults=faults
    )
    in_files = [file.index_url for file in files if file.index_url and named.wants(file.index_url)]
    stated = Stated("--index-url", options.index_url) if options.index_url else None
    stated = next(iter(in_files), None) if stated is None else stated
    if stated is not None and check_index_address(stated.text, credentials, faults, stated.where):
        name = local_name(stated.text) or DEFAULT_NAME
        default = simple_index(name, stated.text, credentials, paths.to_url_here, DEFAULT_NAME)
    links = [Stated("--find-links", text) for text in options.find_links]
    links += [one for file in files for one in file.find_links if named.wants(one)]
    default = default or Index(name="pypi", url=credentials.strip(DEFAULT_INDEX, DEFAULT_NAME))
    extra = [one for file in files for one in file.extra_index_urls if named.wants(one)]
    known = {_identity(index) for index in (default, *(user.index for user in others))}
    for user in filter(None, [*map(named.links, links), *map(named.extra, extra)]):
        # Several files and options may name one index.
        if _identity(user.index) not in known:
            others.append(user)
        known.add(_identity(user.index))
    return Indexes(
        default=default,
        others=tuple(others),
        notes=tuple(dict.fromkeys(named.notes)),
        places=configured.places,
    )


def _identity(index: Index) -> tuple[str, str]:
    """Give what two indexes that are one have in common, however their addresses end."""
    return index.url.rstrip("/"), index.layout


@dataclass(slots=True, kw_only=True)
class _Named:
    """Reads the indexes that options and lines name without saying what they serve."""

    torch_bases: tuple[str, ...]
    paths: LocalPaths
    credentials: Credentials
    faults: Faults
    notes: list[str] = field(default_factory=list)

    def wants(self, stated: Stated) -> bool:
        """Whether an address of a file is of use; PyTorch's own, which pip needs, is not."""
        place = public_address(stated.text).rstrip("/")
        for base in map(public_address, self.torch_bases):
            if f"{place}/".startswith(f"{base.rstrip('/')}/"):
                self.notes.append(
                    f"{stated.where}: {place} is not used: each row takes PyTorch's packages from "
                    "the index of its accelerator, and no others from there"
                )
                return False
        return True

    def links(self, stated: Stated) -> UserIndex | None:
        """Read what ``--find-links`` names: a directory, or a page of files for any name."""
        where, text = stated
        if not is_web(text):
            return find_links_index(text, self.paths, self.faults, where)
        if not check_index_address(text, self.credentials, self.faults, where):
            return None
        name = urlsplit(text).hostname or text
        index = Index(name=name, url=self.credentials.strip(text, name), layout="flat")
        return UserIndex(index=index, packages=())

    def extra(self, stated: Stated) -> UserIndex | None:
        """Read what ``--extra-index-url`` names: an index for any name."""
        where, text = stated
        if not check_index_address(text, self.credentials, self.faults, where):
            return None
        name = urlsplit(text).hostname or text
        index = simple_index(name, text, self.credentials, self.paths.to_url_here)
        return UserIndex(index=index, packages=())
