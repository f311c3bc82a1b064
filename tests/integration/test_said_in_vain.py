"""What says nothing, or what nobody would see: each is told."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Project
from tests.support.wheels import build_wheel, metadata_text
from tests.support.world import World

NEWER = 'lock-version = "1.7"\ncreated-by = "another tool"\npackages = []\n'


@pytest.fixture
def stocked(project: Project, world: World) -> Project:
    world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")
    world.add("cpu", "torch-2.8.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")
    return project


LISTS = (
    *("--matrix", "--python", "--extra", "--group", "--only-binary", "--no-binary"),
    "--upgrade-package",
)
WORDS = (
    *("-r", "-e", "-c", "--override", "--find-links", "--index-url", "--torch-index"),
    *("--channel", "--prerelease", "--resolution", "--align", "--exclude-newer"),
)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *((option, value) for option in LISTS for value in ("", " ", ",", " , ")),
        *((option, value) for option in WORDS for value in ("", " ")),
    ],
)
def test_an_empty_value_is_refused(option: str, value: str, project: Project) -> None:
    """As it comes from a variable of the shell that is not set."""
    message = project.run_refused(2, "torch", option, value)

    assert option in message
    assert message.endswith(": it is empty\n")


def test_a_name_to_upgrade_is_checked_beside_the_upgrade_of_all(stocked: Project) -> None:
    stocked.locked("torch")

    message = stocked.refused(2, "torch", "--upgrade", "--upgrade-package", "torhc")

    assert "the lock has no torhc to upgrade" in message


def test_a_newer_minor_version_is_warned_of(stocked: Project) -> None:
    """PEP 751, with the file's name, and not where silence is asked for."""
    warning = f"warning: {stocked.path} is of lock-version 1.7: "
    stocked.path.write_text(NEWER)
    quiet = stocked.lock("torch", "-q")
    stocked.path.write_text(NEWER)
    ended = stocked.lock("torch")

    assert warning in ended.err
    assert "1.7" not in quiet.err


def test_a_name_that_is_no_locks_is_warned_of(stocked: Project) -> None:
    odd = stocked.root / "lock.txt"

    assert f"warning: {odd} is not named pylock.toml or pylock.<name>.toml" in (
        stocked.lock("torch", "-o", odd).err
    )
    assert stocked.lock("torch", "-o", stocked.root / "pylock.dev.toml").err == ""


def test_a_row_under_another_name_keeps_its_settings(stocked: Project) -> None:
    stocked.write(
        """
        [tool.lockforge]
        matrix = ["linux-cpu"]
        [tool.lockforge.rows.linux-cpu]
        constraints = ["torch<2.9"]
        """
    )

    data = stocked.locked("torch", matrix="linux-x86_64-cpu")

    assert [package["version"] for package in data["packages"]] == ["2.8.0+cpu"]
    assert list(data["tool"]["lockforge"]["rows"]) == ["linux-x86_64-cpu"]
    assert "linux-x86_64-cpu: constraint torch<2.9" in data["tool"]["lockforge"]["settings"]


@pytest.mark.parametrize("marker", ["'x' in extras", "'x' in dependency_groups"])
def test_a_file_whose_markers_only_a_lock_can_have_is_passed_over(
    marker: str, stocked: Project, world: World
) -> None:
    world.add("pypi", "odd-2.0-py3-none-any.whl", requires=[f"torch; {marker}"])
    world.add("pypi", "odd-1.0-py3-none-any.whl")

    data = stocked.locked("torch", "odd")

    assert [package["version"] for package in data["packages"]] == ["1.0", "2.9.0+cpu"]


def test_faults_of_options_are_of_no_document(project: Project) -> None:
    message = project.run_refused(2, "torch>>2", "--matrix", "linux-cpu", "--python", "3.12")

    assert "command line: not a requirement" in message
    assert "pyproject.toml" not in message


def test_a_path_may_be_encoded_as_in_an_address(stocked: Project) -> None:
    """PEP 508 leaves no other way to name one with a blank."""
    folder = stocked.root / "wheels é"
    folder.mkdir()
    name = "acme-1.0-py3-none-any.whl"
    (folder / name).write_bytes(build_wheel(name, metadata_text("acme", "1.0")))
    stocked.write(
        f"""
        [project]
        name = "demo"
        version = "1"
        dependencies = ["torch", "acme @ ./wheels%20%C3%A9/{name}"]
        """
    )

    packages = stocked.locked()["packages"]

    assert packages[0]["archive"]["path"] == f"wheels é/{name}"
