"""Real installers on this machine, kept apart from the user's settings, caches and indexes.

What is said of the tools holds for pip 26.3 and uv 0.13.9, of which both call their support for
pylock.toml experimental.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import TypeAlias

from packaging.version import Version

Ended: TypeAlias = "subprocess.CompletedProcess[str]"
Install: TypeAlias = Callable[[Path, Path, Sequence[str]], Ended]

MACHINE = platform.machine()
HOST = {"x86_64": "linux", "aarch64": "linux-aarch64"}.get(MACHINE, "")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
CP = f"cp{PYTHON.replace('.', '')}"
LINUX = f"manylinux_2_28_{MACHINE}"
# pip 26.1 reads locks, but takes the extras for a part of the file's name.
OLDEST_PIP = Version("26.3")


def why_not_here() -> str | None:
    """Say why wheels of a Linux row cannot be installed on this machine."""
    if platform.system() != "Linux" or not HOST:
        return "the rows of these tests are for Linux on x86_64 or aarch64"
    kind, libc = platform.libc_ver()
    if kind != "glibc" or Version(libc) < Version("2.28"):
        return "the rows of these tests need glibc 2.28"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "locks are for CPython with its lock"
    return None


def clean_environment(cache: Path) -> Mapping[str, str]:
    """Keep settings of the user's, proxies and caches out of the installers."""
    prefixes = ("PIP_", "UV_", "VIRTUAL_ENV", "PYTHON")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(prefixes) and not name.lower().endswith("_proxy")
    }
    return {
        **kept,
        "NO_PROXY": "*",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_NO_INDEX": "1",
        "UV_CACHE_DIR": str(cache),
        "UV_NO_CONFIG": "1",
        "UV_PYTHON_DOWNLOADS": "never",
    }


def run(command: Sequence[str | Path], cache: Path) -> Ended:
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=cache.parent,
        env=clean_environment(cache),
    )


def site_packages(venv: Path) -> Path:
    return next(venv.glob("lib/python*/site-packages"))


def installed(venv: Path) -> dict[str, str]:
    """Give what an environment has, by name with its whole version."""
    found = distributions(path=[str(site_packages(venv))])
    return {one.metadata["Name"]: one.version for one in found}
