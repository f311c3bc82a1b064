"""Medians and ratios, as a table and as JSON."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bench_tools.session import Measurement

_REFERENCE = "lockforge"
_STATES = ("cold", "warm", "unchanged", "detect")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A tool's runs of one kind; `ratio` is lockforge's median over this tool's."""

    latency: float
    rows: int
    state: str
    tool: str
    seconds: tuple[float, ...]
    peak_mebibytes: float
    failures: dict[str, str]
    ratio: float | None

    @property
    def median(self) -> float:
        """The middle of the wall times."""
        return statistics.median(self.seconds)


def summarize(measurements: Iterable[Measurement]) -> tuple[Figure, ...]:
    """Gather the runs of a kind; no ratio is given where one of the two left out a row.

    Of one kind lockforge comes first, then the others, the fastest first.
    """
    groups: dict[tuple[float, int, str, str], list[Measurement]] = {}
    for measured in measurements:
        key = (measured.latency, measured.rows, measured.state, measured.tool)
        groups.setdefault(key, []).append(measured)
    failures = {
        key: {row: why for item in group for row, why in item.outcome.failures.items()}
        for key, group in groups.items()
    }
    medians = {
        key: statistics.median(item.outcome.seconds for item in group)
        for key, group in groups.items()
        if not failures[key]
    }
    figures = []
    for key, group in groups.items():
        latency, rows, state, tool = key
        reference = (latency, rows, state, _REFERENCE)
        comparable = tool != _REFERENCE and key in medians and reference in medians
        figures.append(
            Figure(
                latency=latency,
                rows=rows,
                state=state,
                tool=tool,
                seconds=tuple(item.outcome.seconds for item in group),
                peak_mebibytes=max(item.outcome.peak_mebibytes for item in group),
                failures=failures[key],
                ratio=medians[reference] / medians[key] if comparable else None,
            )
        )
    return tuple(sorted(figures, key=_get_place))


def _get_place(figure: Figure) -> tuple[float, int, int, bool, float]:
    state = _STATES.index(figure.state)
    return figure.latency, figure.rows, state, figure.tool != _REFERENCE, figure.median


def render_table(figures: Iterable[Figure]) -> str:
    """Render the figures, one a line, and under them why rows failed.

    The ratio is lockforge's median over that tool's.
    """
    lines = [" latency rows state     tool           runs  median s     min     max    MiB  ratio"]
    reasons: dict[str, None] = {}
    for figure in figures:
        ratio = f"{figure.ratio:.2f}" if figure.ratio is not None else "-"
        failed = f"  {len(figure.failures)} rows failed" if figure.failures else ""
        lines.append(
            f"{figure.latency:>5g} ms {figure.rows:>4} {figure.state:9} {figure.tool:14} "
            f"{len(figure.seconds):>4} {figure.median:>9.3f} {min(figure.seconds):>7.3f} "
            f"{max(figure.seconds):>7.3f} {figure.peak_mebibytes:>6.0f} {ratio:>6}{failed}"
        )
        for row, why in figure.failures.items():
            reasons[f"{figure.tool}, {row}: {why}"] = None
    return "\n".join([*lines, *(["", *reasons] if reasons else [])])


def to_json(figures: Iterable[Figure], context: dict[str, Any]) -> dict[str, Any]:
    """Return the figures as a JSON object, with what they were measured on."""
    return {
        "version": 1,
        **context,
        "figures": [
            {
                "latency_ms": figure.latency,
                "rows": figure.rows,
                "state": figure.state,
                "tool": figure.tool,
                "median_seconds": figure.median,
                "seconds": list(figure.seconds),
                "peak_mebibytes": figure.peak_mebibytes,
                "lockforge_ratio": figure.ratio,
                "failures": figure.failures,
            }
            for figure in figures
        ],
    }
