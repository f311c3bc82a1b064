"""Failures in words: what was asked, what the index has, and what that leaves."""

from __future__ import annotations

from packaging.utils import NormalizedName

from lockforge.model.resolution import Cause, Failure, Offer
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


def words(*offers: Offer, causes: tuple[Cause, ...] = (TORCH,)) -> list[str]:
    """The lines beneath the headline, for one row."""
    failure = Failure(target=make_target("linux-cu126"), causes=causes, offers=offers)
    headline, *lines = render_failures([failure]).split("\n")
    assert headline == "no versions satisfy row linux-cu126 (Python 3.12)"
    return lines


def test_older_versions() -> None:
    """What the row can have, and what the newest version is for."""
    found = words(
        offer(
            usable=("2.8.0+cu126",),
            newest="2.10.0+cu126",
            pythons=("cp312", "cp313"),
            platforms=("win_amd64",),
            refused=("2.9.0+cpu: built for cpu",),
        )
    )
    assert found == [
        "  the project requires torch>=2.9",
        f"  {PLACE} has torch for this row in 2.8.0+cu126",
        "    its newest is 2.10.0+cu126 with wheels for Pythons cp312, cp313; platforms win_amd64",
        "    refused 2.9.0+cpu: built for cpu",
    ]


def test_newest_is_usable() -> None:
    """Where the row can have the newest version, that is enough."""
    assert words(offer(usable=("2.8.0", "2.7.0"), newest="2.8.0", pythons=("cp312",)))[1:] == [
        f"  {PLACE} has torch for this row in 2.8.0, 2.7.0"
    ]


def test_no_project() -> None:
    """No such project, no files, and no file for the row are three things."""
    assert words(offer(found=False))[1:] == [f"  {PLACE} has no project torch"]
    assert words(offer())[1:] == [f"  {PLACE} has no files of torch"]
    assert words(offer(newest="1.0"))[1:] == [
        f"  {PLACE} has no file of torch for this row",
        "    its newest is 1.0, without wheels",
    ]


def test_many() -> None:
    """Of many versions and reasons the first are shown and the rest counted."""
    numbers = [f"1.{minor}" for minor in range(9, 0, -1)]
    reasons = tuple(f"2.{minor}: built for cpu" for minor in range(7, 0, -1))
    assert words(offer(usable=tuple(numbers), newest="1.9", refused=reasons))[1:] == [
        f"  {PLACE} has torch for this row in 1.9, 1.8, 1.7, 1.6, 1.5 and 4 older",
        "    refused 2.7: built for cpu",
        "    refused 2.6: built for cpu",
        "    and 5 older versions for the same or like reasons",
    ]


def test_wheels_of_the_newest() -> None:
    """What the newest version is for is said once."""
    found = words(
        offer(
            newest="2.10.0",
            pythons=("cp313",),
            platforms=("win_amd64",),
            refused=(
                "2.10.0: wheels for Pythons cp313 and platforms win_amd64 only",
                "2.9.0: wheels for Pythons cp311 and platforms win_amd64 only",
            ),
        )
    )
    assert found[1:] == [
        f"  {PLACE} has no file of torch for this row",
        "    its newest is 2.10.0 with wheels for Pythons cp313; platforms win_amd64",
        "    refused 2.9.0: wheels for Pythons cp311 and platforms win_amd64 only",
    ]


def test_conflict() -> None:
    """Each side of a conflict is a line with who asks."""
    causes = (
        Cause(requirement="numpy<2", parent="torch 2.2.2"),
        Cause(requirement="numpy>=2", parent="foo 1.0"),
    )
    assert words(causes=causes) == [
        "  torch 2.2.2 requires numpy<2",
        "  foo 1.0 requires numpy>=2",
    ]


def test_rows_that_fail_alike() -> None:
    """Targets that fail alike are described once, with all their rows and Pythons."""
    causes, offers = (TORCH,), (offer(found=False),)
    failures = [
        Failure(target=make_target(row, python), causes=causes, offers=offers)
        for row in ("linux-cu126", "win-cu126")
        for python in ("3.12", "3.13")
    ]
    failures.insert(2, Failure(target=make_target("mac-cpu"), causes=causes, offers=()))
    assert render_failures(failures).split("\n") == [
        "no versions satisfy rows linux-cu126 (Python 3.12, 3.13), win-cu126 (Python 3.12, 3.13)",
        "  the project requires torch>=2.9",
        f"  {PLACE} has no project torch",
        "no versions satisfy row mac-cpu (Python 3.12)",
        "  the project requires torch>=2.9",
    ]
