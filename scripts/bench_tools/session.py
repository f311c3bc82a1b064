"""The order of measurements: every tool in turn, again and again, each cold and then warm."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_tools.environments import Installed, make_directory
from bench_tools.measure import Outcome, run_command, run_commands
from bench_tools.rows import Row
from bench_tools.tools import Case, Command, Lockforge

_SLOW_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One outcome, and what it is an outcome of."""

    latency: float
    rows: int
    state: str
    tool: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The tools to measure, on an index with that latency in milliseconds, `runs` times."""

    installed: tuple[Installed, ...]
    base_url: str
    latency: float
    runs: int
    directory: Path

    def measure(self, rows: tuple[Row, ...]) -> Iterator[Measurement]:
        """Lock the rows with an empty cache, then with the cache that left; tool after tool.

        The first turn, in which the server makes its pages, counts for slow tools alone: it is
        their only one.
        """
        slow: set[str] = set()
        for turn in range(self.runs + 1):
            for installed in self.installed:
                name = installed.tool.name
                if name in slow:
                    continue
                outcomes = self._lock_twice(installed, rows)
                if turn == 0 and sum(outcome.seconds for outcome in outcomes) > _SLOW_SECONDS:
                    slow.add(name)
                if turn or name in slow:
                    for state, outcome in zip(("cold", "warm"), outcomes, strict=True):
                        yield self._label(name, rows, state, outcome)

    def _lock_twice(self, installed: Installed, rows: tuple[Row, ...]) -> tuple[Outcome, Outcome]:
        with make_directory(self.directory) as directory:
            return (
                self._lock(installed, rows, directory / "cold", directory / "cache"),
                self._lock(installed, rows, directory / "warm", directory / "cache"),
            )

    def _lock(
        self, installed: Installed, rows: tuple[Row, ...], directory: Path, cache: Path
    ) -> Outcome:
        case = Case(rows=rows, base_url=self.base_url, directory=directory, cache=cache)
        commands = installed.tool.make_commands(case, installed.scripts)
        return run_commands(commands, directory.parent / "home")

    def measure_short(self, rows: tuple[Row, ...]) -> Iterator[Measurement]:
        """Compare short commands to the start of their Python, in turns.

        These are a lock with nothing to do, and detection on this machine beside that lock.
        """
        for installed in self.installed:
            if not isinstance(installed.tool, Lockforge):
                continue
            with make_directory(self.directory) as directory:
                project = directory / "project"
                case = Case(
                    rows=rows,
                    base_url=self.base_url,
                    directory=project,
                    cache=directory / "cache",
                )
                unchanged = installed.tool.make_unchanged_command(case, installed.scripts)
                start = Command(
                    rows=(),
                    arguments=(str(installed.scripts / "python"), "-c", "pass"),
                    lock=project / "no.lock",
                )
                detect = Command(
                    rows=(),
                    arguments=(
                        str(installed.scripts / "lockforge"),
                        "detect",
                        "--json",
                        "--lock",
                        str(unchanged.lock),
                    ),
                    lock=project / "no.lock",
                )
                for turn in range(self.runs + 1):
                    for state, own in (("unchanged", unchanged), ("detect", detect)):
                        for name, command in (("lockforge", own), ("python -c pass", start)):
                            outcome = run_command(command, directory / "home")
                            if turn:
                                yield self._label(name, rows, state, outcome)

    def _label(self, tool: str, rows: tuple[Row, ...], state: str, outcome: Outcome) -> Measurement:
        return Measurement(
            latency=self.latency, rows=len(rows), state=state, tool=tool, outcome=outcome
        )
