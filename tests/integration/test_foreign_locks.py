"""A lock that another tool made is read for its versions, and kept where they fit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import Project
from tests.support.locks import Lock
from tests.support.world import World

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
CP = f"cp{PYTHON.replace('.', '')}"


@pytest.fixture
def stack(world: World) -> World:
    """Two torches on each index, and pure wheels that both tools can lock on any machine."""
    for version in ("2.8.0", "2.9.1"):
        for index, local in (("cpu", "+cpu"), ("cu128", "+cu128"), ("pypi", "")):
            # Pure here, so that pip, which locks for the host alone, has a wheel everywhere.
            tag = "py3-none-any" if index == "pypi" else f"{CP}-{CP}-manylinux_2_28_x86_64"
            name = f"torch-{version}{local}-{tag}.whl"
            world.add(index, name, requires=["common>=1", "numpy"])
    world.add("pypi", "common-1.0-py3-none-any.whl")
    world.add("pypi", "numpy-2.0.0-py3-none-any.whl")
    return world


def with_uv(root: Path, world: World) -> list[str]:
    uv = shutil.which("uv", path=sysconfig.get_path("scripts")) or shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed")
    return [
        *(uv, "pip", "compile", str(root / "pyproject.toml"), "--format", "pylock.toml"),
        *("-o", str(root / "pylock.toml"), "--index-url", world.default_url),
        *("--python", sys.executable, "--no-python-downloads", "--no-cache"),
    ]


def with_pip(root: Path, world: World) -> list[str]:
    return [
        *(sys.executable, "-m", "pip", "lock", "torch<2.9", "numpy"),
        *("-o", str(root / "pylock.toml"), "--index-url", world.default_url, "--no-cache-dir"),
    ]


@pytest.mark.parametrize("command", [with_uv, with_pip], ids=["uv", "pip"])
def test_versions_of_another_tools_lock_are_kept(
    stack: World, project: Project, command: Callable[[Path, World], list[str]]
) -> None:
    """Newer ones have come since, but nothing asks for them."""
    project.write(
        '[project]\nname = "demo"\nversion = "1"\ndependencies = ["torch<2.9", "numpy"]\n'
        f'requires-python = ">={PYTHON}"\n'
    )
    made = subprocess.run(
        command(project.root, stack),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"},
    )
    assert made.returncode == 0, made.stderr
    stack.add("pypi", "common-1.1-py3-none-any.whl")
    stack.add("pypi", "numpy-2.1.0-py3-none-any.whl")
    project.write((project.root / "pyproject.toml").read_text().replace("torch<2.9", "torch"))

    ended = project.lock(matrix="linux-cu128,linux-cpu", python=PYTHON)

    assert ended.status == 0, ended.err
    assert "pylock.toml was made by" in ended.err
    lock = Lock(project.path)
    for label in ("cu128", "cpu"):
        chosen = lock.select("linux", PYTHON, extras=[label])
        assert {name: one.version for name, one in chosen.items()} == {
            "common": "1.0",
            "numpy": "2.0.0",
            "torch": f"2.8.0+{label}",
        }


def test_another_tools_lock_does_not_bind(stack: World, project: Project) -> None:
    """What it has and the project no longer admits is moved, and no more than that."""
    project.write('[project]\nname = "demo"\nversion = "1"\ndependencies = ["torch"]\n')
    project.path.write_text(
        'lock-version = "1.0"\ncreated-by = "by hand"\n'
        '[[packages]]\nname = "torch"\nversion = "2.7.0"\n'
        'sdist = { url = "https://example.com/torch-2.7.0.tar.gz", hashes = { sha256 = "00" } }\n'
        '[[packages]]\nname = "common"\nversion = "1.0"\n'
        'sdist = { url = "https://example.com/common-1.0.tar.gz", hashes = { sha256 = "00" } }\n'
    )
    stack.add("pypi", "common-1.1-py3-none-any.whl")

    project.locked(python=PYTHON)

    chosen = Lock(project.path).select("linux", PYTHON)
    assert {name: one.version for name, one in chosen.items()} == {
        "common": "1.0",
        "numpy": "2.0.0",
        "torch": "2.9.1+cpu",
    }


@pytest.mark.parametrize(
    "keys",
    [
        "marker = \"extra == 'gpu'\"",
        "marker = \"extra == 'gpu'\"\nrequires-python = '>=3.9'",
        "dependencies = [{ name = 'common', marker = \"extra == 'gpu'\" }]",
        "dependencies = [{ name = 'common', marker = 'none' }]",
        "dependencies = [{ vcs = { type = 'git' } }]",
    ],
)
def test_what_has_no_meaning_in_a_lock(stack: World, project: Project, keys: str) -> None:
    """The versions of such an entry are still kept, for nothing else is read of it."""
    stack.add("pypi", "common-1.1-py3-none-any.whl")
    project.path.write_text(
        f"""\
lock-version = "1.0"
created-by = "by hand"
[[packages]]
name = "common"
version = "1.0"
{keys}
sdist = {{ url = "https://example.com/common-1.0.tar.gz", hashes = {{ sha256 = "00" }} }}
""",
        "utf-8",
    )

    project.locked("common", python=PYTHON)

    chosen = Lock(project.path).select("linux", PYTHON)
    assert {name: one.version for name, one in chosen.items()} == {"common": "1.0"}
