"""What a user reads when rows have no solution, byte for byte.

`pytest tests/golden --update-golden` writes the texts anew; read the difference before committing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from lockforge.model.project import Policy, Project, ProjectRequirement
from lockforge.report.failure import render_failures
from lockforge.resolve.limits import ROUNDS_ONLY, Limits
from tests.unit.fakes import (
    FakeRepository,
    make_matrix,
    make_project,
    make_row,
    solve,
    torch_index,
)

_GOLDEN = Path(__file__).parent / "failures"
CPU, CU126, CU130 = torch_index("cpu"), torch_index("cu126"), torch_index("cu130")


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Comparison:
    return Comparison(request.node.name, update=bool(request.config.getoption("--update-golden")))


class Comparison:
    """Holds the text of the running test against the file named after it."""

    def __init__(self, name: str, *, update: bool) -> None:
        self._path = _GOLDEN / f"{name.removeprefix('test_')}.txt"
        self._update = update

    def __call__(
        self, project: Project, repository: FakeRepository, limits: Limits = ROUNDS_ONLY
    ) -> None:
        _, failures = solve(project, repository, limits=limits)
        text = render_failures(failures) + "\n"
        if self._update:
            self._path.write_text(text, "utf-8", newline="\n")

        assert text == self._path.read_text("utf-8")
        for failure in failures:
            assert failure.target.row.name in text


def dependencies(*texts: str) -> list[ProjectRequirement]:
    """Requirements of pyproject.toml."""
    return _entries("project.dependencies", texts)


def _entries(table: str, texts: tuple[str, ...]) -> list[ProjectRequirement]:
    return [
        ProjectRequirement(requirement=Requirement(text), where=f"{table}[{number}]")
        for number, text in enumerate(texts)
    ]


def test_conflict_through_a_chain(compare: Comparison) -> None:
    """A library that a library needs wants a torch the project rules out."""
    repository = FakeRepository()
    for version in ("2.6.0", "2.5.1"):
        repository.add(f"torch-{version}+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", index=CPU)
    repository.wheels("peft", "0.18.0", requires=["accelerate>=1.0"])
    repository.wheels("accelerate", "1.2.0", "1.1.0", requires=["torch>=2.6"])
    repository.wheels("accelerate", "1.0.0", requires=["torch>=2.5.9"])
    repository.wheels("accelerate", "0.34.0", requires=["torch>=1.10"])

    compare(make_project(*dependencies("peft", "torch<2.6")), repository)


def test_missing_python(compare: Comparison) -> None:
    """One Python of the row has no wheel, neither plain nor for any older version."""
    repository = FakeRepository()
    for version in ("2.8.0", "2.7.1"):
        for tags in ("cp312-cp312", "cp313-cp313", "cp313-cp313t"):
            repository.add(f"torch-{version}+cpu-{tags}-manylinux_2_28_x86_64.whl", index=CPU)
    matrix = make_matrix("linux-cpu", pythons=("3.13", "3.14"))

    compare(make_project(*dependencies("torch>=2.6,<2.9"), matrix=matrix), repository)


def test_floor_and_platform(compare: Comparison) -> None:
    """One row is for too old a glibc, another for a platform nobody builds for."""
    repository = FakeRepository()
    repository.add("torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", index=CPU)
    repository.add("torch-2.9.0+cpu-cp312-cp312-win_amd64.whl", index=CPU)
    matrix = make_matrix(make_row("linux-cpu", (2, 17)), "win-cpu", "win-arm64-cpu")

    compare(make_project(*dependencies("torch"), matrix=matrix), repository)


def test_unknown_name(compare: Comparison) -> None:
    """A misspelt name fails in every row, and is told once."""
    repository = FakeRepository()
    repository.wheels("numpy", "2.1.0")
    matrix = make_matrix("linux-cpu", "win-cpu", "mac-cpu", pythons=("3.12", "3.13"))

    compare(make_project(*dependencies("nunpy>=2"), matrix=matrix), repository)


def test_package_that_one_row_lacks(compare: Comparison) -> None:
    """To leave a package out of the one row whose index has none of it is a way on."""
    repository = FakeRepository()
    repository.add("torch-2.9.0+cpu-cp312-cp312-win_arm64.whl", index=CPU)
    repository.add("torch-2.9.0+cpu-cp312-cp312-win_amd64.whl", index=CPU)
    repository.add("torchaudio-2.9.0+cpu-cp312-cp312-win_amd64.whl", index=CPU)
    matrix = make_matrix("win-cpu", "win-arm64-cpu")

    compare(make_project(*dependencies("torch", "torchaudio"), matrix=matrix), repository)


def test_sdist_only(compare: Comparison) -> None:
    """Nobody can tell what it requires without a build, so the user may state it."""
    repository = FakeRepository()
    repository.add("torch-2.6.0+cu126-cp312-cp312-manylinux_2_28_x86_64.whl", index=CU126)
    repository.add(
        "flash_attn-2.8.2.tar.gz",
        broken="the requirements of this sdist are known only after a build, "
        "which a lock never runs",
    )
    matrix = make_matrix("linux-cu126")

    compare(
        make_project(*dependencies("torch==2.6.0", "flash-attn==2.8.2"), matrix=matrix), repository
    )


def test_equal_causes(compare: Comparison) -> None:
    """Two rows fail for the same reason, though their indexes do not have the same."""
    repository = FakeRepository()
    for index, version in ((CU126, "2.10.0"), (CU130, "2.11.0")):
        for system in ("manylinux_2_28_x86_64", "win_amd64"):
            repository.add(f"torch-{version}+{index.name}-cp312-cp312-{system}.whl", index=index)
    matrix = make_matrix("linux-cu130", "linux-cu126", "win-cu126")

    compare(make_project(*dependencies("torch==2.12.0"), matrix=matrix), repository)


def test_limit_reached(compare: Comparison) -> None:
    """Giving up is told as that, with where the search stood."""
    repository = FakeRepository()
    repository.wheels("left", "1.0", "1.1", "1.2", requires=["middle<2"])
    repository.wheels("right", "1.0", "1.1", "1.2", requires=["middle>=2"])
    repository.wheels("middle", "1.0", "2.0")

    compare(make_project(*dependencies("left", "right")), repository, Limits(rounds=3))


def test_what_the_project_limits(compare: Comparison) -> None:
    """Constraints and pre-releases that are ruled out are named as the project's own doing."""
    repository = FakeRepository()
    repository.wheels("solver", "1.0", requires=["numbers>=2"])
    repository.wheels("numbers", "1.0", "2.1rc1", "3.0")
    project = make_project(*dependencies("solver"))
    project = replace(
        project,
        policy=Policy(prereleases="disallow"),
        constraints=tuple(_entries("tool.lockforge.constraints", ("numbers<3",))),
    )

    compare(project, repository)


def test_what_lockforge_added(compare: Comparison) -> None:
    """A companion that the catalogue asks for is told as lockforge's own doing."""
    repository = FakeRepository()
    repository.add("torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", index=CPU)
    repository.add("torchaudio-2.8.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", index=CPU)
    repository.add("torch-2.8.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", index=CPU)

    compare(make_project(*dependencies("torch==2.9.0", "torchaudio")), repository)
