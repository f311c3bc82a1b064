"""Requirements files as pip reads them: encodings, variables, and files that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import Project
from tests.support.world import World

TEXT = "# café\ntorch\nnumpy\n"


@pytest.fixture
def stocked(project: Project, world: World) -> Project:
    world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")
    world.add("pypi", "numpy-2.0-py3-none-any.whl")
    world.add("pypi", "numpy-1.0-py3-none-any.whl")
    return project


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode("utf-8"),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-32"),
        f"# -*- coding: latin-1 -*-\n{TEXT}".encode("latin-1"),
        f"#!/usr/bin/pip\n# vim: set fileencoding=cp1252 :\n{TEXT}".encode("cp1252"),
    ],
    ids=["utf-8", "utf-8 with a mark", "utf-16", "utf-32", "latin-1", "cp1252"],
)
def test_an_encoding_that_the_file_names_is_read(content: bytes, stocked: Project) -> None:
    (stocked.root / "r.txt").write_bytes(content)

    data = stocked.locked("-r", stocked.root / "r.txt")

    assert [package["name"] for package in data["packages"]] == ["numpy", "torch"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (TEXT.encode("latin-1"), "UTF-8"),
        (b"# coding: klingon\ntorch\n", "klingon"),
        (b"# coding: hex\ntorch\n", "hex"),
    ],
)
def test_a_file_in_no_known_encoding_is_told_in_plain_words(
    content: bytes, kind: str, project: Project
) -> None:
    path = project.root / "r.txt"
    path.write_bytes(content)

    message = project.refused(2, "-r", path)

    assert f"  {path}: is not {kind} text\n" in message
    assert "save it as UTF-8" in message


@pytest.mark.parametrize("name", ["pyproject.toml", ".python-version"])
def test_a_file_of_the_project_must_be_utf8(name: str, project: Project) -> None:
    (project.root / name).write_bytes(TEXT.encode("latin-1"))

    message = project.run_refused(2, "torch", "--matrix", "linux-cpu")

    assert "is not UTF-8 text" in message
    assert "codec" not in message


def test_a_lock_must_be_utf8(project: Project) -> None:
    project.path.write_bytes(TEXT.encode("latin-1"))

    assert "is not UTF-8 text" in project.refused(5, "torch")


def test_a_variable_stands_for_its_value(stocked: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it comes to now: a run that finds nothing to do would have to know it."""
    stocked.write("torch\n-c ${WHICH}.txt\nnumpy${LIMIT}\n", "r.txt")
    stocked.write("numpy<3\n", "limits.txt")
    monkeypatch.setenv("WHICH", "limits")
    monkeypatch.setenv("LIMIT", ">=2")
    first = stocked.locked("-r", stocked.root / "r.txt")
    monkeypatch.setenv("LIMIT", "<2")
    second = stocked.locked("-r", stocked.root / "r.txt")

    assert [package["version"] for package in first["packages"]] == ["2.0", "2.9.0+cpu"]
    assert [package["version"] for package in second["packages"]] == ["1.0", "2.9.0+cpu"]


def test_a_variable_that_is_not_set_is_named(project: Project) -> None:
    path = project.write("torch==${LOCKFORGE_TEST_UNSET}\n", "r.txt")

    message = project.refused(2, "-r", path)

    assert f"{path}, line 1: the environment variable LOCKFORGE_TEST_UNSET is not set" in message


def test_a_variable_in_an_address_never_reaches_the_lock(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "s3cret")
    path = project.write("acme @ https://h.example/${SECRET}/acme-1.0-py3-none-any.whl\n", "r.txt")

    message = project.refused(2, "-r", path)

    assert "${SECRET} stands outside of user and password" in message
    assert "s3cret" not in message


def test_a_file_on_the_web_is_refused(project: Project) -> None:
    path = project.write("torch\n-r https://user:s3cret@h.example/r.txt\n", "r.txt")

    message = project.refused(2, "-r", path)

    assert f"{path}, line 2: a file on the web is not read" in message
    assert "s3cret" not in message


def test_a_directory_is_no_file(project: Project) -> None:
    """The line that names it is told, and what else is wrong with the files."""
    (project.root / "limits").mkdir()
    path = project.write("torch\n-c limits\nnumpy>>2\n", "r.txt")

    message = project.refused(2, "-r", path)

    assert f"{path}, line 2: {project.root / 'limits'}: cannot be read: is a directory" in message
    assert f"{path}, line 3: not a requirement" in message


def test_a_name_that_no_file_can_have_is_told(project: Project) -> None:
    path = project.write("torch\n-r more\0.txt\n", "r.txt")

    assert f"{path}, line 2: " in project.refused(2, "-r", path)


def test_a_file_without_requirements_says_so(project: Project) -> None:
    path: Path = project.write("# nothing yet\n", "r.txt")

    message = project.refused(2, "-r", path)

    assert f"{path}: it has no requirements" in message
    assert "pyproject.toml" not in message
