"""Fixtures for all tests: every test has its own cache and configuration, and a served world."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lockforge.detect.probes import PROBES
from lockforge.model.probe import Variables
from tests.support.world import World, serve


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write the golden files anew.")


ROOT = Path(__file__).parent.parent
VARIABLES = tuple(
    name
    for probe in PROBES
    if isinstance(probe.question, Variables)
    for name in probe.question.names
)
"""What a machine is asked for."""


@pytest.fixture(autouse=True)
def own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's cache, configuration, index settings and proxies out of every test.

    So with what they state of GPUs, or hide of them.
    """
    monkeypatch.setenv("LOCKFORGE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    own = ("LOCKFORGE_CATALOG", "PIP_FIND_LINKS", "PIP_INDEX_URL", "UV_INDEX_URL")
    for name in (*own, *VARIABLES):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def world() -> Iterator[World]:
    """An empty world, served on loopback."""
    with serve(World()) as served:
        yield served


@pytest.fixture
def snapshot() -> Path:
    """The recorded snapshot."""
    return ROOT / "fixtures" / "snapshot"


@pytest.fixture
def projects() -> Path:
    """The example projects."""
    return ROOT / "fixtures" / "projects"


@pytest.fixture(scope="session")
def shared() -> Path:
    """What is given beside the checkout, and is no part of it."""
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip(f"{path} is not there")
    return path
