"""The independent check finds what is wrong with a lock, so that its silence means something."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.independent import check_lock
from tests.independent.check_lock import Expected, Snapshot, check, parse_row, project_requirements
from tests.support.command import lockforge

ROWS = ("linux:cu130:3.12", "win:cpu:3.12", "mac:cpu:3.12")


_made: dict[Path, str] = {}


@pytest.fixture
def lock(tmp_path: Path, projects: Path, snapshot: Path) -> Path:
    """A lock of the vision project, made once and copied for each test."""
    path = tmp_path / "pylock.toml"
    if projects not in _made:
        ended = lockforge(
            *("lock", "--project", projects / "vision"),
            *("--matrix", "linux-cu130,win-cpu,mac-cpu"),
            *("--snapshot", snapshot, "-o", path),
        )
        assert ended.status == 0, ended.err
        _made[projects] = path.read_text("utf-8")
    path.write_text(_made[projects], "utf-8")
    return path


@pytest.fixture
def faults(snapshot: Path, projects: Path) -> Callable[[Path], list[str]]:
    """Check a lock of the vision project."""
    expected = Expected(
        rows=tuple(map(parse_row, ROWS)),
        requirements=project_requirements(projects / "vision"),
        all_rows=True,
    )
    return lambda path: check(path, Snapshot(snapshot), expected)


def entries(text: str) -> list[str]:
    """Split a lock into its head, its entries, and its tail."""
    return text.split("\n[[packages]]\n")


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def torch_line(path: Path, platform: str) -> str:
    return next(
        line
        for line in path.read_text("utf-8").splitlines()
        if 'name = "torch-' in line and platform in line
    )


def test_a_right_lock_has_no_faults(lock: Path, faults: Callable[[Path], list[str]]) -> None:
    assert faults(lock) == []


def test_another_hash_is_found(lock: Path, faults: Callable[[Path], list[str]]) -> None:
    line = torch_line(lock, "win_amd64")
    sha256 = line.rpartition('sha256 = "')[2][:64]
    replace_once(lock, sha256, "0" * 64)

    (fault,) = faults(lock)

    assert fault.endswith(f"has sha256 {'0' * 64}, its page says {sha256}")


def test_a_hash_of_the_default_index_is_compared_too(
    lock: Path, faults: Callable[[Path], list[str]]
) -> None:
    numpy = next(entry for entry in entries(lock.read_text("utf-8")) if '"numpy"' in entry[:20])
    sha256 = numpy.rpartition('sha256 = "')[2][:64]
    replace_once(lock, sha256, "f" * 64)

    assert any("numpy" in fault and "its page says" in fault for fault in faults(lock))


def test_a_family_file_of_another_host_is_found(
    lock: Path, faults: Callable[[Path], list[str]]
) -> None:
    line = torch_line(lock, "win_amd64")
    host = line.partition("https://")[2].partition("/")[0]
    replace_once(lock, line, line.replace(host, "files.pythonhosted.org"))

    assert any("is served by files.pythonhosted.org" in fault for fault in faults(lock))


def test_a_common_file_of_a_pytorch_host_is_found(
    lock: Path, faults: Callable[[Path], list[str]]
) -> None:
    sympy = next(entry for entry in entries(lock.read_text("utf-8")) if '"sympy"' in entry[:20])
    replace_once(lock, sympy, sympy.replace("files.pythonhosted.org", "download.pytorch.org"))

    assert any("is served by download.pytorch.org" in fault for fault in faults(lock))


def test_a_missing_dependency_is_found(lock: Path, faults: Callable[[Path], list[str]]) -> None:
    head, *packages = entries(lock.read_text("utf-8"))
    kept = [entry for entry in packages if not entry.startswith('name = "mpmath"')]
    lock.write_text("\n[[packages]]\n".join([head, *kept]), "utf-8")

    found = faults(lock)

    assert len(found) == len(ROWS)
    assert all("sympy requires mpmath" in fault for fault in found)


def test_an_entry_nothing_requires_is_found(
    lock: Path, projects: Path, snapshot: Path, faults: Callable[[Path], list[str]]
) -> None:
    requirements = [
        one for one in project_requirements(projects / "vision") if not one.startswith("timm")
    ]
    expected = Expected(rows=(parse_row(ROWS[0]),), requirements=requirements)

    found = check(lock, Snapshot(snapshot), expected)

    assert any(fault.endswith("timm is selected, but nothing requires it") for fault in found)


def test_two_entries_for_one_row_are_found(lock: Path, faults: Callable[[Path], list[str]]) -> None:
    head, *packages = entries(lock.read_text("utf-8"))
    twice = next(entry for entry in packages if entry.startswith('name = "sympy"'))
    lock.write_text("\n[[packages]]\n".join([head, twice, *packages]), "utf-8")

    found = faults(lock)

    assert len(found) == len(ROWS)
    assert all("sympy" in fault for fault in found)


def test_a_build_of_another_accelerator_is_found(lock: Path, snapshot: Path) -> None:
    expected = Expected(rows=(parse_row("linux:cpu:3.12"),))

    found = check(lock, Snapshot(snapshot), expected)

    assert any("torch-2.13.0+cu130" in fault for fault in found)
    assert any("cuda-toolkit is selected, but nothing requires it" in fault for fault in found)


def test_a_file_no_row_installs_is_found(lock: Path, snapshot: Path) -> None:
    expected = Expected(rows=tuple(map(parse_row, ROWS[:2])), all_rows=True)

    found = check(lock, Snapshot(snapshot), expected)

    assert any("macosx" in fault and "no row installs it" in fault for fault in found)


def test_a_platform_without_a_row_is_refused(lock: Path, snapshot: Path) -> None:
    expected = Expected(rows=(parse_row("linux-aarch64:cpu:3.12"),))

    assert check(lock, Snapshot(snapshot), expected)


def test_it_runs_as_a_script(lock: Path, snapshot: Path, projects: Path) -> None:
    """The script needs neither lockforge nor the repository on the import path."""
    rows = [part for row in ROWS for part in ("--row", row)]
    command = [sys.executable, "-I", check_lock.__file__, str(lock), *rows]
    command += ["--snapshot", str(snapshot), "--project", str(projects / "vision"), "--all-rows"]

    good = subprocess.run(command, capture_output=True, text=True, check=False)
    replace_once(lock, torch_line(lock, "win_amd64").rpartition('sha256 = "')[2][:64], "0" * 64)
    bad = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (good.returncode, good.stdout, good.stderr) == (0, "", "")
    assert bad.returncode == 1
    assert bad.stdout.startswith("win-cpu on 3.12: ")
