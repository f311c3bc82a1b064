"""The tools' virtual environments and the served snapshot."""

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_tools.measure import find_reason
from bench_tools.tools import Tool

CHECKOUT = Path(__file__).parents[2]


class InstallationError(Exception):
    """A tool cannot be measured: what pip said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A tool, the folder of its programs, and its version as it says it itself."""

    tool: Tool
    scripts: Path
    version: str


def install(tool: Tool, directory: Path) -> Installed:
    """Install the tool's newest release; one that is there from an earlier run is brought up."""
    environment = directory / tool.name
    scripts = environment / "bin"
    if not scripts.exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip = [str(scripts / "python"), "-m", "pip", "install", "--quiet", "--upgrade"]
    installation = subprocess.run(
        [*pip, *tool.packages], check=False, capture_output=True, text=True
    )
    if installation.returncode:
        raise InstallationError(find_reason(installation.stderr))
    asked = subprocess.run(
        [str(scripts / tool.name), "--version"], check=False, capture_output=True, text=True
    )
    if asked.returncode:
        raise InstallationError(find_reason(asked.stderr))
    return Installed(tool=tool, scripts=scripts, version=asked.stdout.strip())


@contextlib.contextmanager
def serve_snapshot(snapshot: Path, latency: float) -> Iterator[str]:
    """Serve from another process, so that its memory is not counted with that of a child here."""
    command = [sys.executable, str(CHECKOUT / "scripts" / "serve_snapshot"), str(snapshot)]
    with subprocess.Popen(
        [*command, "--latency", str(latency)], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            yield server.stdout.readline().strip() if server.stdout else ""
        finally:
            server.terminate()


@contextlib.contextmanager
def make_directory(path: Path) -> Iterator[Path]:
    """Give an empty directory that is gone afterwards."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
