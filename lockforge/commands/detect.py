"""`lockforge detect`: what a machine is, and which rows serve it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lockforge.detect.builds import catalog_builds, locked_builds, platform_of
from lockforge.detect.cautions import cautions_of
from lockforge.detect.choose import choose, would_serve
from lockforge.detect.facts import read_facts, variables_of
from lockforge.detect.gather import gather
from lockforge.detect.overrides import wanted_from
from lockforge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.catalog import Catalog, Source
    from lockforge.model.choice import Build, Choice, Wanted
    from lockforge.model.lock import LockedRow
    from lockforge.model.machine import Caution, Facts
    from lockforge.model.probe import Asked
    from lockforge.ports import System


class Observed(NamedTuple):
    """A machine as it was asked, or as facts were saved of it."""

    facts: Facts
    asked: tuple[Asked, ...] = ()
    wanted: Wanted | None = None
    """What its variables ask for."""


class Judged(NamedTuple):
    """A machine with the rows as judged for it."""

    observed: Observed
    choice: Choice
    cautions: tuple[Caution, ...]
    sources: dict[str, Source]
    """Where what is said of the builds is from, by the key that verdicts have."""
    would_serve: str | None
    """The row to lock where none of the lock serves the host, or its GPUs."""


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
    return Judged(
        observed=observed,
        choice=choice,
        cautions=cautions_of(facts, choice, catalog),
        sources={
            key: catalog.source(key) for verdict in choice.verdicts for key in verdict.sources
        },
        would_serve=None if rows is None else _row_to_lock(facts, choice, catalog),
    )


def _row_to_lock(facts: Facts, choice: Choice, catalog: Catalog) -> str | None:
    usable = {one.build.accelerator for one in choice.verdicts if one.status == "usable"}
    platform = platform_of(facts)
    if platform is None or any(one.kind != "cpu" for one in usable):
        return None
    label = would_serve(facts, catalog)
    if label is None or label in {one.label for one in usable}:
        return None
    return f"{platform.name}-{label}"


def _builds(
    facts: Facts,
    rows: Sequence[LockedRow] | None,
    catalog: Catalog,
    labels: Sequence[str] | None,
) -> tuple[Build, ...]:
    if rows is not None:
        return locked_builds(rows)
    try:
        return catalog_builds(catalog, platform_of(facts), labels)
    except ValueError as error:
        raise UsageError(
            str(error),
            where="--accelerators",
            hint="give labels of PyTorch's such as cu130, rocm7.2, xpu or cpu",
        ) from error


def judged_text(judged: Judged, *, explain: bool, command: str | None = None) -> str:
    """Write it for people, after every probe and its answer where *explain*.

    *command* installs the row of a lock that is chosen.
    """
    from lockforge.report.detection import render_detection

    text = render_detection(
        judged.observed.facts,
        judged.choice,
        judged.cautions,
        sources=judged.sources,
        command=command,
        would_serve=judged.would_serve,
    )
    if not explain:
        return text
    from lockforge.report.explanation import render_explanation

    return f"{render_explanation(judged.observed.asked)}\n{text}"


def judged_data(judged: Judged, *, explain: bool) -> dict[str, Any]:
    """Give the document of ``--json``, with the probes where *explain*."""
    from lockforge.detect.facts_data import facts_to_data
    from lockforge.report.detection import detection_data

    facts = facts_to_data(judged.observed.facts)
    data = detection_data(facts, judged.choice, judged.cautions, judged.sources)
    if judged.would_serve is not None:
        data["would_serve"] = judged.would_serve
    if explain:
        from lockforge.report.explanation import explanation_data

        data["probes"] = explanation_data(judged.observed.asked)
    return data
