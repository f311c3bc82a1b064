"""What the indexes have of the packages in a conflict, seen from one Target."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lockforge.errors import MetadataError, ProjectNotFoundError
from lockforge.model.release import Listing
from lockforge.model.resolution import Offer, Refusal
from lockforge.resolve.admit import Admitted, Refused, judge
from lockforge.resolve.gaps import find_gap
from lockforge.resolve.need import Candidate
from lockforge.standards.filenames import parse_wheel_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from packaging.utils import NormalizedName
    from packaging.version import Version

    from lockforge.model.index import Index, Route
    from lockforge.model.matrix import Target
    from lockforge.model.resolution import TagGap
    from lockforge.resolve.finder import Finder
    from lockforge.resolve.need import Need


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """What one index has of a project, judged for a Target."""

    listing: Listing
    index: Index
    target: Target
    judged: tuple[Admitted | Refused, ...]
    struck_out: Mapping[str, Refusal]
    """By address, the files that were of no use once their metadata was read."""
    untold: frozenset[str]
    """The addresses of sdists that were not tried after one like them was struck out."""

    def offer(self) -> Offer:
        """Describe the page for those who ask nothing in particular."""
        newest = max((one.version for one in self.judged), default=None)
        return Offer(
            project=self.listing.project,
            index_name=self.index.name,
            index_url=_address(self.index),
            found=True,
            usable=tuple(map(str, self.usable(exact=False))),
            newest=None if newest is None else str(newest),
        )

    def usable(self, *, exact: bool) -> list[Version]:
        """List the versions with a file for the Target, newest first."""
        found = {
            one.version
            for one in self.judged
            # PEP 592: a yanked file is for those who pin its version exactly.
            if isinstance(one, Admitted)
            and (exact or one.file.yanked is None)
            and one.file.url not in self.struck_out
            and one.file.url not in self.untold
        }
        return sorted(found, reverse=True)

    def gap(self, version: str) -> TagGap | None:
        """Say what the wheels of a public version lack; None where their tags are not it."""
        triples = [
            wheel.triple
            for one in self.judged
            if isinstance(one, Refused) and one.by_tags and one.version.public == version
            if (wheel := parse_wheel_name(one.file.filename))
        ]
        return find_gap(version, triples, self.target) if triples else None


def find_offers(
    needs: Mapping[NormalizedName, Sequence[Need]],
    parents: Iterable[NormalizedName],
    target: Target,
    finder: Finder,
) -> tuple[Offer, ...]:
    """Describe what each index has of the packages in *needs*, the least first.

    Of the *parents* that ask, those are told too of which files were struck out on the way: that
    may be why an older version asks.
    """
    found: list[Offer] = []
    for name in needs:
        for index in _indexes(name, target, finder):
            page = _read(name, index, target, finder)
            found.append(
                Offer(
                    project=name,
                    index_name=index.name,
                    index_url=_address(index),
                    found=False,
                    torches=_torches(name, index, target, finder),
                )
                if page is None
                else _offer(page, needs[name], finder)
            )
    for name in parents:
        for index in _indexes(name, target, finder):
            page = _read(name, index, target, finder)
            if page is not None and page.struck_out:
                found.append(replace(page.offer(), refused=tuple(page.struck_out.values())))
    return tuple(sorted(found, key=lambda one: (one.found, bool(one.usable), one.project)))


def _torches(name: NormalizedName, index: Index, target: Target, finder: Finder) -> tuple[str, ...]:
    route = replace(finder.route(name, target), index=index)
    return tuple(str(torch) for _, torch in finder.pages(route, target) if torch is not None)


def _address(index: Index) -> str:
    """Give the address of an index; none for a direct reference, which its name tells."""
    return "" if index.layout == "direct" else index.url


def _indexes(name: NormalizedName, target: Target, finder: Finder) -> Iterator[Index]:
    route = finder.route(name, target)
    yield route.index
    if route.fallback is not None:
        yield route.fallback


def _read(name: NormalizedName, index: Index, target: Target, finder: Finder) -> _Page | None:
    """Judge what *index* has of a project, on however many pages."""
    route = replace(finder.route(name, target), index=index)
    listings = list(_listings(name, route, target, finder))
    if not listings:
        return None
    listing = Listing(
        project=name,
        index_url=index.url,
        files=tuple(file for one in listings for file in one.files),
    )
    judged = tuple(judge(listing, target, route, finder.policy))
    return _Page(
        listing=listing,
        index=index,
        target=target,
        judged=judged,
        struck_out=_struck_out(judged, name, index, target, finder),
        untold=frozenset(
            one.file.url
            for one in judged
            if finder.lacks_metadata(
                Candidate(name=name, version=one.version, file=one.file, index=index), target
            )
        ),
    )


def _listings(
    name: NormalizedName, route: Route, target: Target, finder: Finder
) -> Iterator[Listing]:
    for index, _ in finder.pages(route, target):
        try:
            yield finder.repository.listing(index, name)
        except ProjectNotFoundError:
            continue


def _struck_out(
    judged: Sequence[Admitted | Refused],
    name: NormalizedName,
    index: Index,
    target: Target,
    finder: Finder,
) -> dict[str, Refusal]:
    found = {}
    for one in sorted(judged, key=lambda one: one.version, reverse=True):
        reason = finder.refusals.reason(one.file.url, target)
        if reason is None:
            continue
        candidate = Candidate(name=name, version=one.version, file=one.file, index=index)
        found[one.file.url] = Refusal(
            version=str(one.version),
            filename=one.file.filename,
            reason=reason,
            setting=_setting(candidate, finder),
        )
    return found


def _setting(candidate: Candidate, finder: Finder) -> str:
    """Name the table that makes up for metadata which cannot be had."""
    try:
        finder.metadata(candidate)
    except MetadataError:
        return f'[tool.lockforge.metadata."{candidate.name}=={candidate.version.public}"]'
    return ""


def _offer(page: _Page, needs: Sequence[Need], finder: Finder) -> Offer:
    """Describe a page for those who ask for certain versions."""
    exact = any(need.is_exact and need.direct for need in needs)
    usable = page.usable(exact=exact)
    matching = [version for version in usable if _is_asked(version, needs)]
    ruled_out = (
        finder.policy.prereleases == "disallow"
        and bool(matching)
        and all(version.is_prerelease for version in matching)
    )
    gaps, refused = _refusals(page, needs, set(usable))
    return replace(
        page.offer(),
        usable=tuple(map(str, usable)),
        prereleases=tuple(map(str, matching)) if ruled_out else (),
        gaps=gaps,
        refused=refused,
    )


def _is_asked(version: Version, needs: Sequence[Need]) -> bool:
    return all(need.admits(version) for need in needs)


def _refusals(
    page: _Page, needs: Sequence[Need], usable: set[Version]
) -> tuple[tuple[TagGap, ...], tuple[Refusal, ...]]:
    """Say why versions are of no use: of those asked for everything, of the newest its wheels."""
    by_version: defaultdict[Version, list[Admitted | Refused]] = defaultdict(list)
    for one in page.judged:
        by_version[one.version].append(one)
    newest = max(by_version, default=None)
    # The wheels of a version may bear several labels, and a Mac's none.
    gaps: dict[str, TagGap | None] = dict.fromkeys(version.public for version in usable)
    refused: list[Refusal] = []
    for version in sorted(by_version.keys() - usable, reverse=True):
        asked = _is_asked(version, needs)
        told = list(_reasons(version, by_version[version], page)) if asked else []
        refused += told
        if not told and (asked or version == newest) and version.public not in gaps:
            gap = page.gap(version.public)
            gaps[version.public] = gap and replace(gap, asked=asked)
    # Where a file of the row's own label was refused, wheels of other labels explain nothing.
    own = {"", page.target.row.accelerator.label}
    split = (one.version.partition("+") for one in refused)
    told_of = {public for public, _, local in split if local in own}
    kept = (gap for public, gap in gaps.items() if gap and public not in told_of)
    return tuple(kept), tuple(refused)


def _reasons(
    version: Version, judged: Sequence[Admitted | Refused], page: _Page
) -> Iterator[Refusal]:
    reasons: dict[str, None] = {}
    for one in judged:
        if one.file.url in page.struck_out:
            yield page.struck_out[one.file.url]
        elif one.file.url in page.untold:
            continue
        elif isinstance(one, Admitted):
            reasons[f"yanked: {one.file.yanked or 'no reason given'}"] = None
        elif not one.by_tags:
            reasons[one.reason] = None
    for reason in reasons:
        yield Refusal(version=str(version), reason=reason)
