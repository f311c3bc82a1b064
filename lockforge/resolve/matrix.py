"""All Targets of a Matrix, one solve each; failures of all rows come together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.errors import ConfigError
from lockforge.model.resolution import Failure, Misalignment, Outcome, Resolution
from lockforge.resolve.align import Aligner
from lockforge.resolve.explore import explore
from lockforge.resolve.limits import ROUNDS_ONLY
from lockforge.resolve.narrow import narrow
from lockforge.resolve.solve import solve_target
from lockforge.resolve.suggest import Suggester

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.model.matrix import Target
    from lockforge.model.project import Project
    from lockforge.model.resolution import Preferred
    from lockforge.ports import Progress
    from lockforge.resolve.finder import Finder
    from lockforge.resolve.limits import Limits


def solve_matrix(
    project: Project,
    finder: Finder,
    preferred: Mapping[Target, Mapping[str, Sequence[Preferred]]],
    progress: Progress,
    limits: Limits = ROUNDS_ONLY,
) -> Outcome:
    """Solve every Target on its own, in canonical order; then align the rows where asked.

    Raises ConfigError with every name met that several indexes serve.
    """
    try:
        return _solve_matrix(project, finder, preferred, progress, limits)
    except ConfigError as error:
        raise ConfigError(finder.route_faults or error.faults) from error


def _solve_matrix(
    project: Project,
    finder: Finder,
    preferred: Mapping[Target, Mapping[str, Sequence[Preferred]]],
    progress: Progress,
    limits: Limits,
) -> Outcome:
    targets = project.matrix.targets
    progress.stage("reading the indexes")
    explore(finder, preferred)
    resolutions: list[Resolution] = []
    failures: list[Failure] = []
    left_out: list[Failure] = []
    for target in targets:
        progress.stage(f"solving {target.id}")
        result = solve_target(target, finder.demands[target], finder, preferred[target], limits)
        if isinstance(result, Failure):
            failures.append(result)
        else:
            resolutions.append(result)
            progress.stage(f"solved {target.id}, rounds: {result.rounds}")
    if failures and project.pythons_derived:
        resolutions, failures, left_out = narrow(project.matrix, resolutions, failures)
    if failures:
        progress.stage("looking for what would work")
        suggester = Suggester(project, finder, preferred, resolutions)
        failures = [suggester.suggest(failure) for failure in failures]
    misalignments: list[Misalignment] = []
    if project.policy.alignment == "common" and not failures:
        progress.stage("aligning the rows")
        aligner = Aligner(finder, preferred, limits)
        aligned = aligner.align(resolutions)
        if isinstance(aligned, Failure):
            failures = [aligned]
        else:
            resolutions, misalignments = aligned
    progress.stage(f"metadata files read: {finder.metadata_reads}")
    return Outcome(
        resolutions=tuple(resolutions),
        failures=tuple(failures),
        left_out=tuple(left_out),
        misalignments=tuple(misalignments),
    )
