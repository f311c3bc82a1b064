"""A conflict that resolvelib found -> Failure: who asked for what, and what the indexes have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.errors import ProjectNotFoundError
from lockforge.model.resolution import Cause, Failure, Offer
from lockforge.resolve.admit import Refused, judge
from lockforge.standards.filenames import parse_sdist_name, parse_wheel_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from packaging.utils import NormalizedName
    from packaging.version import Version
    from resolvelib.structs import RequirementInformation

    from lockforge.model.index import Index
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
        offers=tuple(
            offer for name in sorted(asked) for offer in _offers(name, asked[name], target, finder)
        ),
    )


def _offers(
    name: NormalizedName, needs: list[Need], target: Target, finder: Finder
) -> Iterator[Offer]:
    """Describe what each index of the package's route has of it."""
    route = finder.route(name, target.row)
    candidates = finder.candidates(name, target)
    exact = any(need.is_exact for need in needs)
    for index in (route.index, route.fallback):
        if index is None:
            continue
        try:
            listing = finder.repository.listing(index, name)
        except ProjectNotFoundError:
            yield Offer(project=name, index_name=index.name, index_url=index.url, found=False)
            continue
        usable = tuple(
            str(one.version)
            for one in candidates
            # PEP 592: a yanked file is for those who pin its version exactly.
            if one.index == index and (exact or one.file.yanked is None)
        )
        yield _offer(
            name,
            index,
            listing,
            usable,
            _refusals(listing, needs, target, finder, family=route.family),
        )


def _offer(
    name: NormalizedName,
    index: Index,
    listing: Listing,
    usable: tuple[str, ...],
    refused: list[str],
) -> Offer:
    newest = max(_versions(listing), default=None)
    pythons, platforms = _tags(listing, newest)
    return Offer(
        project=name,
        index_name=index.name,
        index_url=index.url,
        found=True,
        usable=usable,
        newest=None if newest is None else str(newest),
        pythons=pythons,
        platforms=platforms,
        refused=tuple(refused),
    )


def _refusals(
    listing: Listing, needs: list[Need], target: Target, finder: Finder, *, family: bool
) -> list[str]:
    """Say why files of matching versions were refused: in one line the wheels of a version."""
    found: list[str] = []
    exact = any(need.is_exact for need in needs)
    refused: dict[Version, list[Refused]] = {}
    yanked: dict[Version, str] = {}
    usable: set[Version] = set()
    for judged in judge(listing, target, family=family, exclude_newer=finder.exclude_newer):
        if not all(need.admits(judged.version) for need in needs):
            continue
        if isinstance(judged, Refused):
            refused.setdefault(judged.version, []).append(judged)
        elif judged.file.yanked is not None and not exact:
            yanked[judged.version] = judged.file.yanked
        else:
            usable.add(judged.version)
    for version in sorted({*refused, *yanked} - usable, reverse=True):
        if version in yanked:
            found.append(f"{version}: yanked: {yanked[version] or 'no reason given'}")
            continue
        reasons = dict.fromkeys(one.reason for one in refused[version] if not one.by_tags)
        found += [f"{version}: {reason}" for reason in reasons]
        if not reasons:
            pythons, platforms = _tags(listing, version)
            found.append(
                f"{version}: wheels for Pythons {', '.join(pythons)} "
                f"and platforms {', '.join(platforms)} only"
            )
    for file in listing.files:
        if reason := finder.refusals.get((file.url, target.python)):
            found.append(f"{file.filename}: {reason}")
    return found


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
