"""Indexes and the rule that sends a package to one of them."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import Literal, TypeAlias

Layout: TypeAlias = Literal["simple", "flat", "direct"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """One place that serves packages. Its identity in a lock is the URL without credentials."""

    name: str
    url: str
    """With a trailing slash for a simple index; a page or a directory for a flat one. A user's
    may hold ``{accelerator}`` and ``{torch}``, which a Target fills in."""
    layout: Layout = "simple"
    """``simple``: a page per project (PEP 503, 691); ``flat``: one page or folder for all;
    ``direct``: the file or directory itself, as a direct reference of the project names it."""
    forbidden_means_missing: bool = False
    """Whether a 403 says "no such project", as static storage behind PyTorch's host answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserIndex:
    """An index the project declares, with the names it routes."""

    index: Index
    packages: tuple[str, ...]
    """Normalized names and ``*`` patterns that come from here and nowhere else; empty for an open
    index, which serves any name that no route names."""
    accelerators: tuple[str, ...] = ()
    """The labels of the rows it holds for; empty for all."""
    default: bool = False

    def routes(self, name: str, accelerator: str) -> bool:
        """Whether *name* comes from here in rows of *accelerator*."""
        return self._holds_for(accelerator) and any(
            fnmatch.fnmatchcase(name, pattern) for pattern in self.packages
        )

    def is_open(self, accelerator: str) -> bool:
        """Whether it serves, in rows of *accelerator*, what no route names."""
        return not self.packages and self._holds_for(accelerator)

    def _holds_for(self, accelerator: str) -> bool:
        return not self.accelerators or accelerator in self.accelerators


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Which index alone serves a package for an accelerator."""

    index: Index
    fallback: Index | None = None
    """Serves the versions that *index* has no file of; only for names the catalogue lists."""
    family: bool = False
    """Whether files must be of the row's accelerator, as the family's on PyTorch's own index."""
    labelled: bool = False
    """Whether local versions may say what a wheel was built for, as on a user's index."""

    @property
    def is_direct(self) -> bool:
        """Whether the project names the file or directory itself."""
        return self.index.layout == "direct"

    @property
    def is_untimed(self) -> bool:
        """Whether its files are the user's own choice or own files, which no page can date."""
        return self.is_direct or (
            self.index.layout == "flat" and self.index.url.startswith("file:")
        )
