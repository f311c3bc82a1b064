"""What a lock of a scenario must hold, read with packaging and the scenario's own files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from packaging.pylock import Pylock, PylockSelectError
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.independent.check_lock import Row, Selection, check_best, check_closure, select
from tests.scenarios.scenario import Scenario
from tests.scenarios.site import Site


def selections(path: Path, scenario: Scenario) -> Iterator[tuple[Row, int, Selection]]:
    """Select for each row and patch release; raises PylockSelectError where that is ambiguous."""
    lock = Pylock.from_dict(tomllib.loads(path.read_text("utf-8")))
    for row in scenario.rows:
        for patch in scenario.patches:
            yield row, patch, select(lock, row, patch)


def find_faults(path: Path, scenario: Scenario, site: Site) -> list[str]:
    """List what is wrong with a lock, whatever the versions it chose."""
    try:
        selected = list(selections(path, scenario))
    except PylockSelectError as error:
        return [str(error)]
    return [
        f"{row}: {fault}"
        for row, patch, selection in selected
        for fault in _faults_of_row(selection, row, patch, scenario, site)
    ]


def _faults_of_row(
    selected: Selection, row: Row, patch: int, scenario: Scenario, site: Site
) -> Iterator[str]:
    for name, (package, source) in selected.items():
        page = site.page(name)
        announced = page.get(source.filename)
        if announced is None:
            yield f"{source.filename} is not on its page"
            continue
        # A plus sign is written as such on one form of a page, and as %2B on the other.
        found = (unquote(source.url or ""), source.hashes.get("sha256"))
        if found != (announced.url, announced.sha256):
            yield f"{source.filename} has another address or hash than its page says"
        if package.index is None or package.index.rstrip("/") != site.index_url.rstrip("/"):
            yield f"{source.filename} is from {package.index}"
        full = f"{row.python[0]}.{row.python[1]}.{patch}"
        if not SpecifierSet(announced.requires_python or "").contains(full):
            yield f"{source.filename} is not for Python {full}"
        files = list(page.values())
        if name in scenario.no_binary:
            files = [file for file in files if not file.filename.endswith(".whl")]
        yield from check_best(source, files, row, patch)
    yield from check_closure(
        selected,
        {name: site.requires(source.filename) for name, (_, source) in selected.items()},
        row,
        patch,
        tuple(map(Requirement, scenario.requires)),
    )


def versions(selected: Selection) -> dict[str, str]:
    """Give the versions of a selection by name."""
    return {name: str(package.version) for name, (package, _) in selected.items()}


def names_one_of(text: str, projects: Iterable[str]) -> bool:
    """Tell whether a text names a project: "a" as a name, not as the article."""
    return any(
        re.search(
            rf"(?<![\w.-]){re.escape(name)}(?=\s*$|\s*[\[<>=!~(,:;`'\"]|\s+\d)", text, re.MULTILINE
        )
        for name in projects
    )
