"""Cases on where packages come from and which versions a row gets."""

from __future__ import annotations

from pathlib import Path

from tests.cases.conftest import LockWorld
from tests.support.command import lockforge
from tests.support.locks import Lock
from tests.support.world import World


class TestLF001:
    """A torch index mirrors an old copy of an ordinary package and hides the default index."""

    def test_only_the_family_comes_from_the_torch_index(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("cpu", "torch-2.0.1+cpu-cp310-cp310-linux_x86_64.whl")
        world.add("cpu", "filelock-3.9.0-py3-none-any.whl")
        world.add("pypi", "torch-2.0.1-cp310-cp310-manylinux1_x86_64.whl")
        world.add("pypi", "filelock-3.9.0-py3-none-any.whl")
        world.add("pypi", "filelock-3.12.4-py3-none-any.whl")

        ended = lock_world("torch==2.0.1", "filelock==3.12.4", rows="linux-cpu", python="3.10")

        assert ended.status == 0, ended.err
        selected = Lock(lock_path).select("linux", "3.10")
        assert selected["torch"].version == "2.0.1+cpu"
        assert selected["torch"].index == world.index_url("cpu")
        assert selected["filelock"].version == "3.12.4"
        assert selected["filelock"].index == world.index_url("pypi")
        torch_urls = [one.url for one in selected.values() if one.url and "/whl/" in one.url]
        assert torch_urls == [selected["torch"].url]

    def test_a_transitive_package_comes_from_the_default_index_too(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("cpu", "markupsafe-3.0.3-cp314-cp314-manylinux2014_x86_64.whl")
        world.add("pypi", "jinja2-3.1.6-py3-none-any.whl", requires=["markupsafe>=2.0"])
        world.add("pypi", "markupsafe-3.0.2-cp312-cp312-manylinux2014_x86_64.whl")
        world.add("pypi", "markupsafe-3.0.3-cp312-cp312-manylinux2014_x86_64.whl")

        ended = lock_world("jinja2", rows="linux-cpu")

        assert ended.status == 0, ended.err
        chosen = Lock(lock_path).select("linux")["markupsafe"]
        assert (chosen.version, chosen.index) == ("3.0.3", world.index_url("pypi"))

    def test_a_range_that_the_torch_index_skips_is_found_on_the_default_index(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        for version in ("1.22.4", "1.24.0"):
            world.add("cpu", f"numpy-{version}-cp310-cp310-manylinux2014_x86_64.whl")
        for version in ("1.22.4", "1.23.5", "1.24.0"):
            world.add("pypi", f"numpy-{version}-cp310-cp310-manylinux2014_x86_64.whl")

        ended = lock_world("numpy>=1.23,<1.24", rows="linux-cpu", python="3.10")

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux", "3.10") == {"numpy": "1.23.5"}


class TestLF002:
    """A CPU index with a newer torch wins over the CUDA index of the row."""

    def test_each_row_takes_its_own_index_and_the_difference_is_named(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("cu130", "torch-2.9.1+cu130-cp312-cp312-manylinux_2_28_x86_64.whl")
        world.add("cpu", "torch-2.10.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")
        world.add("pypi", "torch-2.10.0-cp312-cp312-manylinux_2_28_x86_64.whl")

        ended = lock_world("torch>=2.9", rows="linux-cu130,linux-cpu")

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        cuda = lock.select("linux", extras=["cu130"])["torch"]
        cpu = lock.select("linux", extras=["cpu"])["torch"]
        assert (cuda.version, cuda.index) == ("2.9.1+cu130", world.index_url("cu130"))
        assert (cpu.version, cpu.index) == ("2.10.0+cpu", world.index_url("cpu"))
        assert "files/torch" not in lock.text
        skew = ended.out.partition("skew:\n")[2].partition("\n\n")[0].splitlines()
        assert skew == ["  torch 2.9.1 (linux-cu130) vs 2.10.0 (linux-cpu)"]

    def test_companions_carry_the_label_of_their_row(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        for package in ("torch", "torchaudio"):
            tags = "cp312-cp312-manylinux_2_28_x86_64"
            world.add("cu128", f"{package}-2.8.0+cu128-{tags}.whl")
            # A stray build of another CUDA, and the default index's build without a label.
            world.add("cu128", f"{package}-2.8.1+cu129-{tags}.whl")
            world.add("pypi", f"{package}-2.8.1-{tags}.whl")

        ended = lock_world("torch", "torchaudio", rows="linux-cu128")

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux") == {
            "torch": "2.8.0+cu128",
            "torchaudio": "2.8.0+cu128",
        }

    def test_the_row_decides_although_the_project_pins_torch_again_in_extras(
        self, world: World, lock_path: Path
    ) -> None:
        world.add("cu128", "torch-2.9.1+cu128-cp312-cp312-manylinux_2_28_x86_64.whl")
        world.add("cpu", "torch-2.9.1-cp312-none-macosx_11_0_arm64.whl")
        lock_path.parent.mkdir(exist_ok=True)
        (lock_path.parent / "pyproject.toml").write_text(
            '[project]\nname = "chat"\nversion = "1"\ndependencies = ["torch==2.9.1"]\n'
            "[project.optional-dependencies]\n"
            'gpu = ["torch==2.9.1"]\nmps = ["torch==2.9.1"]\n'
            "[tool.uv.sources]\n"
            'torch = [{ index = "pytorch-cu128", extra = "gpu" }]\n'
        )

        ended = lockforge(
            "lock",
            "--project",
            lock_path.parent,
            "--matrix",
            "linux-cu128,mac-cpu",
            "--python",
            "3.12",
            "--index-url",
            world.default_url,
            "--torch-index",
            world.torch_url,
        )

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert lock.versions("linux") == {"torch": "2.9.1+cu128"}
        assert lock.versions("mac") == {"torch": "2.9.1"}

    def test_a_pin_without_local_part_takes_the_rows_build(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("cu126", "torch-2.8.0+cu126-cp312-cp312-manylinux_2_28_x86_64.whl")

        ended = lock_world("torch==2.8.0", rows="linux-cu126")

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux") == {"torch": "2.8.0+cu126"}


class TestLF005:
    """The CPU index: ``+cpu`` on Linux and Windows, no local part on macOS."""

    def _fill(self, world: World) -> None:
        for filename in (
            "torch-2.4.1+cpu-cp311-cp311-linux_x86_64.whl",
            "torch-2.4.1+cpu-cp311-cp311-win_amd64.whl",
            "torch-2.4.1-cp311-none-macosx_11_0_arm64.whl",
            "torch-2.4.1-cp311-cp311-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
        ):
            world.add("cpu", filename)

    def test_every_platform_gets_the_build_it_has(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)

        ended = lock_world("torch>=2.4,<2.5", rows="linux-cpu,win-cpu,mac-cpu", python="3.11")

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert lock.versions("linux", "3.11") == {"torch": "2.4.1+cpu"}
        assert lock.versions("win", "3.11") == {"torch": "2.4.1+cpu"}
        mac = lock.select("mac", "3.11")["torch"]
        assert mac.version == "2.4.1"
        assert mac.filename == "torch-2.4.1-cp311-none-macosx_11_0_arm64.whl"
        # Two entries; that select gave one for each platform shows that they never both apply.
        assert [package["version"] for package in lock.data["packages"]] == ["2.4.1", "2.4.1+cpu"]

    def test_a_pin_gives_the_same_packages(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)
        rows = "linux-cpu,win-cpu,mac-cpu"
        lock_world("torch>=2.4,<2.5", rows=rows, python="3.11")
        ranged = Lock(lock_path).data["packages"]

        lock_world("torch==2.4.1", rows=rows, python="3.11", options=("--upgrade",))

        assert Lock(lock_path).data["packages"] == ranged

    def test_older_aarch64_builds_without_local_part_are_taken(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)

        ended = lock_world("torch", rows="linux-cpu,linux-aarch64-cpu", python="3.11")

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert lock.versions("linux", "3.11") == {"torch": "2.4.1+cpu"}
        assert lock.versions("linux-aarch64", "3.11") == {"torch": "2.4.1"}
