"""What the example projects ask for, in dependencies, extras and dependency groups alike."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def load_requirements(folder: Path) -> tuple[str, ...]:
    """Load the requirements of every `pyproject.toml` one level below a folder."""
    found: set[str] = set()
    for path in sorted(folder.glob("*/pyproject.toml")):
        found.update(_iter_requirements(tomllib.loads(path.read_text(encoding="utf-8"))))
    return tuple(sorted(found))


def _iter_requirements(document: dict[str, Any]) -> Iterable[str]:
    yield from document["project"].get("dependencies", ())
    for requirements in document["project"].get("optional-dependencies", {}).values():
        yield from requirements
    for members in document.get("dependency-groups", {}).values():
        yield from (member for member in members if isinstance(member, str))
