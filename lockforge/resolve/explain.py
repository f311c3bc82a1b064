"""A conflict that resolvelib found -> Failure: who asked for what, and what the indexes have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.errors import ProjectNotFoundError
from lockforge.model.resolution import Cause, Failure, Offer
from lockforge.resolve.admit import Refused, judge
from lockforge.standards.filenames import parse_sdist_name, parse_wheel_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.utils import NormalizedName
    from packaging.version import Version
    from resolvelib.structs import RequirementInformation

    from lockforge.model.matrix import Target
    from lockforge.model.release import Listing
    from lockforge.resolve.finder import Finder
    from lockforge.resolve.need import Candidate, Need


def explain(
    causes: Iterable[RequirementInformation[Need, Candidate]], target: Target, finder: Finder
) -> Failure:
    """Describe why *target* has no solution."""
    found: dict[tuple[str, str], Cause] = {}
    asked: dict[NormalizedName, list[Need]] = {}
    for cause in causes:
        parent = None if cause.parent is None else str(cause.parent)
        found[cause.requirement.text, parent or ""] = Cause(
            requirement=cause.requirement.text, parent=parent
        )
        asked.setdefault(cause.requirement.name, []).append(cause.requirement)
    return Failure(
        target=target,
        causes=tuple(found[key] for key in sorted(found)),
        offers=tuple(_offer(name, asked[name], target, finder) for name in sorted(asked)),
    )


def _offer(name: NormalizedName, needs: list[Need], target: Target, finder: Finder) -> Offer:
    route = finder.route(name, target.row)
    try:
        listing = finder.repository.listing(route.index, name)
    except ProjectNotFoundError:
        return Offer(
            project=name, index_name=route.index.name, index_url=route.index.url, found=False
        )
    usable = [str(candidate.version) for candidate in finder.candidates(name, target)]
    newest = max(_versions(listing), default=None)
    pythons, platforms = _tags(listing, newest)
    reasons: dict[str, None] = {}
    for judged in judge(listing, target, family=route.family, exclude_newer=None):
        if isinstance(judged, Refused) and all(need.admits(judged.version) for need in needs):
            reasons[f"{judged.version}: {judged.reason}"] = None
    for file in listing.files:
        reason = finder.refusals.get((file.url, target.python))
        if reason:
            reasons[f"{file.filename}: {reason}"] = None
    return Offer(
        project=name,
        index_name=route.index.name,
        index_url=route.index.url,
        found=True,
        usable=tuple(usable),
        newest=None if newest is None else str(newest),
        pythons=pythons,
        platforms=platforms,
        refused=tuple(reasons),
    )


def _versions(listing: Listing) -> set[Version]:
    versions = set()
    for file in listing.files:
        if wheel := parse_wheel_name(file.filename):
            versions.add(wheel.version)
        elif sdist := parse_sdist_name(file.filename):
            versions.add(sdist[1])
    return versions


def _tags(listing: Listing, version: Version | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List the Python and platform tags of the wheels of one version, sorted."""
    pythons, platforms = set(), set()
    for file in listing.files:
        wheel = parse_wheel_name(file.filename)
        if wheel and wheel.version == version:
            python, _, platform = wheel.triple.split("-")
            pythons.update(python.split("."))
            platforms.update(platform.split("."))
    return tuple(sorted(pythons)), tuple(sorted(platforms))
