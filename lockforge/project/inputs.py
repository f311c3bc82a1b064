"""Requirements, constraints and overrides, from wherever they are stated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lockforge.project.dependencies import project_requirements
from lockforge.project.faults import TABLE
from lockforge.project.references import Place
from lockforge.project.requirements_file import parse_requirements_file
from lockforge.project.restrictions import (
    check_constraints,
    check_overrides,
    overriding,
    read_list,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from lockforge.model.matrix import Matrix
    from lockforge.model.project import ProjectRequirement
    from lockforge.project.dependencies import Asked, OwnExtras
    from lockforge.project.options import Options
    from lockforge.project.requirements import Reader
    from lockforge.project.requirements_file import RequirementsFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What is asked for, and what limits or replaces it."""

    requirements: Sequence[ProjectRequirement]
    constraints: Sequence[ProjectRequirement]
    overrides: Sequence[ProjectRequirement]
    files: Sequence[RequirementsFile]
    """The files that were read, for what else they say."""

    @property
    def editable(self) -> frozenset[str]:
        """The addresses of the directories to be installed in place."""
        return frozenset(
            entry.requirement.url
            for entry in (*self.requirements, *self.overrides)
            if entry.editable and entry.requirement.url is not None
        )

    def agreeing(self) -> Inputs:
        """Let a directory that one line names as editable be so in all."""
        return replace(
            self,
            requirements=editable_at(self.requirements, self.editable),
            overrides=editable_at(self.overrides, self.editable),
        )


def editable_at(
    entries: Iterable[ProjectRequirement], editable: AbstractSet[str]
) -> tuple[ProjectRequirement, ...]:
    """Give *entries*, of which those of the addresses in *editable* are to be installed in place.

    A package is installed one way, whichever of the lines that name it comes first.
    """
    return tuple(
        replace(entry, editable=entry.editable or entry.requirement.url in editable)
        for entry in entries
    )


def load_inputs(
    options: Options,
    pyproject: dict[str, Any],
    config: dict[str, Any],
    asked: Asked,
    own_extras: OwnExtras,
    read: Callable[[str], str | None],
    to_url_here: Callable[[str], str],
    matrix: Matrix,
    reader: Reader,
) -> Inputs:
    """Take requirements of the command line and of requirements files, else of ``[project]``.

    Constraints of all places add up. An override of the command line wins over a configured one.
    """
    here = replace(reader, place=Place(to_url=to_url_here, name="the current directory"), bare=True)
    files = [parse_requirements_file(path, read, here) for path in options.requirement_files]
    limiting = [
        parse_requirements_file(path, read, here, constraining=True)
        for path in options.constraint_files
    ]
    replacing = [parse_requirements_file(path, read, here) for path in options.override_files]
    every = [*files, *limiting, *replacing]
    if options.replace_requirements:
        entries = [here.read(text, "command line") for text in options.requirements]
        entries += [here.read(text, "--editable", editable=True) for text in options.editables]
        requirements = [entry for entry in entries if entry is not None]
        requirements += [entry for file in files for entry in file.requirements]
    else:
        requirements = project_requirements(pyproject, asked, own_extras, reader)
    constraints = read_list(config, "constraints", TABLE, reader)
    constraints += [entry for file in every for entry in file.constraints]
    check_constraints(constraints, reader.faults)
    configured = read_list(config, "overrides", TABLE, reader)
    stated = [entry for file in replacing for entry in file.requirements]
    for overrides in (configured, stated):
        check_overrides(overrides, matrix.targets, reader.faults)
    return Inputs(
        requirements=requirements,
        constraints=constraints,
        overrides=overriding(stated, configured),
        files=every,
    ).agreeing()
