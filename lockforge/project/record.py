"""What a lock records of its inputs: all that decides the result, as sorted text.

No credential is in it, and no place of this machine that the user did not write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lockforge.model.project import Policy
from lockforge.standards.patches import narrowing_clauses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lockforge.model.index import Index, UserIndex
    from lockforge.model.project import Project, ProjectRequirement


def requirement_texts(project: Project, shown: Callable[[str], str]) -> tuple[str, ...]:
    """Word what is asked for; *shown* gives what stands for a direct reference."""
    texts = [_text(entry, shown) for entry in project.requirements]
    for name, settings in project.rows.items():
        texts += [f"{name}: {_text(entry, shown)}" for entry in settings.requirements]
    return tuple(sorted(set(texts)))


def _text(entry: ProjectRequirement, shown: Callable[[str], str]) -> str:
    requirement = entry.requirement
    if requirement.url is not None:
        requirement = Requirement(str(requirement))
        requirement.url = shown(entry.requirement.url or "")
    return f"{requirement} [{entry.condition}]" if entry.condition else str(requirement)


def setting_texts(
    project: Project,
    shown: Callable[[str], str],
    directories: Iterable[str],
    *,
    torch_base: str,
    channel: str | None,
    exclude_newer: str | None,
) -> tuple[str, ...]:
    """Word what else decides the result, as far as it is not what it would be anyway.

    *directories* are texts of the projects in directories that the project names.
    """
    texts = [f"default index {_place(project.default_index)}", f"torch index {torch_base}"]
    if channel:
        texts.append(f"channel {channel}")
    texts += _policy_texts(project.policy, exclude_newer)
    texts += _restriction_texts(project.constraints, project.overrides, shown)
    texts += _editable_texts(project.requirements)
    texts += directories
    texts += _row_texts(project, shown)
    texts += map(_index_text, project.user_indexes)
    for (name, version), metadata in sorted(project.metadata.items()):
        requires = ", ".join(sorted(map(str, metadata.requires_dist)))
        python = f" and Python {metadata.requires_python}" if metadata.requires_python else ""
        texts.append(f"metadata {name}=={version} requires {requires or 'nothing'}{python}")
    if project.requires_python is not None:
        clauses = narrowing_clauses(project.requires_python, project.matrix.pythons)
        texts += [f"Python {clause}" for clause in clauses]
    return tuple(sorted(set(texts)))


def _policy_texts(policy: Policy, exclude_newer: str | None) -> Iterator[str]:
    default = Policy()
    if exclude_newer:
        # A duration is kept as such: what it comes to is another moment in every run.
        yield f"exclude newer {exclude_newer}"
        if policy.exclude_newer_strict:
            yield "exclude newer strict"
    if policy.prereleases != default.prereleases:
        yield f"prerelease {policy.prereleases}"
    if policy.strategy != default.strategy:
        yield f"resolution {policy.strategy}"
    if policy.alignment != default.alignment:
        yield f"align {policy.alignment}"
    yield from (f"only-binary {name}" for name in policy.only_binary)
    yield from (f"no-binary {name}" for name in policy.no_binary)


def _restriction_texts(
    constraints: Iterable[ProjectRequirement],
    overrides: Iterable[ProjectRequirement],
    shown: Callable[[str], str],
) -> Iterator[str]:
    yield from (f"constraint {_text(entry, shown)}" for entry in constraints)
    yield from (f"override {_text(entry, shown)}" for entry in overrides)
    yield from _editable_texts(overrides)


def _editable_texts(entries: Iterable[ProjectRequirement]) -> Iterator[str]:
    for entry in entries:
        if entry.editable:
            yield f"editable {canonicalize_name(entry.requirement.name)}"


def _row_texts(project: Project, shown: Callable[[str], str]) -> Iterator[str]:
    for row in project.matrix.rows:
        if floor := row.platform.floor:
            yield f"{row.name}: {row.platform.floor_key} {floor[0]}.{floor[1]}"
        settings = project.rows.get(row.name)
        if settings is None:
            continue
        yield from (f"{row.name}: without {name}" for name in settings.exclude)
        restrictions = _restriction_texts(settings.constraints, settings.overrides, shown)
        yield from (f"{row.name}: {text}" for text in restrictions)


def _place(index: Index) -> str:
    # A directory is named as the user did: its place on this machine is nobody's business.
    return index.name if index.url.startswith("file:") else index.url


def _index_text(user: UserIndex) -> str:
    limit = f" for {', '.join(user.accelerators)}" if user.accelerators else ""
    serves = ", ".join(sorted(user.packages)) or "any name"
    return f"index {_place(user.index)} serves {serves}{limit}"
