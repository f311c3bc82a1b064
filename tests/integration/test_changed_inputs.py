"""A lock just made is current, and no longer once anything that decides it has changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import Project
from tests.support.wheels import build_wheel, metadata_text

WHEEL = "acme-1.0-py3-none-any.whl"
SECRETS = ("s3cret", "someone")


def write(project: Project, *dependencies: str, extra: str = "") -> None:
    project.write(
        f"[project]\nname = 'demo'\nversion = '1'\ndependencies = {[*dependencies]}\n{extra}"
    )


def put_wheel(folder: Path, *requires: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    metadata = metadata_text("acme", "1.0", requires, None, ())
    (folder / WHEEL).write_bytes(build_wheel(WHEEL, metadata, "old"))


def put_tree(project: Project, text: str) -> None:
    (project.root / "tree").mkdir(exist_ok=True)
    project.write(f"[project]\nname = 'acme'\nversion = '1'\n{text}", "tree/pyproject.toml")


def bytes_of_a_wheel(project: Project) -> Callable[[], None]:
    put_wheel(project.root)
    write(project, f"acme @ ./{WHEEL}")
    return lambda: put_wheel(project.root, "foo")


def place_of_a_named_directory(project: Project) -> Callable[[], None]:
    put_wheel(project.root / "one")
    put_wheel(project.root / "two", "foo")
    index = "[[tool.lockforge.index]]\nname = 'local'\nurl = './{}'\n"
    write(project, "acme", extra=index.format("one"))
    return lambda: write(project, "acme", extra=index.format("two"))


def fields_of_a_directory(project: Project) -> Callable[[], None]:
    put_tree(project, "")
    write(project, "acme @ ./tree")
    return lambda: put_tree(project, "dynamic = ['dependencies']\n")


def an_extra_without_requirements(project: Project) -> Callable[[], None]:
    extras = "[project.optional-dependencies]\ntrain = []\n"
    write(project, "foo", extra=extras)
    return lambda: write(project, "foo", extra=f"{extras}[tool.lockforge]\nextras = ['train']\n")


@pytest.mark.parametrize(
    "make",
    [
        bytes_of_a_wheel,
        place_of_a_named_directory,
        fields_of_a_directory,
        an_extra_without_requirements,
    ],
)
def test_inputs(make: Callable[[Project], Callable[[], None]], project: Project) -> None:
    """A change that requirements alone do not show is told too."""
    project.world.add("pypi", "foo-1.0-py3-none-any.whl")
    change = make(project)
    project.locked()
    assert project.lock("--check").status == 0

    change()

    assert project.lock("--check").status == 1


def test_additions_to_the_catalogue(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule of the user's own decides versions as much as a requirement does."""
    for version in ("1.0", "2.0"):
        project.world.add("pypi", f"bar-{version}-py3-none-any.whl")
    project.world.add("pypi", "foo-1.0-py3-none-any.whl")
    write(project, "foo", "bar")
    project.locked()
    rule = project.write(
        """\
        rules:
          - {package: foo, versions: ">=0", requires: bar<2, reason: a test, source: none}
        """,
        "catalog.yaml",
    )
    monkeypatch.setenv("LOCKFORGE_CATALOG", str(rule))

    assert project.lock("--check").status == 1
    assert [one["version"] for one in project.locked()["packages"]] == ["1.0", "1.0"]
    assert project.lock("--check").status == 0


def test_pythons_stated_once_one_was_left_out(project: Project) -> None:
    """What may be left out while nobody states it may not be left out then."""
    tags = "cp312-cp312-manylinux_2_28_x86_64"
    project.world.add("cpu", f"torch-2.8.0+cpu-{tags}.whl")
    options = (
        *("--matrix", "linux-cpu", "--index-url", project.world.default_url),
        *("--torch-index", project.world.torch_url),
    )
    python = "requires-python = '>=3.12,<3.14'\n"
    write(project, "torch", extra=python)
    assert project.run(*options).status == 0
    assert project.run(*options, "--check").status == 0

    write(project, "torch", extra=f"{python}[tool.lockforge]\npython = ['3.12', '3.13']\n")

    assert project.run(*options, "--check").status == 1
    assert project.run(*options).status == 4


@pytest.mark.parametrize("matrix", ["linux-cpu", "linux-cpu,win-cpu"])
@pytest.mark.parametrize(
    "condition",
    [
        "platform_release >= '5'",
        "platform_version == 'x' or sys_platform == 'win32'",
        "implementation_version >= '3.12.4'",
    ],
)
def test_what_no_row_decides(project: Project, condition: str, matrix: str) -> None:
    """A package that only some hosts of a row install keeps no lock from being current."""
    project.world.add("pypi", "bar-1.0-py3-none-any.whl", requires=[f"foo; {condition}"])
    project.world.add("pypi", "foo-1.0-py3-none-any.whl")
    write(project, "bar")
    project.locked(matrix=matrix)

    assert project.lock("--check", matrix=matrix).status == 0
    before = project.path.read_bytes()
    assert project.lock("--upgrade", matrix=matrix).status == 0
    assert project.path.read_bytes() == before


def test_one_name_at_two_pythons(project: Project) -> None:
    """A file counts in the digest of its row by its bytes, and not by its name alone."""
    put_wheel(project.root)
    project.world.add("pypi", WHEEL)
    write(project, f"acme @ ./{WHEEL} ; python_version < '3.13'", "acme ; python_version > '3.12'")
    options = (
        *("--matrix", "linux-cpu", "--python", "3.12", "--python", "3.13"),
        *("--index-url", project.world.default_url, "--torch-index", project.world.torch_url),
    )

    assert project.run(*options).status == 0
    assert project.run(*options, "--check").status == 0


@pytest.mark.parametrize(
    "address",
    [
        "https://user:s3cret@host.example/far-1.0.zip",
        "https://host.example/far-1.0.zip?sig=s3cret",
        "file:///home/someone/far-1.0.zip",
    ],
)
def test_addresses_in_metadata(project: Project, address: str) -> None:
    """What the lock records and what is told of it have no secret, and no place of a machine."""
    project.world.add("pypi", "foo-1.0-py3-none-any.whl")
    put_tree(project, f"optional-dependencies = {{ x = ['far @ {address}'] }}\n")
    write(project, "foo")
    project.locked()
    table = f"[tool.lockforge.metadata.'bar==1']\nrequires-dist = ['far @ {address}']\n"
    write(project, "foo", "acme @ ./tree", extra=table)

    checked = project.lock("--check")
    ended = project.lock("-v")

    assert (checked.status, ended.status) == (1, 0)
    assert "far @ " in checked.out
    told = checked.out + checked.err + ended.out + ended.err
    for secret in SECRETS:
        assert secret not in told + project.path.read_text("utf-8")
