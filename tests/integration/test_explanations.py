"""Rows without a solution, through the real command: one message that names all of them."""

from __future__ import annotations

import re

import pytest

from lockforge.catalog import load_catalog
from lockforge.commands.lock import LockRequest, lock
from lockforge.errors import NoSolutionError, SolverLimitError
from lockforge.project.load import Loaded
from lockforge.resolve.limits import Limits
from tests.integration.conftest import Project
from tests.support.world import Answer, World
from tests.unit.fakes import FakeRepository, NoProgress, make_matrix, make_project

_LINUX = "manylinux_2_28_x86_64"


def _told_well(message: str, *rows: str) -> None:
    """No traceback, every row that fails, and nobody left without something to do."""
    assert "Traceback" not in message
    assert "resolvelib" not in message
    for row in rows:
        assert re.search(rf"rows? [^\n]*\b{re.escape(row)}\b", message), row
    assert "hint: " in message


def test_a_chain_names_files_and_keys(project: Project) -> None:
    """From the key of the project down to the two that do not agree."""
    project.world.add("cpu", f"torch-2.5.1+cpu-cp312-cp312-{_LINUX}.whl")
    project.world.add("pypi", "accelerate-1.2.0-py3-none-any.whl", requires=["torch>=2.6"])
    project.write(
        """
        [project]
        name = "x"
        version = "1"
        dependencies = ["torch", "accelerate>=1.0"]
        """
    )

    message = project.refused(4)

    _told_well(message, "linux-cpu")
    assert (
        "the project requires accelerate>=1.0 (project.dependencies[1]) -> "
        "accelerate 1.2.0 requires torch>=2.6\n"
    ) in message
    assert "has torch for this row in 2.5.1+cpu" in message


def test_lf_007_missing_python_is_named(project: Project) -> None:
    for tags in ("cp312-cp312", "cp313-cp313", "cp313-cp313t"):
        project.world.add("cpu", f"torch-2.8.0+cpu-{tags}-{_LINUX}.whl")

    message = project.refused(4, "torch>=2.6,<2.9", python="3.13,3.14")

    _told_well(message, "linux-cpu")
    assert "row linux-cpu (Python 3.14)" in message
    assert "2.8.0 has wheels for cp312, cp313, cp313t, none for cp314" in message
    assert "this works: Python 3.13 in its place\n" in message


def test_lf_007_glibc_below_the_floor_of_the_wheels(project: Project) -> None:
    project.world.add("cpu", f"torch-2.7.0+cpu-cp312-cp312-{_LINUX}.whl")
    project.write('[tool.lockforge.rows.linux-cpu]\nglibc = "2.27"\n')

    message = project.refused(4, "torch")

    assert "2.7.0 needs glibc 2.28, and this row is for glibc 2.27" in message


def test_lf_007_wheels_of_another_machine_are_no_substitute(project: Project) -> None:
    project.world.add("cpu", "torch-2.9.0+cpu-cp314-cp314-win_amd64.whl")

    message = project.refused(4, "torch", matrix="win-cpu,win-arm64-cpu", python="3.14")

    _told_well(message, "win-arm64-cpu")
    assert "row win-cpu" not in message
    assert "has wheels for win_amd64, none for win-arm64" in message


def test_lf_010_sdist_that_only_a_build_would_tell(project: Project) -> None:
    """The message names the version and the setting, and the row goes on without it."""
    project.world.add("cu126", f"torch-2.6.0+cu126-cp311-cp311-{_LINUX}.whl")
    project.world.add("cpu", "torch-2.6.0-cp311-none-macosx_11_0_arm64.whl")
    project.world.add("pypi", "flash_attn-2.8.2.tar.gz", pkg_info=None)

    message = project.refused(
        4, "torch==2.6.0", "flash-attn==2.8.2; sys_platform == 'linux'",
        matrix="linux-cu126,mac-cpu", python="3.11",
    )  # fmt: skip

    _told_well(message, "linux-cu126")
    assert "mac-cpu" not in message
    assert "flash-attn 2.8.2" in message
    assert '[tool.lockforge.metadata."flash-attn==2.8.2"]' in message
    assert 'exclude = ["flash-attn"] in [tool.lockforge.rows.linux-cu126]' in message


def test_what_is_suggested_works(project: Project) -> None:
    """The change that the message names, made, ends in a lock."""
    for index, version in (("cpu", "2.9.0"), ("cu130", "2.10.0")):
        project.world.add(index, f"torch-{version}+{index}-cp312-cp312-{_LINUX}.whl")
    message = project.refused(4, "torch==2.10.0", matrix="linux-cpu,linux-cu130")
    found = re.search(r"this works: (\S+) instead of torch==2.10.0", message)
    assert found is not None

    data = project.locked(found[1], matrix="linux-cpu")

    assert [one["version"] for one in data["packages"]] == ["2.9.0+cpu"]


def test_a_suggestion_downloads_no_wheel(project: Project) -> None:
    """What only a whole wheel tells is not looked into for the sake of advice."""
    project.world.add("pypi", "one-1.0-py3-none-any.whl")
    whole = project.world.add("pypi", "one-2.0-py3-none-any.whl", sidecar=False)
    path = project.world.file_path("pypi", whole.filename)
    project.world.answers[path] = _without_ranges(project.world, whole.filename)

    # To see whether the server gives parts of a file takes one request.
    message = project.refused(4, "one==3")

    assert "this works: one==1.0 instead of one==3" in message
    assert [method for method, asked, _ in project.world.requests if asked == path].count(
        "GET"
    ) <= 1


def _without_ranges(world: World, filename: str) -> Answer:
    content = world.entry("pypi", filename).content
    return Answer(body=content, headers={"Accept-Ranges": "none"})


def _request(*requirements: str, rows: tuple[str, ...]) -> LockRequest:
    project = make_project(*requirements, matrix=make_matrix(*rows))
    loaded = Loaded(project=project, requirements=(), settings=(), accesses=())
    return LockRequest(
        loaded=loaded, previous=None, where="pylock.toml", local_path=lambda url: (url, True)
    )


def test_limits_prove_nothing() -> None:
    """Where every row was given up the error is a limit; where one was not, no solution."""
    repository = FakeRepository()
    repository.wheels("one", "1.0", requires=["two"])
    repository.wheels("two", "1.0", requires=["gone; sys_platform == 'win32'"])

    def run(*rows: str) -> None:
        limits = Limits(rounds=1)
        lock(_request("one", rows=rows), repository, load_catalog(), NoProgress(), limits)

    with pytest.raises(SolverLimitError) as limit:
        run("linux-cpu", "mac-cpu")
    assert limit.value.exit_status == 4
    assert limit.value.message.startswith("gave up after 1 round (0 seconds) in rows linux-cpu")
    assert "no versions satisfy" not in limit.value.message

    repository.wheels("three", "1.0")
    mixed = _request("one", "three>=2; sys_platform == 'win32'", rows=("linux-cpu", "win-cpu"))
    with pytest.raises(NoSolutionError) as none:
        lock(mixed, repository, load_catalog(), NoProgress(), Limits(rounds=1))
    assert none.value.exit_status == 4
    assert "no versions satisfy row win-cpu" in none.value.message
    assert "gave up after 1 round (0 seconds) in row linux-cpu" in none.value.message
