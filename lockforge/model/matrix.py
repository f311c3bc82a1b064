"""Rows, Targets and the Matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lockforge.model.accelerator import Accelerator
    from lockforge.model.platforms import Platform
    from lockforge.model.python import PythonMinor


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Platform x Accelerator: one line of the matrix."""

    name: str
    """As the user wrote it."""
    platform: Platform
    accelerator: Accelerator

    @property
    def identity(self) -> tuple[str, str]:
        """What makes two rows the same, however they are spelt."""
        return self.platform.name, self.accelerator.label

    @property
    def order(self) -> tuple[int, tuple[int, tuple[int, ...]], str]:
        """The canonical order of rows: platform, then accelerator preference."""
        return self.platform.order, self.accelerator.preference, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A Row at one Python minor: one complete environment, solved once."""

    row: Row
    python: PythonMinor

    def __hash__(self) -> int:
        # Targets are keys everywhere; a matrix has no two rows of one name.
        return hash((self.row.name, self.python))

    @property
    def id(self) -> str:
        return f"{self.row.name}-py{self.python[0]}{self.python[1]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The duplicate-free rows in canonical order, each at its Pythons."""

    targets: tuple[Target, ...]

    def __post_init__(self) -> None:
        ordered = sorted(self.targets, key=lambda target: (target.row.order, target.python))
        object.__setattr__(self, "targets", tuple(ordered))

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(dict.fromkeys(target.row for target in self.targets))

    @property
    def pythons(self) -> tuple[PythonMinor, ...]:
        return tuple(sorted({target.python for target in self.targets}))

    def pythons_of(self, row: Row) -> tuple[PythonMinor, ...]:
        return tuple(target.python for target in self.targets if target.row == row)
