"""What the user asks for, read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet
    from packaging.utils import NormalizedName

    from lockforge.model.index import Index, UserIndex
    from lockforge.model.matrix import Matrix
    from lockforge.model.release import Metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRequirement:
    """One requirement of the project itself."""

    requirement: Requirement
    where: str
    """Key path or file and line."""
    condition: str = ""
    """The lock marker of the extra or group it belongs to; empty when always required."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSettings:
    """What ``[tool.lockforge.rows.<name>]`` says beside the floor."""

    requirements: tuple[ProjectRequirement, ...] = ()
    exclude: frozenset[NormalizedName] = frozenset()


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
    metadata: Mapping[tuple[NormalizedName, str], Metadata]
    """Stated by the user, by (name, version)."""
    exclude_newer: str | None
    """RFC 3339 in UTC; files uploaded later do not exist."""
    extras: tuple[NormalizedName, ...] = ()
    groups: tuple[NormalizedName, ...] = ()
