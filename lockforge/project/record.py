"""What a lock records of its inputs: all that decides the result, as sorted text.

No credential is in it, and no place of this machine that the user did not write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lockforge.model.project import Policy
from lockforge.project.indexes import usual_layout
from lockforge.standards.addresses import shown_address
from lockforge.standards.patches import narrowing_clauses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lockforge.model.index import Index, UserIndex
    from lockforge.model.project import Project, ProjectRequirement


def worded(requirement: Requirement, shown: Callable[[str], str] = shown_address) -> str:
    """Word a requirement with what *shown* gives in place of the address of a direct reference."""
    if requirement.url is None:
        return str(requirement)
    copy = Requirement(str(requirement))
    copy.url = shown(requirement.url)
    return str(copy)


def requirement_texts(project: Project, shown: Callable[[str], str]) -> tuple[str, ...]:
    """Word what is asked for; *shown* gives what stands for a direct reference."""
    texts = [_text(entry, shown) for entry in project.requirements]
    for name, settings in project.rows.items():
        texts += [f"{name}: {_text(entry, shown)}" for entry in settings.requirements]
    return tuple(sorted(set(texts)))


def _text(entry: ProjectRequirement, shown: Callable[[str], str]) -> str:
    text = worded(entry.requirement, shown)
    return f"{text} [{entry.condition}]" if entry.condition else text


def setting_texts(
    project: Project,
    shown: Callable[[str], str],
    *,
    contents: Iterable[str],
    places: Mapping[str, str],
    catalog: str | None,
    torch_base: str,
    channel: str | None,
    exclude_newer: str | None,
) -> tuple[str, ...]:
    """Word what else decides the result, as far as it is not what it would be anyway.

    *contents* are texts of the local files and directories that the project refers to, *places*
    are the directories with a name of their own by address, *catalog* stands for the user's
    additions to the catalogue.
    """
    default = _place(project.default_index, places)
    texts = [f"default index {default}", f"torch index {torch_base}"]
    if catalog:
        texts.append(f"catalog {catalog}")
    if channel:
        texts.append(f"channel {channel}")
    texts += _policy_texts(project.policy, exclude_newer)
    texts += _restriction_texts(project.constraints, project.overrides, shown)
    texts += _editable_texts(project.requirements)
    texts += contents
    texts += _row_texts(project, shown)
    texts += (_index_text(user, places) for user in project.user_indexes)
    for (name, version), metadata in sorted(project.metadata.items()):
        requires = ", ".join(sorted(map(worded, metadata.requires_dist)))
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


def _place(index: Index, places: Mapping[str, str]) -> str:
    if not index.url.startswith("file:"):
        return index.url
    # A directory is named as the user did: its place on this machine is nobody's business.
    place = places.get(index.url, index.name)
    return index.name if place == index.name else f"{index.name} at {place}"


def _index_text(user: UserIndex, places: Mapping[str, str]) -> str:
    limit = f" for {', '.join(user.accelerators)}" if user.accelerators else ""
    serves = ", ".join(sorted(user.packages)) or "any name"
    layout = user.index.layout
    usual = layout == usual_layout(user.index.url)
    read = "" if usual else f" as {layout}"
    return f"index {_place(user.index, places)}{read} serves {serves}{limit}"
