"""What the project itself demands of one Target: requirements, limits, and what replaces them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from lockforge.errors import ConfigError, Fault
from lockforge.resolve.coverage import Coverage
from lockforge.resolve.need import Need, split_extras
from lockforge.standards.addresses import without_fragment
from lockforge.standards.markers import conjoin, decide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from packaging.utils import NormalizedName

    from lockforge.model.matrix import Target
    from lockforge.model.project import Project, ProjectRequirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """The project seen from one Target."""

    needs: tuple[Need, ...]
    """What it requires, overridden, in an order that no file's order changes."""
    constraints: Mapping[str, tuple[Need, ...]]
    """By name: they limit what is required, and bring nothing in."""
    overrides: Mapping[str, tuple[Need, ...]]
    """By name: they stand in for every other need of it. None at all drops the package."""
    excluded: frozenset[NormalizedName]
    direct: Mapping[str, ProjectRequirement]
    """By name: the direct reference that alone says where the package comes from."""

    @property
    def exact_names(self) -> frozenset[NormalizedName]:
        """The packages of which the project names a version, which may be a yanked one."""
        stated = [*self.constraints.values(), *self.overrides.values(), self.needs]
        return frozenset(need.name for needs in stated for need in needs if need.is_exact)

    def overridden(self, need: Need) -> Iterator[Need]:
        """Give what a need becomes: nothing, itself, or what replaces it."""
        if need.name in self.excluded:
            return
        if need.name not in self.overrides:
            yield need
            return
        if need.only_limits:
            # What the project says instead needs no further limit.
            return
        for override in self.overrides[need.name]:
            condition = conjoin(override.condition, need.condition)
            yield replace(override, extra=need.extra, condition=condition)
            if override.extras and not need.extra:
                yield replace(override, extra=",".join(override.extras), condition=condition)


def demands_of(project: Project, target: Target) -> Demands:
    """Gather what *project* demands of *target*.

    Raises ConfigError where two direct references of one package hold at once.
    """
    settings = project.rows.get(target.row.name)
    coverage = Coverage(project.requires_python)
    own_overrides = settings.overrides if settings else ()
    # What a row says of a package wins over what is said of it for all rows.
    said = {canonicalize_name(entry.requirement.name) for entry in own_overrides}
    general = (
        entry
        for entry in project.overrides
        if canonicalize_name(entry.requirement.name) not in said
    )
    overriding = [*own_overrides, *general]
    overrides: dict[str, list[Need]] = {
        canonicalize_name(entry.requirement.name): [] for entry in overriding
    }
    held_overrides = list(_held(overriding, target, coverage))
    for entry, condition in held_overrides:
        # The extras go with the need that an override stands in for.
        base, *_ = split_extras(entry.requirement, condition=condition)
        extras = tuple(sorted(map(canonicalize_name, entry.requirement.extras)))
        overrides[base.name].append(
            replace(base, direct=True, where=entry.where, kind="override", extras=extras)
        )
    held = list(
        _held(
            [*project.requirements, *(settings.requirements if settings else ())], target, coverage
        )
    )
    limits = [*project.constraints, *(settings.constraints if settings else ())]
    constraints: defaultdict[str, list[Need]] = defaultdict(list)
    for entry, condition in _held(limits, target, coverage):
        need, *_ = split_extras(entry.requirement, condition=condition)
        # What holds for some hosts only limits the version that all of them get.
        text = f"{need.text} ({condition})" if condition else need.text
        constraints[need.name].append(
            replace(
                need,
                direct=True,
                where=entry.where,
                kind="constraint",
                only_limits=True,
                text=text,
            )
        )
    excluded = settings.exclude if settings else frozenset()
    demands = Demands(
        needs=(),
        constraints={name: tuple(needs) for name, needs in constraints.items()},
        overrides={name: tuple(needs) for name, needs in overrides.items()},
        excluded=excluded,
        direct=_direct(
            [
                entry
                for entry, _ in held
                if canonicalize_name(entry.requirement.name) not in excluded | overrides.keys()
            ]
            + [entry for entry, _ in held_overrides]
        ),
    )
    needs: dict[tuple[str, str, str], Need] = {}
    for entry, condition in held:
        for stated in split_extras(entry.requirement, condition=condition):
            for need in demands.overridden(replace(stated, direct=True, where=entry.where)):
                needs.setdefault((need.identifier, need.text, need.condition), need)
    return replace(demands, needs=tuple(needs[key] for key in sorted(needs)))


def _held(
    entries: Iterable[ProjectRequirement], target: Target, coverage: Coverage
) -> Iterator[tuple[ProjectRequirement, str]]:
    """Give the entries whose markers can hold in *target*, each with what is open of them."""
    for entry in entries:
        condition = entry.condition
        if entry.requirement.marker is not None:
            decided = decide(entry.requirement.marker, target.row.platform, target.python)
            if decided is False:
                continue
            if decided is not True:
                if not coverage.can_hold(decided, target.row.platform, target.python):
                    continue
                condition = conjoin(condition, decided)
        yield entry, condition


def _direct(entries: Iterable[ProjectRequirement]) -> dict[str, ProjectRequirement]:
    found: dict[str, ProjectRequirement] = {}
    for entry in entries:
        if entry.requirement.url is None:
            continue
        name = canonicalize_name(entry.requirement.name)
        other = found.setdefault(name, entry)
        here, there = entry.requirement.url, other.requirement.url or ""
        if there == without_fragment(here):
            # One of two may state the hash.
            found[name] = entry
        elif here not in {there, without_fragment(there)}:
            raise ConfigError(
                [
                    Fault(
                        where=entry.where,
                        message=f"{entry.requirement.name} is given by another direct reference "
                        f"in {other.where}",
                        hint="leave one of them, or give them markers that exclude each other",
                    )
                ]
            )
    return found
