"""Which index alone serves a package in a Target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lockforge.errors import ConfigError, Fault, ProjectNotFoundError
from lockforge.model.index import Index, Route
from lockforge.standards.addresses import shown_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from packaging.utils import NormalizedName

    from lockforge.catalog import Catalog
    from lockforge.model.index import UserIndex
    from lockforge.model.matrix import Target
    from lockforge.model.project import Project
    from lockforge.ports import Repository
    from lockforge.resolve.demands import Demands


class Router:
    """Answers for all Targets of one lock; what it was asked it remembers."""

    def __init__(
        self,
        project: Project,
        catalog: Catalog,
        repository: Repository,
        demands: Mapping[Target, Demands],
    ) -> None:
        self._project = project
        self._catalog = catalog
        self._repository = repository
        self._demands = demands
        self._routes: dict[tuple[str, str, str | None], Route] = {}
        self._faults: dict[str, Fault] = {}

    def route(self, name: NormalizedName, target: Target) -> Route:
        """Say which index alone serves *name* in *target*.

        Raises ConfigError where several do, and what open indexes raise when they are asked.
        """
        label = target.row.accelerator.label
        reference = self._demands[target].direct.get(name)
        url = None if reference is None else reference.requirement.url
        key = (name, label, url)
        if key not in self._routes:
            if url is not None:
                index = Index(name=shown_address(url), url=url, layout="direct")
                self._routes[key] = Route(index=index, labelled=True)
            else:
                self._routes[key] = self._find_route(name, label)
        return self._routes[key]

    def sources(self, name: NormalizedName, target: Target) -> Iterator[Index]:
        """List the indexes that are asked for *name*, so that they can be asked at once."""
        label = target.row.accelerator.label
        if name not in self._demands[target].direct:
            if self._is_open(name, label):
                yield from self._open_indexes(label)
                return
            if len(self._named(name, label)) > 1:
                # A fault to whoever asks for the route.
                return
        route = self.route(name, target)
        yield route.index
        if route.fallback is not None:
            yield route.fallback

    def _find_route(self, name: NormalizedName, label: str) -> Route:
        named = self._named(name, label)
        if len(named) > 1:
            raise self._ambiguous(
                f"{name} is routed to two indexes: "
                f"{' and '.join(_describe(user.index) for user in named)}",
                hint="leave it in the `packages` of one, or limit their `accelerators`",
            )
        family = self._catalog.is_family(name)
        if named:
            return Route(index=_placed(named[0].index, label), family=family, labelled=True)
        if family:
            fallback = self._project.default_index if self._catalog.falls_back(name) else None
            return Route(index=self._project.torch_indexes[label], fallback=fallback, family=True)
        return self._find_open(name, label)

    def _named(self, name: NormalizedName, label: str) -> list[UserIndex]:
        return [user for user in self._project.user_indexes if user.routes(name, label)]

    def _is_open(self, name: NormalizedName, label: str) -> bool:
        return not (self._named(name, label) or self._catalog.is_family(name))

    def _open_indexes(self, label: str) -> list[Index]:
        """List the indexes that serve what no route names, the default one first."""
        return [self._project.default_index] + [
            _placed(user.index, label) for user in self._project.user_indexes if user.is_open(label)
        ]

    def _find_open(self, name: NormalizedName, label: str) -> Route:
        indexes = self._open_indexes(label)
        if len(indexes) == 1:
            return Route(index=indexes[0])
        having = [index for index in indexes if self._has(index, name)]
        if len(having) > 1:
            # To take the newest of both is how a stranger's package comes in by its name alone.
            raise self._ambiguous(
                f"{name} is on two indexes, and nothing says which of them serves it: "
                f"{' and '.join(map(_describe, having))}",
                hint=f'add packages = ["{name}"] to the index that it is to come from, or make the '
                "one that has all packages the default index",
            )
        index = having[0] if having else indexes[0]
        return Route(index=index, labelled=index != self._project.default_index)

    @property
    def faults(self) -> list[Fault]:
        """Every ambiguity met so far, sorted by what it says."""
        return [self._faults[message] for message in sorted(self._faults)]

    def _ambiguous(self, message: str, *, hint: str) -> ConfigError:
        fault = Fault(where="tool.lockforge.index", message=message, hint=hint)
        self._faults[message] = fault
        return ConfigError([fault])

    def _has(self, index: Index, name: NormalizedName) -> bool:
        try:
            return bool(self._repository.listing(index, name).files)
        except ProjectNotFoundError:
            return False


def _placed(index: Index, label: str) -> Index:
    """Fill in the accelerator where the address of a user's index leaves it open."""
    if "{accelerator}" not in index.url:
        return index
    return replace(index, url=index.url.replace("{accelerator}", label))


def _describe(index: Index) -> str:
    return f"{index.name} ({index.url})"
