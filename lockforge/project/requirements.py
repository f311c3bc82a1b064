"""What a project requires: from pyproject.toml, requirements files, or the command line."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from packaging.dependency_groups import DependencyGroupResolver
from packaging.markers import UndefinedComparison
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lockforge.model.accelerator import names_accelerator
from lockforge.model.platforms import PLATFORMS
from lockforge.model.project import ProjectRequirement
from lockforge.project.faults import nearest
from lockforge.standards.markers import decide

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from packaging.markers import Marker

    from lockforge.project.faults import Faults

_CONTINUED = re.compile(r"\\\r?\n")
_COMMENT = re.compile(r"(^|\s)#.*$")
_OPTION = re.compile(r"(-[a-z]|--[a-z-]+)(?:\s*=\s*|\s+|(?<=-[a-z]))(.*)")
_HASH = re.compile(r"\s--hash[= ]\S+")


def parse_requirement_text(
    text: str, faults: Faults, where: str, *, condition: str = ""
) -> ProjectRequirement | None:
    """Read one requirement; what is wrong with it is added to *faults*."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        faults.add(where, f"not a requirement: {text!r}: {reason}", 'write "torch>=2.9" or so')
        return None
    if requirement.url:
        faults.add(
            where,
            f"{requirement.name} is given by a direct URL, which this version cannot lock",
            "publish it on an index, or put its wheels in a directory and name that as an index",
        )
        return None
    if requirement.marker is not None:
        try:
            for platform in PLATFORMS.values():
                decide(requirement.marker, platform, (3, 12))
        except UndefinedComparison as error:
            faults.add(where, f"a marker without meaning: {requirement.marker}: {error}")
            return None
    return ProjectRequirement(requirement=requirement, where=where, condition=condition)


def project_requirements(
    pyproject: dict[str, Any],
    *,
    extras: Sequence[str],
    groups: Sequence[str],
    faults: Faults,
) -> list[ProjectRequirement]:
    """Gather ``[project]`` dependencies, and those of the extras and groups asked for."""
    project = faults.typed(pyproject, "project", dict, "pyproject") or {}
    found = [
        entry
        for number, text in enumerate(faults.strings(project, "dependencies", "project"))
        if (entry := parse_requirement_text(text, faults, f"project.dependencies[{number}]"))
    ]
    optional = faults.typed(project, "optional-dependencies", dict, "project") or {}
    by_extra: dict[str, str] = {canonicalize_name(extra): extra for extra in optional}
    own_name = canonicalize_name(str(project.get("name", "")))
    for extra in extras:
        if extra not in by_extra:
            faults.add("tool.lockforge.extras", f"no extra {extra!r}", nearest(extra, by_extra))
        elif names_accelerator(extra):
            faults.add(
                f"project.optional-dependencies.{by_extra[extra]}",
                f"the extra {extra!r} has the name of an accelerator, which selects a row",
                "rename the extra",
            )
        else:
            found += _of_extra(extra, extra, optional, by_extra, own_name, faults, frozenset())
    return found + _of_groups(pyproject, groups, faults)


def _of_extra(
    extra: str,
    asked: str,
    optional: dict[str, Any],
    by_extra: dict[str, str],
    own_name: str,
    faults: Faults,
    seen: frozenset[str],
) -> list[ProjectRequirement]:
    """Read one extra's requirements; ``name[other]`` of the project itself brings in *other*."""
    at = "project.optional-dependencies"
    key = by_extra[canonicalize_name(extra)]
    found: list[ProjectRequirement] = []
    for number, text in enumerate(faults.strings(optional, key, at)):
        where = f"{at}.{key}[{number}]"
        entry = parse_requirement_text(text, faults, where, condition=f"'{asked}' in extras")
        if entry is None:
            continue
        if canonicalize_name(entry.requirement.name) != own_name:
            found.append(entry)
            continue
        for other in map(canonicalize_name, sorted(entry.requirement.extras)):
            if other not in by_extra:
                faults.add(where, f"no extra {other!r}", nearest(other, by_extra))
            elif other not in seen:
                brought = _of_extra(
                    other, asked, optional, by_extra, own_name, faults, seen | {other}
                )
                found += [_limited(one, entry.requirement.marker) for one in brought]
    return found


def _limited(entry: ProjectRequirement, marker: Marker | None) -> ProjectRequirement:
    """Give a requirement as it stands where *marker* holds too."""
    if marker is None:
        return entry
    requirement = Requirement(str(entry.requirement))
    own = requirement.marker
    requirement.marker = marker if own is None else own & marker
    return replace(entry, requirement=requirement)


def _of_groups(
    pyproject: dict[str, Any], groups: Sequence[str], faults: Faults
) -> list[ProjectRequirement]:
    table = faults.typed(pyproject, "dependency-groups", dict, "pyproject") or {}
    found: list[ProjectRequirement] = []
    known = [canonicalize_name(name) for name in table]
    for group in groups:
        if group not in known:
            faults.add("tool.lockforge.groups", f"no group {group!r}", nearest(group, known))
            continue
        try:
            requirements = DependencyGroupResolver(table).resolve(group)
        except (ValueError, TypeError, LookupError, ExceptionGroup) as error:
            faults.add(f"dependency-groups.{group}", str(error))
            continue
        for requirement in requirements:
            entry = parse_requirement_text(
                str(requirement),
                faults,
                f"dependency-groups.{group}",
                condition=f"'{group}' in dependency_groups",
            )
            if entry:
                found.append(entry)
    return found


@dataclass(slots=True)
class RequirementsFile:
    """What a requirements file says."""

    requirements: list[ProjectRequirement] = field(default_factory=list)
    index_url: str | None = None
    find_links: list[str] = field(default_factory=list)


def parse_requirements_file(
    path: str, read: Callable[[str], str | None], faults: Faults
) -> RequirementsFile:
    """Read a requirements file and those it names with ``-r``; *read* gives None for no file."""
    result = RequirementsFile()
    _read_file(path, read, faults, result, seen=set())
    return result


def _read_file(
    path: str,
    read: Callable[[str], str | None],
    faults: Faults,
    result: RequirementsFile,
    seen: set[str],
) -> None:
    # A file that names itself, by whatever detour, is read once.
    if path in seen:
        return
    seen.add(path)
    text = read(path)
    if text is None:
        faults.add(path, "no such requirements file")
        return
    # A joined line keeps its number: the continuation is replaced by a marked blank.
    joined = _CONTINUED.sub(" \0", text)
    number = 1
    for line in joined.split("\n"):
        where = f"{path}, line {number}"
        number += 1 + line.count("\0")
        content = _COMMENT.sub("", line.replace("\0", "")).strip()
        if content:
            _read_line(content, path, where, read, faults, result, seen)


def _read_line(
    content: str,
    path: str,
    where: str,
    read: Callable[[str], str | None],
    faults: Faults,
    result: RequirementsFile,
    seen: set[str],
) -> None:
    if not content.startswith("-"):
        # Hashes of another tool's lock are of its files; this lock states its own.
        entry = parse_requirement_text(_HASH.sub("", content), faults, where)
        if entry:
            result.requirements.append(entry)
        return
    match = _OPTION.fullmatch(content)
    option, value = (match[1], match[2]) if match else (content, "")
    if option in {"-r", "--requirement"}:
        _read_file(_beside(path, value), read, faults, result, seen)
    elif option in {"-i", "--index-url"}:
        result.index_url = value
    elif option in {"-f", "--find-links"}:
        result.find_links.append(_beside(path, value))
    else:
        faults.add(
            where,
            f"the option {option} is not understood here",
            "move it to [tool.lockforge], or delete the line",
        )


def _beside(path: str, value: str) -> str:
    """Give the path that *value*, written in the file *path*, means; written one way only."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), value))
