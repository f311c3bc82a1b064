"""What the command line says of the project; it wins over the files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of one command line, as the user wrote them."""

    requirements: tuple[str, ...] = ()
    requirement_files: tuple[str, ...] = ()
    editables: tuple[str, ...] = ()
    constraint_files: tuple[str, ...] = ()
    override_files: tuple[str, ...] = ()
    matrix: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    all_extras: bool = False
    groups: tuple[str, ...] = ()
    all_groups: bool = False
    no_default_groups: bool = False
    index_url: str | None = None
    torch_index: str | None = None
    channel: str | None = None
    find_links: tuple[str, ...] = ()
    exclude_newer: str | None = None
    exclude_newer_strict: bool = False
    prerelease: str | None = None
    resolution: str | None = None
    only_binary: tuple[str, ...] = ()
    no_binary: tuple[str, ...] = ()
    align: str | None = None

    @property
    def replace_requirements(self) -> bool:
        """Whether the requirements are these, and not those of pyproject.toml."""
        return bool(self.requirements or self.requirement_files or self.editables)
