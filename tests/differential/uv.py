"""Asking uv for one row, as its users do: the row's PyTorch index for what they name of PyTorch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.independent.check_lock import FAMILY, Row

_PLATFORMS = {
    "linux": "x86_64-manylinux_2_28",
    "linux-aarch64": "aarch64-manylinux_2_28",
    "win": "x86_64-pc-windows-msvc",
    "mac": "aarch64-apple-darwin",
}


class NothingFoundError(Exception):
    """No versions satisfy the row; what uv says of it."""


@dataclass(frozen=True, kw_only=True)
class Uv:
    """The program, the served indexes, and a cache that all runs share."""

    program: Path
    base_url: str
    cache: Path

    def compile(self, requirements: Sequence[str], row: Row, directory: Path) -> dict[str, str]:
        """Give the versions by name."""
        routed = sorted({Requirement(one).name for one in requirements} & FAMILY)
        sources = "".join(f'{name} = {{ index = "pytorch" }}\n' for name in routed)
        project = directory / "pyproject.toml"
        project.write_text(
            '[project]\nname = "compared"\nversion = "1"\n'
            f"dependencies = {list(requirements)}\n"
            f'[[tool.uv.index]]\nname = "pytorch"\nurl = "{self.base_url}/whl/{row.label}/"\n'
            f"explicit = true\nignore-error-codes = [403]\n[tool.uv.sources]\n{sources}",
            "utf-8",
        )
        command = [str(self.program), "pip", "compile", str(project)]
        command += ["--default-index", f"{self.base_url}/simple/", "--cache-dir", str(self.cache)]
        command += ["--python", sys.executable, "--no-python-downloads", "--no-build"]
        command += ["--python-version", f"{row.python[0]}.{row.python[1]}"]
        command += ["--python-platform", _PLATFORMS[row.platform]]
        command += ["--no-header", "--no-annotate", "--quiet"]
        # Nothing of the user's is read; uv has the floor of macOS from the last of these.
        own = {"HOME": str(directory), "XDG_CONFIG_HOME": str(directory), "NO_PROXY": "*"}
        ended = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            cwd=directory,
            env={**own, "MACOSX_DEPLOYMENT_TARGET": "14.0"},
        )
        if ended.returncode:
            raise NothingFoundError(ended.stderr)
        pins = map(Requirement, ended.stdout.splitlines())
        return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}
