"""Locks of real projects from the recorded indexes, judged by the independent check."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from packaging.pylock import Package, Pylock

from tests.independent.check_lock import (
    DEFAULT_HOSTS,
    FAMILY,
    TORCH_HOSTS,
    Expected,
    Row,
    Selection,
    Snapshot,
    check,
    project_requirements,
    select,
)
from tests.support.command import Ended, lockforge

PROJECTS = ("audio", "llm", "vision")
THREE = ("linux-cu130", "win-cpu", "mac-cpu")
TEN = (
    "linux-cpu",
    "linux-cu126",
    "linux-cu129",
    "linux-cu130",
    "linux-rocm7.2",
    "linux-aarch64-cpu",
    "linux-aarch64-cu130",
    "win-cpu",
    "win-cu130",
    "mac-cpu",
)
TWELVE = (*TEN, "linux-xpu", "win-xpu")
PATTERNS = ("nvidia-", "cuda-")
# Every test has its own environment; what the developer's says of wheels is read before.
FIND_LINKS = os.environ.get("PIP_FIND_LINKS", "")


def rows_of(names: Sequence[str], pythons: Sequence[str] = ("3.12",)) -> list[Row]:
    """Give the rows of a matrix; those that share a platform have their extra."""
    parts = [name.rpartition("-") for name in names]
    platforms = [platform for platform, _, _ in parts]
    return [
        Row(
            platform=platform,
            label=label,
            python=(3, int(python.removeprefix("3."))),
            extra=label.replace(".", "-") if platforms.count(platform) > 1 else None,
        )
        for (platform, _, label), python in product(parts, pythons)
    ]


def lock_project(name: str, projects: Path, snapshot: Path, output: Path) -> Ended:
    return lockforge(
        "lock",
        *("--project", projects / name),
        *("--matrix", ",".join(THREE)),
        *("--snapshot", snapshot),
        *("-o", output),
    )


_made: dict[str, str] = {}


@pytest.fixture
def lock_of(projects: Path, snapshot: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Give the lock of a project, made once and copied for each test."""

    def get(name: str) -> Path:
        output = tmp_path / f"pylock.{name}.toml"
        if name not in _made:
            ended = lock_project(name, projects, snapshot, output)
            assert ended.status == 0, ended.err
            _made[name] = output.read_text("utf-8")
        output.write_text(_made[name], "utf-8")
        return output

    return get


def lock_requirements(
    requirements: Sequence[str],
    names: Sequence[str],
    snapshot: Path,
    output: Path,
    *,
    pythons: Sequence[str] = ("3.12",),
) -> Ended:
    return lockforge(
        "lock",
        *requirements,
        *("--project", output.parent),
        *("--matrix", ",".join(names)),
        *("--python", ",".join(pythons)),
        *("--snapshot", snapshot),
        *("-o", output),
    )


def read(path: Path) -> tuple[Pylock, dict[str, Any]]:
    data = tomllib.loads(path.read_text("utf-8"))
    return Pylock.from_dict(data), data


def versions_of(name: str, selections: Iterable[Selection]) -> list[str | None]:
    return [str(one[name][0].version) if name in one else None for one in selections]


def wheel_hosts(package: Package) -> set[str | None]:
    return {urlsplit(wheel.url or "").hostname for wheel in package.wheels or ()}


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_locks_to_what_the_indexes_have(
    name: str, projects: Path, snapshot: Path, lock_of: Callable[[str], Path]
) -> None:
    """Each row is closed, from the right hosts, and has the hashes its pages state."""
    output = lock_of(name)

    expected = Expected(
        rows=rows_of(THREE),
        requirements=project_requirements(projects / name),
        all_rows=True,
    )
    assert check(output, Snapshot(snapshot), expected) == []


@pytest.mark.parametrize("name", PROJECTS)
def test_each_row_has_its_own_build_and_cuda_is_on_linux_alone(
    name: str, lock_of: Callable[[str], Path]
) -> None:
    lock, _ = read(lock_of(name))

    linux, win, mac = (select(lock, row) for row in rows_of(THREE))

    cuda = {one for one in linux if one.startswith(PATTERNS)}
    assert versions_of("torch", (linux, win, mac)) == ["2.13.0+cu130", "2.13.0+cpu", "2.13.0"]
    assert {"cuda-toolkit", "cuda-bindings", "nvidia-cudnn-cu13", "nvidia-nccl-cu13"} <= cuda
    assert versions_of("triton", (linux, win, mac)) == ["3.7.1", None, None]
    assert not [one for one in (*win, *mac) if one.startswith(PATTERNS)]


def test_companions_follow_the_build_of_their_row(lock_of: Callable[[str], Path]) -> None:
    """Vision and audio wheels carry the local version of their row's torch."""
    rows = rows_of(THREE)
    visions = [select(read(lock_of("vision"))[0], row) for row in rows]
    audios = [select(read(lock_of("audio"))[0], row) for row in rows]

    locals_of_vision = [one["torchvision"][0].version for one in visions]
    locals_of_audio = [one["torchaudio"][0].version for one in audios]
    assert [one.local for one in locals_of_vision if one] == ["cu130", "cpu", None]
    assert [one.local for one in locals_of_audio if one] == ["cu130", "cpu", None]
    assert len({one.public for one in locals_of_vision if one}) == 1


@pytest.mark.parametrize("name", PROJECTS)
def test_what_all_rows_share_is_one_entry_without_a_marker(
    name: str, lock_of: Callable[[str], Path]
) -> None:
    """And what some rows have differently, or not at all, has a marker on each entry."""
    lock, _ = read(lock_of(name))
    selections = [select(lock, row) for row in rows_of(THREE)]

    for package_name in {package.name for package in lock.packages}:
        entries = [package for package in lock.packages if package.name == package_name]
        selected = [one[package_name][0] for one in selections if package_name in one]
        pins = {(package.version, package.index) for package in selected}
        shared = len(selected) == len(selections) and len(pins) == 1
        assert len(entries) == len(pins), package_name
        assert all((entry.marker is None) is shared for entry in entries), package_name


@pytest.mark.parametrize("name", PROJECTS)
def test_no_entry_mixes_hosts(name: str, lock_of: Callable[[str], Path]) -> None:
    """The family is from PyTorch and all else from the default index; triton may fall back."""
    lock, _ = read(lock_of(name))

    for package in lock.packages:
        hosts = wheel_hosts(package)
        if package.name == "triton":
            assert hosts <= TORCH_HOSTS or hosts <= DEFAULT_HOSTS
        else:
            assert hosts <= (TORCH_HOSTS if package.name in FAMILY else DEFAULT_HOSTS)


def test_an_extra_of_the_project_is_an_extra_of_the_lock(
    projects: Path, snapshot: Path, tmp_path: Path
) -> None:
    """Its packages are selected with it alone, and both selections are closed."""
    output = tmp_path / "pylock.toml"
    ended = lockforge(
        "lock",
        *("--project", projects / "llm"),
        *("--matrix", ",".join(THREE)),
        *("--extra", "train"),
        *("--snapshot", snapshot),
        *("-o", output),
    )
    assert ended.status == 0, ended.err
    lock, _ = read(output)
    rows = rows_of(THREE)

    with_extra = Expected(
        rows=rows,
        requirements=project_requirements(projects / "llm", ["train"]),
        extras=["train"],
        all_rows=True,
    )
    without = Expected(rows=rows, requirements=project_requirements(projects / "llm"))
    assert lock.extras == ["train"]
    assert check(output, Snapshot(snapshot), with_extra) == []
    assert check(output, Snapshot(snapshot), without) == []
    assert "peft" not in select(lock, rows[0])


def test_twelve_rows_of_one_torch(snapshot: Path, tmp_path: Path) -> None:
    """CUDA, ROCm, XPU and CPU on five platforms; rows of one platform are told apart by extras."""
    output = tmp_path / "pylock.toml"

    ended = lock_requirements(["torch==2.12.1"], TWELVE, snapshot, output)

    rows = rows_of(TWELVE)
    expected = Expected(rows=rows, requirements=["torch==2.12.1"], all_rows=True)
    assert ended.status == 0, ended.err
    assert check(output, Snapshot(snapshot), expected) == []
    lock, data = read(output)
    assert lock.extras == ["cpu", "cu126", "cu129", "cu130", "rocm7-2", "xpu"]
    assert set(data["tool"]["lockforge"]["rows"]) == set(TWELVE)
    torches = {
        f"{row.platform}-{row.label}": str(select(lock, row)["torch"][0].version) for row in rows
    }
    assert torches == {
        name: "2.12.1" if name == "mac-cpu" else f"2.12.1+{name.rpartition('-')[2]}"
        for name in TWELVE
    }


def test_two_rows_at_once_are_refused(snapshot: Path, tmp_path: Path) -> None:
    """No extra excludes another, so asking for two rows of one platform cannot pass silently."""
    output = tmp_path / "pylock.toml"
    names = ("linux-cpu", "linux-cu130", "win-cpu")
    assert lock_requirements(["torch==2.12.1"], names, snapshot, output).status == 0
    lock, _ = read(output)
    row = Row(platform="linux", label="cu130", python=(3, 12), extra="cu130")

    assert "not in extras" not in output.read_text("utf-8")
    with pytest.raises(Exception, match="Multiple packages with the name 'torch'"):
        select(lock, row, extras=["cpu"])


def test_ten_rows_on_three_pythons(snapshot: Path, tmp_path: Path) -> None:
    output = tmp_path / "pylock.toml"
    pythons = ("3.11", "3.12", "3.13")

    ended = lock_requirements(["torch==2.12.1"], TEN, snapshot, output, pythons=pythons)

    expected = Expected(rows=rows_of(TEN, pythons), requirements=["torch==2.12.1"], all_rows=True)
    assert ended.status == 0, ended.err
    assert check(output, Snapshot(snapshot), expected) == []


def test_a_row_that_lags_behind_is_named_as_skew(snapshot: Path, tmp_path: Path) -> None:
    """CUDA 12.8 ends with torch 2.11: its row takes that, and the report says so."""
    output = tmp_path / "pylock.toml"
    names = (*TEN, "linux-cu128")

    ended = lock_requirements(["torch"], names, snapshot, output)
    reported = lockforge("report", output)

    expected = Expected(rows=rows_of(names), requirements=["torch"], all_rows=True)
    assert ended.status == 0, ended.err
    assert check(output, Snapshot(snapshot), expected) == []
    assert reported.status == 0
    assert "torch 2.11.0 (linux-cu128)" in reported.out
    assert "torch 2.11.0 (linux-cu128)" in ended.out


def test_a_file_nobody_states_a_hash_for_fails_the_lock(snapshot: Path, tmp_path: Path) -> None:
    """A snapshot has no files to hash, so the file is named and nothing is written."""
    output = tmp_path / "pylock.toml"

    ended = lock_requirements(["torch==2.11.0"], ["linux-cu126"], snapshot, output)

    assert ended.status == 5
    assert "torch-2.11.0+cu126-cp312-cp312-manylinux_2_28_x86_64.whl" in ended.err
    assert "linux-cu126" in ended.err
    assert "hint: " in ended.err
    assert list(tmp_path.iterdir()) == []


def find_locally(filename: str) -> Path | None:
    """Look for a wheel in the directories pip takes links from; no index is asked."""
    configured = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.find-links"],
        capture_output=True,
        text=True,
        check=False,
    )
    places = [*FIND_LINKS.split(), *configured.stdout.split()]
    paths = [Path(place.removeprefix("file://")) / filename for place in places]
    return next((path for path in paths if path.is_file()), None)


def test_the_hash_is_that_of_the_published_wheel(snapshot: Path, tmp_path: Path) -> None:
    """Where pip has the very file on this disk, its bytes are hashed and compared."""
    output = tmp_path / "pylock.toml"
    filename = "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"

    ended = lock_requirements(["torch==2.13.0"], ["linux-cpu"], snapshot, output, pythons=["3.11"])

    assert ended.status == 0, ended.err
    row = Row(platform="linux", label="cpu", python=(3, 11))
    _, wheel = select(read(output)[0], row)["torch"]
    assert wheel.filename == filename
    assert wheel.hashes["sha256"].startswith("6746dbcb")
    path = find_locally(filename)
    if path is None:
        pytest.skip(f"{filename} is in no directory that pip takes links from")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    assert wheel.hashes["sha256"] == found


def run_with_seed(seed: str, directory: Path, arguments: Sequence[str]) -> bytes:
    """Lock in a process and a directory of its own."""
    directory.mkdir()
    ended = subprocess.run(
        [sys.executable, "-m", "lockforge", "lock", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=directory,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    assert ended.returncode == 0, ended.stderr
    return (directory / "pylock.toml").read_bytes()


def test_the_same_inputs_give_the_same_bytes(snapshot: Path, tmp_path: Path) -> None:
    """Whatever the hash seed, the directory, or the order of rows, Pythons and requirements."""
    common = ("--snapshot", str(snapshot), "--matrix")
    first = ("torch==2.12.1", "numpy", *common, ",".join(TEN), "--python", "3.12,3.13")
    second = (
        *("numpy", "torch==2.12.1"),
        *(*common, ",".join([*TEN[5:], *reversed(TEN[:5])])),
        *("--python", "3.13,3.12"),
    )

    one = run_with_seed("0", tmp_path / "one", first)
    other = run_with_seed("1", tmp_path / "another", second)

    assert one == other
    assert str(tmp_path).encode() not in one


def test_locking_again_changes_nothing(
    projects: Path, snapshot: Path, lock_of: Callable[[str], Path]
) -> None:
    """Neither as it is, nor chosen anew from the same indexes."""
    output = lock_of("vision")
    before = output.read_bytes()

    again = lock_project("vision", projects, snapshot, output)
    upgraded = lockforge(
        *("lock", "--upgrade", "--project", projects / "vision", "--matrix", ",".join(THREE)),
        *("--snapshot", snapshot, "-o", output),
    )

    assert (again.status, upgraded.status) == (0, 0)
    assert output.read_bytes() == before


def test_the_table_of_lockforge_decides_nothing(snapshot: Path, tmp_path: Path) -> None:
    """Without it, every row selects the same files."""
    output, bare = tmp_path / "pylock.toml", tmp_path / "pylock.bare.toml"
    assert lock_requirements(["torch==2.12.1"], TWELVE, snapshot, output).status == 0
    text = output.read_text("utf-8")

    bare.write_text(text.partition("\n[tool.lockforge]")[0] + "\n", "utf-8")

    whole, _ = read(output)
    stripped, data = read(bare)
    assert "tool" not in data
    for row in rows_of(TWELVE):
        assert select(whole, row) == select(stripped, row)
