"""Standard output that takes nothing, and arguments that are no text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.conftest import OLD_LOCK, Project
from tests.support.world import World

FULL = Path("/dev/full")
NEEDS_FULL = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")


def command(*arguments: str | bytes | Path) -> list[str | bytes | Path]:
    return [sys.executable, "-m", "lockforge", *arguments]


@pytest.fixture
def locked(project: Project, world: World) -> Project:
    """A project that is locked."""
    world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")
    project.locked("torch")
    return project


def lock_options(project: Project) -> tuple[str | Path, ...]:
    urls = ("--index-url", project.world.default_url, "--torch-index", project.world.torch_url)
    where = ("--project", project.root, "--matrix", "linux-cpu", "--python", "3.12")
    return ("lock", "torch", *urls, *where)


@NEEDS_FULL
@pytest.mark.parametrize("buffered", ["", "1"])
def test_a_full_disk_is_told(buffered: str, locked: Project) -> None:
    """By every command, and by a lock that has nothing to do and says so at once."""
    environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
    report = ("report", "--project", locked.root)
    lock = lock_options(locked)
    for arguments in (report, lock, lock, (*lock, "--check"), ("--help",)):
        with FULL.open("w") as full:
            ended = subprocess.run(
                command(*arguments),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
                check=False,
            )

        assert ended.returncode == 5
        assert ended.stderr.startswith("error[output]: ")
        assert "cannot be written: No space left on device" in ended.stderr
        assert "Traceback" not in ended.stderr


def test_a_closed_pipe_is_no_error(locked: Project) -> None:
    for arguments in (("report", "--project", locked.root), lock_options(locked)):
        reading, writing = os.pipe()
        os.close(reading)
        ended = subprocess.run(
            command(*arguments), stdout=writing, stderr=subprocess.PIPE, check=False
        )
        os.close(writing)

        assert ended.stderr == b""


def test_arguments_may_be_no_text(locked: Project) -> None:
    """They are shown with their bytes."""
    output = os.fsencode(locked.root / "pylock.") + b"\xff.toml"
    (Path(os.fsdecode(output))).write_bytes(OLD_LOCK)
    row = subprocess.run(
        command(*lock_options(locked), "--matrix", b"linux-\xff"), capture_output=True, check=False
    )
    lock = subprocess.run(
        command(*lock_options(locked), "-o", output), capture_output=True, check=False
    )

    assert row.returncode == 2
    assert b"unknown accelerator '\\udcff'" in row.stderr
    assert lock.returncode == 0, lock.stderr
    assert lock.stdout.endswith(b"pylock.\\udcff.toml is written\n")
