"""One change with which a Target that failed has a solution, found by solving it.

A change is tried over what the indexes told already and with few rounds; what does not come out
right at once is not suggested.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from lockforge.errors import LockforgeError, MetadataError
from lockforge.model.matrix import Matrix
from lockforge.model.project import RowSettings
from lockforge.model.python import render_python
from lockforge.model.resolution import Resolution, Suggestion
from lockforge.resolve.finder import Finder
from lockforge.resolve.limits import Limits
from lockforge.resolve.need import split_extras
from lockforge.resolve.solve import solve_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lockforge.model.index import Index
    from lockforge.model.matrix import Target
    from lockforge.model.project import Project, ProjectRequirement
    from lockforge.model.release import DistributionFile, Metadata
    from lockforge.model.resolution import Cause, Failure, Preferred
    from lockforge.ports import Repository
    from lockforge.resolve.need import Need

_LIMITS = Limits(rounds=500)
_TRIALS = 4
"""Changes of one kind that are tried; a conflict of more is not cured by one of them."""
_TORCH = NormalizedName("torch")


class Suggester:
    """Looks for suggestions beside the rows that have a solution."""

    def __init__(
        self,
        project: Project,
        finder: Finder,
        preferred: Mapping[Target, Mapping[str, Sequence[Preferred]]],
        resolutions: Sequence[Resolution],
    ) -> None:
        self._project = project
        self._finder = finder
        self._preferred = preferred
        self._resolutions = resolutions

    def suggest(self, failure: Failure) -> Failure:
        """Give the failure with a suggestion, where one of the simple changes works."""
        ways = (self._pins(failure), self._neighbours(failure.target), self._exclusions(failure))
        for way in ways:
            for suggestion in way:
                return replace(failure, suggestion=suggestion)
        return failure

    def _pins(self, failure: Failure) -> Iterator[Suggestion]:
        """Let one requirement of the project admit any version."""
        target = failure.target
        stated = {(one.where, one.requirement) for one in _own(failure.causes)}
        entries = [
            entry
            for entry in _entries(self._project, target.row.name)
            if entry.requirement.specifier and (entry.where, _need(entry).text) in stated
        ]
        # The more a requirement demands, the likelier it is the one that is wrong.
        entries.sort(key=lambda entry: (not _need(entry).is_exact, _need(entry).name))
        for entry in entries[:_TRIALS]:
            found = self._solve(_loosened(self._project, target.row.name, entry), target)
            pin = found and found.pin(_need(entry).name)
            if pin:
                extras = ",".join(sorted(entry.requirement.extras))
                name = entry.requirement.name + (f"[{extras}]" if extras else "")
                yield Suggestion(
                    kind="pin",
                    subject=f"{name}=={pin.version.public}",
                    replaces=_need(entry).text,
                    where=entry.where,
                )

    def _neighbours(self, target: Target) -> Iterator[Suggestion]:
        """Name a Python of the row, or a row of the platform, that has a solution."""
        solved = [resolution.target for resolution in self._resolutions]
        pythons = [other.python for other in solved if other.row == target.row]
        if pythons:
            yield Suggestion(kind="python", subject=render_python(max(pythons)))
        for other in solved:
            same_platform = other.row.platform.name == target.row.platform.name
            if same_platform and other.python == target.python:
                yield Suggestion(kind="row", subject=other.row.name)

    def _exclusions(self, failure: Failure) -> Iterator[Suggestion]:
        """Leave one requirement of the project out of the row."""
        row = failure.target.row
        names = {
            canonicalize_name(Requirement(one.requirement).name)
            for one in _own(failure.causes)
            if one.kind == "requirement"
        }
        for name in sorted(names - {_TORCH} - self._unknown(failure))[:_TRIALS]:
            settings = self._project.rows.get(row.name, RowSettings())
            without = replace(settings, exclude=settings.exclude | {name})
            project = replace(self._project, rows={**self._project.rows, row.name: without})
            if self._solve(project, failure.target):
                yield Suggestion(kind="exclude", subject=name)

    def _unknown(self, failure: Failure) -> set[NormalizedName]:
        """Find the names that no row can have: a slip is to be corrected, not excluded."""
        found = {offer.project for offer in failure.offers if offer.found}
        missing = {offer.project for offer in failure.offers} - found
        return {name for name in missing if not any(one.pin(name) for one in self._resolutions)}

    def _solve(self, project: Project, target: Target) -> Resolution | None:
        preferred = {target: self._preferred[target]}
        finder = Finder(
            replace(project, matrix=Matrix(targets=(target,))),
            self._finder.catalog,
            _AtHand(self._finder.repository),
            preferred,
        )
        try:
            result = solve_target(
                target, finder.demands[target], finder, preferred[target], _LIMITS
            )
        except LockforgeError:
            # What goes wrong on the way to a suggestion is not what the user must hear of.
            return None
        return result if isinstance(result, Resolution) else None


class _AtHand:
    """A Repository that downloads no whole file for the sake of a suggestion."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.listing = repository.listing
        self.has_metadata = repository.has_metadata
        self.sha256 = repository.sha256
        self.prefetch = repository.prefetch

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        if not self._repository.has_metadata(index, file):
            raise MetadataError("its metadata is only in the file itself", where=file.filename)
        return self._repository.metadata(index, file)


def _own(causes: Iterable[Cause]) -> Iterator[Cause]:
    """Give what the project itself states on the way to the causes."""
    for cause in causes:
        for one in (*cause.via, cause):
            if one.parent is None or one.kind == "override":
                yield one


def _entries(project: Project, row: str) -> list[ProjectRequirement]:
    settings = project.rows.get(row, RowSettings())
    return [
        *project.requirements,
        *settings.requirements,
        *project.constraints,
        *settings.constraints,
        *project.overrides,
        *settings.overrides,
    ]


def _need(entry: ProjectRequirement) -> Need:
    return next(split_extras(entry.requirement))


def _loosened(project: Project, row: str, entry: ProjectRequirement) -> Project:
    """Give the project with *entry* admitting any version, wherever it stands."""
    requirement = Requirement(str(entry.requirement))
    requirement.specifier = SpecifierSet()
    loose = replace(entry, requirement=requirement)

    def change(entries: tuple[ProjectRequirement, ...]) -> tuple[ProjectRequirement, ...]:
        return tuple(loose if one == entry else one for one in entries)

    rows = dict(project.rows)
    if settings := rows.get(row):
        rows[row] = replace(
            settings,
            requirements=change(settings.requirements),
            constraints=change(settings.constraints),
            overrides=change(settings.overrides),
        )
    return replace(
        project,
        requirements=change(project.requirements),
        constraints=change(project.constraints),
        overrides=change(project.overrides),
        rows=rows,
    )
