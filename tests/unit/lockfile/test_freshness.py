"""Whether a lock still follows from its project, told from the two alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lockforge.lockfile.freshness import stale_reasons
from lockforge.standards.pylock import parse_pylock
from tests.unit.fakes import (
    FakeRepository,
    digest_of,
    lock_text,
    make_matrix,
    make_project,
    required,
    torch_index,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.model.project import Project

CPU, CU130 = torch_index("cpu"), torch_index("cu130")
ROWS = ("linux-cu130", "linux-cpu", "mac-cpu")


def world() -> FakeRepository:
    repository = FakeRepository()
    for minor in (12, 13):
        tags = f"cp3{minor}-cp3{minor}-manylinux_2_28_x86_64"
        repository.add(f"torch-2.9.0+cu130-{tags}.whl", "numpy", index=CU130)
        repository.add(f"torch-2.9.0+cpu-{tags}.whl", "numpy", index=CPU)
        mac = f"torch-2.9.0-cp3{minor}-none-macosx_11_0_arm64.whl"
        repository.add(mac, "numpy", index=CPU)
    repository.wheels("numpy", "2.3.1")
    repository.wheels("tqdm", "4.0")
    return repository


def project(*rows: str, pythons: Sequence[str] = ("3.12",)) -> Project:
    return make_project(
        "torch",
        required("tqdm", "'train' in extras"),
        matrix=make_matrix(*(rows or ROWS), pythons=pythons),
        extras=["train"],
    )


TEXT = lock_text(project(), world())


def stale(
    text: str = TEXT,
    *,
    asked: Project | None = None,
    requirements: Sequence[str] = ("torch", "tqdm"),
    settings: Sequence[str] = (),
) -> tuple[str, ...]:
    lock, data = parse_pylock(text, where="pylock.toml")
    return stale_reasons(
        lock,
        data,
        project=asked or project(),
        requirements=requirements,
        settings=settings,
        where="pylock.toml",
    )


def test_current() -> None:
    """A lock is current for the project it was made for, whatever the order of its rows."""
    assert stale() == ()
    assert stale(asked=project(*reversed(ROWS)), requirements=("tqdm", "torch")) == ()


def test_requirements_and_settings() -> None:
    """What is asked for and not locked is named, and the other way round."""
    assert stale(requirements=("torch>=2.9", "tqdm"), settings=("channel nightly",)) == (
        "requirement 'torch>=2.9' is not in the lock",
        "requirement 'torch' is in the lock but no longer asked for",
        "setting 'channel nightly' is not in the lock",
    )


def test_rows_and_pythons() -> None:
    """Rows that came, went or have other Pythons are named."""
    assert stale(asked=project("linux-cu130", "mac-cpu", "win-cpu")) == (
        "row 'win-cpu' is not in the lock",
        "row 'linux-cpu' is in the lock but no longer asked for",
    )
    both = project(pythons=("3.12", "3.13"))
    assert stale(asked=both) == tuple(f"row {row!r} is locked for Python 3.12" for row in ROWS)


def test_extras_and_groups() -> None:
    """An extra or group counts though it brings nothing in: an installer may ask for it."""
    asked = make_project("torch", matrix=make_matrix(*ROWS), groups=["dev"])
    assert stale(asked=asked) == (
        "extra 'train' is in the lock but no longer asked for",
        "group 'dev' is not in the lock",
    )


def test_pythons_left_out() -> None:
    """A Python may be left out while nobody states it, and not once it is stated."""
    locked = 'python = ["3.12"]'
    assert TEXT.count(locked) == len(ROWS)
    text = TEXT.replace(locked, f'{locked}\npython-left-out = ["3.13"]')
    stated = project(pythons=("3.12", "3.13"))

    assert stale(text, asked=replace(stated, pythons_derived=True)) == ()
    assert stale(text, asked=stated) == tuple(
        f"row {row!r} is locked for Python 3.12" for row in ROWS
    )


def test_other_tool() -> None:
    """A lock that says nothing of rows is not ours."""
    text = TEXT[: TEXT.index("[tool.lockforge]")]
    assert stale(text) == ("the lock is not by lockforge: it says nothing of rows",)


NUMPY = digest_of(make_project("x").default_index, "numpy-2.3.1-py3-none-any.whl")


LIMITS = 'requires-python = ">=3.12,<3.13"'
FOREIGN = "extra == 'gpu'"


def test_no_patch_release_left() -> None:
    """A lock edited so that its own Pythons are refused selects nothing."""
    assert LIMITS in TEXT
    (reason,) = stale(TEXT.replace(LIMITS, 'requires-python = ">=3.13"'))[:1]
    assert reason == (
        "row 'linux-cu130' does not select one set of files: "
        "the lock requires Python >=3.13, which no 3.12 is"
    )


def test_a_marker_without_meaning() -> None:
    """A marker on what a lock does not know, such as PEP 508's `extra`, is told of."""
    edited = TEXT.replace("'train' in extras", FOREIGN)
    (reason,) = stale(edited)[:1]
    assert reason.startswith("row 'linux-cu130' does not select one set of files: a marker has no")


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        (NUMPY, "0" * 64, ROWS),
        (
            digest_of(CPU, "torch-2.9.0-cp312-none-macosx_11_0_arm64.whl"),
            "0" * 64,
            ("mac-cpu",),
        ),
        ("marker = \"'train' in extras\"", "marker = \"sys_platform == 'linux'\"", ("mac-cpu",)),
    ],
)
def test_edited(old: str, new: str, rows: tuple[str, ...]) -> None:
    """Where an edit or a merge changed what a row installs, the row is named."""
    assert old in TEXT
    assert stale(TEXT.replace(old, new, 1)) == tuple(
        f"row {row!r} selects other files than were locked" for row in rows
    )


def test_merged_wrongly() -> None:
    """Where two entries apply at once the row does not select one set of files."""
    marker = "marker = \"'cpu' in extras and sys_platform == 'linux'\"\n"
    assert marker in TEXT
    (reason,) = stale(TEXT.replace(marker, "marker = \"'cu130' in extras\"\n"))[:1]
    assert reason.startswith("row 'linux-cu130' does not select one set of files: ")
    assert "torch" in reason


@pytest.mark.parametrize(
    "condition",
    [
        "python_full_version < '3.12.4'",
        "implementation_version >= '3.12.4'",
        "'3.12.4' <= implementation_version",
        "platform_release >= '5'",
        "platform_release != ''",
        "'arch' in platform_release",
        "platform_version == 'x' and sys_platform == 'linux'",
        "python_full_version < '3.12.2' or platform_release == '5.10'",
    ],
)
def test_open_conditions(condition: str) -> None:
    """What is installed on some hosts of a row only counts as locked."""
    repository = FakeRepository()
    repository.wheels("foo", "1.0")
    repository.wheels("bar", "1.0")
    early = make_project("foo", f"bar; {condition}")
    found = stale(
        lock_text(early, repository),
        asked=early,
        requirements=[str(one.requirement) for one in early.requirements],
    )
    assert found == ()


def test_limits_of_other_rows() -> None:
    """Rows whose packages admit other patch releases are each judged by their own."""
    repository = FakeRepository()
    repository.add("foo-1.0-py3-none-any.whl", requires_python=">=3.12.4")
    repository.add("bar-1.0-py3-none-any.whl", requires_python="<3.12.2")
    both = make_project(
        "foo; sys_platform == 'linux'",
        "bar; sys_platform == 'darwin'",
        matrix=make_matrix("linux-cpu", "mac-cpu"),
    )
    found = stale(
        lock_text(both, repository),
        asked=both,
        requirements=[str(one.requirement) for one in both.requirements],
    )
    assert found == ()


def test_limit_against_a_condition() -> None:
    """A lock just made is current, also where a version and its condition exclude each other."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", requires=["b; python_full_version < '3.12.4'"])
    repository.add("b-2.0-py3-none-any.whl", requires_python=">=3.12.4")
    repository.wheels("b", "1.0")
    wanted = make_project("a")
    text = lock_text(wanted, repository)
    assert stale(text, asked=wanted, requirements=["a"]) == ()


def test_partial_requires_python() -> None:
    """A lock that excludes the first patch releases is current all the same."""
    repository = FakeRepository()
    repository.add("foo-1.0-py3-none-any.whl", requires_python=">=3.12.4")
    limited = make_project("foo", requires_python=">=3.12.2")
    text = lock_text(limited, repository)
    assert stale(text, asked=limited, requirements=["foo"]) == ()
