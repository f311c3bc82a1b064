"""The given scenarios: named when tests are collected, built and served when one is asked."""

from __future__ import annotations

import runpy
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from tests.scenarios.scenario import Scenario
from tests.scenarios.site import HTML_ONLY, Site, serve
from tests.support.command import Ended, lockforge


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A scenario, and what locking it came to."""

    scenario: Scenario
    site: Site
    ended: Ended
    lock: Path


class AnswerOf(Protocol):
    """Locks a scenario by name, once; the other way has HTML pages and the reverse order."""

    def __call__(self, name: str, *, other_way: bool = False) -> Answer: ...


@dataclass(frozen=True, kw_only=True)
class Given:
    """All scenarios by name, served under one address."""

    root: Path
    url: str
    scenarios: Mapping[str, Scenario]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each scenario a test of its own; without scenarios one is left, to be skipped."""
    if "name" in metafunc.fixturenames:
        root = metafunc.config.rootpath.parent / "shared" / "scenarios"
        texts = [path.read_text("utf-8") for path in root.glob("**/*.toml")]
        names = sorted(tomllib.loads(text)["name"] for text in texts)
        metafunc.parametrize("name", names or ["none-is-there"])


@pytest.fixture(scope="session")
def given(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Given]:
    source = shared / "scenarios"
    root = tmp_path_factory.mktemp("scenarios")
    entries = runpy.run_path(str(source / "build_index.py"))["build"](source, root)
    scenarios = [Scenario.from_dict(entry) for entry in entries]
    with serve(root) as url:
        yield Given(root=root, url=url, scenarios={one.name: one for one in scenarios})


@pytest.fixture(scope="session")
def answer_of(given: Given, tmp_path_factory: pytest.TempPathFactory) -> AnswerOf:
    """Give each scenario a directory of its own."""
    answers: dict[tuple[str, bool], Answer] = {}

    def lock(name: str, *, other_way: bool = False) -> Answer:
        if (name, other_way) not in answers:
            scenario, url = given.scenarios[name], f"{given.url}/{name}"
            if other_way:
                scenario, url = scenario.reversed(), f"{given.url}/{HTML_ONLY}/{name}"
            site = Site(root=given.root / name, url=url)
            directory = tmp_path_factory.mktemp("project")
            answers[name, other_way] = _lock(scenario, site, directory)
        return answers[name, other_way]

    return lock


def _lock(scenario: Scenario, site: Site, directory: Path) -> Answer:
    scenario.write_project(directory)
    ended = lockforge(
        *("lock", "--project", directory, "--index-url", site.index_url),
        *("--matrix", ",".join(f"{row.platform}-{row.label}" for row in scenario.rows)),
        *("--python", scenario.python),
        *scenario.options,
    )
    return Answer(scenario=scenario, site=site, ended=ended, lock=directory / "pylock.toml")
