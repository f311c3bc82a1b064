"""A directory with a project in it: what its pyproject.toml states, without a build."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import InvalidVersion, Version

from lockforge.errors import MetadataError, NeedsBuildError
from lockforge.model.release import UNKNOWN_VERSION, Metadata

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTree:
    """A project as its pyproject.toml describes it (pyproject.toml specification)."""

    name: NormalizedName
    metadata: Metadata


def read_source_tree(folder: Path) -> SourceTree:
    """Read the project in *folder*.

    Raises NeedsBuildError where its requirements are dynamic, MetadataError where they cannot be
    read.
    """
    path = folder / "pyproject.toml"
    try:
        table = tomllib.loads(path.read_text("utf-8")).get("project", {})
        return _read(table, where=str(path))
    except (
        OSError,
        UnicodeDecodeError,
        tomllib.TOMLDecodeError,
        InvalidRequirement,
        InvalidSpecifier,
        InvalidVersion,
        AttributeError,
        TypeError,
    ) as error:
        raise MetadataError(
            f"the directory's project cannot be read: {error}",
            where=str(path),
            hint="give it a [project] table with name and dependencies",
        ) from error


def _read(table: dict[str, Any], *, where: str) -> SourceTree:
    dynamic = {"dependencies", "optional-dependencies"}.intersection(_strings(table, "dynamic"))
    if "name" not in table or dynamic:
        what = f"{' and '.join(sorted(dynamic))} are dynamic" if dynamic else "there is no name"
        raise NeedsBuildError(
            f"the requirements of this directory are known only after a build, which a lock never "
            f"runs: in its [project] table {what}",
            where=where,
            hint="state them there, or build a wheel and name that instead",
        )
    optional = table.get("optional-dependencies", {})
    requires_python = table.get("requires-python")
    return SourceTree(
        name=canonicalize_name(table["name"]),
        metadata=Metadata(
            version=Version(table["version"]) if "version" in table else UNKNOWN_VERSION,
            requires_python=None if requires_python is None else str(SpecifierSet(requires_python)),
            requires_dist=(
                *map(Requirement, _strings(table, "dependencies")),
                *(one for extra in optional for one in _of_extra(optional, extra)),
            ),
        ),
    )


def _strings(table: dict[str, Any], key: str) -> list[str]:
    values = table.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{key} is not a list of strings")
    return values


def _of_extra(optional: dict[str, Any], extra: str) -> Iterator[Requirement]:
    condition = Marker(f"extra == '{canonicalize_name(extra)}'")
    for requirement in map(Requirement, _strings(optional, extra)):
        own = requirement.marker
        requirement.marker = condition if own is None else own & condition
        yield requirement
