"""What the wheels of a version lack for a Target."""

from __future__ import annotations

import pytest

from lockforge.model.resolution import TagGap
from lockforge.resolve.gaps import find_gap
from tests.unit.fakes import make_target


def gap(row: str, *tags: str, python: str = "3.12", floor: tuple[int, int] | None = None) -> TagGap:
    """The gap of wheels with *tags*."""
    return find_gap("2.0", tags, make_target(row, python, floor))


def test_python() -> None:
    """Beside wheels for the platform only the Python is missing; a free-threaded one is told."""
    assert gap(
        "linux-cpu",
        "cp312-cp312-manylinux_2_28_x86_64",
        "cp313-cp313t-manylinux_2_28_x86_64",
        "cp314-cp314-win_amd64",
        python="3.14",
    ) == TagGap(
        version="2.0",
        pythons=("cp312", "cp313t"),
        platforms=("manylinux_2_28_x86_64",),
        missing="cp314",
    )


def test_stable_abi() -> None:
    """A wheel for the stable ABI is for its Python and all later ones, and is named so."""
    found = gap("win-cpu", "cp313-abi3-win_amd64")
    assert (found.pythons, found.missing) == (("cp313-abi3",), "cp312")


@pytest.mark.parametrize(
    ("row", "floor", "tags", "expected"),
    [
        ("linux-cpu", (2, 17), "manylinux_2_28_x86_64", ("glibc 2.28", "glibc 2.17")),
        (
            "linux-cpu",
            (2, 17),
            "manylinux_2_27_x86_64.manylinux_2_28_x86_64",
            ("glibc 2.27", "glibc 2.17"),
        ),
        ("linux-cpu", (2, 28), "manylinux_2_34_x86_64", ("glibc 2.34", "glibc 2.28")),
        ("mac-cpu", (14, 0), "macosx_15_0_arm64", ("macos 15.0", "macos 14.0")),
        ("linux-cpu", (2, 28), "manylinux_2_34_aarch64", ("", "linux")),
        ("linux-cpu", (2, 28), "musllinux_1_2_x86_64", ("", "linux")),
        ("win-arm64-cpu", None, "win_amd64", ("", "win-arm64")),
    ],
)
def test_platform(
    row: str, floor: tuple[int, int] | None, tags: str, expected: tuple[str, str]
) -> None:
    """A floor that is too low is told from a platform that nobody builds for."""
    found = gap(row, f"cp312-cp312-{tags}", floor=floor)
    assert (found.floor, found.missing) == expected
    assert found.platforms == tuple(tags.split("."))


def test_a_higher_floor_of_another_python() -> None:
    """No floor is named with which there would still be no wheel."""
    found = gap("linux-cpu", "cp313-cp313-manylinux_2_34_x86_64")
    assert (found.floor, found.missing) == ("", "linux")
