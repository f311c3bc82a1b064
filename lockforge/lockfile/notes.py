"""What a reader of the report should know of how a lock came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.model.matrix import render_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockforge.catalog import Catalog
    from lockforge.model.project import Project
    from lockforge.model.resolution import Failure, Outcome


def notes_of(project: Project, outcome: Outcome, catalog: Catalog) -> list[str]:
    """List the notes, sorted; an outcome without failures."""
    pins = [pin for one in outcome.resolutions for pin in one.pins]
    notes = [
        f'align = "common": {one.name} differs, for no version of it suits every row'
        for one in outcome.misalignments
    ]
    if not any(catalog.is_family(pin.name) for pin in pins):
        notes.append(
            "no row needs a package of the PyTorch family: accelerators make no difference"
        )
    if project.policy.exclude_newer is not None:
        untimed = {
            pin.name
            for pin in pins
            if pin.file.upload_time is None and catalog.is_family(pin.name)
        }
        if untimed:
            notes.append(
                f"exclude-newer does not hold for {', '.join(sorted(untimed))}: their pages tell "
                "no upload times"
            )
    return sorted([*notes, *_left_out(outcome)])


def _left_out(outcome: Outcome) -> Iterator[str]:
    """Say which Pythons are not covered, where, and by which package of which row."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for failure in outcome.left_out:
        row = failure.target.row
        key = (render_python(failure.target.python), row.platform.name)
        found.setdefault(key, {}).setdefault(reason_of(failure), []).append(row.name)
    for (python, platform), reasons in found.items():
        # All rows of the platform lose it, be it that only some of them have to.
        told = "; ".join(f"{reason} in {', '.join(rows)}" for reason, rows in reasons.items())
        yield f"Python {python} is left out on {platform}: {told}"


def reason_of(failure: Failure) -> str:
    """Say in a few words why a Target has no solution."""
    for offer in failure.offers:
        for gap in offer.gaps:
            return f"{offer.project} {gap.version} has no wheel for {gap.missing}"
    return "; ".join(
        f"{cause.parent or 'the project'} requires {cause.requirement}"
        for cause in failure.causes
    )
