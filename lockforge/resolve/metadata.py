"""Core metadata of a candidate -> what it requires in a Target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.markers import UndefinedComparison

from lockforge.errors import MetadataError
from lockforge.resolve.need import split_extras
from lockforge.standards.markers import decide, disjoin
from lockforge.standards.patches import python_fits

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from lockforge.model.platforms import Platform
    from lockforge.model.python import PythonMinor
    from lockforge.model.release import Metadata
    from lockforge.resolve.need import Candidate, Need


def read_needs(
    metadata: Metadata, candidate: Candidate, platform: Platform, python: PythonMinor
) -> tuple[Need, ...]:
    """List what *candidate*, or its extras, requires there, in the order of its metadata.

    Raises MetadataError where the metadata rules its file out.
    """
    where = candidate.file.filename
    if metadata.version.public != candidate.version.public:
        raise MetadataError(
            f"its metadata says version {metadata.version}",
            where=where,
            hint="exclude this version, or report it to the project",
        )
    wanted = metadata.requires_python
    if wanted and python_fits(wanted, python) == "none":
        raise MetadataError(f"its metadata needs Python {wanted}", where=where)
    needs: list[Need] = []
    for requirement in metadata.requires_dist:
        condition = _condition(requirement, platform, python, candidate.extra)
        if condition is not None:
            needs.extend(split_extras(requirement, condition=condition))
    return tuple(needs)


def _condition(
    requirement: Requirement, platform: Platform, python: PythonMinor, extra: str
) -> str | None:
    """Give what is open of a requirement's marker, None where it does not hold."""
    marker = requirement.marker
    if marker is None:
        return None if extra else ""
    # Without the extra it holds too, where the package itself brings it in.
    if extra and "extra" not in str(marker):
        return None
    opened = []
    for one in extra.split(","):
        try:
            decided = decide(marker, platform, python, one)
        except UndefinedComparison as error:
            raise MetadataError(
                f"its metadata has a marker without meaning: {marker}", where=requirement.name
            ) from error
        if decided is True:
            return ""
        if decided is not False:
            opened.append(decided)
    return disjoin(*sorted(opened)) if opened else None
