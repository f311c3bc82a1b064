"""What the hosts of a fleet get out of the rows of one lock, and which rows they need."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from lockforge.detect.builds import platform_of
from lockforge.detect.choose import choose, would_serve
from lockforge.detect.judge_host import has_python, why_no_platform
from lockforge.model.choice import FALLBACK
from lockforge.model.fleet import Fleet, HostPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from lockforge.catalog import Catalog
    from lockforge.model.choice import Build, Choice, Verdict
    from lockforge.model.machine import Facts


def plan_fleet(
    hosts: Sequence[tuple[str, Facts]], builds: Sequence[Build], catalog: Catalog
) -> Fleet:
    """Choose for every host, and find the rows that are too few or too many."""
    plans = tuple(_plan_host(host, facts, builds, catalog) for host, facts in hosts)
    given = {plan.row for plan in plans}
    return Fleet(
        hosts=plans,
        unused_rows=tuple(build.name for build in builds if build.name not in given),
        cheapest=cheapest_rows(builds, [plan.choice for plan in plans]),
    )


def _plan_host(host: str, facts: Facts, builds: Sequence[Build], catalog: Catalog) -> HostPlan:
    choice = choose(facts, builds, catalog)
    best = choice.best
    if best is None:
        label = would_serve(facts, catalog)
        return HostPlan(
            host=host,
            choice=choice,
            row=None,
            reason=_why_unserved(facts, choice),
            would_serve=label,
            to_lock=None if label is None else _to_lock(label, facts, builds),
        )
    fallback = best.reason.startswith(FALLBACK)
    reason = best.reason.removeprefix(FALLBACK)
    if fallback:
        better = would_serve(facts, catalog)
        if better is not None and better != best.build.accelerator.label:
            reason += f"; a row for {better} would use the GPU"
    return HostPlan(host=host, choice=choice, row=best.build.name, reason=reason, fallback=fallback)


def _to_lock(label: str, facts: Facts, builds: Sequence[Build]) -> str:
    """Name the row with *label* for a host, and its Python if nothing is locked for that."""
    platform, python = platform_of(facts), facts.python
    assert platform is not None
    assert python is not None
    row = f"{platform.name}-{label}"
    if any(has_python(build, python) for build in builds):
        return row
    return f"{row} with Python {python.minor}"


def _why_unserved(facts: Facts, choice: Choice) -> str:
    """Give the reasons of the rows for the host's platform, those that are alike once."""
    platform = platform_of(facts)
    if platform is None:
        return why_no_platform(facts)
    own = [one for one in choice.verdicts if one.build.platform.name == platform.name]
    if not own:
        return f"no row is for {platform.name}"
    return "; ".join(dict.fromkeys(one.reason for one in own))


def cheapest_rows(builds: Sequence[Build], choices: Iterable[Choice]) -> tuple[str, ...]:
    """Give the fewest rows that serve every host served, of those the least to download.

    A row serves a host in the place of its best where it is usable there and for the same kind of
    accelerator: a row for the CPU is no place for a host with a GPU that is used.
    """
    needs = {
        frozenset(_stand_ins(choice, choice.best)) for choice in choices if choice.best is not None
    }
    # Rows of another platform or kind never stand in for one another, which keeps the sets small.
    taken: set[str] = set()
    for names in _connected(needs):
        group = [build for build in builds if build.name in names]
        taken.update(_cheapest_cover(group, [need for need in needs if need <= names]))
    return tuple(build.name for build in builds if build.name in taken)


def _stand_ins(choice: Choice, best: Verdict) -> list[str]:
    return [
        one.build.name
        for one in choice.verdicts
        if one.status == "usable" and one.build.accelerator.kind == best.build.accelerator.kind
    ]


def _connected(needs: AbstractSet[frozenset[str]]) -> list[frozenset[str]]:
    """Join the sets that have a row in common."""
    joined: list[frozenset[str]] = []
    for need in needs:
        apart = [group for group in joined if group.isdisjoint(need)]
        joined = [*apart, need.union(*(group for group in joined if group not in apart))]
    return joined


def _cheapest_cover(group: Sequence[Build], needs: Sequence[frozenset[str]]) -> set[str]:
    """Try all sets of rows, the small ones first: the first size that serves is the least."""
    ordered = sorted(group, key=lambda build: (build.accelerator.preference, build.name))
    for count in range(1, len(ordered) + 1):
        covers = [
            builds
            for builds in combinations(ordered, count)
            if all(not need.isdisjoint(build.name for build in builds) for need in needs)
        ]
        if covers:
            # Of equal sums the first is the preferred one.
            return {one.name for one in min(covers, key=_size)}
    raise AssertionError("every need is served by all rows together")


def _size(builds: Sequence[Build]) -> int:
    return sum(build.size or 0 for build in builds)
