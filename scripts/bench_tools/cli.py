"""Command line of `bench`."""

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench_tools.environments import (
    CHECKOUT,
    InstallationError,
    Installed,
    install,
    serve_snapshot,
)
from bench_tools.report import render_table, summarize, to_json
from bench_tools.rows import ROW_SETS
from bench_tools.session import Measurement, Session
from bench_tools.tools import Lockforge, Nab, Pdm, Tool, Uv

_TOOLS: tuple[Tool, ...] = (Lockforge(CHECKOUT), Uv(), Nab(), Pdm())
_LATENCIES = (0.0, 30.0)
_RUNS = 5

_DESCRIPTION = """\
Lock one project for the same rows with lockforge and with other tools, from one served snapshot,
with an empty cache (cold) and with the cache that left (warm), and compare medians; then lockforge
with nothing to do, and its detection beside that lock, with the start of Python. A lock that
does not list a row's own torch wheel counts as failed for that row. Each tool is installed from the
package registry in a virtual environment of its own, lockforge from this checkout. A tool that
takes longer than 15 seconds for both is run once, not --runs times."""


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, and write the JSON file asked for."""
    options = _make_parser().parse_args(arguments)
    # So that the server and the directories are gone then too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    runs, latencies = (1, _LATENCIES[:1]) if options.quick else (options.runs, options.latency)
    with tempfile.TemporaryDirectory(prefix="lockforge-bench-") as temporary:
        environments = options.environments or Path(temporary) / "environments"
        installed = tuple(_install_all(options.tools, environments))
        measurements: list[Measurement] = []
        for latency in latencies:
            with serve_snapshot(options.snapshot, latency) as base_url:
                session = Session(
                    installed=installed,
                    base_url=base_url,
                    latency=latency,
                    runs=runs,
                    directory=Path(temporary) / "run",
                )
                measurements += _measure_all(session, options.rows)
    figures = summarize(measurements)
    print(render_table(figures))
    if options.json:
        context = {
            "tools": {item.tool.name: item.version for item in installed},
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "processors": os.cpu_count(),
            "runs": runs,
        }
        text = json.dumps(to_json(figures, context), indent=2)
        options.json.write_text(f"{text}\n", encoding="utf-8")
    return 0


def _measure_all(session: Session, row_counts: Iterable[int]) -> Iterator[Measurement]:
    for count in row_counts:
        _tell(f"{session.latency:g} ms, {count} rows")
        yield from session.measure(ROW_SETS[count])
        if not session.latency:
            yield from session.measure_short(ROW_SETS[count])


def _install_all(names: Iterable[str], environments: Path) -> Iterator[Installed]:
    for tool in _TOOLS:
        if tool.name in names:
            try:
                installed = install(tool, environments)
            except InstallationError as error:
                print(f"{tool.name} is left out: {error}")
            else:
                _tell(f"installed {installed.version}")
                yield installed


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _make_parser() -> argparse.ArgumentParser:
    names = [tool.name for tool in _TOOLS]
    parser = argparse.ArgumentParser("bench", description=_DESCRIPTION)
    parser.add_argument("--runs", type=int, default=_RUNS, help=f"of each kind (default {_RUNS})")
    parser.add_argument(
        "--tools", nargs="+", choices=names, default=names, metavar="TOOL", help=", ".join(names)
    )
    parser.add_argument(
        "--rows", nargs="+", type=int, choices=ROW_SETS, default=list(ROW_SETS), help="how many"
    )
    parser.add_argument(
        "--latency",
        nargs="+",
        type=float,
        default=_LATENCIES,
        metavar="MS",
        help="of each request; 0 and 30 by default",
    )
    parser.add_argument("--quick", action="store_true", help="one run, without latency")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument(
        "--snapshot", type=Path, default=CHECKOUT / "fixtures" / "snapshot", metavar="DIR"
    )
    parser.add_argument(
        "--environments", type=Path, metavar="DIR", help="keep the tools' environments there"
    )
    return parser
