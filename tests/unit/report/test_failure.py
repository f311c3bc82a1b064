"""Failures in words: what was asked, what the index has, and what would work."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packaging.utils import NormalizedName

from lockforge.model.resolution import Cause, Effort, Failure, Offer, Refusal, Suggestion, TagGap
from lockforge.report.failure import render_failures
from tests.unit.fakes import make_target

TORCH = Cause(requirement="torch>=2.9", parent=None)
PLACE = "index cu126 (https://download.pytorch.org/whl/cu126/)"


def offer(name: str = "torch", **keys: object) -> Offer:
    return Offer(
        project=NormalizedName(name),
        index_name="cu126",
        index_url="https://download.pytorch.org/whl/cu126/",
        **{"found": True, **keys},  # type: ignore[arg-type]
    )


def gap(version: str, **keys: object) -> TagGap:
    return TagGap(
        version=version,
        **{  # type: ignore[arg-type]
            "pythons": ("cp312", "cp313"),
            "platforms": ("win_amd64",),
            "missing": "linux",
            **keys,
        },
    )


def words(*offers: Offer, causes: tuple[Cause, ...] = (TORCH,)) -> list[str]:
    """The lines beneath the headline, for one row."""
    failure = Failure(target=make_target("linux-cu126"), causes=causes, offers=offers)
    headline, *lines = render_failures([failure]).split("\n")
    assert headline == "no versions satisfy row linux-cu126 (Python 3.12)"
    return lines


def test_older_versions() -> None:
    """What the row can have, what the newest version is for, and what was refused."""
    found = words(
        offer(
            usable=("2.8.0+cu126",),
            newest="2.10.0+cu126",
            gaps=(gap("2.10.0"),),
            refused=(Refusal(version="2.9.0+cpu", reason="built for cpu"),),
        )
    )
    assert found == [
        "  the project requires torch>=2.9",
        f"  {PLACE} has torch for this row in 2.8.0+cu126",
        "    2.10.0 has wheels for win_amd64, none for linux",
        "    refused 2.9.0+cpu: built for cpu",
    ]


def test_newest_is_usable() -> None:
    """Where the row can have the newest version, that is enough."""
    assert words(offer(usable=("2.8.0", "2.7.0"), newest="2.8.0"))[1:] == [
        f"  {PLACE} has torch for this row in 2.8.0, 2.7.0"
    ]


def test_no_project() -> None:
    """No such project, no files, and no file for the row are three things."""
    assert words(offer(found=False))[1:] == [f"  {PLACE} has no project torch"]
    assert words(offer())[1:] == [f"  {PLACE} has no files of torch"]
    assert words(offer(newest="1.0"))[1:] == [
        f"  {PLACE} has no file of torch for this row",
        "    its newest is 1.0, which is not for this row",
    ]


def test_many() -> None:
    """Of many versions and reasons the first are shown and the rest counted."""
    numbers = [f"1.{minor}" for minor in range(9, 0, -1)]
    refused = tuple(
        Refusal(version=f"2.{minor}", reason="built for cpu") for minor in range(7, 0, -1)
    )
    gaps = tuple(gap(f"3.{minor}") for minor in range(3, 0, -1))
    assert words(offer(usable=tuple(numbers), newest="3.3", gaps=gaps, refused=refused))[1:] == [
        f"  {PLACE} has torch for this row in 1.9, 1.8, 1.7, 1.6, 1.5 and 4 older",
        "    3.3 has wheels for win_amd64, none for linux",
        "    3.2 has wheels for win_amd64, none for linux",
        "    and 1 older version has none either",
        "    refused 2.7: built for cpu",
        "    refused 2.6: built for cpu",
        "    and 5 more for the same or like reasons",
    ]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (gap("2.0", missing="cp314"), "2.0 has wheels for cp312, cp313, none for cp314"),
        (gap("2.0", missing="win-arm64"), "2.0 has wheels for win_amd64, none for win-arm64"),
        (
            gap("2.0", missing="glibc 2.28", floor="glibc 2.34"),
            "2.0 needs glibc 2.34, and this row is for glibc 2.28",
        ),
    ],
)
def test_gaps(found: TagGap, expected: str) -> None:
    """What is missing is named beside what there is of its kind."""
    assert words(offer(newest="2.0", gaps=(found,)))[2:] == [f"    {expected}"]


def test_prereleases() -> None:
    """Versions that only an option admits are named with the option."""
    found = words(offer(usable=("2.0rc1",), newest="2.0rc1", prereleases=("2.0rc1",)))
    assert found[2:] == ["    only pre-releases match: 2.0rc1; --prerelease allow admits them"]


def test_metadata() -> None:
    """A file that was tried is named with its version and the table that makes up for it."""
    refusal = Refusal(
        version="2.8.2",
        filename="flash_attn-2.8.2.tar.gz",
        reason="known only after a build",
        setting='[tool.lockforge.metadata."flash-attn==2.8.2"]',
    )
    assert words(offer("flash-attn", newest="2.8.2", refused=(refusal,)))[2:] == [
        "    refused flash-attn 2.8.2 (flash_attn-2.8.2.tar.gz): known only after a build",
        '    state its requirements in [tool.lockforge.metadata."flash-attn==2.8.2"]',
    ]


def test_conflict() -> None:
    """Each side of a conflict is a line with the way from the project to it."""
    way = (
        Cause(requirement="bar", parent=None, where="project.dependencies[0]"),
        Cause(requirement="foo>=1", parent="bar 2.0"),
    )
    causes = (
        Cause(requirement="numpy<2", parent="torch 2.2.2", reason="built for numpy 1"),
        Cause(requirement="numpy>=2", parent="foo 1.0", via=way),
        Cause(requirement="numpy<3", parent=None, kind="constraint", where="c.txt:1"),
        Cause(requirement="numpy>=2.1", parent="baz 1.0", kind="override", where="o"),
    )
    assert words(causes=causes) == [
        "  torch 2.2.2 requires numpy<2 (added by lockforge: built for numpy 1)",
        (
            "  the project requires bar (project.dependencies[0]) -> bar 2.0 requires foo>=1 -> "
            "foo 1.0 requires numpy>=2"
        ),
        "  the constraint is numpy<3 (c.txt:1)",
        "  baz 1.0 requires numpy>=2.1 (override, o)",
    ]


def test_versions_that_ask_alike() -> None:
    """Versions of one package are told together, and not without end."""
    alike = [Cause(requirement="c>=2", parent=f"a 2.{minor}") for minor in range(6, -1, -1)]
    other = [Cause(requirement=f"c>=1.{minor}", parent=f"a 1.{minor}") for minor in range(4, 0, -1)]
    assert words(causes=(*alike, *other)) == [
        "  a 2.6, 2.5, 2.4, 2.3, 2.2 and 2 older require c>=2",
        "  a 1.4 requires c>=1.4",
        "  a 1.3 requires c>=1.3",
        "  and 2 more requirements of other versions of a",
    ]


def test_rows_that_fail_alike() -> None:
    """Targets that fail alike are described once, with all their rows and Pythons."""
    causes, offers = (TORCH,), (offer(found=False),)
    failures = [
        Failure(target=make_target(row, python), causes=causes, offers=offers)
        for row in ("linux-cu126", "win-cu126")
        for python in ("3.12", "3.13")
    ]
    other = (Cause(requirement="torch>=3", parent=None),)
    failures.insert(2, Failure(target=make_target("mac-cpu"), causes=other, offers=()))
    assert render_failures(failures).split("\n") == [
        "no versions satisfy rows linux-cu126, win-cu126 (Python 3.12, 3.13)",
        "  the project requires torch>=2.9",
        f"  {PLACE} has no project torch",
        "no versions satisfy row mac-cpu (Python 3.12)",
        "  the project requires torch>=3",
    ]


def test_rows_with_indexes_of_their_own() -> None:
    """Of rows that fail alike, each is told what there is for it alone."""
    failures = [
        Failure(target=make_target(row, python), causes=(TORCH,), offers=(common, special))
        for common in [offer("common", usable=("1.0",), newest="1.0")]
        for row, python, special in [
            ("linux-cu126", "3.12", offer(usable=("2.8",), newest="2.8")),
            ("linux-cu126", "3.13", offer(usable=("2.7",), newest="2.7")),
            ("win-cu126", "3.12", offer(usable=("2.7",), newest="2.7")),
            ("mac-cpu", "3.12", offer(usable=("2.6",), newest="2.6")),
        ]
    ]
    assert render_failures(failures).split("\n") == [
        (
            "no versions satisfy rows linux-cu126 (Python 3.12, 3.13), "
            "win-cu126, mac-cpu (Python 3.12)"
        ),
        "  the project requires torch>=2.9",
        f"  {PLACE} has common for this row in 1.0",
        f"  row linux-cu126 (Python 3.12): {PLACE} has torch for this row in 2.8",
        (
            "  rows linux-cu126 (Python 3.13), win-cu126 (Python 3.12): "
            f"{PLACE} has torch for this row in 2.7"
        ),
        f"  row mac-cpu: {PLACE} has torch for this row in 2.6",
    ]


def test_gave_up() -> None:
    """A limit is told as a limit, never as "no versions satisfy"."""
    failure = Failure(
        target=make_target("linux-cpu"),
        causes=(TORCH,),
        offers=(),
        gave_up=Effort(rounds=20_000, seconds=61),
    )
    assert render_failures([failure]).split("\n") == [
        (
            "gave up after 20000 rounds (61 seconds) in row linux-cpu (Python 3.12), "
            "which proves nothing"
        ),
        "  the last conflict was:",
        "  the project requires torch>=2.9",
    ]
    early = replace(failure, causes=(), gave_up=Effort(rounds=1, seconds=1))
    assert render_failures([early]) == (
        "gave up after 1 round (1 second) in row linux-cpu (Python 3.12), which proves nothing"
    )


@pytest.mark.parametrize(
    ("suggestion", "expected"),
    [
        (
            Suggestion(
                kind="pin", subject="a==1.0", replaces="a==2", where="project.dependencies[0]"
            ),
            "a==1.0 instead of a==2 (project.dependencies[0])",
        ),
        (Suggestion(kind="pin", subject="a==1.0", replaces="a==2"), "a==1.0 instead of a==2"),
        (Suggestion(kind="python", subject="3.12"), "Python 3.12 in its place"),
        (Suggestion(kind="row", subject="win-cpu"), "row win-cpu in its place"),
        (
            Suggestion(kind="exclude", subject="a"),
            'exclude = ["a"] in [tool.lockforge.rows.linux-cpu] and [tool.lockforge.rows.mac-cpu]',
        ),
    ],
)
def test_suggestion(suggestion: Suggestion, expected: str) -> None:
    """What works for all rows of a group is said once."""
    failures = [
        Failure(target=make_target(row), causes=(TORCH,), offers=(), suggestion=suggestion)
        for row in ("linux-cpu", "mac-cpu")
    ]
    assert render_failures(failures).split("\n")[2:] == [f"  this works: {expected}"]


def test_suggestions_of_some_rows() -> None:
    """What works for one row is not said of the others."""
    first = Failure(target=make_target("linux-cpu"), causes=(TORCH,), offers=())
    second = replace(
        first,
        target=make_target("mac-cpu"),
        suggestion=Suggestion(kind="exclude", subject="a"),
    )
    assert render_failures([first, second]).split("\n")[2:] == [
        '  this works in row mac-cpu: exclude = ["a"] in [tool.lockforge.rows.mac-cpu]'
    ]
