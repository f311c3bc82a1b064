"""What a reader of the report should know of how a lock came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.model.python import render_python

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
            pin.name for pin in pins if pin.file.upload_time is None and catalog.is_family(pin.name)
        }
        if untimed:
            notes.append(
                f"exclude-newer does not hold for {', '.join(sorted(untimed))}: their pages tell "
                "no upload times"
            )
    trees = sorted({pin.name for pin in pins if pin.file.source_tree})
    if trees and any(not pin.file.source_tree for pin in pins):
        notes.append(
            f"{', '.join(trees)}: a directory has no hash, and pip installs no lock that has one "
            "beside files with hashes; uv does"
        )
    return sorted([*notes, *_left_out(project, outcome)])


def _left_out(project: Project, outcome: Outcome) -> Iterator[str]:
    """Say which Pythons are not covered, where, and by which package.

    All rows of a platform lose one, be it that only some of them have to: those are named then.
    """
    failed: dict[tuple[str, str], dict[str, list[str]]] = {}
    for failure in outcome.left_out:
        row = failure.target.row
        key = (render_python(failure.target.python), row.platform.name)
        failed.setdefault(key, {}).setdefault(reason_of(failure), []).append(row.name)
    platforms: dict[tuple[str, str], list[str]] = {}
    for (python, platform), reasons in failed.items():
        rows = {row.name for row in project.matrix.rows if row.platform.name == platform}
        told = "; ".join(
            reason if rows == set(names) else f"{reason} in {', '.join(names)}"
            for reason, names in reasons.items()
        )
        platforms.setdefault((python, told), []).append(platform)
    for (python, told), names in platforms.items():
        yield f"Python {python} is left out on {', '.join(names)}: {told}"


def reason_of(failure: Failure) -> str:
    """Say in a few words why a Target has no solution."""
    gaps = [(offer, gap) for offer in failure.offers for gap in offer.gaps if gap.asked]
    # A version with wheels for the platform says more than a newer one without.
    gaps.sort(key=lambda pair: not pair[1].missing.startswith("cp"))
    for offer, gap in gaps:
        return f"{offer.project} {gap.version} has no wheel for {gap.missing}"
    return "; ".join(
        f"{cause.parent or 'the project'} requires {cause.requirement}" for cause in failure.causes
    )
