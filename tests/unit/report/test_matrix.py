"""The report of a lock, from the lock alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lockforge.catalog import load_catalog
from lockforge.errors import LockSyntaxError
from lockforge.report.matrix import matrix_report, render_matrix, render_size
from lockforge.standards.pylock import parse_pylock
from tests.unit.fakes import (
    FakeRepository,
    lock_text,
    make_matrix,
    make_project,
    required,
    torch_index,
)

if TYPE_CHECKING:
    from lockforge.report.matrix import MatrixReport

CPU, CU130 = torch_index("cpu"), torch_index("cu130")


def read(text: str) -> MatrixReport:
    lock, data = parse_pylock(text, where="pylock.toml")
    return matrix_report(lock, data, load_catalog(), where="pylock.toml")


def rendered(text: str) -> list[str]:
    return render_matrix(read(text)).splitlines()


def world() -> FakeRepository:
    repository = FakeRepository()
    repository.add(
        "torch-2.9.1+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
        "numpy",
        "triton",
        index=CU130,
        size=612_345_678,
    )
    repository.add(
        "torch-2.10.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl",
        "numpy",
        index=CPU,
        size=184_000_000,
    )
    repository.add("torch-2.10.0-cp312-none-macosx_11_0_arm64.whl", "numpy", index=CPU)
    repository.add("torchaudio-2.9.1+cu130-cp312-cp312-manylinux_2_28_x86_64.whl", index=CU130)
    repository.add("triton-3.5.0-py3-none-any.whl", index=CU130, size=155_600)
    repository.add("numpy-2.3.1-py3-none-any.whl", size=16_600_000)
    repository.wheels("tqdm", "4.0")
    return repository


def test_skew_line() -> None:
    """A package whose public version differs is a line with the rows of each version."""
    project = make_project("torch", matrix=make_matrix("linux-cu130", "linux-cpu"))
    lines = rendered(lock_text(project, world()))
    at = lines.index("skew:")
    assert lines[at + 1] == "  torch 2.9.1 (linux-cu130) vs 2.10.0 (linux-cpu)"


def test_whole_report() -> None:
    """Rows with their figures, GPUs, skew, gaps and what lockforge added, without any hash."""
    project = make_project(
        "torch",
        "torchaudio; sys_platform == 'linux'",
        required("tqdm", "'train' in extras"),
        matrix=make_matrix("linux-cu130", "mac-cpu"),
        extras=["train"],
    )
    # 612 345 678 + 155 600 + 16 600 000 bytes; torchaudio and tqdm have no size.
    assert rendered(lock_text(project, world())) == [
        "row          torch        python  packages  download            driver",
        "linux-cu130  2.9.1+cu130  3.12    5         629 MB + 2 unsized  >= 580",
        "mac-cpu      2.10.0       3.12    3         17 MB + 2 unsized   -",
        "",
        "GPU architectures:",
        "  linux-cu130: 7.5 8.0 8.6 9.0 10.0 12.0 + PTX 12.0",
        "",
        "skew:",
        "  torch 2.9.1 (linux-cu130) vs 2.10.0 (mac-cpu)",
        "",
        "gaps:",
        "  torchaudio: not in mac-cpu",
        "",
        "added by lockforge:",
        (
            "  torchaudio: torch==2.9.* "
            "(torchaudio X.Y is built against torch X.Y; source: torchaudio-2.11)"
        ),
    ]


def test_rows_of_one_platform() -> None:
    """Rows that share a platform are selected by their extras."""
    project = make_project("torch", matrix=make_matrix("linux-cu130", "linux-cpu", "mac-cpu"))
    lines = rendered(lock_text(project, world()))
    at = lines.index("select:")
    assert lines[at : at + 4] == [
        "select:",
        "  linux-cu130: extra cu130",
        "  linux-cpu: extra cpu",
        "",
    ]


def test_values() -> None:
    """What the report says, before it is words."""
    project = make_project(
        "torch",
        "torchaudio; platform_machine == 'x86_64' and sys_platform == 'linux'",
        matrix=make_matrix("linux-cu130", "mac-cpu"),
    )
    report = read(lock_text(project, world()))
    assert {
        name: {row: [str(one) for one in found] for row, found in by_row.items()}
        for name, by_row in report.versions.items()
    } == {
        "numpy": {"linux-cu130": ["2.3.1"], "mac-cpu": ["2.3.1"]},
        "torch": {"linux-cu130": ["2.9.1+cu130"], "mac-cpu": ["2.10.0"]},
        "torchaudio": {"linux-cu130": ["2.9.1+cu130"]},
        "triton": {"linux-cu130": ["3.5.0"]},
    }
    assert report.skew == (("torch", (("2.9.1", ("linux-cu130",)), ("2.10.0", ("mac-cpu",)))),)
    assert report.gaps == (("torchaudio", ("mac-cpu",)),)
    assert report.family == {"torch", "torchaudio", "triton"}


def test_local_versions_are_no_skew() -> None:
    """The accelerator's label is not a difference of versions."""
    repository = FakeRepository()
    repository.wheels("torch", "2.9.1+cu130", index=CU130)
    repository.wheels("torch", "2.9.1+cpu", index=CPU)
    project = make_project("torch", matrix=make_matrix("linux-cu130", "linux-cpu"))
    assert read(lock_text(project, repository)).skew == ()


def test_many_alike() -> None:
    """Packages outside the family that differ between the same rows are one line."""
    repository = FakeRepository()
    names = ["alpha", "beta", "gamma"]
    for name in names:
        repository.add(f"{name}-2.0-cp312-cp312-manylinux_2_28_x86_64.whl")
        repository.add(f"{name}-1.0-py3-none-any.whl")
    matrix = make_matrix("linux-cpu", "mac-cpu")
    three = rendered(lock_text(make_project(*names, matrix=matrix), repository))
    two = rendered(lock_text(make_project(*names[:2], matrix=matrix), repository))
    assert three[three.index("skew:") + 1 :] == [
        "  3 packages, mac-cpu vs linux-cpu: alpha, beta, gamma"
    ]
    assert two[two.index("skew:") + 1 :] == [
        "  alpha 1.0 (mac-cpu) vs 2.0 (linux-cpu)",
        "  beta 1.0 (mac-cpu) vs 2.0 (linux-cpu)",
    ]


def test_several_pythons() -> None:
    """A row whose Pythons have other versions shows them side by side."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", requires_python=">=3.13")
    repository.add("foo-1.0-py3-none-any.whl")
    matrix = make_matrix("linux-cpu", "mac-cpu", pythons=("3.12", "3.13"))
    report = read(lock_text(make_project("foo", matrix=matrix), repository))
    assert report.skew == ()
    assert {row: [str(one) for one in found] for row, found in report.versions["foo"].items()} == {
        "linux-cpu": ["1.0", "2.0"],
        "mac-cpu": ["1.0", "2.0"],
    }


def test_gaps_of_rows() -> None:
    """What one row alone requires is no gap in the others."""
    text = lock_text(make_project("foo", matrix=make_matrix("linux-cpu", "mac-cpu")), pure("foo"))
    text = text.replace('  "foo",\n', '  "foo",\n  "linux-cpu: flash-attn",\n', 1)
    assert '"linux-cpu: flash-attn"' in text
    assert read(text).gaps == ()


def pure(*names: str) -> FakeRepository:
    repository = FakeRepository()
    for name in names:
        repository.wheels(name, "1.0")
    return repository


def test_requirements_of_rows_that_are_not_locked() -> None:
    """A requirement of a row that this lock does not have is no reason to fail."""
    text = lock_text(make_project("foo"), pure("foo"))
    text = text.replace('  "foo",\n', '  "foo",\n  "mac-cpu: tqdm",\n', 1)
    assert read(text).gaps == ()


def test_conditions_and_markers_in_requirements() -> None:
    """Requirements are read with the condition and marker they are locked with."""
    text = lock_text(make_project("foo"), pure("foo"))
    requirements = "  \"Bar[x]>=1; os_name == 'nt' ['train' in extras]\",\n"
    text = text.replace('  "foo",\n', f'  "foo",\n{requirements}', 1)
    assert read(text).gaps == (("bar", ("linux-cpu",)),)


def test_partial_requires_python() -> None:
    """A lock that excludes the first patch releases is reported all the same."""
    repository = FakeRepository()
    repository.add("foo-1.0-py3-none-any.whl", requires_python=">=3.12.4")
    project = make_project("foo", requires_python=">=3.12.2")
    report = read(lock_text(project, repository))
    assert {name: list(by_row) for name, by_row in report.versions.items()} == {
        "foo": ["linux-cpu"]
    }


def test_other_tool() -> None:
    """A lock by another tool has no rows to report, which is an error."""
    text = lock_text(make_project("foo"), pure("foo"))
    with pytest.raises(LockSyntaxError, match="by another tool"):
        read(text[: text.index("[tool.lockforge]")])


def test_width() -> None:
    """Long lines are folded with their rest indented."""
    names = [f"package-number-{number:02}" for number in range(12)]
    repository = FakeRepository()
    for name in names:
        stem = name.replace("-", "_")
        repository.add(f"{stem}-2.0-cp312-cp312-manylinux_2_28_x86_64.whl")
        repository.add(f"{stem}-1.0-py3-none-any.whl")
    project = make_project(*names, matrix=make_matrix("linux-cpu", "mac-cpu"))
    lines = rendered(lock_text(project, repository))
    skew = lines[lines.index("skew:") + 1 :]
    assert max(map(len, lines)) <= 100
    assert [line[:4] == "    " for line in skew] == [False, *[True] * (len(skew) - 1)]
    words = " ".join(line.strip() for line in skew)
    assert words == f"12 packages, mac-cpu vs linux-cpu: {', '.join(names)}"


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1_499, "1 kB"),
        (999_400, "999 kB"),
        (1_000_000, "1 MB"),
        (612_345_678, "612 MB"),
        (1_000_000_000, "1.0 GB"),
        (2_345_000_000, "2.3 GB"),
        # Rounding carries into the next unit.
        (999_600, "1 MB"),
        (999_999_999, "1.0 GB"),
        (12_345_000_000_000, "12345.0 GB"),
    ],
)
def test_size(size: int, expected: str) -> None:
    """Bytes are written in decimal units."""
    assert render_size(size) == expected
