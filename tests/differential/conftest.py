"""The recorded indexes served to both, and the locks made from them."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from packaging.pylock import Pylock
from snapshot_server import serve

from tests.differential.questions import Question
from tests.differential.uv import Uv
from tests.support.command import lockforge

FIXTURES = Path(__file__).parents[2] / "fixtures"

LockOf = Callable[[Question], Pylock]


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    with serve(FIXTURES / "snapshot") as url:
        yield url


@pytest.fixture(scope="session")
def uv(base_url: str, tmp_path_factory: pytest.TempPathFactory) -> Uv:
    program = Path(sys.executable).with_name("uv")
    if not program.exists():
        pytest.skip("uv is not installed beside this Python")
    return Uv(program=program, base_url=base_url, cache=tmp_path_factory.mktemp("uv"))


@pytest.fixture(scope="session")
def lock_of(base_url: str, tmp_path_factory: pytest.TempPathFactory) -> LockOf:
    """Give the lock that answers a question for all its rows, made once."""
    made: dict[str, Pylock] = {}

    def lock(question: Question) -> Pylock:
        if question.name not in made:
            directory = tmp_path_factory.mktemp(question.name)
            made[question.name] = _lock(question, base_url, directory)
        return made[question.name]

    return lock


def _lock(question: Question, base_url: str, directory: Path) -> Pylock:
    project = FIXTURES / "projects" / question.project if question.project else directory
    path = directory / "pylock.toml"
    ended = lockforge(
        "lock",
        *question.requirements,
        *("--project", project, "-o", path),
        *("--matrix", ",".join(question.rows), "--python", ",".join(question.pythons)),
        *("--index-url", f"{base_url}/simple/", "--torch-index", f"{base_url}/whl"),
        *(part for extra in question.extras for part in ("--extra", extra)),
    )
    assert ended.status == 0, ended.err
    return Pylock.from_dict(tomllib.loads(path.read_text("utf-8")))
