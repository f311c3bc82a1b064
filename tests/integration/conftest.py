"""A project beside a served world, with an old lock that a failing run must leave alone.

Also the installers that a lock is given to.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from venv import EnvBuilder

import pytest
from packaging.version import Version

from tests.support import installers
from tests.support.command import Ended, lockforge
from tests.support.installers import OLDEST_PIP, Install, run
from tests.support.world import World

OLD_LOCK = b'lock-version = "1.0"\ncreated-by = "another tool"\npackages = []\n'


@dataclass(frozen=True, kw_only=True)
class Project:
    """A directory to lock in, for one CPU row unless told otherwise."""

    root: Path
    world: World

    @property
    def path(self) -> Path:
        """The lock's place."""
        return self.root / "pylock.toml"

    def write(self, text: str, name: str = "pyproject.toml") -> Path:
        """Write a file of the project."""
        path = self.root / name
        path.write_text(textwrap.dedent(text), "utf-8")
        return path

    def run(self, *arguments: str | Path) -> Ended:
        """Lock with the options given and no others."""
        return lockforge("lock", "--project", self.root, *arguments)

    def lock(
        self, *arguments: str | Path, matrix: str = "linux-cpu", python: str = "3.12"
    ) -> Ended:
        """Lock from the served world."""
        return self.run(
            *("--matrix", matrix, "--python", python),
            *("--index-url", self.world.default_url, "--torch-index", self.world.torch_url),
            *arguments,
        )

    def locked(
        self, *arguments: str | Path, matrix: str = "linux-cpu", python: str = "3.12"
    ) -> dict[str, Any]:
        """Lock from the served world and read the lock."""
        ended = self.lock(*arguments, matrix=matrix, python=python)
        assert ended.status == 0, ended.err
        return tomllib.loads(self.path.read_text("utf-8"))

    def refused(
        self,
        status: int,
        *arguments: str | Path,
        matrix: str = "linux-cpu",
        python: str = "3.12",
    ) -> str:
        """Lock where it must fail; the old lock stays and nothing is left beside it."""
        return self.ends(status, lambda: self.lock(*arguments, matrix=matrix, python=python))

    def run_refused(self, status: int, *arguments: str | Path) -> str:
        """Do the same with no options but those given; whatever happens, no index is asked."""
        return self.ends(status, lambda: self.run("--offline", *arguments))

    def ends(self, status: int, act: Any) -> str:
        """Demand an exit status, a message, no output, and no change of any file."""
        if not self.path.exists():
            self.path.write_bytes(OLD_LOCK)
        before = _contents(self.root)

        ended: Ended = act()

        assert (ended.status, ended.out) == (status, ""), ended
        assert ended.err.startswith(("error[", "Usage: ")), ended.err
        assert _contents(self.root) == before
        return ended.err


def _contents(root: Path) -> dict[str, bytes]:
    return {
        os.path.relpath(path, root): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def project(tmp_path: Path, world: World) -> Project:
    """An empty project beside an empty world."""
    root = tmp_path / "project"
    root.mkdir()
    return Project(root=root, world=world)


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """An empty environment of the running Python."""
    path = tmp_path / "venv"
    EnvBuilder(symlinks=True, with_pip=False).create(path)
    return path


@pytest.fixture
def pip_install(tmp_path: Path) -> Install:
    """``pip install -r 'pylock.toml[cu130]'``."""
    try:
        found = Version(version("pip"))
    except PackageNotFoundError:
        pytest.skip("there is no pip here")
    if found < OLDEST_PIP:
        pytest.skip(f"pip {found} is older than {OLDEST_PIP} and reads no pylock.toml")

    def install(lock: Path, venv: Path, extras: Sequence[str]) -> installers.Ended:
        selector = f"[{','.join(extras)}]" if extras else ""
        command = [sys.executable, "-m", "pip", "--python", str(venv), "install"]
        return run([*command, "-r", f"{lock}{selector}"], tmp_path / "pip-cache")

    return install


@pytest.fixture
def uv() -> str:
    """The path of uv, beside this Python or elsewhere."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which("uv", path=places)
    if found is None:
        pytest.skip("there is no uv here")
    return found


@pytest.fixture
def uv_sync(tmp_path: Path, uv: str) -> Install:
    """``uv pip sync pylock.toml --extra cu130``."""

    def install(lock: Path, venv: Path, extras: Sequence[str]) -> installers.Ended:
        chosen = [part for extra in extras for part in ("--extra", extra)]
        return run([uv, "pip", "sync", lock, "--python", venv, *chosen], tmp_path / "uv-cache")

    return install


@pytest.fixture
def uv_install(tmp_path: Path, uv: str) -> Install:
    """``uv pip install -r pylock.toml --extra cu130``."""

    def install(lock: Path, venv: Path, extras: Sequence[str]) -> installers.Ended:
        chosen = [part for extra in extras for part in ("--extra", extra)]
        named = ["-r", str(lock), "--python", str(venv)]
        return run([uv, "pip", "install", *named, *chosen], tmp_path / "uv-cache")

    return install


@pytest.fixture(params=["pip_install", "uv_sync"])
def install(request: pytest.FixtureRequest) -> Install:
    """Each of the two installers."""
    found: Install = request.getfixturevalue(request.param)
    return found
