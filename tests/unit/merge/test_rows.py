"""The facts a lock says of a row."""

from __future__ import annotations

from dataclasses import replace

from lockforge.catalog import load_catalog
from lockforge.merge.rows import locked_row
from lockforge.model.lock import LockedRow
from lockforge.standards.digest import row_digest
from tests.unit.fakes import (
    PYPI,
    FakeRepository,
    digest_of,
    locate,
    make_matrix,
    make_project,
    solved,
    torch_index,
)

CU130 = torch_index("cu130")
TORCHES = (
    "torch-2.11.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
    "torch-2.10.0+cu130-cp311-cp311-manylinux_2_28_x86_64.whl",
)
NUMPY = "numpy-2.3.1-py3-none-any.whl"


def facts(repository: FakeRepository, *rows: str, pythons: tuple[str, ...]) -> list[LockedRow]:
    project = make_project("torch", matrix=make_matrix(*rows, pythons=pythons))
    resolutions = solved(project, repository)
    return [
        locked_row(
            row,
            [one for one in resolutions if one.target.row == row],
            needs_extra=len(rows) > 1,
            catalog=load_catalog(),
            locate=locate,
            index=torch_index(row.accelerator.label).url,
            left_out=(),
        )
        for row in project.matrix.rows
    ]


def test_facts() -> None:
    """Torch, the GPUs of all its builds, the driver, and what is downloaded in all."""
    repository = FakeRepository()
    repository.add(TORCHES[0], "numpy", index=CU130, size=1000)
    repository.add(TORCHES[1], "numpy", index=CU130, size=500)
    repository.add(NUMPY)
    assert facts(repository, "linux-cu130", pythons=("3.11", "3.12")) == [
        LockedRow(
            name="linux-cu130",
            platform="linux",
            accelerator="cu130",
            pythons=("3.11", "3.12"),
            floor="glibc 2.28",
            extra=None,
            torch="2.10.0+cu130, 2.11.0+cu130",
            index="https://download.pytorch.org/whl/cu130/",
            packages=2,
            digest=row_digest(
                [
                    *(digest_of(CU130, filename) for filename in TORCHES),
                    digest_of(PYPI, NUMPY),
                ]
            ),
            size=1500,
            unsized=1,
            min_driver="580",
            gpu_architectures=("7.5", "8.0", "8.6", "9.0", "10.0", "12.0"),
            gpu_ptx=("12.0",),
            judged_by=None,
        )
    ]


def test_architectures_that_a_newer_torch_dropped() -> None:
    """Only what every torch of the row has kernels for can be counted on: 2.11 left out 7.0."""
    cu128 = torch_index("cu128")
    repository = FakeRepository()
    for name in ("2.11.0+cu128-cp312-cp312", "2.10.0+cu128-cp311-cp311"):
        repository.add(f"torch-{name}-manylinux_2_28_x86_64.whl", index=cu128)
    (row,) = facts(repository, "linux-cu128", pythons=("3.11", "3.12"))
    assert row.gpu_architectures == ("7.5", "8.0", "8.6", "9.0", "10.0", "12.0")


def test_other_rows() -> None:
    """Only CUDA asks for a driver; an unknown torch is judged by the newest rule."""
    repository = FakeRepository()
    repository.add("torch-2.11.0-py3-none-any.whl", index=torch_index("cpu"), size=7)
    repository.add("torch-2.99.0+cu130-py3-none-any.whl", index=CU130, size=7)
    cuda, mac = facts(repository, "linux-cu130", "mac-cpu", pythons=("3.12",))
    assert (cuda.extra, cuda.judged_by, cuda.min_driver) == ("cu130", "2.12", "580")
    assert mac == replace(
        cuda,
        name="mac-cpu",
        platform="mac",
        accelerator="cpu",
        floor="macos 14.0",
        extra="cpu",
        torch="2.11.0",
        index="https://download.pytorch.org/whl/cpu/",
        digest=row_digest([digest_of(torch_index("cpu"), "torch-2.11.0-py3-none-any.whl")]),
        min_driver=None,
        gpu_architectures=(),
        gpu_ptx=(),
        judged_by=None,
    )
