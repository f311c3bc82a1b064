"""What a lock tells its reader of how it came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.utils import NormalizedName
from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.lockfile.notes import notes_of, reason_of
from lockforge.model.project import Policy
from lockforge.model.release import DistributionFile
from lockforge.model.resolution import (
    Cause,
    Failure,
    Misalignment,
    Offer,
    Outcome,
    Pin,
    Resolution,
    TagGap,
)
from tests.unit.fakes import PYPI, make_matrix, make_project, make_target

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMITED = Policy(exclude_newer="2026-11-01T00:00:00Z")
NO_FAMILY = "no row needs a package of the PyTorch family: accelerators make no difference"


def pin(name: str, upload_time: str | None = None) -> Pin:
    filename = f"{name}-1.0-py3-none-any.whl"
    return Pin(
        name=NormalizedName(name),
        version=Version("1.0"),
        index=PYPI,
        file=DistributionFile(
            filename=filename,
            url=f"{PYPI.url}{filename}",
            sha256=None,
            upload_time=upload_time,
        ),
    )


def notes(
    *pins: Pin,
    policy: Policy | None = None,
    left_out: Sequence[Failure] = (),
    misalignments: Sequence[Misalignment] = (),
) -> list[str]:
    matrix = make_matrix("linux-cpu", "linux-cu130")
    outcome = Outcome(
        resolutions=tuple(
            Resolution(target=target, pins=pins, edges=()) for target in matrix.targets
        ),
        left_out=tuple(left_out),
        misalignments=tuple(misalignments),
    )
    return notes_of(make_project(matrix=matrix, policy=policy), outcome, load_catalog())


def failed(row: str, python: str, gap: str = "cp314") -> Failure:
    offer = Offer(
        project=NormalizedName("torch"),
        index_name="cpu",
        index_url="https://download.pytorch.org/whl/cpu/",
        found=True,
        gaps=(
            TagGap(version="2.8.0", pythons=("cp312", "cp313"), platforms=(), missing=gap),
            TagGap(version="2.7.0", pythons=("cp312",), platforms=(), missing=gap),
        ),
    )
    cause = Cause(requirement="torch>=2", parent=None)
    return Failure(target=make_target(row, python), causes=(cause,), offers=(offer,))


def test_nothing_to_tell() -> None:
    assert notes(pin("torch"), pin("numpy")) == []


def test_no_package_of_the_family() -> None:
    assert notes(pin("numpy")) == [NO_FAMILY]
    assert notes() == [NO_FAMILY]


def test_files_that_exclude_newer_cannot_judge() -> None:
    """Of the family alone: others without upload time are not admitted at all."""
    found = notes(
        pin("torchvision"),
        pin("torch"),
        pin("torchaudio", "2026-10-01T00:00:00Z"),
        pin("numpy"),
        policy=LIMITED,
    )

    assert found == [
        "exclude-newer does not hold for torch, torchvision: their pages tell no upload times"
    ]
    assert notes(pin("torch", "2026-10-01T00:00:00Z"), policy=LIMITED) == []
    assert notes(pin("torch")) == []


def test_pythons_left_out() -> None:
    """A platform loses a Python as a whole; the rows are those that are to blame, with why."""
    found = notes(
        pin("torch"),
        left_out=[
            failed("linux-cpu", "3.14"),
            failed("linux-cu130", "3.14"),
            failed("linux-cpu", "3.15", "cp315"),
            failed("mac-cpu", "3.14"),
        ],
    )

    assert found == [
        "Python 3.14 is left out on linux: torch 2.8.0 has no wheel for cp314",
        "Python 3.14 is left out on mac: torch 2.8.0 has no wheel for cp314 in mac-cpu",
        "Python 3.15 is left out on linux: torch 2.8.0 has no wheel for cp315 in linux-cpu",
    ]


def test_a_python_left_out_without_a_gap_of_wheels() -> None:
    causes = (
        Cause(requirement="numpy<2", parent="scipy 1.0"),
        Cause(requirement="numpy>=2", parent=None),
    )
    failure = Failure(target=make_target("mac-cpu", "3.14"), causes=causes, offers=())

    assert reason_of(failure) == "scipy 1.0 requires numpy<2; the project requires numpy>=2"
    assert notes(pin("torch"), left_out=[failure]) == [
        f"Python 3.14 is left out on mac: {reason_of(failure)} in mac-cpu"
    ]


@pytest.mark.parametrize("required", [True, False])
def test_a_package_that_could_not_be_aligned(required: bool) -> None:  # noqa: FBT001
    one = Misalignment(name=NormalizedName("triton"), offers=(), blocking=(), required=required)

    (note,) = notes(pin("torch"), misalignments=[one])
    assert 'align = "common"' in note
    assert "triton" in note


def test_notes_are_sorted() -> None:
    found = notes(pin("numpy"), policy=LIMITED, left_out=[failed("linux-cpu", "3.14")])

    assert found == sorted(found)
    assert NO_FAMILY in found
