"""The candidates of a package in a Target, and what each requires: asked once, remembered.

Answers that only depend on the platform and the Python minor are shared by the rows that have
them in common, which is what makes one more row cheap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from lockforge.errors import MetadataError, NeedsBuildError, ProjectNotFoundError
from lockforge.model.index import Route
from lockforge.resolve.admit import Admitted, judge
from lockforge.resolve.coverage import Coverage
from lockforge.resolve.demands import demands_of
from lockforge.resolve.metadata import read_needs
from lockforge.resolve.need import Candidate, Need
from lockforge.resolve.refusals import Refusals
from lockforge.resolve.routes import Router
from lockforge.standards.filenames import parse_version
from lockforge.standards.patches import python_fits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from packaging.version import Version

    from lockforge.catalog import Catalog
    from lockforge.catalog.rules import Rule
    from lockforge.errors import Fault
    from lockforge.model.index import Index
    from lockforge.model.matrix import Target
    from lockforge.model.project import Policy, Project
    from lockforge.model.release import Metadata
    from lockforge.model.resolution import Preferred
    from lockforge.ports import Repository


_TORCH = NormalizedName("torch")


class FileRefusedError(Exception):
    """A candidate turned out unusable once its metadata was read; the solve starts again."""


class Finder:
    """Answers about packages for all Targets of one lock."""

    def __init__(
        self,
        project: Project,
        catalog: Catalog,
        repository: Repository,
        preferred: Mapping[Target, Mapping[str, Sequence[Preferred]]],
    ) -> None:
        self._project = project
        # A version that is kept keeps its file, whatever was uploaded since.
        self._kept = {
            target: {
                name: wanted[0].filename for name, wanted in by_name.items() if wanted[0].filename
            }
            for target, by_name in preferred.items()
        }
        self._catalog = catalog
        self._repository = repository
        self.demands = {target: demands_of(project, target) for target in project.matrix.targets}
        """What the project itself demands, by Target."""
        self._router = Router(project, catalog, repository, self.demands)
        self.refusals = Refusals()
        self.coverage = Coverage(project.requires_python)
        self._candidates: dict[tuple[object, ...], tuple[Candidate, ...]] = {}
        self._metadata: dict[str, Metadata] = {}
        self._needs: dict[tuple[object, ...], tuple[Need, ...]] = {}

    @property
    def catalog(self) -> Catalog:
        return self._catalog

    @property
    def repository(self) -> Repository:
        return self._repository

    @property
    def policy(self) -> Policy:
        return self._project.policy

    def is_family(self, name: str) -> bool:
        """Whether *name* is one of the family; see `Catalog.is_family`."""
        return self._catalog.is_family(name)

    @property
    def route_faults(self) -> list[Fault]:
        """Every name met so far that several indexes serve."""
        return self._router.faults

    def route(self, name: NormalizedName, target: Target) -> Route:
        """Say which index alone serves *name* in *target*; see `Router.route`."""
        return self._router.route(name, target)

    def candidates(self, name: NormalizedName, target: Target) -> tuple[Candidate, ...]:
        """List the versions that exist for *target*, newest first.

        Of one version built for several torches, that for the newest comes first. Raises an
        IndexAccessError other than "no such project".
        """
        route = self.route(name, target)
        key = (
            name,
            route.index.url,
            target.row.accelerator.label if route.family or route.labelled else None,
            target.row.platform,
            target.python,
            self._kept[target].get(name),
            self._torch_limits(target) if "{torch}" in route.index.url else None,
            self.refusals.barred(name, target),
            self.refusals.needs_build(name, target),
        )
        if key not in self._candidates:
            self._candidates[key] = self._find_candidates(name, target, route)
        return self._candidates[key]

    def _find_candidates(
        self, name: NormalizedName, target: Target, route: Route
    ) -> tuple[Candidate, ...]:
        best: dict[object, Candidate] = {}
        for index, torch in self.pages(route, target):
            best = self._best_files(name, target, replace(route, index=index), torch) | best
        if route.fallback is not None:
            best = self._best_files(name, target, replace(route, index=route.fallback), None) | best
        return tuple(sorted(best.values(), key=_rank, reverse=True))

    def pages(self, route: Route, target: Target) -> Iterator[tuple[Index, Version | None]]:
        """List the indexes that make up the one of *route*, with the torch that each is for."""
        if "{torch}" not in route.index.url:
            yield route.index, None
            return
        for torch in self._torch_versions(target):
            url = route.index.url.replace("{torch}", str(torch))
            # Not each torch has a page, and PyG's host forbids what it does not have.
            yield replace(route.index, url=url, forbidden_means_missing=True), torch

    def _torch_versions(self, target: Target) -> list[Version]:
        """List the public versions of torch that the project admits in *target*, newest first."""
        limits = self._torch_limits(target)
        return list(
            dict.fromkeys(
                parse_version(candidate.version.public)
                for candidate in self.candidates(_TORCH, target)
                if limits.contains(candidate.version, prereleases=True)
            )
        )

    def _torch_limits(self, target: Target) -> SpecifierSet:
        demands = self.demands[target]
        limits = SpecifierSet()
        for need in (*demands.needs, *demands.constraints.get(_TORCH, ())):
            if need.name == _TORCH:
                limits &= need.specifier
        return limits

    def _best_files(
        self, name: NormalizedName, target: Target, route: Route, torch: Version | None
    ) -> dict[object, Candidate]:
        try:
            listing = self._repository.listing(route.index, name)
        except ProjectNotFoundError:
            return {}
        kept = self._kept[target].get(name)
        best: dict[object, Admitted] = {}
        for judged in judge(listing, target, route, self.policy):
            if not isinstance(judged, Admitted):
                if judged.unreadable:
                    self.refusals.note_unreadable(route.index.name, name, str(judged.version.local))
                continue
            if self.refusals.reason(judged.file.url, target) is not None:
                continue
            known = best.get(judged.version)
            if (
                judged.file.filename == kept
                or known is None
                or (known.file.filename != kept and _is_better(judged, known))
            ):
                best[judged.version] = judged
        found: dict[object, Candidate] = {}
        for chosen in best.values():
            limits, built_for = self._built_for(chosen, torch, target)
            candidate = Candidate(
                name=name,
                version=chosen.version,
                file=chosen.file,
                index=route.index,
                requires_python=chosen.requires_python,
                torch=limits,
                built_for=built_for,
            )
            if not self.lacks_metadata(candidate, target):
                found[chosen.version, str(limits)] = candidate
        return found

    def _built_for(
        self, chosen: Admitted, page: Version | None, target: Target
    ) -> tuple[SpecifierSet | None, tuple[int, ...]]:
        """Say which torch a file needs by its label, else by the page it is on, and sorts by."""
        label = chosen.label
        if label is None or label.torch is None:
            limits = None if page is None else SpecifierSet(f"=={page}")
            built_for = () if page is None else page.release
        else:
            limits, built_for = label.torch_limits, label.torch
        if label is not None and label.cxx11_abi is not None:
            row = target.row
            abi = self._catalog.abi_limits(row.accelerator, row.platform, cxx11=label.cxx11_abi)
            if limits is None:
                limits = abi or None
            elif not abi.contains(".".join(map(str, built_for))):
                # No torch is both: the wheel is of no use, and the search must see it.
                limits &= abi
        return limits, built_for

    def prefetch_pages(self, wanted: Iterable[tuple[NormalizedName, Target]]) -> bool:
        """Get the pages of names in Targets at once, with those they may fall back to.

        Says whether any of them was not at hand already.
        """
        pages: dict[tuple[str, str], tuple[Index, NormalizedName]] = {}
        late: list[tuple[NormalizedName, Target, Index]] = []
        for name, target in wanted:
            for index in self._router.sources(name, target):
                if "{torch}" in index.url:
                    late.append((name, target, index))
                else:
                    pages[index.url, name] = (index, name)
        asked = self._repository.prefetch([pages[key] for key in sorted(pages)], [])
        # Which of these pages there may be is known only when torch's own is.
        late_pages = {
            (index.url, name): (index, name)
            for name, target, template in late
            for index, _ in self.pages(Route(index=template), target)
        }
        return (
            self._repository.prefetch([late_pages[key] for key in sorted(late_pages)], []) or asked
        )

    def prefetch_metadata(self, candidates: Iterable[Candidate]) -> bool:
        """Get the metadata of candidates at once; says whether any was not at hand already."""
        files = {one.file.url: (one.index, one.file) for one in candidates if not self._stated(one)}
        return self._repository.prefetch([], [files[url] for url in sorted(files)])

    def refuse(self, candidate: Candidate, target: Target, reason: str) -> None:
        """Strike a file out for the Python of *target* and forget what was built on it."""
        self.refusals.strike_out(candidate, target.python, reason)
        self._candidates = {
            key: found for key, found in self._candidates.items() if key[0] != candidate.name
        }

    def lacks_metadata(self, candidate: Candidate, target: Target) -> bool:
        """Whether it is an sdist of a package of which no sdist can be read, nor stated."""
        return (
            not candidate.file.is_wheel
            and self.refusals.needs_build(candidate.name, target)
            and self._stated(candidate) is None
        )

    @property
    def metadata_reads(self) -> int:
        """How many files' metadata was asked for by a search."""
        return len(self._metadata)

    def metadata(self, candidate: Candidate) -> Metadata:
        """Give the metadata of the candidate's own file, or what the user states for it."""
        key = candidate.file.url
        if key not in self._metadata:
            self._metadata[key] = self._stated(candidate) or self._repository.metadata(
                candidate.index, candidate.file
            )
        return self._metadata[key]

    def has_metadata(self, candidate: Candidate) -> bool:
        """Whether the metadata is to be had without downloading the whole file."""
        stated = self._stated(candidate) is not None
        return stated or self._repository.has_metadata(candidate.index, candidate.file)

    def _stated(self, candidate: Candidate) -> Metadata | None:
        """Give what the user states for the version, with or without its local part."""
        stated = self._project.metadata
        exact = stated.get((candidate.name, str(candidate.version)))
        return exact or stated.get((candidate.name, candidate.version.public))

    def needs(self, candidate: Candidate, target: Target) -> tuple[Need, ...]:
        """List what *candidate* requires in *target*, in the order of its metadata.

        Strikes the file out and raises FileRefusedError when its metadata rules it out.
        """
        platform, python = target.row.platform, target.python
        key = (candidate.index.url, candidate.file.url, candidate.extra, platform, python)
        if key not in self._needs:
            try:
                self._needs[key] = tuple(
                    need
                    for need in read_needs(self.metadata(candidate), candidate, platform, python)
                    if self.coverage.can_hold(need.condition, platform, python)
                )
            except NeedsBuildError as error:
                self.refusals.mark_needing_build(candidate.name, target)
                self.refusals.bar(candidate, target, error.message)
                raise FileRefusedError(candidate.file.filename) from error
            except MetadataError as error:
                self.refuse(candidate, target, error.message)
                raise FileRefusedError(candidate.file.filename) from error
        return self._needs[key]

    def python_limit(self, candidate: Candidate, target: Target) -> str | None:
        """Give the Requires-Python that excludes some patch releases of the Target's minor.

        PyTorch's pages announce none, so the metadata is asked too.
        """
        for limit in (candidate.requires_python, self.metadata(candidate).requires_python):
            if limit and python_fits(limit, target.python) == "some":
                return limit
        return None

    def limiting_rules(self, name: NormalizedName) -> Iterator[Rule]:
        """List the rules of the catalogue that limit others where *name* is, in any version."""
        return (rule for rule in self._catalog.rules if rule.package == name and rule.when_present)

    def rules(self, candidate: Candidate) -> tuple[Rule, ...]:
        """List the rules of the catalogue that hold for the candidate."""
        if candidate.extra:
            return ()
        return tuple(
            rule
            for rule in self._catalog.rules
            if rule.applies(candidate.name, candidate.version, candidate.file.filename)
        )


def _is_better(one: Admitted, other: Admitted) -> bool:
    """Whether a file is taken before another of its version.

    Of two alike the name decides, `.tar.gz` before `.zip`: the order of a page must not.
    """
    if one.preference != other.preference:
        return one.preference > other.preference
    return one.file.filename < other.file.filename


def _rank(candidate: Candidate) -> tuple[Version, tuple[int, ...], Version]:
    """Sort by public version, then by the torch that wheels are built for.

    A plain comparison of local versions would put `pt28` above `pt210`.
    """
    version = candidate.version
    return parse_version(version.public), candidate.built_for, version
