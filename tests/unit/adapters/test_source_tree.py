"""A directory's project, read without a build."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName
from packaging.version import Version

from lockforge.adapters.source_tree import SourceTree, read_source_tree
from lockforge.errors import MetadataError, NeedsBuildError
from lockforge.model.release import Metadata


def read(folder: Path, text: str) -> SourceTree:
    (folder / "pyproject.toml").write_text(textwrap.dedent(text), "utf-8")
    return read_source_tree(folder)


def test_all_that_is_read(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        [project]
        name = "Acme.Core"
        version = "1.2"
        requires-python = ">=3.11"
        dependencies = ["torch>=2", "pywin32; sys_platform == 'win32'"]
        [project.optional-dependencies]
        Train_Fast = ["einops", "triton; sys_platform == 'linux' or os_name == 'nt'"]
        dev = []
        """,
    )

    assert found == SourceTree(
        name=NormalizedName("acme-core"),
        metadata=Metadata(
            version=Version("1.2"),
            requires_python=">=3.11",
            requires_dist=(
                Requirement("torch>=2"),
                Requirement("pywin32; sys_platform == 'win32'"),
                Requirement("einops; extra == 'train-fast'"),
                Requirement(
                    "triton; (sys_platform == 'linux' or os_name == 'nt') and extra == 'train-fast'"
                ),
            ),
        ),
    )


def test_the_least_that_is_needed(tmp_path: Path) -> None:
    """Other fields may be dynamic: no resolution depends on them."""
    found = read(
        tmp_path,
        '[project]\nname = "acme"\nversion = "1"\ndynamic = ["readme", "scripts"]\n',
    )

    assert found.metadata == Metadata(version=Version("1"), requires_python=None, requires_dist=())


def test_a_dynamic_version(tmp_path: Path) -> None:
    """It is not asked for: a lock states no version of a directory."""
    found = read(tmp_path, '[project]\nname = "acme"\ndynamic = ["version"]\n')

    assert found.name == "acme"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[project]\nname = "acme"\ndynamic = ["dependencies"]\n', "dependencies"),
        (
            '[project]\nname = "acme"\nversion = "1"\ndynamic = ["optional-dependencies"]\n',
            "optional-dependencies",
        ),
        ("[tool.poetry]\nname = 'acme'\n", "no name"),
        ('[build-system]\nrequires = ["setuptools"]\n', "no name"),
        ("", "no name"),
    ],
)
def test_what_only_a_build_would_tell(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(NeedsBuildError) as caught:
        read(tmp_path, text)

    assert told in caught.value.message
    assert caught.value.where == str(tmp_path / "pyproject.toml")
    assert "wheel" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "[project\n",
        '[project]\nname = "acme"\nversion = "one"\n',
        '[project]\nname = "acme"\nversion = "1"\ndependencies = ["==2"]\n',
        '[project]\nname = "acme"\nversion = "1"\ndependencies = [1]\n',
        '[project]\nname = "acme"\nversion = "1"\ndependencies = 1\n',
        '[project]\nname = 1\nversion = "1"\n',
        '[project]\nname = "acme"\nversion = 1\n',
        'project = "acme"\n',
        '[project]\nname = "acme"\nversion = "1"\noptional-dependencies = ["einops"]\n',
        '[project]\nname = "acme"\nversion = "1"\n[project.optional-dependencies]\na = ["!"]\n',
        '[project]\nname = "acme"\nversion = "1"\ndynamic = 1\n',
        # A text is a sequence of characters, each of which would be a requirement.
        '[project]\nname = "acme"\nversion = "1"\ndependencies = "abc"\n',
        '[project]\nname = "acme"\nversion = "1"\n[project.optional-dependencies]\na = "bc"\n',
        '[project]\nname = "acme"\nversion = "1"\ndynamic = "dependencies"\n',
        '[project]\nname = "acme"\nversion = "1"\nrequires-python = 3.12\n',
    ],
)
def test_what_cannot_be_read(text: str, tmp_path: Path) -> None:
    """Whatever is wrong, it is an error with the file's path, and no traceback."""
    with pytest.raises(MetadataError) as caught:
        read(tmp_path, text)

    assert not isinstance(caught.value, NeedsBuildError)
    assert caught.value.where == str(tmp_path / "pyproject.toml")


def test_no_pyproject(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("raise SystemExit('a build was started')\n", "utf-8")

    with pytest.raises(MetadataError) as caught:
        read_source_tree(tmp_path)

    assert caught.value.where == str(tmp_path / "pyproject.toml")


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b'[project]\nname = "acme\xff"\n')

    with pytest.raises(MetadataError):
        read_source_tree(tmp_path)
