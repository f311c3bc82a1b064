"""What pyproject.toml requires: its dependencies, and those of the extras and groups asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from lockforge.model.accelerator import names_accelerator
from lockforge.project.faults import TABLE, nearest, worded
from lockforge.project.requirements import limited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from packaging.utils import NormalizedName

    from lockforge.model.project import ProjectRequirement
    from lockforge.project.faults import Faults
    from lockforge.project.options import Options
    from lockforge.project.requirements import Reader

_OPTIONAL = "project.optional-dependencies"
_GROUPS = "dependency-groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The extras and groups asked for, each with where it was."""

    extras: Mapping[NormalizedName, str]
    groups: Mapping[NormalizedName, str]


def choose_parts(
    options: Options, config: dict[str, Any], pyproject: dict[str, Any], faults: Faults
) -> Asked:
    """Say which extras and groups are asked for: those configured, and those of the options.

    Requirements from elsewhere have none: to ask for one beside them is a fault.
    """
    extras = _names(faults.strings(config, "extras", TABLE), f"{TABLE}.extras")
    groups = _names(faults.strings(config, "groups", TABLE), f"{TABLE}.groups")
    if options.replace_requirements:
        for option, asked in (
            ("--extra", options.extras),
            ("--all-extras", options.all_extras),
            ("--group", options.groups),
            ("--all-groups", options.all_groups),
            ("--no-default-groups", options.no_default_groups),
        ):
            if asked:
                faults.add(
                    option,
                    "extras and groups belong to pyproject.toml, and the requirements are taken "
                    "from elsewhere",
                    "leave it out, and name what it brings in as requirements too",
                )
        return Asked(extras={}, groups={})
    if options.no_default_groups:
        groups = {}
    extras |= _names(options.extras, "--extra")
    groups |= _names(options.groups, "--group")
    if options.all_extras:
        extras |= _names(_optional(pyproject, faults), "--all-extras")
    if options.all_groups:
        groups |= _names(_group_table(pyproject, faults), "--all-groups")
    return Asked(extras=dict(sorted(extras.items())), groups=dict(sorted(groups.items())))


def _names(texts: Iterable[str], where: str) -> dict[NormalizedName, str]:
    return dict.fromkeys(map(canonicalize_name, texts), where)


def _optional(pyproject: dict[str, Any], faults: Faults) -> dict[str, Any]:
    project = faults.typed(pyproject, "project", dict, "") or {}
    return faults.typed(project, "optional-dependencies", dict, "project") or {}


def _group_table(pyproject: dict[str, Any], faults: Faults) -> dict[str, Any]:
    return faults.typed(pyproject, "dependency-groups", dict, "") or {}


def project_requirements(
    pyproject: dict[str, Any], asked: Asked, own: OwnExtras, reader: Reader
) -> list[ProjectRequirement]:
    """Gather ``[project]`` dependencies, and those of the extras and groups asked for."""
    faults = reader.faults
    project = faults.typed(pyproject, "project", dict, "") or {}
    found: list[ProjectRequirement] = []
    for number, text in enumerate(faults.strings(project, "dependencies", "project")):
        entry = reader.read(text, f"project.dependencies[{number}]")
        found += own.expand(entry) if entry else []
    for extra, where in asked.extras.items():
        if extra not in own.spelling:
            faults.add(where, f"no extra {extra!r}", _nearest(extra, own.spelling))
        elif names_accelerator(extra):
            faults.add(
                f"{_OPTIONAL}.{own.spelling[extra]}",
                f"the extra {extra!r} has the name of an accelerator, which selects a row",
                "rename the extra",
            )
        else:
            found += own.requirements(extra, f"'{extra}' in extras", frozenset({extra}))
    for entry in _of_groups(_group_table(pyproject, faults), asked.groups, reader):
        found += own.expand(entry)
    # Extras that meet again bring in the same requirement twice.
    texts = {(str(entry.requirement), entry.where, entry.condition): entry for entry in found}
    return list(texts.values())


def _nearest(name: str, known: Iterable[str]) -> str:
    options = sorted(known)
    return nearest(name, options) if options else "there are none"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnExtras:
    """The project's extras; ``name[extra]`` of the project itself stands for what that brings."""

    name: str
    tables: dict[str, Any]
    spelling: dict[NormalizedName, str]
    reader: Reader

    @classmethod
    def of(cls, pyproject: dict[str, Any], reader: Reader) -> OwnExtras:
        """Find them; one that is spelt in two ways is a fault."""
        project = reader.faults.typed(pyproject, "project", dict, "") or {}
        tables = _optional(pyproject, reader.faults)
        name = canonicalize_name(str(project.get("name", "")))
        spelling: dict[NormalizedName, str] = {}
        for extra in tables:
            other = spelling.setdefault(canonicalize_name(extra), extra)
            if other != extra:
                reader.faults.add(
                    f"{_OPTIONAL}.{extra}", f"{other!r} is the same extra", "leave one of them"
                )
        return cls(name=name, tables=tables, spelling=spelling, reader=reader)

    def requirements(
        self, extra: NormalizedName, condition: str, seen: frozenset[str]
    ) -> list[ProjectRequirement]:
        """Read one extra's requirements; those in *seen* are being read already."""
        key = self.spelling[extra]
        found: list[ProjectRequirement] = []
        for number, text in enumerate(self.reader.faults.strings(self.tables, key, _OPTIONAL)):
            where = f"{_OPTIONAL}.{key}[{number}]"
            entry = self.reader.read(text, where, condition=condition)
            found += self.expand(entry, seen) if entry else []
        return found

    def expand(
        self, entry: ProjectRequirement, seen: frozenset[str] = frozenset()
    ) -> list[ProjectRequirement]:
        """Give what *entry* stands for: itself, unless it is the project's own."""
        requirement = entry.requirement
        if canonicalize_name(requirement.name) != self.name or requirement.url is not None:
            return [entry]
        found: list[ProjectRequirement] = []
        for other in sorted(map(canonicalize_name, requirement.extras)):
            if other not in self.spelling:
                hint = _nearest(other, self.spelling)
                self.reader.faults.add(entry.where, f"no extra {other!r}", hint)
            elif other not in seen:
                brought = self.requirements(other, entry.condition, seen | {other})
                found += [limited(one, requirement.marker) for one in brought]
        return found


def _of_groups(
    table: dict[str, Any], groups: Mapping[NormalizedName, str], reader: Reader
) -> list[ProjectRequirement]:
    found: list[ProjectRequirement] = []
    tables = _Groups.of(table, reader.faults)
    for group, where in groups.items():
        if group not in tables.spelling:
            hint = _nearest(group, tables.spelling)
            reader.faults.add(where, f"no group {group!r}", hint)
            continue
        for at, text in tables.texts(group, ()):
            entry = reader.read(text, at, condition=f"'{group}' in dependency_groups")
            if entry:
                found.append(entry)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Groups:
    """The dependency groups (PEP 735), by name and as they are spelt."""

    table: dict[str, Any]
    spelling: dict[NormalizedName, str]
    faults: Faults

    @classmethod
    def of(cls, table: dict[str, Any], faults: Faults) -> _Groups:
        spelling: dict[NormalizedName, str] = {}
        for group in table:
            other = spelling.setdefault(canonicalize_name(group), group)
            if other != group:
                faults.add(f"{_GROUPS}.{group}", f"{other!r} is the same group", "leave one")
        return cls(table=table, spelling=spelling, faults=faults)

    def texts(
        self, group: NormalizedName, including: tuple[NormalizedName, ...]
    ) -> Iterator[tuple[str, str]]:
        """List a group's requirements with their places; those of *including* include it."""
        key = self.spelling[group]
        items = self.faults.typed(self.table, key, list, _GROUPS) or []
        for number, item in enumerate(items):
            at = f"{_GROUPS}.{key}[{number}]"
            other = item.get("include-group") if isinstance(item, dict) else None
            if isinstance(item, str):
                yield at, item
            elif not isinstance(other, str) or len(item) != 1:
                self.faults.add(
                    at,
                    f"expected a requirement or an included group, found {worded(item)}",
                    'write "ruff>=0.9" or {include-group = "test"}, for example',
                )
            elif (name := canonicalize_name(other)) not in self.spelling:
                self.faults.add(at, f"no group {other!r}", _nearest(name, self.spelling))
            elif name in (chain := (*including, group)):
                circle = " -> ".join([*chain[chain.index(name) :], name])
                self.faults.add(at, f"the group includes itself: {circle}", "break the circle")
            else:
                yield from self.texts(name, chain)
