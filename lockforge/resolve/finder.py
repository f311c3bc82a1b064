"""The candidates of a package in a Target, and what each requires: asked once, remembered.

Answers that only depend on the platform and the Python minor are shared by the rows that have
them in common, which is what makes one more row cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.markers import UndefinedComparison
from packaging.utils import canonicalize_name

from lockforge.errors import ConfigError, Fault, MetadataError, ProjectNotFoundError
from lockforge.model.index import Route
from lockforge.resolve.admit import Admitted, judge
from lockforge.resolve.need import Candidate, Need
from lockforge.standards.markers import decide, disjoin
from lockforge.standards.patches import python_fits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from packaging.requirements import Requirement
    from packaging.utils import NormalizedName

    from lockforge.catalog import Catalog, Rule
    from lockforge.model.index import Index
    from lockforge.model.matrix import PythonMinor, Row, Target
    from lockforge.model.platforms import Platform
    from lockforge.model.project import Project
    from lockforge.model.release import Metadata
    from lockforge.model.resolution import Preferred, Resolution
    from lockforge.ports import Repository


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
        self._routes: dict[tuple[str, str], Route] = {}
        self._candidates: dict[tuple[object, ...], tuple[Candidate, ...]] = {}
        self._metadata: dict[str, Metadata] = {}
        self._needs: dict[tuple[object, ...], tuple[Need, ...]] = {}
        self.refusals: dict[tuple[str, PythonMinor], str] = {}
        """Why a file, by its address, was refused for a Python after its metadata was read."""
        self._refused: dict[tuple[str, PythonMinor], Candidate] = {}

    @property
    def exclude_newer(self) -> str | None:
        return self._project.policy.exclude_newer

    @property
    def repository(self) -> Repository:
        return self._repository

    def route(self, name: NormalizedName, row: Row) -> Route:
        """Say which index alone serves *name* in *row*."""
        label = row.accelerator.label
        key = (name, label)
        if key not in self._routes:
            self._routes[key] = self._find_route(name, label)
        return self._routes[key]

    def _find_route(self, name: NormalizedName, label: str) -> Route:
        named = [user for user in self._project.user_indexes if user.routes(name, label)]
        if len(named) > 1:
            names = " and ".join(user.index.name for user in named)
            raise ConfigError(
                [
                    Fault(
                        where="tool.lockforge.index",
                        message=f"{name} is routed to two indexes: {names}",
                        hint="leave it in the `packages` of one, or limit their `accelerators`",
                    )
                ]
            )
        if named:
            return Route(index=named[0].index)
        if self._catalog.is_family(name):
            fallback = self._project.default_index if self._catalog.falls_back(name) else None
            return Route(index=self._project.torch_indexes[label], fallback=fallback, family=True)
        return Route(index=self._project.default_index)

    def candidates(self, name: NormalizedName, target: Target) -> tuple[Candidate, ...]:
        """List the versions that exist for *target*, newest first, those with only an sdist last.

        Raises an IndexAccessError other than "no such project".
        """
        route = self.route(name, target.row)
        key = (
            name,
            route.index.url,
            target.row.accelerator.label if route.family else None,
            target.row.platform,
            target.python,
            self._kept[target].get(name),
        )
        if key not in self._candidates:
            self._candidates[key] = self._find_candidates(name, target, route)
        return self._candidates[key]

    def _find_candidates(
        self, name: NormalizedName, target: Target, route: Route
    ) -> tuple[Candidate, ...]:
        best = self._best_files(name, target, route.index, family=route.family)
        if route.fallback is not None:
            best = self._best_files(name, target, route.fallback, family=True) | best
        return tuple(
            sorted(
                best.values(),
                key=lambda candidate: (candidate.file.is_wheel, candidate.version),
                reverse=True,
            )
        )

    def _best_files(
        self, name: NormalizedName, target: Target, index: Index, *, family: bool
    ) -> dict[object, Candidate]:
        try:
            listing = self._repository.listing(index, name)
        except ProjectNotFoundError:
            return {}
        kept = self._kept[target].get(name)
        best: dict[object, Admitted] = {}
        for judged in judge(
            listing, target, family=family, exclude_newer=self._project.policy.exclude_newer
        ):
            if not isinstance(judged, Admitted):
                continue
            if (judged.file.url, target.python) in self.refusals:
                continue
            known = best.get(judged.version)
            if (
                judged.file.filename == kept
                or known is None
                or (known.file.filename != kept and judged.preference > known.preference)
            ):
                best[judged.version] = judged
        return {
            version: Candidate(
                name=name,
                version=chosen.version,
                file=chosen.file,
                index=index,
                requires_python=chosen.requires_python,
            )
            for version, chosen in best.items()
        }

    def prefetch_pages(self, wanted: Iterable[tuple[NormalizedName, Target]]) -> bool:
        """Get the pages of names in Targets at once, with those they may fall back to.

        Says whether any of them was not at hand already.
        """
        pages: dict[tuple[str, str], tuple[Index, NormalizedName]] = {}
        for name, target in wanted:
            route = self.route(name, target.row)
            for index in (route.index, route.fallback):
                if index is not None:
                    pages[index.url, name] = (index, name)
        return self._repository.prefetch([pages[key] for key in sorted(pages)], [])

    def prefetch_metadata(self, candidates: Iterable[Candidate]) -> bool:
        """Get the metadata of candidates at once; says whether any was not at hand already."""
        files = {one.file.url: (one.index, one.file) for one in candidates if not self._stated(one)}
        return self._repository.prefetch([], [files[url] for url in sorted(files)])

    def refuse(self, candidate: Candidate, target: Target, reason: str) -> None:
        """Strike a file out for the Python of *target* and forget what was built on it."""
        self.refusals[candidate.file.url, target.python] = reason
        self._refused[candidate.file.url, target.python] = candidate
        self._candidates = {
            key: found for key, found in self._candidates.items() if key[0] != candidate.name
        }

    def passed_over(self, resolutions: Iterable[Resolution]) -> list[str]:
        """Say which files were refused although newer than what was chosen instead, sorted.

        A row that is older than it could be for such a reason must not be so in silence.
        """
        found = set()
        for resolution in resolutions:
            python = resolution.target.python
            for pin in resolution.pins:
                for (url, minor), candidate in self._refused.items():
                    if (minor, candidate.name) == (python, pin.name) and (
                        candidate.version > pin.version
                    ):
                        reason = self.refusals[url, minor]
                        found.add(f"{candidate.file.filename} was passed over: {reason}")
        return sorted(found)

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
        """List what *candidate* requires in *target*, sorted by name.

        Strikes the file out and raises FileRefusedError when its metadata rules it out.
        """
        platform, python = target.row.platform, target.python
        key = (candidate.index.url, candidate.file.url, candidate.extra, platform, python)
        if key not in self._needs:
            try:
                self._needs[key] = self._find_needs(candidate, platform, python)
            except MetadataError as error:
                self.refuse(candidate, target, error.message)
                raise FileRefusedError(candidate.file.filename) from error
        return self._needs[key]

    def _find_needs(
        self, candidate: Candidate, platform: Platform, python: PythonMinor
    ) -> tuple[Need, ...]:
        metadata = self.metadata(candidate)
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
            condition = self._condition(requirement, platform, python, candidate.extra)
            if condition is None:
                continue
            if requirement.url:
                raise MetadataError(
                    f"{candidate.name} requires {requirement.name} by a direct URL, "
                    "which only the project itself may do",
                    where=where,
                )
            needs.extend(split_extras(requirement, condition=condition))
        needs.sort(key=lambda need: (need.identifier, need.text))
        return tuple(needs)

    @staticmethod
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

    def python_limit(self, candidate: Candidate, target: Target) -> str | None:
        """Give the Requires-Python that excludes some patch releases of the Target's minor.

        PyTorch's pages announce none, so the metadata is asked too.
        """
        for limit in (candidate.requires_python, self.metadata(candidate).requires_python):
            if limit and python_fits(limit, target.python) == "some":
                return limit
        return None

    def rules(self, candidate: Candidate) -> tuple[Rule, ...]:
        """List the rules of the catalogue that hold for the candidate."""
        if candidate.extra:
            return ()
        return tuple(
            rule for rule in self._catalog.rules if rule.applies(candidate.name, candidate.version)
        )


def split_extras(requirement: Requirement, *, condition: str = "") -> Iterator[Need]:
    """Read one requirement as the needs for the package and for the extras it asks for."""
    names = ",".join(sorted(map(canonicalize_name, requirement.extras)))
    asked = f"[{','.join(sorted(requirement.extras))}]" if names else ""
    for extra in ("", names) if names else ("",):
        yield Need(
            name=canonicalize_name(requirement.name),
            extra=extra,
            specifier=requirement.specifier,
            text=f"{requirement.name}{asked}{requirement.specifier}",
            condition=condition,
        )
