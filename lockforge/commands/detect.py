"""`lockforge detect`: what a machine is, and which rows serve it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lockforge.detect.builds import catalog_builds, locked_builds, platform_of
from lockforge.detect.cautions import cautions_of
from lockforge.detect.choose import choose
from lockforge.detect.facts import read_facts, variables_of
from lockforge.detect.gather import gather
from lockforge.detect.overrides import wanted_from
from lockforge.detect.record import facts_to_data
from lockforge.report.detection import detection_data, render_detection
from lockforge.report.explanation import explanation_data, render_explanation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.catalog import Catalog
    from lockforge.model.choice import Build, Choice, Wanted
    from lockforge.model.lock import LockedRow
    from lockforge.model.machine import Caution, Facts
    from lockforge.model.probe import Asked
    from lockforge.ports import System


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A machine as it was asked, or as facts were saved of it."""

    facts: Facts
    asked: tuple[Asked, ...] = ()
    wanted: Wanted | None = None
    """What its variables ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A machine with the rows as judged for it."""

    observed: Observed
    choice: Choice
    cautions: tuple[Caution, ...]
    would_serve: str | None
    """The accelerator of the catalogue that serves where no row of the lock does."""


def observe(system: System, catalog: Catalog) -> Observed:
    """Ask all probes; raises UsageError for a variable of the user's that cannot be read."""
    asked = gather(system)
    return Observed(
        facts=read_facts(asked, catalog), asked=asked, wanted=wanted_from(variables_of(asked))
    )


def judge(
    observed: Observed,
    rows: Sequence[LockedRow] | None,
    catalog: Catalog,
    *,
    labels: Sequence[str] | None = None,
    wanted: Wanted | None = None,
) -> Judged:
    """Judge the rows of a lock, or without one the catalogue's accelerators or those of *labels*.

    *wanted* comes before what the machine's variables ask for. Raises UsageError for a row that
    there is not.
    """
    facts = observed.facts
    builds = _builds(facts, rows, catalog, labels)
    choice = choose(facts, builds, catalog, wanted or observed.wanted)
    served = any(one.status == "usable" for one in choice.verdicts)
    would_serve = None if rows is None or served else _serving(facts, catalog)
    return Judged(
        observed=observed,
        choice=choice,
        cautions=cautions_of(facts, choice, catalog),
        would_serve=would_serve,
    )


def _builds(
    facts: Facts,
    rows: Sequence[LockedRow] | None,
    catalog: Catalog,
    labels: Sequence[str] | None,
) -> tuple[Build, ...]:
    if rows is not None:
        return locked_builds(rows)
    return catalog_builds(catalog, platform_of(facts), labels)


def _serving(facts: Facts, catalog: Catalog) -> str | None:
    """Give the accelerator of the catalogue that serves best, at its newest torch."""
    best = choose(facts, catalog_builds(catalog, platform_of(facts), None), catalog).best
    return None if best is None else best.build.accelerator.label


def judged_text(judged: Judged, *, explain: bool) -> str:
    """Write it for people, after every probe and its answer where *explain*."""
    text = render_detection(
        judged.observed.facts,
        judged.choice,
        judged.cautions,
        would_serve=judged.would_serve,
    )
    return f"{render_explanation(judged.observed.asked)}\n{text}" if explain else text


def judged_data(judged: Judged, *, explain: bool) -> dict[str, Any]:
    """Give the document of ``--json``, with the probes where *explain*."""
    facts = facts_to_data(judged.observed.facts)
    data = detection_data(facts, judged.choice, judged.cautions)
    if judged.would_serve is not None:
        data["would_serve"] = judged.would_serve
    if explain:
        data["probes"] = explanation_data(judged.observed.asked)
    return data
