"""What the user asks for, read and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet
    from packaging.utils import NormalizedName

    from lockforge.model.index import Index, UserIndex
    from lockforge.model.matrix import Matrix
    from lockforge.model.release import Metadata


Prereleases: TypeAlias = Literal["allow", "disallow", "if-necessary"]
Strategy: TypeAlias = Literal["highest", "lowest", "lowest-direct"]
Alignment: TypeAlias = Literal["row", "common"]

ALL = ":all:"
"""Stands for every package in `Policy.only_binary` and `Policy.no_binary`, as in pip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRequirement:
    """One requirement of the project itself, or one of its constraints or overrides."""

    requirement: Requirement
    """A direct reference has an absolute ``https:``, ``http:`` or ``file:`` address."""
    where: str
    """Key path or file and line."""
    condition: str = ""
    """The lock marker of the extra or group it belongs to; empty when always required."""
    editable: bool = False
    """Whether a directory is to be installed in place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSettings:
    """What ``[tool.lockforge.rows.<name>]`` says beside the floor."""

    requirements: tuple[ProjectRequirement, ...] = ()
    exclude: frozenset[NormalizedName] = frozenset()
    constraints: tuple[ProjectRequirement, ...] = ()
    overrides: tuple[ProjectRequirement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Which of the versions and files that exist are wanted."""

    prereleases: Prereleases = "if-necessary"
    strategy: Strategy = "highest"
    only_binary: frozenset[str] = frozenset()
    """Normalized names whose sdists do not exist, or `ALL`."""
    no_binary: frozenset[str] = frozenset()
    """Normalized names whose wheels do not exist, or `ALL`."""
    exclude_newer: str | None = None
    """RFC 3339 in UTC; files uploaded later do not exist."""
    exclude_newer_strict: bool = False
    """Whether that holds for files of the family too whose upload time no page tells."""
    alignment: Alignment = "row"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Everything a lock depends on, apart from the indexes' state."""

    requirements: tuple[ProjectRequirement, ...]
    requires_python: SpecifierSet | None
    matrix: Matrix
    rows: Mapping[str, RowSettings]
    """By row name, only rows that have settings."""
    default_index: Index
    torch_indexes: Mapping[str, Index]
    """By accelerator label."""
    user_indexes: tuple[UserIndex, ...]
    """Those without `packages` are open: they serve any name that no route names."""
    metadata: Mapping[tuple[NormalizedName, str], Metadata]
    """Stated by the user, by (name, version)."""
    policy: Policy = field(default_factory=Policy)
    constraints: tuple[ProjectRequirement, ...] = ()
    """They limit a package that is required anyway, and never bring one in."""
    overrides: tuple[ProjectRequirement, ...] = ()
    """Each replaces every requirement on its package, whoever states it."""
    extras: tuple[NormalizedName, ...] = ()
    groups: tuple[NormalizedName, ...] = ()
    pythons_derived: bool = False
    """Whether nobody stated the Pythons, so that one no row can be locked for may be left out."""
