"""Cases on packages of which only the source is published, and on direct references."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cases.conftest import LockWorld
from tests.support.command import Ended, lockforge
from tests.support.locks import Lock
from tests.support.world import World

SDIST = "flash_attn-2.8.2.tar.gz"
OLD_INFO = "Metadata-Version: 2.1\nName: flash-attn\nVersion: 2.8.2\n"
DYNAMIC_INFO = "Metadata-Version: 2.2\nName: flash-attn\nVersion: 2.8.2\nDynamic: Requires-Dist\n"
REQUIREMENTS = ["torch==2.6.0", "flash-attn==2.8.2; sys_platform == 'linux'"]
STATED = """
[tool.lockforge.metadata."flash-attn==2.8.2"]
requires-dist = ["torch", "einops"]
"""


def lock_project(
    world: World, root: Path, requirements: list[str], rows: str, more: str = ""
) -> Ended:
    """Lock a project for Python 3.11."""
    root.mkdir(exist_ok=True)
    (root / "pyproject.toml").write_text(
        f'[project]\nname = "demo"\nversion = "1"\ndependencies = {requirements}\n'
        f'[tool.lockforge]\nmatrix = {rows.split(",")}\npython = ["3.11"]\n{more}',
        "utf-8",
    )
    return lockforge(
        *("lock", "--project", root),
        *("--index-url", world.default_url, "--torch-index", world.torch_url),
    )


def packages(path: Path) -> dict[str, dict[str, Any]]:
    data = tomllib.loads(path.read_text("utf-8"))
    return {package["name"]: package for package in data["packages"]}


class TestLF010:
    """A source-only extension whose setup.py imports torch.

    The sdists of these tests fail when anything in them is run.
    """

    ROWS = "linux-cu126,mac-cpu"

    @pytest.fixture
    def root(self, lock_path: Path) -> Path:
        return lock_path.parent

    @pytest.fixture
    def stack(self, world: World) -> World:
        world.add("cu126", "torch-2.6.0+cu126-cp311-cp311-manylinux_2_28_x86_64.whl")
        world.add("cpu", "torch-2.6.0-cp311-none-macosx_11_0_arm64.whl")
        world.add("pypi", "einops-0.8.1-py3-none-any.whl")
        return world

    def test_static_metadata_is_read(self, stack: World, root: Path, lock_path: Path) -> None:
        """The sdist is locked with its hash, in the row that wants it alone."""
        entry = stack.add("pypi", SDIST, requires=["torch", "einops"])

        ended = lock_project(stack, root, REQUIREMENTS, self.ROWS)

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert lock.versions("linux", "3.11") == {
            "torch": "2.6.0+cu126",
            "flash-attn": "2.8.2",
            "einops": "0.8.1",
        }
        assert lock.versions("mac", "3.11") == {"torch": "2.6.0"}
        chosen = lock.select("linux", "3.11")["flash-attn"]
        assert (chosen.filename, chosen.sha256) == (SDIST, entry.sha256)
        assert chosen.index == stack.index_url("pypi")
        assert "wheels" not in packages(lock_path)["flash-attn"]

    def test_the_report_says_how_it_must_be_built(self, stack: World, root: Path) -> None:
        stack.add("pypi", SDIST, requires=["torch", "einops"])

        ended = lock_project(stack, root, REQUIREMENTS, self.ROWS)

        section = ended.out.partition("\nbuilt on the host:\n")[2].partition("\n\n")[0]
        text = " ".join(section.split())
        assert text == (
            "flash-attn 2.8.2 is an sdist: must be built after torch, without build isolation "
            "(linux-cu126)"
        )

    @pytest.mark.parametrize("info", [OLD_INFO, DYNAMIC_INFO, None], ids=["2.1", "dynamic", "none"])
    def test_without_static_metadata_there_is_one_clear_message(
        self, info: str | None, stack: World, root: Path, lock_path: Path
    ) -> None:
        stack.add("pypi", SDIST, pkg_info=info)

        ended = lock_project(stack, root, REQUIREMENTS, self.ROWS)

        assert ended.status == 4
        assert "linux-cu126" in ended.err
        assert "mac-cpu" not in ended.err.partition("hint:")[0]
        assert SDIST in ended.err
        assert '[tool.lockforge.metadata."flash-attn==2.8.2"]' in ended.err
        assert "Traceback" not in ended.err
        assert not lock_path.exists()

    def test_without_a_pin_no_older_sdist_is_tried(self, stack: World, root: Path) -> None:
        """One that has static metadata by chance would be a release from years ago."""
        stack.add("pypi", SDIST, pkg_info=OLD_INFO)
        stack.add("pypi", "flash_attn-0.2.0.tar.gz", requires=["torch"])
        stack.requests.clear()

        ended = lock_project(stack, root, ["torch==2.6.0", "flash-attn"], "linux-cu126")

        assert ended.status == 4
        assert '[tool.lockforge.metadata."flash-attn==2.8.2"]' in ended.err
        asked = [path for _, path, _ in stack.requests if "flash_attn" in path]
        assert all("2.8.2" in path for path in asked)

    @pytest.mark.parametrize("info", [OLD_INFO, DYNAMIC_INFO, None], ids=["2.1", "dynamic", "none"])
    def test_what_the_user_states_is_taken(
        self, info: str | None, stack: World, root: Path, lock_path: Path
    ) -> None:
        entry = stack.add("pypi", SDIST, pkg_info=info)

        ended = lock_project(stack, root, REQUIREMENTS, self.ROWS, STATED)

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert lock.versions("linux", "3.11") == {
            "torch": "2.6.0+cu126",
            "flash-attn": "2.8.2",
            "einops": "0.8.1",
        }
        assert lock.select("linux", "3.11")["flash-attn"].sha256 == entry.sha256
        assert lock.versions("mac", "3.11") == {"torch": "2.6.0"}
        assert "without build isolation (linux-cu126)" in " ".join(ended.out.split())

    def test_what_is_stated_without_a_pin_is_the_version_that_is_taken(
        self, stack: World, root: Path, lock_path: Path
    ) -> None:
        """Newer sdists that need a build do not hide it."""
        stack.add("pypi", SDIST, pkg_info=OLD_INFO)
        newer = OLD_INFO.replace("2.8.2", "2.8.3")
        stack.add("pypi", "flash_attn-2.8.3.tar.gz", pkg_info=newer)

        ended = lock_project(stack, root, ["torch==2.6.0", "flash-attn"], "linux-cu126", STATED)

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux", "3.11")["flash-attn"] == "2.8.2"

    def test_excluding_it_from_the_row_is_a_way_out(
        self, stack: World, root: Path, lock_path: Path
    ) -> None:
        stack.add("pypi", SDIST, pkg_info=OLD_INFO)

        ended = lock_project(
            stack,
            root,
            REQUIREMENTS,
            self.ROWS,
            '[tool.lockforge.rows.linux-cu126]\nexclude = ["flash-attn"]\n',
        )

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux", "3.11") == {"torch": "2.6.0+cu126"}

    def test_no_process_is_started(
        self, stack: World, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Neither is anything of the sdist run, nor is there a Python to run it with."""
        stack.add("pypi", SDIST, pkg_info=DYNAMIC_INFO)
        empty = tmp_path / "bin"
        empty.mkdir()
        monkeypatch.setenv("PATH", str(empty))

        ended = lock_project(stack, root, REQUIREMENTS, self.ROWS)

        assert ended.status == 4
        assert "a build was started" not in ended.out + ended.err

    def test_a_second_run_is_current(self, stack: World, root: Path, lock_path: Path) -> None:
        stack.add("pypi", SDIST, requires=["torch", "einops"])
        lock_project(stack, root, REQUIREMENTS, self.ROWS)
        before = lock_path.read_bytes()
        stack.requests.clear()

        assert lock_project(stack, root, REQUIREMENTS, self.ROWS).status == 0
        assert stack.requests == []
        assert lock_path.read_bytes() == before


class TestLF010Windows:
    """A library that torch's metadata asks for on Windows alone."""

    MKL = "intel-openmp==2025.1.1; platform_system == 'Windows'"

    @pytest.fixture
    def stack(self, world: World) -> World:
        for tags in ("cp312-cp312-manylinux_2_28_x86_64", "cp312-cp312-win_amd64"):
            world.add("cpu", f"torch-2.8.0+cpu-{tags}.whl", requires=[self.MKL])
        world.add("cpu", "torch-2.8.0-cp312-none-macosx_11_0_arm64.whl", requires=[self.MKL])
        return world

    def test_it_is_in_the_rows_of_windows(
        self, stack: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        stack.add(
            "pypi",
            "intel_openmp-2025.1.1-py2.py3-none-win_amd64.whl",
            requires=["intel-cmplr-lib-ur==2025.1.1"],
        )
        stack.add("pypi", "intel_cmplr_lib_ur-2025.1.1-py2.py3-none-win_amd64.whl")

        ended = lock_world("torch", rows="win-cpu,linux-cpu,mac-cpu")

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert lock.versions("win") == {
            "torch": "2.8.0+cpu",
            "intel-openmp": "2025.1.1",
            "intel-cmplr-lib-ur": "2025.1.1",
        }
        assert lock.versions("linux") == {"torch": "2.8.0+cpu"}
        assert lock.versions("mac") == {"torch": "2.8.0"}

    @pytest.mark.parametrize("other", [None, "2025.2.0"])
    def test_a_row_of_windows_without_it_fails_alone(
        self, other: str | None, stack: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        if other is not None:
            stack.add("pypi", f"intel_openmp-{other}-py2.py3-none-win_amd64.whl")

        ended = lock_world("torch", rows="win-cpu,linux-cpu,mac-cpu")

        assert ended.status == 4
        text = ended.err.partition("hint:")[0]
        assert "intel-openmp==2025.1.1" in text
        assert "torch 2.8.0" in text
        assert "win-cpu (Python 3.12)" in text
        assert "linux-cpu (" not in text
        assert "mac-cpu (" not in text
        assert not lock_path.exists()


class TestLF010DirectReferences:
    """A requirement given by the address of a wheel."""

    WHEEL = "kernels-1.0-py3-none-any.whl"

    def test_a_dependency_may_not_state_one(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        """Who installs a package does not expect another host's file; both names are told."""
        world.add("pypi", self.WHEEL)
        url = f"{world.base}{world.file_path('pypi', self.WHEEL)}"
        world.add("pypi", "trainer-2.0-py3-none-any.whl", requires=[f"kernels @ {url}"])

        ended = lock_world("trainer", rows="linux-cpu")

        assert ended.status == 4
        assert "trainer" in ended.err
        assert "kernels" in ended.err
        assert "only the project itself" in ended.err
        assert not lock_path.exists()

    def test_an_older_release_without_one_is_taken(
        self, world: World, lock_world: LockWorld, lock_path: Path
    ) -> None:
        world.add("pypi", "kernels-1.0-py3-none-any.whl")
        url = f"{world.base}{world.file_path('pypi', self.WHEEL)}"
        world.add("pypi", "trainer-2.0-py3-none-any.whl", requires=[f"kernels @ {url}"])
        world.add("pypi", "trainer-1.0-py3-none-any.whl", requires=["kernels"])

        ended = lock_world("trainer", rows="linux-cpu")

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux") == {"trainer": "1.0", "kernels": "1.0"}
        assert "trainer-2.0-py3-none-any.whl" in ended.err

    def test_the_project_may(self, world: World, lock_path: Path) -> None:
        """It is locked by address and hash, and by no index."""
        entry = world.add("hidden", self.WHEEL, requires=["einops"])
        world.add("pypi", "einops-0.8.1-py3-none-any.whl")
        # What the default index has of that name is not asked for.
        world.add("pypi", "kernels-9.0-py3-none-any.whl")
        url = f"{world.base}{world.file_path('hidden', self.WHEEL)}"

        ended = lock_project(world, lock_path.parent, [f"kernels @ {url}"], "linux-cpu,win-cpu")

        assert ended.status == 0, ended.err
        locked = packages(lock_path)
        assert locked["kernels"] == {
            "name": "kernels",
            "version": "1.0",
            "dependencies": [{"name": "einops"}],
            "archive": {"url": url, "hashes": {"sha256": entry.sha256}},
        }
        assert not [path for _, path, _ in world.requests if path.startswith("/simple/kernels")]

    def test_the_project_s_own_covers_that_of_a_dependency(
        self, world: World, lock_path: Path
    ) -> None:
        """Whoever names the same address too has agreed to it."""
        world.add("hidden", self.WHEEL)
        url = f"{world.base}{world.file_path('hidden', self.WHEEL)}"
        world.add("pypi", "trainer-2.0-py3-none-any.whl", requires=[f"kernels @ {url}"])

        ended = lock_project(world, lock_path.parent, ["trainer", f"kernels @ {url}"], "linux-cpu")

        assert ended.status == 0, ended.err
        assert packages(lock_path)["kernels"]["archive"]["url"] == url

    def test_an_sdist_by_its_address(self, world: World, lock_path: Path) -> None:
        entry = world.add("hidden", "kernels-1.0.tar.gz", requires=["einops"])
        world.add("pypi", "einops-0.8.1-py3-none-any.whl")
        url = f"{world.base}{world.file_path('hidden', 'kernels-1.0.tar.gz')}"

        ended = lock_project(world, lock_path.parent, [f"kernels @ {url}"], "linux-cpu")

        assert ended.status == 0, ended.err
        locked = packages(lock_path)
        assert locked["kernels"]["archive"] == {"url": url, "hashes": {"sha256": entry.sha256}}
        assert set(locked) == {"kernels", "einops"}
        assert "kernels 1.0 is an sdist: built when it is installed (linux-cpu)" in ended.out
