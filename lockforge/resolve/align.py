"""One public version of each package of the family for all rows: `align = "common"`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from lockforge.model.resolution import Failure, Misalignment, Resolution
from lockforge.resolve.need import Need
from lockforge.resolve.solve import solve_target
from lockforge.standards.filenames import parse_version

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from packaging.utils import NormalizedName
    from packaging.version import Version

    from lockforge.model.matrix import Target
    from lockforge.model.resolution import Preferred
    from lockforge.resolve.demands import Demands
    from lockforge.resolve.finder import Finder
    from lockforge.resolve.limits import Limits
    from lockforge.resolve.need import Candidate

_WHERE = 'align = "common"'


class Aligner:
    """Solves all Targets again and again, each time with one more package held to one version."""

    def __init__(
        self,
        finder: Finder,
        preferred: Mapping[Target, Mapping[str, Sequence[Preferred]]],
        limits: Limits,
    ) -> None:
        self._finder = finder
        self._preferred = preferred
        self._limits = limits
        self._gave_up: Failure | None = None

    def align(
        self, resolutions: Sequence[Resolution]
    ) -> tuple[list[Resolution], list[Misalignment]] | Failure:
        """Give resolutions without skew in the family, and what could not be aligned.

        Torch comes first, for the others follow from it; then by name. Where a package that the
        project requires has no common version beside the torch that was taken, the next torch is
        tried. One that only others require is left as it is. Gives the failure of a search that
        was given up where without it nothing was found.
        """
        found = self._align(list(resolutions), {}, {})
        if self._gave_up is not None and any(one.required for one in found[1]):
            return self._gave_up
        return found

    def _align(
        self,
        current: list[Resolution],
        held: Mapping[NormalizedName, Version],
        misalignments: Mapping[NormalizedName, Misalignment],
    ) -> tuple[list[Resolution], list[Misalignment]]:
        name = self._next_skewed(current, {*held, *misalignments})
        if name is None:
            return current, list(misalignments.values())
        options = self._options(name, current)
        first: tuple[list[Resolution], list[Misalignment]] | None = None
        for version in self._common(name, options):
            further = {**held, name: version}
            solved = self._solve([one.target for one in current], further)
            if solved is None:
                continue
            found = self._align(solved, further, misalignments)
            if not any(one.required for one in found[1]):
                return found
            first = first or found
        if first is not None:
            return first
        described = self._describe(name, options, held)
        return self._align(current, held, {**misalignments, name: described})

    def _next_skewed(
        self, resolutions: Sequence[Resolution], done: set[NormalizedName]
    ) -> NormalizedName | None:
        publics: dict[NormalizedName, set[str]] = {}
        for resolution in resolutions:
            for pin in resolution.pins:
                if self._finder.is_family(pin.name) and pin.name not in done:
                    publics.setdefault(pin.name, set()).add(pin.version.public)
        skewed = [name for name, versions in publics.items() if len(versions) > 1]
        return min(skewed, key=lambda name: (name != "torch", name), default=None)

    def _options(
        self, name: NormalizedName, resolutions: Sequence[Resolution]
    ) -> dict[Target, list[Version]]:
        """List the public versions that each Target with the package could have, newest first."""
        return {
            one.target: list(
                dict.fromkeys(
                    parse_version(candidate.version.public)
                    for candidate in self._finder.candidates(name, one.target)
                    if self._admits(name, one.target, candidate)
                )
            )
            for one in resolutions
            if one.pin(name) is not None
        }

    def _admits(self, name: NormalizedName, target: Target, candidate: Candidate) -> bool:
        """Whether the project's own requirements and constraints admit a version."""
        demands = self._finder.demands[target]
        if candidate.file.yanked is not None and name not in demands.exact_names:
            return False
        version = candidate.version
        needs = [need for need in demands.needs if need.name == name]
        return all(need.admits(version) for need in (*needs, *demands.constraints.get(name, ())))

    def _common(
        self, name: NormalizedName, options: Mapping[Target, Sequence[Version]]
    ) -> list[Version]:
        """List the versions that all have: those that the lock had for any first, then newest."""
        shared = set.intersection(*(set(versions) for versions in options.values()))
        kept = {
            wanted.version.public
            for target in options
            for wanted in self._preferred[target].get(name, ())
        }
        return sorted(
            shared,
            key=lambda one: (str(one) in kept, not one.is_prerelease, one),
            reverse=True,
        )

    def _solve(
        self, targets: Sequence[Target], held: Mapping[NormalizedName, Version]
    ) -> list[Resolution] | None:
        found: list[Resolution] = []
        for target in targets:
            demands = _hold(self._finder.demands[target], held)
            result = solve_target(
                target, demands, self._finder, self._preferred[target], self._limits
            )
            if not isinstance(result, Resolution):
                if result.gave_up is not None:
                    self._gave_up = self._gave_up or result
                return None
            found.append(result)
        return found

    def _describe(
        self,
        name: NormalizedName,
        options: Mapping[Target, Sequence[Version]],
        held: Mapping[NormalizedName, Version],
    ) -> Misalignment:
        by_row: dict[str, list[Version]] = {}
        for target, versions in options.items():
            known = by_row.setdefault(target.row.name, list(versions))
            # A row has what all its Pythons have.
            known[:] = [version for version in known if version in versions]
        rows = list(by_row)
        blocking = [
            row
            for row in rows
            if len(rows) > 2  # noqa: PLR2004
            and set.intersection(*(set(by_row[other]) for other in rows if other != row))
        ]
        required = any(
            need.name == name for target in options for need in self._finder.demands[target].needs
        )
        return Misalignment(
            name=name,
            offers=tuple((row, tuple(map(str, versions))) for row, versions in by_row.items()),
            blocking=tuple(blocking),
            beside=tuple(f"{other} {version}" for other, version in held.items()),
            required=required,
        )


def _hold(demands: Demands, held: Mapping[NormalizedName, Version]) -> Demands:
    """Demand one public version, whatever its local part, of each package of *held*."""
    constraints = dict(demands.constraints)
    for name, version in held.items():
        limit = Need(
            name=name,
            specifier=SpecifierSet(f"=={version}"),
            text=f"{name}=={version}",
            only_limits=True,
            kind="constraint",
            where=_WHERE,
        )
        constraints[name] = (*constraints.get(name, ()), limit)
    return replace(demands, constraints=constraints)
