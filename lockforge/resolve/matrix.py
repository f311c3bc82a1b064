"""All Targets of a Matrix, one solve each; failures of all rows come together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.model.resolution import Failure, Resolution
from lockforge.resolve.explore import explore
from lockforge.resolve.solve import root_needs, solve_target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.model.matrix import Target
    from lockforge.model.project import Project
    from lockforge.model.resolution import Preferred
    from lockforge.ports import Progress
    from lockforge.resolve.finder import Finder


def solve_matrix(
    project: Project,
    finder: Finder,
    preferred: Mapping[Target, Mapping[str, Sequence[Preferred]]],
    progress: Progress,
) -> tuple[list[Resolution], list[Failure]]:
    """Solve every Target on its own, in canonical order."""
    targets = project.matrix.targets
    progress.stage("reading the indexes")
    explore({target: root_needs(project, target) for target in targets}, finder, preferred)
    resolutions: list[Resolution] = []
    failures: list[Failure] = []
    for target in targets:
        progress.stage(f"solving {target.id}")
        result = solve_target(target, project, finder, preferred[target])
        if isinstance(result, Failure):
            failures.append(result)
        else:
            resolutions.append(result)
    return resolutions, failures
