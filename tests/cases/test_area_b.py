"""Cases on the lock itself: entries, hashes, addresses, paths, and what never changes."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.pylock import Pylock, PylockSelectError

from lockforge.errors import LockSelectionError
from lockforge.model.platforms import PLATFORMS
from lockforge.standards.pylock import parse_pylock
from lockforge.standards.selection import select
from tests.cases.conftest import LockWorld
from tests.support.command import lockforge
from tests.support.locks import Lock
from tests.support.world import Answer, World, serve

_TWO_ENTRIES = """\
lock-version = "1.0"
created-by = "lockforge"

[[packages]]
name = "torch"
version = "2.6.0"
marker = "sys_platform == 'darwin'"
index = "https://download.pytorch.org/whl/cpu"
wheels = [{ url = "https://download.pytorch.org/whl/cpu/torch-2.6.0-cp312-none-macosx_11_0_arm64.whl", hashes = { sha256 = "aa" } }]

[[packages]]
name = "torch"
version = "2.6.0+cpu"
marker = "sys_platform != 'darwin'"
index = "https://download.pytorch.org/whl/cpu"
wheels = [{ name = "torch-2.6.0+cpu-cp312-cp312-linux_x86_64.whl", url = "https://download.pytorch.org/whl/cpu/torch-2.6.0%2Bcpu-cp312-cp312-linux_x86_64.whl", hashes = { sha256 = "bb" } }]
"""  # noqa: E501


class TestLF011:
    """One package, several entries in one lock."""

    def test_each_platform_selects_its_entry(self) -> None:
        lock, _ = parse_pylock(_TWO_ENTRIES, where="pylock.toml")

        linux = select(lock, PLATFORMS["linux"], (3, 12))
        mac = select(lock, PLATFORMS["mac"], (3, 12))

        assert {name: str(package.version) for name, (package, _) in linux.items()} == {
            "torch": "2.6.0+cpu"
        }
        assert {name: str(package.version) for name, (package, _) in mac.items()} == {
            "torch": "2.6.0"
        }

    def test_two_entries_that_apply_at_once_are_an_error_with_both_versions(self) -> None:
        edited = _TWO_ENTRIES.replace("sys_platform == 'darwin'", "sys_platform != 'win32'")
        lock, _ = parse_pylock(edited, where="pylock.toml")

        with pytest.raises(LockSelectionError) as caught:
            select(lock, PLATFORMS["linux"], (3, 12))

        assert caught.value.message == (
            "several entries of torch apply at once: 2.6.0 and 2.6.0+cpu"
        )

    def test_a_dependency_without_an_entry_that_applies_is_an_error(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("cpu", "torch-2.6.0+cpu-cp312-cp312-linux_x86_64.whl")
        world.add("cpu", "torch-2.6.0-cp312-none-macosx_11_0_arm64.whl")
        world.add("pypi", "timm-1.0-py3-none-any.whl", requires=["torch"])
        lock_world("timm", rows="linux-cpu,mac-cpu")
        edited = lock_path.read_text().replace(
            "marker = \"sys_platform == 'linux'\"", "marker = \"sys_platform == 'win32'\""
        )
        lock, _ = parse_pylock(edited, where="pylock.toml")

        with pytest.raises(LockSelectionError) as caught:
            select(lock, PLATFORMS["linux"], (3, 12))

        assert caught.value.message == "timm depends on torch, of which no entry applies"

    def test_every_file_of_a_written_lock_has_its_name(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("cpu", "torch-2.6.0+cpu-cp312-cp312-linux_x86_64.whl")

        lock_world("torch", rows="linux-cpu")

        wheels = Lock(lock_path).data["packages"][0]["wheels"]
        assert [wheel["name"] for wheel in wheels] == [
            "torch-2.6.0+cpu-cp312-cp312-linux_x86_64.whl"
        ]

    def test_rows_of_one_platform_are_told_apart_by_extras_and_refuse_two_at_once(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")
        world.add("cu130", "torch-2.9.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl")

        lock_world("torch", rows="linux-cu130,linux-cpu")

        lock = Lock(lock_path)
        assert lock.data["extras"] == ["cpu", "cu130"]
        assert [package["marker"] for package in lock.data["packages"]] == [
            "'cpu' in extras",
            "'cu130' in extras",
        ]
        with pytest.raises(PylockSelectError, match="Multiple packages with the name 'torch'"):
            lock.select("linux", extras=["cpu", "cu130"])


class TestLF013:
    """A page without sha256 for some wheels, with the metadata's hash right beside."""

    def _fill(self, world: World) -> None:
        world.add("cu128", "torch-2.7.0+cu128-cp310-cp310-manylinux_2_28_aarch64.whl", hashed=False)
        world.add("cu128", "torch-2.7.0+cu128-cp310-cp310-manylinux_2_28_x86_64.whl")

    def test_every_file_has_its_own_hash(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)
        arm = world.entry("cu128", "torch-2.7.0+cu128-cp310-cp310-manylinux_2_28_aarch64.whl")
        intel = world.entry("cu128", "torch-2.7.0+cu128-cp310-cp310-manylinux_2_28_x86_64.whl")

        ended = lock_world("torch==2.7.0", rows="linux-cu128,linux-aarch64-cu128", python="3.10")

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert lock.select("linux", "3.10")["torch"].sha256 == intel.sha256
        assert lock.select("linux-aarch64", "3.10")["torch"].sha256 == arm.sha256
        # What the page announces of METADATA is nowhere.
        page = world.answer(world.page_path("cu128", "torch")).body.decode()
        announced = page.partition('data-core-metadata="sha256=')[2][:64]
        assert len(announced) == 64
        assert announced not in lock.text

    def test_without_download_the_file_and_its_index_are_named(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)

        ended = lock_world(
            "torch==2.7.0",
            rows="linux-cu128,linux-aarch64-cu128",
            python="3.10",
            options=("--no-download",),
        )

        assert ended.status == 5
        assert (
            "torch-2.7.0+cu128-cp310-cp310-manylinux_2_28_aarch64.whl has no sha256 on cu128"
            in ended.err
        )
        assert not lock_path.exists()

    def test_addresses_are_resolved_against_the_page_and_names_are_decoded(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)

        lock_world("torch==2.7.0", rows="linux-cu128", python="3.10")

        chosen = Lock(lock_path).select("linux", "3.10")["torch"]
        assert chosen.filename == "torch-2.7.0+cu128-cp310-cp310-manylinux_2_28_x86_64.whl"
        assert chosen.url == (
            f"{world.base}/whl/cu128/torch-2.7.0%2Bcu128-cp310-cp310-manylinux_2_28_x86_64.whl"
        )

    def test_an_absolute_address_on_another_host_is_kept(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        filename = "torch-2.11.0+cu128-cp310-cp310-manylinux_2_28_x86_64.whl"
        other = World()
        served = other.add("cu128", filename)
        with serve(other):
            address = f"{other.base}{other.file_path('cu128', filename)}"
            world.add("cu128", filename, hashed=False, href=address)

            ended = lock_world("torch==2.11.0", rows="linux-cu128", python="3.10")

        assert ended.status == 0, ended.err
        chosen = Lock(lock_path).select("linux", "3.10")["torch"]
        assert (chosen.url, chosen.sha256) == (address, served.sha256)


class TestLF014:
    """One file name with different bytes on the default and on the torch index."""

    _TRITON = "triton-3.5.0-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"

    def _fill(self, world: World, *, on_torch_index: bool) -> None:
        tags = "cp312-cp312-manylinux_2_28_x86_64"
        world.add("cu130", f"torch-2.9.0+cu130-{tags}.whl", requires=["triton==3.5.0"])
        world.add("pypi", self._TRITON, marker="default")
        if on_torch_index:
            world.add("cu130", self._TRITON, marker="torch")

    @pytest.mark.parametrize("on_torch_index", [True, False])
    def test_address_and_hash_come_from_one_index(
        self, world: World, lock_world: LockWorld, lock_path: Path, *, on_torch_index: bool
    ) -> None:
        self._fill(world, on_torch_index=on_torch_index)
        index = "cu130" if on_torch_index else "pypi"

        ended = lock_world("torch", rows="linux-cu130")

        assert ended.status == 0, ended.err
        chosen = Lock(lock_path).select("linux")["triton"]
        assert chosen.index == world.index_url(index)
        assert chosen.sha256 == world.entry(index, self._TRITON).sha256
        assert chosen.url == f"{world.base}{world.file_path(index, self._TRITON)}"

    def test_the_lock_keeps_its_hash_when_the_source_changes(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world, on_torch_index=True)
        lock_world("torch", rows="linux-cu130")
        before = lock_path.read_bytes()
        entry = world.entry("cu130", self._TRITON)
        world.indexes["cu130"]["triton"].clear()
        world.add("cu130", self._TRITON, marker="changed")
        world.add("pypi", "filelock-3.9.0-py3-none-any.whl")

        lock_world("torch", rows="linux-cu130")
        assert lock_path.read_bytes() == before
        # Another requirement makes it solve again; the file that is kept stays as it was.
        lock_world("torch", "filelock", rows="linux-cu130")

        assert Lock(lock_path).select("linux")["triton"].sha256 == entry.sha256

    def test_an_edited_hash_is_not_kept(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        """The row's digest tells that the lock is not what was locked, so the page is believed."""
        self._fill(world, on_torch_index=True)
        lock_world("torch", rows="linux-cu130")
        before = lock_path.read_text("utf-8")
        right = world.entry("cu130", self._TRITON).sha256
        lock_path.write_text(before.replace(right, "0" * 64), "utf-8")

        ended = lock_world("torch", rows="linux-cu130")

        assert lock_path.read_text("utf-8") == before
        assert f"warning: {self._TRITON} was changed at its source" in ended.err
        assert "or the lock was edited" in ended.err

    def test_a_refresh_takes_one_changed_hash_and_says_that_it_is_suspicious(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        """The version is unchanged, and so is every other line of the lock."""
        self._fill(world, on_torch_index=True)
        world.add("cu130", "torchvision-0.24.0+cu130-py3-none-any.whl", hashed=False)
        lock_world("torch", "torchvision", rows="linux-cu130")
        before = lock_path.read_text("utf-8").splitlines()
        old = world.entry("cu130", self._TRITON)
        world.indexes["cu130"]["triton"].clear()
        new = world.add("cu130", self._TRITON, marker="changed")

        ended = lock_world("torch", "torchvision", rows="linux-cu130", options=("--refresh",))

        after = lock_path.read_text("utf-8").splitlines()
        differing = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
        assert len(differing) == 2  # its wheel's line, and the row's digest
        assert (old.sha256 in differing[0][0], new.sha256 in differing[0][1]) == (True, True)
        (warning,) = ended.err.splitlines()
        assert warning.startswith(f"warning: {self._TRITON} was changed at its source")
        assert old.sha256 in warning
        assert new.sha256 in warning

    def test_a_refresh_hashes_again_what_no_page_states(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        """What the cache remembers of the bytes is what may have changed."""
        name = "torch-2.9.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl"
        world.add("cu130", name, hashed=False)
        lock_world("torch", rows="linux-cu130")
        world.indexes["cu130"]["torch"].clear()
        new = world.add("cu130", name, hashed=False, marker="changed")

        ended = lock_world("torch", rows="linux-cu130", options=("--refresh",))

        assert Lock(lock_path).select("linux")["torch"].sha256 == new.sha256
        assert f"warning: {name} was changed at its source" in ended.err

    @pytest.mark.parametrize("option", ["--offline", "--check"])
    def test_a_refresh_without_asking_is_no_refresh(
        self, lock_world: LockWorld, option: str
    ) -> None:
        ended = lock_world("torch", rows="linux-cu130", options=("--refresh", option))

        assert ended.status == 2
        assert "leave out one of them" in ended.err


class TestLF016:
    """Absolute paths make a lock useless elsewhere."""

    def _project(self, root: Path, shared: Path) -> None:
        world = World()
        mylib = world.add("pypi", "mylib-1.0-py3-none-any.whl")
        other = world.add("pypi", "other-2.0-py3-none-any.whl")
        (root / "wheels").mkdir(parents=True)
        (root / "wheels" / mylib.filename).write_bytes(mylib.content)
        shared.mkdir()
        (shared / other.filename).write_bytes(other.content)
        (root / "pyproject.toml").write_text(
            '[project]\nname = "demo"\nversion = "1"\ndependencies = ["mylib", "other"]\n'
            '[tool.lockforge]\nmatrix = ["linux-cpu", "win-cpu"]\npython = ["3.12"]\n'
            '[[tool.lockforge.index]]\nurl = "wheels"\n'
            f'[[tool.lockforge.index]]\nurl = "{shared.as_posix()}"\n'
        )

    def test_files_of_the_project_are_relative_and_others_stay_as_given(
        self, tmp_path: Path
    ) -> None:
        root, shared = tmp_path / "proj", tmp_path / "srv"
        self._project(root, shared)

        ended = lockforge("lock", "--project", root)

        assert ended.status == 0, ended.err
        lock = Lock(root / "pylock.toml")
        selected = lock.select("linux")
        mylib, other = selected["mylib"], selected["other"]
        assert (mylib.path, mylib.url) == ("wheels/mylib-1.0-py3-none-any.whl", None)
        assert len(mylib.sha256) == 64
        assert other.path == f"{shared.as_posix()}/other-2.0-py3-none-any.whl"
        assert f"not portable: {other.path} is outside of the project" in " ".join(
            ended.out.split()
        )
        assert "file://" not in lock.text
        assert str(root) not in lock.text
        assert os.path.expanduser("~") not in lock.text  # noqa: PTH111

    def test_a_project_that_moved_gives_the_same_lock(self, tmp_path: Path) -> None:
        root, moved, shared = tmp_path / "proj", tmp_path / "far" / "away", tmp_path / "srv"
        self._project(root, shared)
        lockforge("lock", "--project", root)
        before = (root / "pylock.toml").read_bytes()
        shutil.copytree(root, moved)

        ended = lockforge("lock", "--project", moved, "--upgrade")

        assert ended.status == 0, ended.err
        assert (moved / "pylock.toml").read_bytes() == before
        path = Lock(moved / "pylock.toml").select("linux")["mylib"].path
        assert path is not None
        assert (moved / path).is_file()


class TestLF017:
    """The lock changes without a reason."""

    _REQUIREMENTS = (
        "a",
        "b>=2; sys_platform == 'linux'",
        "b<2; sys_platform == 'darwin'",
    )
    _ROWS = "linux-cu130,mac-cpu"

    def _fill(self, world: World) -> None:
        world.add("pypi", "a-1.0.0-py3-none-any.whl")
        world.add("pypi", "a-2.0.0-py3-none-any.whl", requires=["b>=2.0.0"])
        world.add("pypi", "b-1.0.0-py3-none-any.whl")
        world.add("pypi", "b-2.0.0-py3-none-any.whl")
        world.add("pypi", "c-1.0.0-py3-none-any.whl")

    def test_each_row_has_its_own_solution(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)

        lock_world(*self._REQUIREMENTS, rows=self._ROWS)

        lock = Lock(lock_path)
        assert lock.versions("linux") == {"a": "2.0.0", "b": "2.0.0"}
        assert lock.versions("mac") == {"a": "1.0.0", "b": "1.0.0"}

    def test_the_order_of_requirements_and_rows_changes_no_byte(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)
        locks = set()
        for requirements in itertools.permutations(self._REQUIREMENTS):
            for rows in (self._ROWS, "mac-cpu,linux-cu130"):
                lock_path.unlink(missing_ok=True)
                lock_world(*requirements, rows=rows)
                locks.add(lock_path.read_bytes())

        assert len(locks) == 1

    def test_a_second_run_and_an_added_and_removed_requirement_change_no_byte(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)
        lock_world(*self._REQUIREMENTS, rows=self._ROWS)
        before = lock_path.read_bytes()

        lock_world(*self._REQUIREMENTS, rows=self._ROWS)
        assert lock_path.read_bytes() == before
        lock_world(*self._REQUIREMENTS, "c", rows=self._ROWS)
        assert lock_path.read_bytes() != before
        lock_world(*self._REQUIREMENTS, rows=self._ROWS)

        assert lock_path.read_bytes() == before

    def test_lists_are_sorted_and_hold_nothing_twice(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)
        lock_world(*self._REQUIREMENTS, rows=self._ROWS)

        data = Lock(lock_path).data

        for name in ("environments",):
            assert data[name] == sorted(set(data[name]))
        keys = [
            (package["name"], package["version"], package.get("marker", ""))
            for package in data["packages"]
        ]
        assert keys == sorted(set(keys))
        for package in data["packages"]:
            names = [wheel["name"] for wheel in package["wheels"]]
            assert names == sorted(set(names))

    def test_the_hash_seed_changes_no_byte(
        self, world: World, lock_path: Path, tmp_path: Path
    ) -> None:
        self._fill(world)
        locks = set()
        for seed in ("0", "1"):
            path = tmp_path / f"seed-{seed}.toml"
            subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "lockforge",
                    "lock",
                    *self._REQUIREMENTS,
                    "--matrix",
                    self._ROWS,
                    "--python",
                    "3.12",
                    "--index-url",
                    world.default_url,
                    "--torch-index",
                    world.torch_url,
                    "--project",
                    str(tmp_path),
                    "-o",
                    str(path),
                    "-q",
                ],
                check=True,
                env={**os.environ, "PYTHONHASHSEED": seed},
            )
            locks.add(path.read_bytes())

        assert len(locks) == 1


def test_a_written_lock_is_valid_and_works_without_our_table(
    world: World, lock_world: LockWorld, lock_path: Path
) -> None:
    """Deleting [tool.lockforge] changes nothing that an installer reads."""
    world.add("cpu", "torch-2.6.0+cpu-cp312-cp312-linux_x86_64.whl")
    lock_world("torch", rows="linux-cpu")
    lock = Lock(lock_path)

    bare = {key: value for key, value in lock.data.items() if key != "tool"}

    assert Pylock.from_dict(bare).packages == lock.pylock.packages


def test_a_project_without_the_family_locks_and_says_so(
    world: World, lock_world: LockWorld, lock_path: Path
) -> None:
    """Rows of one platform are then the same, with or without their extras."""
    world.add("pypi", "rich-1.0-py3-none-any.whl")

    ended = lock_world("rich", rows="linux-cu130,linux-cpu")

    assert ended.status == 0, ended.err
    assert "accelerators make no difference" in ended.out
    lock = Lock(lock_path)
    assert lock.versions("linux") == {"rich": "1.0"}
    assert lock.versions("linux", extras=["cu130"]) == {"rich": "1.0"}


def test_a_server_error_is_not_read_as_not_found(
    world: World, lock_world: LockWorld, lock_path: Path
) -> None:
    """The torch index being down must not send triton to the default index."""
    tags = "cp312-cp312-manylinux_2_28_x86_64"
    world.add("cu130", f"torch-2.9.0+cu130-{tags}.whl", requires=["triton==3.5.0"])
    world.add("pypi", f"triton-3.5.0-{tags}.whl")
    world.answers["/whl/cu130/triton/"] = Answer(status=400)

    ended = lock_world("torch", rows="linux-cu130")

    assert ended.status == 5
    assert "/whl/cu130/triton/" in ended.err
    assert not lock_path.exists()
