"""Cases on which Pythons, patch releases and floors a row is really for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from packaging.pylock import PylockSelectError
from packaging.specifiers import SpecifierSet

from tests.support.command import Ended, lockforge
from tests.support.locks import Lock
from tests.support.world import World

LINUX, MAC, WINDOWS = "manylinux_2_28_x86_64", "macosx_11_0_arm64", "win_amd64"
LockProject = Callable[..., Ended]


@pytest.fixture
def lock_project(world: World, lock_path: Path) -> LockProject:
    """Lock a project that requires what it is told to; nobody states its Pythons."""
    lock_path.parent.mkdir()

    def lock(
        *requirements: str,
        rows: str,
        requires_python: str | None = ">=3.12",
        more: str = "",
        options: Sequence[str] = (),
    ) -> Ended:
        lines = ["[project]", 'name = "demo"', 'version = "1"', f"dependencies = {[*requirements]}"]
        if requires_python is not None:
            lines.append(f'requires-python = "{requires_python}"')
        lines += ["[tool.lockforge]", f"matrix = {rows.split(',')}", more]
        (lock_path.parent / "pyproject.toml").write_text("\n".join(lines) + "\n", "utf-8")
        return lockforge(
            *("lock", "--project", lock_path.parent),
            *("--index-url", world.default_url, "--torch-index", world.torch_url),
            *options,
        )

    return lock


def notes_of(ended: Ended) -> str:
    """The report's section of notes, in one line."""
    return " ".join(ended.out.partition("\nnotes:\n")[2].partition("\n\n")[0].split())


class TestLF007:
    """A row's interpreter or platform has no wheel at all."""

    @pytest.fixture
    def torch(self, world: World) -> None:
        """The case's own index: nothing for Python 3.14, and a free-threaded build."""
        for tags in ("cp312-cp312", "cp313-cp313", "cp313-cp313t"):
            world.add("cpu", f"torch-2.8.0+cpu-{tags}-{LINUX}.whl")

    @pytest.mark.usefixtures("torch")
    def test_the_lock_states_the_pythons_it_covers(
        self, lock_project: LockProject, lock_path: Path
    ) -> None:
        ended = lock_project("torch>=2.6,<2.9", rows="linux-cpu")

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        limits = SpecifierSet(lock.data["requires-python"])
        assert [one for one in ("3.11", "3.12", "3.13", "3.14", "3.15") if one in limits] == [
            "3.12",
            "3.13",
        ]
        assert lock.data["tool"]["lockforge"]["rows"]["linux-cpu"]["python"] == ["3.12", "3.13"]
        for python in ("3.12", "3.13"):
            assert lock.versions("linux", python) == {"torch": "2.8.0+cpu"}
        with pytest.raises(PylockSelectError):
            lock.select("linux", "3.14")

    @pytest.mark.usefixtures("torch")
    def test_the_report_says_what_narrowed_it(
        self, lock_project: LockProject, lock_path: Path
    ) -> None:
        ended = lock_project("torch>=2.6,<2.9", rows="linux-cpu")

        assert "3.14" in notes_of(ended)
        assert "torch 2.8.0" in notes_of(ended)
        assert "cp314" in notes_of(ended)
        again = lockforge("report", "--project", lock_path.parent)
        assert notes_of(again) == notes_of(ended)

    @pytest.mark.usefixtures("torch")
    def test_a_python_that_was_asked_for_is_not_left_out(
        self, lock_project: LockProject, lock_path: Path
    ) -> None:
        """Nobody who says 3.14 is content with a lock that leaves it out."""
        ended = lock_project("torch>=2.6,<2.9", rows="linux-cpu", more='python = ["3.13", "3.14"]')

        assert ended.status == 4
        assert "Python 3.14" in ended.err
        assert "cp314" in ended.err
        assert "Python 3.13)" not in ended.err
        assert not lock_path.exists()

    @pytest.mark.usefixtures("torch")
    def test_no_python_at_all(self, lock_project: LockProject, lock_path: Path) -> None:
        """Where nothing would be left, the failure is told and nothing is narrowed."""
        ended = lock_project("torch>=2.6,<2.9", rows="linux-cpu", requires_python=">=3.14")

        assert ended.status == 4
        assert "cp314" in ended.err
        assert not lock_path.exists()

    def test_free_threaded_builds_are_never_chosen(
        self, world: World, lock_project: LockProject, lock_path: Path
    ) -> None:
        """Not as the only file of a newer version, not as the only one of a Python."""
        world.add("cpu", f"torch-2.8.0+cpu-cp312-cp312-{LINUX}.whl")
        world.add("cpu", f"torch-2.8.0+cpu-cp313-cp313-{LINUX}.whl")
        world.add("cpu", f"torch-2.9.0+cpu-cp313-cp313t-{LINUX}.whl")
        world.add("cpu", f"torch-2.9.0+cpu-cp314-cp314t-{LINUX}.whl")

        ended = lock_project("torch", rows="linux-cpu")

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert lock.file_names == [
            f"torch-2.8.0+cpu-cp312-cp312-{LINUX}.whl",
            f"torch-2.8.0+cpu-cp313-cp313-{LINUX}.whl",
        ]
        assert "3.14" not in SpecifierSet(lock.data["requires-python"])

    @pytest.mark.usefixtures("torch")
    def test_a_second_run_changes_nothing(self, lock_project: LockProject, lock_path: Path) -> None:
        """The narrowed lock is current, and an upgrade comes to the same bytes."""
        lock_project("torch>=2.6,<2.9", rows="linux-cpu")
        before = lock_path.read_bytes()

        checked = lock_project("torch>=2.6,<2.9", rows="linux-cpu", options=["--check"])
        upgraded = lock_project("torch>=2.6,<2.9", rows="linux-cpu", options=["--upgrade"])

        assert (checked.status, upgraded.status) == (0, 0), checked.out + upgraded.err
        assert lock_path.read_bytes() == before

    @pytest.mark.usefixtures("torch")
    def test_a_python_that_comes_to_be_is_taken_with_the_next_upgrade(
        self, world: World, lock_project: LockProject, lock_path: Path
    ) -> None:
        lock_project("torch>=2.6,<2.9", rows="linux-cpu")
        world.add("cpu", f"torch-2.8.0+cpu-cp314-cp314-{LINUX}.whl")

        assert lock_project("torch>=2.6,<2.9", rows="linux-cpu").status == 0
        assert "3.14" not in SpecifierSet(Lock(lock_path).data["requires-python"])
        upgraded = lock_project(
            "torch>=2.6,<2.9", rows="linux-cpu", options=["--upgrade", "--refresh"]
        )
        assert upgraded.status == 0, upgraded.err
        assert "3.14" in SpecifierSet(Lock(lock_path).data["requires-python"])

    @pytest.mark.usefixtures("torch")
    def test_two_rows_of_one_platform_of_which_one_lacks_a_python(
        self, world: World, lock_project: LockProject, lock_path: Path
    ) -> None:
        """Their platform loses it: an environment marker cannot tell the two apart."""
        world.add("cu126", f"torch-2.8.0+cu126-cp312-cp312-{LINUX}.whl")
        world.add("cpu", f"torch-2.8.0-cp312-none-{MAC}.whl")
        world.add("cpu", f"torch-2.8.0-cp313-none-{MAC}.whl")

        ended = lock_project("torch>=2.6,<2.9", rows="linux-cpu,linux-cu126,mac-cpu")

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        rows = lock.data["tool"]["lockforge"]["rows"]
        assert {name: row["python"] for name, row in rows.items()} == {
            "linux-cpu": ["3.12"],
            "linux-cu126": ["3.12"],
            "mac-cpu": ["3.12", "3.13"],
        }
        assert lock.versions("mac", "3.13") == {"torch": "2.8.0"}
        assert lock.versions("linux", extras=["cu126"]) == {"torch": "2.8.0+cu126"}
        for extra in ("cpu", "cu126"):
            with pytest.raises(PylockSelectError):
                lock.select("linux", "3.13", extras=[extra])
        # 3.13 is left out for Linux, 3.14 for all; each with the row that has nothing for it.
        assert "Python 3.13 is left out on linux: torch 2.8.0" in notes_of(ended)
        assert "Python 3.13 is left out on mac" not in notes_of(ended)
        assert "linux-cu126" in notes_of(ended)

    @pytest.fixture
    def cu118(self, world: World) -> None:
        world.add("cu118", "torch-2.6.0+cu118-cp312-cp312-linux_x86_64.whl")
        world.add("cu118", "torch-2.7.0+cu118-cp312-cp312-manylinux_2_28_x86_64.whl")

    @pytest.mark.usefixtures("cu118")
    @pytest.mark.parametrize(
        ("more", "version", "floor"),
        [
            ('[tool.lockforge.rows.linux-cu118]\nglibc = "2.27"', "2.6.0+cu118", "glibc 2.27"),
            ("", "2.7.0+cu118", "glibc 2.28"),
        ],
    )
    def test_an_older_glibc(
        self, more: str, version: str, floor: str, lock_project: LockProject, lock_path: Path
    ) -> None:
        """The floor of the row decides which builds there are; the lock says it for the host."""
        ended = lock_project("torch", rows="linux-cu118", more=f'python = ["3.12"]\n{more}')

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert [package["version"] for package in lock.data["packages"]] == [version]
        assert lock.data["tool"]["lockforge"]["rows"]["linux-cu118"]["floor"] == floor

    @pytest.mark.usefixtures("cu118")
    def test_a_pin_that_needs_a_newer_glibc(
        self, lock_project: LockProject, lock_path: Path
    ) -> None:
        """Both versions of glibc are named."""
        ended = lock_project(
            "torch==2.7.0",
            rows="linux-cu118",
            more='python = ["3.12"]\n[tool.lockforge.rows.linux-cu118]\nglibc = "2.27"',
        )

        assert ended.status == 4
        assert "2.27" in ended.err
        assert "2.28" in ended.err
        assert not lock_path.exists()

    def test_windows_on_arm(self, world: World, lock_project: LockProject, lock_path: Path) -> None:
        """The files for AMD64 are no substitute, emulated or not."""
        for python in ("cp312", "cp313", "cp314"):
            world.add("cpu", f"torch-2.10.0+cpu-{python}-{python}-win_amd64.whl")
        for python in ("cp312", "cp313"):
            world.add("cpu", f"torch-2.10.0+cpu-{python}-{python}-win_arm64.whl")

        failed = lock_project(
            "torch", rows="win-cpu,win-arm64-cpu", more='python = ["3.14"]', requires_python=None
        )

        assert failed.status == 4
        assert "win-arm64-cpu (Python 3.14)" in failed.err
        assert "cp314" in failed.err
        assert "win-cpu (" not in failed.err
        assert not lock_path.exists()

        ended = lock_project("torch", rows="win-cpu,win-arm64-cpu")
        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert [name for name in lock.file_names if "cp314" in name] == [
            "torch-2.10.0+cpu-cp314-cp314-win_amd64.whl"
        ]
        rows = lock.data["tool"]["lockforge"]["rows"]
        assert rows["win-arm64-cpu"]["python"] == ["3.12", "3.13"]
        assert rows["win-cpu"]["python"] == ["3.12", "3.13", "3.14"]

    def test_a_platform_without_any_wheel(
        self, world: World, lock_project: LockProject, lock_path: Path
    ) -> None:
        for name in (
            f"torch-2.8.0+cpu-cp312-cp312-{LINUX}.whl",
            "torch-2.8.0+cpu-cp312-cp312-musllinux_1_2_x86_64.whl",
        ):
            world.add("cpu", name)

        ended = lock_project("torch", rows="linux-cpu,win-arm64-cpu", more='python = ["3.12"]')

        assert ended.status == 4
        assert "win-arm64-cpu" in ended.err
        assert "linux-cpu (" not in ended.err
        linux = lock_project("torch", rows="linux-cpu", more='python = ["3.12"]')
        assert linux.status == 0, linux.err
        assert Lock(lock_path).file_names == [f"torch-2.8.0+cpu-cp312-cp312-{LINUX}.whl"]


class TestSeveralPythons:
    """One matrix with more than one Python, whose packages differ by minor."""

    @pytest.fixture
    def stack(self, world: World) -> None:
        for python in ("cp311", "cp312", "cp313"):
            world.add(
                "cpu",
                f"torch-2.8.0+cpu-{python}-{python}-{LINUX}.whl",
                requires=["numpy", "tomli; python_version < '3.12'"],
            )
            world.add("cpu", f"torch-2.8.0-{python}-none-{MAC}.whl", requires=["numpy"])
        world.add("pypi", "numpy-2.4.0-py3-none-any.whl", requires_python=">=3.12")
        world.add("pypi", "numpy-2.3.0-py3-none-any.whl", requires_python=">=3.11")
        world.add("pypi", "tomli-2.0-py3-none-any.whl")

    @pytest.mark.usefixtures("stack")
    def test_each_has_what_it_would_have_alone(
        self, lock_project: LockProject, lock_path: Path
    ) -> None:
        ended = lock_project(
            "torch",
            rows="linux-cpu,mac-cpu",
            more='python = ["3.11", "3.12", "3.13"]',
            requires_python=">=3.11",
        )

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        assert lock.versions("linux", "3.11") == {
            "torch": "2.8.0+cpu",
            "numpy": "2.3.0",
            "tomli": "2.0",
        }
        for python in ("3.12", "3.13"):
            assert lock.versions("linux", python) == {"torch": "2.8.0+cpu", "numpy": "2.4.0"}
        assert lock.versions("mac", "3.11") == {"torch": "2.8.0", "numpy": "2.3.0"}
        assert lock.data["requires-python"] == ">=3.11,<3.14"

    @pytest.mark.usefixtures("stack")
    def test_a_minor_between_that_is_not_locked_is_not_covered(
        self, lock_project: LockProject, lock_path: Path
    ) -> None:
        ended = lock_project(
            "torch", rows="linux-cpu", more='python = ["3.13", "3.11"]', requires_python=">=3.11"
        )

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        limits = SpecifierSet(lock.data["requires-python"])
        known = ("3.10.9", "3.11.0", "3.11.14", "3.12.0", "3.12.9", "3.13.0", "3.14.0")
        assert [one for one in known if one in limits] == ["3.11.0", "3.11.14", "3.13.0"]
        with pytest.raises(PylockSelectError):
            lock.select("linux", "3.12")

    @pytest.mark.usefixtures("stack")
    def test_the_order_of_pythons_changes_nothing(
        self, lock_project: LockProject, lock_path: Path
    ) -> None:
        texts = set()
        for pythons in ('["3.11", "3.13"]', '["3.13", "3.11"]'):
            lock_path.unlink(missing_ok=True)
            ended = lock_project(
                "torch", rows="linux-cpu", more=f"python = {pythons}", requires_python=None
            )
            assert ended.status == 0, ended.err
            texts.add(lock_path.read_text("utf-8"))

        assert len(texts) == 1

    def test_the_project_s_own_limit_within_a_minor(
        self, world: World, lock_project: LockProject, lock_path: Path
    ) -> None:
        world.add("pypi", "tool-1-py3-none-any.whl")
        ended = lock_project("tool", rows="linux-cpu", requires_python=">=3.12.4,!=3.13.1,<3.14")

        assert ended.status == 0, ended.err
        limits = SpecifierSet(Lock(lock_path).data["requires-python"])
        known = ("3.12.3", "3.12.4", "3.13.0", "3.13.1", "3.13.2", "3.14.0")
        assert [one for one in known if one in limits] == ["3.12.4", "3.13.0", "3.13.2"]


PATCHES = (0, 1, 2, 3, 4, 5, 12)


class TestPatchReleases:
    """A Target does not decide the patch release, so no marker on it is decided."""

    @pytest.mark.parametrize(
        ("marker", "holds"),
        [
            ("python_full_version < '3.12.4'", {0, 1, 2, 3}),
            ("python_full_version >= '3.12.4'", {4, 5, 12}),
            ("python_full_version <= '3.12.3'", {0, 1, 2, 3}),
            ("python_full_version > '3.12'", {1, 2, 3, 4, 5, 12}),
            ("python_full_version == '3.12'", {0}),
            ("python_full_version != '3.12.0'", {1, 2, 3, 4, 5, 12}),
            ("python_full_version == '3.12.3'", {3}),
            ("python_full_version ~= '3.12.3'", {3, 4, 5, 12}),
            ("python_full_version == '3.12.*'", set(PATCHES)),
            ("'3.12.4' <= python_full_version", {4, 5, 12}),
            ("python_full_version < '3.12.2' or python_full_version > '3.12.4'", {0, 1, 5, 12}),
            ("python_full_version > '3.12.1' and python_full_version < '3.12.5'", {2, 3, 4}),
            ("implementation_version >= '3.12.4'", {4, 5, 12}),
            # These no patch release of 3.12 can change.
            ("python_full_version < '3.12'", set()),
            ("python_full_version >= '3.12'", set(PATCHES)),
            ("python_full_version < '3.13.0a1'", set(PATCHES)),
            ("python_full_version >= '3.13'", set()),
            ("python_version >= '3.12'", set(PATCHES)),
        ],
    )
    def test_markers_are_kept(
        self,
        marker: str,
        holds: set[int],
        world: World,
        lock_project: LockProject,
        lock_path: Path,
    ) -> None:
        """Whatever a boundary is, each patch release gets what its marker says."""
        world.add("pypi", "app-1-py3-none-any.whl", requires=[f"backport; {marker}"])
        world.add("pypi", "backport-1-py3-none-any.whl")

        ended = lock_project("app", rows="linux-cpu,win-cpu", more='python = ["3.12"]')

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        for platform in ("linux", "win"):
            found = {
                patch
                for patch in PATCHES
                if "backport" in lock.select(platform, "3.12", patch=patch)
            }
            assert found == holds

    def test_two_versions_by_patch_release(
        self, world: World, lock_project: LockProject, lock_path: Path
    ) -> None:
        """One dependency that differs at 3.12.4 is one version, or an error that says so."""
        world.add(
            "pypi",
            "app-1-py3-none-any.whl",
            requires=[
                "backport<2; python_full_version < '3.12.4'",
                "backport>=1; python_full_version >= '3.12.4'",
            ],
        )
        world.add("pypi", "backport-1-py3-none-any.whl")
        world.add("pypi", "backport-2-py3-none-any.whl")

        ended = lock_project("app", rows="linux-cpu", more='python = ["3.12"]')

        assert ended.status == 0, ended.err
        for patch in PATCHES:
            assert Lock(lock_path).versions("linux", patch=patch) == {"app": "1", "backport": "1"}

    def test_a_floor_within_the_minor(
        self, world: World, lock_project: LockProject, lock_path: Path
    ) -> None:
        """`3.12.3` covers that patch release and later ones: what is older is of no concern."""
        world.add(
            "pypi",
            "app-1-py3-none-any.whl",
            requires=[
                "old; python_full_version < '3.12.3'",
                "new; python_full_version >= '3.12.3'",
                "newer; python_full_version >= '3.12.5'",
            ],
        )
        world.add("pypi", "new-1-py3-none-any.whl")
        world.add("pypi", "newer-1-py3-none-any.whl")

        ended = lock_project("app", rows="linux-cpu", options=["--python", "3.12.3"])

        assert ended.status == 0, ended.err
        lock = Lock(lock_path)
        limits = SpecifierSet(lock.data["requires-python"])
        known = ("3.12.0", "3.12.2", "3.12.3", "3.12.4", "3.12.12", "3.13.0")
        assert [one for one in known if one in limits] == ["3.12.3", "3.12.4", "3.12.12"]
        assert lock.versions("linux", patch=3) == {"app": "1", "new": "1"}
        assert lock.versions("linux", patch=12) == {"app": "1", "new": "1", "newer": "1"}
        with pytest.raises(PylockSelectError):
            lock.select("linux", patch=2)
        assert lock.data["tool"]["lockforge"]["rows"]["linux-cpu"]["python"] == ["3.12.3"]

    @pytest.mark.parametrize(
        ("python", "version"), [("3.12", "2"), ("3.12.3", "1"), ("3.12.4", "2")]
    )
    def test_a_package_that_needs_a_patch_release(
        self,
        python: str,
        version: str,
        world: World,
        lock_project: LockProject,
        lock_path: Path,
    ) -> None:
        """A floor that was asked for is covered; without one a part of the minor will do."""
        world.add("pypi", "tool-2-py3-none-any.whl", requires_python=">=3.12.4")
        world.add("pypi", "tool-1-py3-none-any.whl", requires_python=">=3.8")

        ended = lock_project("tool", rows="linux-cpu", options=["--python", python])

        assert ended.status == 0, ended.err
        assert Lock(lock_path).versions("linux", patch=5) == {"tool": version}

    def test_floors_beside_whole_minors(
        self, world: World, lock_project: LockProject, lock_path: Path
    ) -> None:
        world.add("pypi", "tool-1-py3-none-any.whl")

        ended = lock_project("tool", rows="linux-cpu", options=["--python", "3.12,3.13.2"])

        assert ended.status == 0, ended.err
        limits = SpecifierSet(Lock(lock_path).data["requires-python"])
        known = ("3.12.0", "3.12.9", "3.13.0", "3.13.1", "3.13.2", "3.13.9", "3.14.0")
        assert [one for one in known if one in limits] == ["3.12.0", "3.12.9", "3.13.2", "3.13.9"]

    def test_a_lock_of_a_floor_is_current(
        self, world: World, lock_project: LockProject, lock_path: Path
    ) -> None:
        world.add("pypi", "tool-1-py3-none-any.whl")
        assert lock_project("tool", rows="linux-cpu", options=["--python", "3.12.3"]).status == 0
        before = lock_path.read_bytes()

        same = ["--python", "3.12.3"]
        assert lock_project("tool", rows="linux-cpu", options=[*same, "--check"]).status == 0
        assert lock_project("tool", rows="linux-cpu", options=[*same, "--upgrade"]).status == 0
        assert lock_path.read_bytes() == before
        other = lock_project("tool", rows="linux-cpu", options=["--python", "3.12", "--check"])
        assert other.status == 1
