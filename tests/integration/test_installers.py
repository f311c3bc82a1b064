"""Real pip and real uv install from our locks: exactly one row, or nothing.

Wheels are served on loopback and installed into environments of their own; no index is asked.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.command import lockforge
from tests.support.installers import (
    CP,
    HOST,
    LINUX,
    PYTHON,
    Install,
    installed,
    site_packages,
    why_not_here,
)
from tests.support.wheels import build_wheel, metadata_text
from tests.support.world import Answer, World

OTHER_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor + 1}"
ROWS = (f"{HOST}-cu130", f"{HOST}-cpu", "win-cpu", "mac-cpu")
TORCH_CUDA = f"torch-2.9.0+cu130-{CP}-{CP}-{LINUX}.whl"

CUDA_ROW = {
    "common": "1.5",
    "nvidia-cudart": "13.0.48",
    "torch": "2.9.0+cu130",
    "torchmetrics": "1.8.0",
}
CPU_ROW = {"common": "1.5", "torch": "2.9.0+cpu", "torchmetrics": "1.8.0"}

pytestmark = pytest.mark.skipif(why_not_here() is not None, reason=str(why_not_here()))


@pytest.fixture
def stack(world: World) -> World:
    """A small torch for CUDA, Linux, Windows and macOS, with what it and a companion need."""
    world.add("pypi", "common-1.5-py3-none-any.whl")
    world.add("pypi", "torchmetrics-1.8.0-py3-none-any.whl", requires=["common", "torch>=2"])
    world.add("pypi", f"nvidia_cudart-13.0.48-py3-none-{LINUX}.whl")
    # What must never be taken: the default index has a newer torch.
    world.add("pypi", f"torch-2.10.0-{CP}-{CP}-{LINUX}.whl", requires=["common>=1"])
    cuda = "nvidia-cudart==13.0.48; platform_system == 'Linux'"
    world.add("cu130", TORCH_CUDA, requires=["common>=1", cuda])
    for python in (PYTHON, OTHER_PYTHON):
        tag = f"cp{python.replace('.', '')}"
        for name in (
            f"torch-2.9.0+cpu-{tag}-{tag}-{LINUX}.whl",
            f"torch-2.9.0+cpu-{tag}-{tag}-win_amd64.whl",
            f"torch-2.9.0-{tag}-none-macosx_11_0_arm64.whl",
        ):
            world.add("cpu", name, requires=["common>=1"])
    return world


def make_lock(
    world: World,
    root: Path,
    rows: Sequence[str] = ROWS,
    *,
    python: str = PYTHON,
    more: Sequence[str | Path] = (),
) -> Path:
    root.mkdir(exist_ok=True)
    ended = lockforge(
        *("lock", "torch", "torchmetrics", "--project", root),
        *("--matrix", ",".join(rows), "--python", python),
        *("--index-url", world.default_url, "--torch-index", world.torch_url),
        *more,
    )
    assert ended.status == 0, ended.err
    return root / "pylock.toml"


@pytest.fixture
def lock(stack: World, tmp_path: Path) -> Path:
    """A lock of four rows, two of them for this machine."""
    return make_lock(stack, tmp_path / "project")


def index_of_torch(venv: Path) -> str:
    """Say from which index the installed torch came: its wheel says so in its module."""
    return (site_packages(venv) / "torch" / "__init__.py").read_text("utf-8")


def test_a_row_is_installed_exactly(install: Install, lock: Path, venv: Path) -> None:
    ended = install(lock, venv, ["cu130"])

    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == CUDA_ROW
    assert "marker = 'cu130'" in index_of_torch(venv)


def test_only_the_files_of_the_row_are_asked_for(
    install: Install, lock: Path, venv: Path, stack: World
) -> None:
    """A lock needs no index: its files are fetched from where it says they are."""
    stack.requests.clear()

    assert install(lock, venv, ["cpu"]).returncode == 0

    asked = {path.removesuffix(".metadata") for _, path, _ in stack.requests}
    assert installed(venv) == CPU_ROW
    assert asked == {
        stack.file_path("pypi", "common-1.5-py3-none-any.whl"),
        stack.file_path("pypi", "torchmetrics-1.8.0-py3-none-any.whl"),
        stack.file_path("cpu", f"torch-2.9.0+cpu-{CP}-{CP}-{LINUX}.whl"),
    }


def test_another_extra_swaps_the_row_in_uv(uv_sync: Install, lock: Path, venv: Path) -> None:
    assert uv_sync(lock, venv, ["cu130"]).returncode == 0
    ended = uv_sync(lock, venv, ["cpu"])

    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == CPU_ROW
    assert "marker = 'cpu'" in index_of_torch(venv)


def test_another_extra_swaps_the_build_in_pip(pip_install: Install, lock: Path, venv: Path) -> None:
    """`pip install` removes nothing, so what only the other row needs stays."""
    assert pip_install(lock, venv, ["cu130"]).returncode == 0
    ended = pip_install(lock, venv, ["cpu"])

    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {**CPU_ROW, "nvidia-cudart": "13.0.48"}
    assert "marker = 'cpu'" in index_of_torch(venv)


def test_two_rows_at_once_are_refused(install: Install, lock: Path, venv: Path) -> None:
    ended = install(lock, venv, ["cpu", "cu130"])

    assert ended.returncode != 0
    assert "torch" in ended.stderr
    assert installed(venv) == {}


@pytest.mark.parametrize("extras", [(), ("cu126",)], ids=["none", "undeclared"])
def test_pip_installs_nothing_without_a_row_of_the_lock(
    extras: Sequence[str], pip_install: Install, lock: Path, venv: Path
) -> None:
    """It meets a requirement on torch that the selection lacks, and takes it from nowhere else.

    pip accepts an extra that the lock does not declare; packaging from 26.4 on refuses it.
    """
    ended = pip_install(lock, venv, extras)

    assert ended.returncode != 0
    assert installed(venv) == {}


@pytest.mark.parametrize("extras", [(), ("cu126",)], ids=["none", "undeclared"])
def test_uv_installs_no_torch_without_a_row_of_the_lock(
    extras: Sequence[str], uv_sync: Install, lock: Path, venv: Path
) -> None:
    """It does not follow requirements: it installs what all rows share, and ends well."""
    uv_sync(lock, venv, extras)

    assert "torch" not in installed(venv)
    assert installed(venv).items() <= CPU_ROW.items()


def test_a_row_alone_on_its_platform_needs_no_extra(
    install: Install, stack: World, tmp_path: Path, venv: Path
) -> None:
    lock = make_lock(stack, tmp_path / "project", [f"{HOST}-cu130", "win-cpu", "mac-cpu"])

    ended = install(lock, venv, [])

    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == CUDA_ROW


def test_a_file_changed_on_the_server_is_refused(
    install: Install, lock: Path, venv: Path, stack: World
) -> None:
    """Neither the file nor any other of the row is installed."""
    changed = build_wheel(TORCH_CUDA, metadata_text("torch", "2.9.0+cu130"), "changed")
    stack.answers[stack.file_path("cu130", TORCH_CUDA)] = Answer(
        body=changed, content_type="application/octet-stream"
    )

    ended = install(lock, venv, ["cu130"])

    assert ended.returncode != 0
    assert "hash" in ended.stderr.lower()
    assert stack.entry("cu130", TORCH_CUDA).sha256 in ended.stdout + ended.stderr
    assert installed(venv) == {}


def test_a_lock_without_a_row_for_the_platform_is_refused(
    install: Install, stack: World, tmp_path: Path, venv: Path
) -> None:
    """`environments` says so; otherwise what has no marker would be installed without torch."""
    lock = make_lock(stack, tmp_path / "project", ["win-cpu", "mac-cpu"])

    ended = install(lock, venv, [])

    assert ended.returncode != 0
    assert "environment" in ended.stderr
    assert installed(venv) == {}


def test_a_lock_for_another_python_is_refused(
    install: Install, stack: World, tmp_path: Path, venv: Path
) -> None:
    rows = [f"{HOST}-cpu", "mac-cpu"]
    lock = make_lock(stack, tmp_path / "project", rows, python=OTHER_PYTHON)

    ended = install(lock, venv, [])

    assert ended.returncode != 0
    assert "python" in ended.stderr.lower()
    assert installed(venv) == {}


def test_the_table_of_lockforge_changes_nothing(install: Install, lock: Path, venv: Path) -> None:
    text = lock.read_text("utf-8")
    bare, table, _ = text.partition("\n[tool.lockforge]")
    assert table
    lock.write_text(bare + "\n", "utf-8")

    ended = install(lock, venv, ["cu130"])

    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == CUDA_ROW


def test_files_below_the_project_are_installed_from_their_paths(
    install: Install, stack: World, tmp_path: Path, venv: Path
) -> None:
    """Wheels of a directory are named relative to the lock, so both move together."""
    project, moved = tmp_path / "project", tmp_path / "moved"
    wheels = project / "wheels"
    wheels.mkdir(parents=True)
    filename = "torchmetrics-9.0-py3-none-any.whl"
    content = build_wheel(filename, metadata_text("torchmetrics", "9.0", ["torch"]), "own")
    (wheels / filename).write_bytes(content)
    make_lock(stack, project, [f"{HOST}-cpu"], more=["--find-links", wheels])

    project.rename(moved)
    ended = install(moved / "pylock.toml", venv, [])

    assert ended.returncode == 0, ended.stderr
    assert f'path = "wheels/{filename}"' in (moved / "pylock.toml").read_text("utf-8")
    assert installed(venv) == {**CPU_ROW, "torchmetrics": "9.0"}


def test_a_project_that_moved_installs_its_own_wheels(
    install: Install, venv: Path, tmp_path: Path
) -> None:
    """Wheels below the project are named by their path from the lock, wherever both lie."""
    root, moved = tmp_path / "proj", tmp_path / "far" / "away"
    (root / "wheels").mkdir(parents=True)
    name = "mylib-1.0-py3-none-any.whl"
    (root / "wheels" / name).write_bytes(build_wheel(name, metadata_text("mylib", "1.0")))
    (root / "pyproject.toml").write_text(
        '[project]\nname = "demo"\nversion = "1"\ndependencies = ["mylib"]\n'
        '[[tool.lockforge.index]]\nurl = "wheels"\n'
    )
    locked = lockforge("lock", "--project", root, "--matrix", f"{HOST}-cpu", "--python", PYTHON)
    assert locked.status == 0, locked.err
    shutil.move(root, moved)

    ended = install(moved / "pylock.toml", venv, [])

    assert ended.returncode == 0, ended.stderr
    assert installed(venv) == {"mylib": "1.0"}
