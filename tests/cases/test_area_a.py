"""Cases on where packages come from and which versions a row gets."""

from __future__ import annotations

from pathlib import Path

import pytest

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


_LINUX = "cp311-cp311-manylinux_2_28_x86_64"


def _added(lock_path: Path) -> list[str]:
    """What the report names as added, one rule a line, each line without its indentation."""
    section = lockforge("report", lock_path).out.partition("added by lockforge:\n")[2]
    text = section.partition("\n\n")[0].replace("\n    ", " ")
    return [line.strip() for line in text.splitlines()]


class TestLF004:
    """Companions whose metadata does not say which torch they were built for."""

    def _fill(self, world: World) -> None:
        for torch, torchvision in (("2.10.0", "0.25.0"), ("2.11.0", "0.26.0")):
            world.add("cu130", f"torch-{torch}+cu130-{_LINUX}.whl")
            world.add("cu130", f"torchaudio-{torch}+cu130-{_LINUX}.whl")
            world.add(
                "cu130",
                f"torchvision-{torchvision}+cu130-{_LINUX}.whl",
                requires=[f"torch=={torch}"],
            )

    def test_torchaudio_is_the_one_of_the_pinned_torch(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)

        ended = lock_world(
            "torch==2.10.0", "torchvision", "torchaudio", rows="linux-cu130", python="3.11"
        )

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux", "3.11") == {
            "torch": "2.10.0+cu130",
            "torchvision": "0.25.0+cu130",
            "torchaudio": "2.10.0+cu130",
        }
        # What torchvision's metadata says itself is not lockforge's addition.
        (added,) = _added(lock_path)
        assert added.startswith("torchaudio: torch==2.10.*")
        assert added.endswith("source: torchaudio-2.11)")

    def test_a_pair_that_does_not_fit_is_an_error_that_names_both(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)

        ended = lock_world("torch==2.10.0", "torchaudio==2.11.0", rows="linux-cu130", python="3.11")

        assert ended.status == 4
        assert "torch==2.10.0" in ended.err
        assert "torchaudio 2.11.0 requires torch>=2.11 (added by lockforge: " in ended.err
        assert not lock_path.exists()

    def test_a_torch_newer_than_the_last_torchaudio_goes_with_that(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)
        world.add("cu130", f"torch-2.13.0+cu130-{_LINUX}.whl")

        ended = lock_world("torch", "torchaudio", rows="linux-cu130", python="3.11")

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux", "3.11") == {
            "torch": "2.13.0+cu130",
            "torchaudio": "2.11.0+cu130",
        }

    def test_nothing_is_named_as_added_that_the_metadata_says_too(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("cu130", f"torch-2.13.0+cu130-{_LINUX}.whl")
        world.add(
            "cu130",
            "torchaudio-2.11.1+cu130-py3-none-manylinux_2_28_x86_64.whl",
            requires=["torch>=2.11"],
        )

        ended = lock_world("torchaudio", rows="linux-cu130", python="3.11")

        assert ended.status == 0, ended.err
        assert _added(lock_path) == []

    # The pairs are those of torchcodec's README, torchao's pull requests 2908 and 4401, FBGEMM's
    # table of releases and TorchRec's pull request 4337.
    @pytest.mark.parametrize(
        ("pinned", "companion", "offered", "expected"),
        [
            ("torch==2.8.0", "torchcodec", ["0.7.0", "0.8.1", "0.16.0"], "0.7.0"),
            ("torch==2.9.1", "torchcodec", ["0.8.1", "0.9.1", "0.10.0"], "0.9.1"),
            ("torch==2.11.0", "torchcodec", ["0.10.0", "0.11.1"], "0.11.1"),
            ("torch==2.13.0", "torchcodec", ["0.11.1", "0.16.0"], "0.16.0"),
            ("torch==2.8.0", "torchao", ["0.11.0", "0.12.0", "0.18.0"], "0.12.0"),
            ("torch==2.10.0", "torchao", ["0.12.0", "0.17.0", "0.18.0"], "0.17.0"),
            ("torch==2.11.0", "torchao", ["0.17.0", "0.18.0"], "0.18.0"),
            ("torch==2.9.1", "fbgemm-gpu", ["1.3.0", "1.4.0", "1.5.0"], "1.4.0"),
            ("torch==2.11.0", "fbgemm-gpu-genai", ["1.5.0", "1.6.0"], "1.6.0"),
        ],
    )
    def test_the_companion_is_one_built_for_the_pinned_torch(
        self,
        world: World,
        lock_world: LockWorld,
        lock_path: Path,
        pinned: str,
        companion: str,
        offered: list[str],
        expected: str,
    ) -> None:
        for version in ("2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.13.0"):
            world.add("cu130", f"torch-{version}+cu130-{_LINUX}.whl")
        for version in offered:
            world.add("cu130", f"{companion.replace('-', '_')}-{version}+cu130-{_LINUX}.whl")

        ended = lock_world(pinned, companion, rows="linux-cu130", python="3.11")

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux", "3.11") == {
            "torch": f"{pinned.removeprefix('torch==')}+cu130",
            companion: f"{expected}+cu130",
        }

    @pytest.mark.parametrize(
        ("torch", "companion"),
        [
            ("2.12.0", "torchcodec-0.11.1"),
            ("2.9.1", "torchao-0.12.0"),
            ("2.10.0", "torchao-0.18.0"),
        ],
    )
    def test_no_companion_is_better_than_a_broken_one(
        self, world: World, lock_world: LockWorld, torch: str, companion: str
    ) -> None:
        world.add("cu130", f"torch-{torch}+cu130-{_LINUX}.whl")
        world.add("cu130", f"{companion}+cu130-{_LINUX}.whl")
        name, _, version = companion.partition("-")

        ended = lock_world(f"torch=={torch}", name, rows="linux-cu130", python="3.11")

        assert ended.status == 4
        assert f"{name} {version} requires torch" in ended.err
        assert "(added by lockforge: " in ended.err

    def test_companions_of_companions_are_paired_as_well(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        for number in (3, 4, 5):
            world.add("cu130", f"torch-2.{number + 5}.0+cu130-{_LINUX}.whl")
            world.add("cu130", f"fbgemm_gpu-1.{number}.0+cu130-{_LINUX}.whl")
            world.add(
                "cu130", f"torchrec-1.{number}.0+cu130-py3-none-any.whl", requires=["fbgemm-gpu"]
            )

        ended = lock_world("torch<2.10", "torchrec", rows="linux-cu130", python="3.11")

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux", "3.11") == {
            "torch": "2.9.0+cu130",
            "fbgemm-gpu": "1.4.0+cu130",
            "torchrec": "1.4.0+cu130",
        }

    def test_the_last_torchtext_holds_torch_back(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("cpu", f"torch-2.3.1+cpu-{_LINUX}.whl")
        world.add("cpu", f"torch-2.4.0+cpu-{_LINUX}.whl")
        world.add("cpu", f"torchtext-0.18.0+cpu-{_LINUX}.whl", requires=["torch>=2.3.0"])

        ended = lock_world("torch", "torchtext", rows="linux-cpu", python="3.11")

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux", "3.11") == {
            "torch": "2.3.1+cpu",
            "torchtext": "0.18.0+cpu",
        }
        (added,) = _added(lock_path)
        assert added.startswith("torchtext: torch==2.3.*")

    def test_a_limit_is_named_where_it_mattered_alone(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        for version in ("2.9.1", "2.13.0"):
            world.add("cpu", f"torch-{version}+cpu-{_LINUX}.whl")
        for version in ("0.9.1", "0.16.0"):
            world.add("cpu", f"torchcodec-{version}+cpu-{_LINUX}.whl")

        lock_world("torchcodec", rows="linux-cpu", python="3.11")
        alone = (Lock(lock_path).versions("linux", "3.11"), _added(lock_path))
        lock_world("torch", "torchcodec", rows="linux-cpu", python="3.11")
        newest = (Lock(lock_path).versions("linux", "3.11"), _added(lock_path))
        lock_world("torch", "torchcodec==0.9.1", rows="linux-cpu", python="3.11")
        pinned = (Lock(lock_path).versions("linux", "3.11"), _added(lock_path))

        reason = "torchcodec before 0.12 is built against one torch"
        assert alone == ({"torchcodec": "0.16.0+cpu"}, [])
        assert newest == ({"torch": "2.13.0+cpu", "torchcodec": "0.16.0+cpu"}, [])
        assert pinned == (
            {"torch": "2.9.1+cpu", "torchcodec": "0.9.1+cpu"},
            [f"torchcodec: torch==2.9.* ({reason}; source: torchcodec-readme)"],
        )


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


class TestLF008:
    """macOS on Intel ends at torch 2.2.2, which needs NumPy 1 although its metadata is silent.

    As the `cpu` row of a Mac uses PyTorch's own index, torch is offered there.
    """

    def _fill(self, world: World) -> None:
        for filename in (
            "torch-2.2.2-cp312-none-macosx_10_9_x86_64.whl",
            "torch-2.2.2-cp312-none-macosx_11_0_arm64.whl",
            "torch-2.12.0-cp312-none-macosx_14_0_arm64.whl",
        ):
            world.add("cpu", filename)
        for filename in (
            "numpy-1.26.4-cp312-cp312-macosx_10_9_x86_64.whl",
            "numpy-1.26.4-cp312-cp312-macosx_11_0_arm64.whl",
            "numpy-2.4.4-cp312-cp312-macosx_10_13_x86_64.whl",
            "numpy-2.4.4-cp312-cp312-macosx_14_0_arm64.whl",
        ):
            world.add("pypi", filename)

    def test_the_old_torch_limits_numpy_in_its_row_alone(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)

        ended = lock_world("torch>=2.2", "numpy", rows="mac-cpu,mac-x86_64-cpu")

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert lock.versions("mac-x86_64") == {"torch": "2.2.2", "numpy": "1.26.4"}
        assert lock.versions("mac") == {"torch": "2.12.0", "numpy": "2.4.4"}
        markers = {
            package["version"]: package["marker"]
            for package in lock.data["packages"]
            if package["name"] == "torch"
        }
        assert markers == {
            "2.2.2": "platform_machine == 'x86_64'",
            "2.12.0": "platform_machine == 'arm64'",
        }

    def test_the_report_says_that_the_limit_was_added_and_why(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        self._fill(world)

        lock_world("torch>=2.2", "numpy", rows="mac-cpu,mac-x86_64-cpu")

        assert _added(lock_path) == [
            "torch: numpy<2 (torch 2.2 and older is built against NumPy 1; source: numpy-2)"
        ]

    def test_it_holds_in_every_row_with_such_a_torch(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("cu118", "torch-2.2.2+cu118-cp312-cp312-linux_x86_64.whl")
        for version in ("1.26.4", "2.4.4"):
            world.add("pypi", f"numpy-{version}-cp312-cp312-manylinux_2_27_x86_64.whl")

        ended = lock_world("torch", "numpy", rows="linux-cu118")

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux")["numpy"] == "1.26.4"

    def test_torch_2_3_may_have_numpy_2(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("cpu", "torch-2.3.0-cp312-none-macosx_11_0_arm64.whl")
        world.add("pypi", "numpy-2.4.4-cp312-cp312-macosx_14_0_arm64.whl")

        ended = lock_world("torch", "numpy", rows="mac-cpu")

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("mac") == {"torch": "2.3.0", "numpy": "2.4.4"}
        assert _added(lock_path) == []
