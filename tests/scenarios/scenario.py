"""A scenario's question in lockforge's terms: the rows, the Python, the options."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from packaging.requirements import Requirement

from tests.independent.check_lock import PATCHES, Row

_LINUX = re.compile(r"(?P<machine>x86_64|aarch64)-manylinux(?:_2_(?P<minor>\d+)|(?P<year>2014))")
_OTHERS = {
    "linux": "linux",
    "windows": "win",
    "x86_64-pc-windows-msvc": "win",
    "macos": "mac",
    "aarch64-apple-darwin": "mac",
    "x86_64-apple-darwin": "mac-x86_64",
}
_GLIBC = 28
_PRERELEASES = {True: "allow", False: "disallow"}


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One entry of the manifest, read."""

    name: str
    requires: tuple[str, ...]
    requires_python: str | None
    python: str
    platforms: tuple[str, ...]
    glibc: int
    """The minor of glibc 2 that Linux rows have."""
    universal: bool
    satisfiable: bool
    packages: Mapping[str, str] | None
    options: tuple[str, ...]
    no_binary: tuple[str, ...]

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Self:
        asked, root, expected = entry["resolver_options"], entry["root"], entry["expected"]
        universal = "universal" in asked or "required_environments" in asked
        platform, glibc = _parse_platform(asked.get("python_platform", "linux"))
        python = asked.get("python") or entry["environment"].get("python")
        return cls(
            name=entry["name"],
            requires=tuple(root["requires"]),
            requires_python=root.get("requires_python"),
            # Where all environments are asked for, that of the resolver is none of the question.
            python="3.12" if universal or not python else python,
            platforms=("linux", "win", "mac") if universal else (platform,),
            glibc=glibc,
            universal=universal,
            satisfiable=expected["satisfiable"],
            packages=expected.get("packages"),
            options=tuple(_options(asked)),
            no_binary=tuple(asked.get("no_binary", ())),
        )

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows as the independent check names them."""
        major, minor, *_ = self.python.split(".")
        return tuple(
            Row(
                platform=platform,
                label="cpu",
                python=(int(major), int(minor)),
                glibc=self.glibc,
            )
            for platform in self.platforms
        )

    @property
    def roots(self) -> tuple[str, ...]:
        """The names of what is asked for."""
        return tuple(Requirement(text).name for text in self.requires)

    @property
    def patches(self) -> tuple[int, ...]:
        """The patch releases of the Python for which the answer must hold."""
        stated = self.python.split(".")[2:]
        return (int(stated[0]),) if stated else PATCHES

    def reversed(self) -> Self:
        """Ask the same in the other order."""
        return replace(self, requires=self.requires[::-1])

    def write_project(self, directory: Path) -> None:
        """Write the `pyproject.toml` that asks the question."""
        lines = ["[project]", 'name = "scenario"', 'version = "1"']
        if self.requires_python is not None:
            lines.append(f"requires-python = {json.dumps(self.requires_python)}")
        lines += [f"dependencies = {json.dumps(self.requires)}"]
        if self.glibc != _GLIBC:
            row = f"{self.platforms[0]}-cpu"
            lines += [f"[tool.lockforge.rows.{row}]", f'glibc = "2.{self.glibc}"']
        (directory / "pyproject.toml").write_text("\n".join(lines), "utf-8")


def _parse_platform(text: str) -> tuple[str, int]:
    """Read another tool's name of a platform as ours and its glibc."""
    if linux := _LINUX.fullmatch(text):
        platform = "linux" if linux["machine"] == "x86_64" else "linux-aarch64"
        return platform, 17 if linux["year"] else int(linux["minor"])
    return _OTHERS[text], _GLIBC


def _options(asked: Mapping[str, Any]) -> list[str]:
    found = []
    if "prereleases" in asked:
        found += ["--prerelease", _PRERELEASES[asked["prereleases"]]]
    if "resolution" in asked:
        found += ["--resolution", asked["resolution"]]
    for name in asked.get("no_build", ()):
        found += ["--only-binary", name]
    for name in asked.get("no_binary", ()):
        found += ["--no-binary", name]
    return found
