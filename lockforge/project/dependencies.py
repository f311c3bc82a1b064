"""What pyproject.toml requires: its dependencies, and those of the extras and groups asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.dependency_groups import DependencyGroupResolver
from packaging.requirements import InvalidRequirement
from packaging.utils import canonicalize_name

from lockforge.model.accelerator import names_accelerator
from lockforge.project.faults import nearest
from lockforge.project.requirements import limited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from packaging.utils import NormalizedName

    from lockforge.model.project import ProjectRequirement
    from lockforge.project.faults import Faults
    from lockforge.project.options import Options
    from lockforge.project.requirements import Reader

_TABLE = "tool.lockforge"
_OPTIONAL = "project.optional-dependencies"


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
    extras = _names(faults.strings(config, "extras", _TABLE), f"{_TABLE}.extras")
    groups = _names(faults.strings(config, "groups", _TABLE), f"{_TABLE}.groups")
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
                    "the requirements are not those of pyproject.toml, which alone has any",
                    "name what it brings in as requirements too",
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
    project = faults.typed(pyproject, "project", dict, "pyproject") or {}
    return faults.typed(project, "optional-dependencies", dict, "project") or {}


def _group_table(pyproject: dict[str, Any], faults: Faults) -> dict[str, Any]:
    return faults.typed(pyproject, "dependency-groups", dict, "pyproject") or {}


def project_requirements(
    pyproject: dict[str, Any], asked: Asked, reader: Reader
) -> list[ProjectRequirement]:
    """Gather ``[project]`` dependencies, and those of the extras and groups asked for."""
    faults = reader.faults
    project = faults.typed(pyproject, "project", dict, "pyproject") or {}
    own = _OwnExtras.of(str(project.get("name", "")), _optional(pyproject, faults), reader)
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
class _OwnExtras:
    """The project's extras; ``name[extra]`` of the project itself stands for what that brings."""

    name: str
    tables: dict[str, Any]
    spelling: dict[NormalizedName, str]
    reader: Reader

    @classmethod
    def of(cls, name: str, tables: dict[str, Any], reader: Reader) -> _OwnExtras:
        spelling: dict[NormalizedName, str] = {}
        for extra in tables:
            other = spelling.setdefault(canonicalize_name(extra), extra)
            if other != extra:
                reader.faults.add(
                    f"{_OPTIONAL}.{extra}", f"{other!r} is the same extra", "leave one of them"
                )
        return cls(name=canonicalize_name(name), tables=tables, spelling=spelling, reader=reader)

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
    known = [canonicalize_name(name) for name in table]
    for group, where in groups.items():
        if group not in known:
            reader.faults.add(where, f"no group {group!r}", _nearest(group, known))
            continue
        at = f"dependency-groups.{group}"
        try:
            requirements = DependencyGroupResolver(table).resolve(group)
        except (ValueError, TypeError, LookupError, ExceptionGroup) as error:
            for reason in _reasons(error):
                reader.faults.add(at, reason)
            continue
        for requirement in requirements:
            entry = reader.read(str(requirement), at, condition=f"'{group}' in dependency_groups")
            if entry:
                found.append(entry)
    return found


def _reasons(error: Exception) -> Iterator[str]:
    if isinstance(error, ExceptionGroup):
        for one in error.exceptions:
            yield from _reasons(one)
    elif isinstance(error, InvalidRequirement):
        # What is expected, the text, and an arrow below it.
        expected, *text = map(str.strip, str(error).splitlines())
        yield f"not a requirement: {text[0]!r}: {expected}" if text else expected
    else:
        yield str(error)
