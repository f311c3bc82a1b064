"""Runs one process and says what it cost."""

import os
import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench_tools.rows import Row
from bench_tools.tools import Command

_LONGEST_REASON = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Wall time and the largest process, and why rows are missing from the locks, if any are."""

    seconds: float
    peak_mebibytes: float
    failures: Mapping[str, str]


def run_commands(commands: tuple[Command, ...], home: Path) -> Outcome:
    """Run the commands in order, all of them whether or not one fails."""
    outcomes = [run_command(command, home) for command in commands]
    return Outcome(
        seconds=sum(outcome.seconds for outcome in outcomes),
        peak_mebibytes=max(outcome.peak_mebibytes for outcome in outcomes),
        failures={row: why for outcome in outcomes for row, why in outcome.failures.items()},
    )


def run_command(command: Command, home: Path) -> Outcome:
    """Run a command in an environment that holds no setting of the caller's."""
    home.mkdir(exist_ok=True)
    environment = {"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8", **command.environment}
    log = command.lock.with_suffix(".log")
    with log.open("wb") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command.arguments,
            env=environment,
            cwd=command.lock.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        reason = find_reason(log.read_text(encoding="utf-8")) or f"status {process.returncode}"
        failures = {str(row): reason for row in command.rows}
    else:
        failures = find_missing_rows(command.rows, command.lock)
    return Outcome(seconds=seconds, peak_mebibytes=usage.ru_maxrss / 1024, failures=failures)


def find_missing_rows(rows: tuple[Row, ...], lock: Path) -> dict[str, str]:
    """Name the rows whose torch wheel the lock does not list."""
    text = lock.read_text(encoding="utf-8") if lock.exists() else ""
    return {str(row): "its torch is not in the lock" for row in rows if not row.is_locked_in(text)}


def find_reason(output: str) -> str:
    """Return the line that names a Python exception, else an error, else the last, shortened."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    raised = [line for line in lines if re.search(r"\w+Error\b", line)]
    spoken = [line for line in lines if "error" in line.lower()]
    return next(iter([*raised, *spoken, *lines[-1:]]), "")[:_LONGEST_REASON]
