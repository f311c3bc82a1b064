"""``align = "common"``: one public version of each package of the family for all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.model.project import Policy, RowSettings
from lockforge.model.resolution import Misalignment, Outcome, Preferred
from lockforge.resolve.finder import Finder
from lockforge.resolve.limits import Limits
from lockforge.resolve.matrix import solve_matrix
from tests.unit.fakes import (
    FakeRepository,
    NoProgress,
    make_matrix,
    make_project,
    required,
    solve,
    solved,
    torch_index,
    versions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.model.project import Project

COMMON = Policy(alignment="common")
ROWS = ("linux-cu130", "linux-cu126", "linux-cpu")


def outcome(
    project: Project,
    repository: FakeRepository,
    preferred: Mapping[str, Sequence[str]] | None = None,
) -> Outcome:
    wanted = {
        name: tuple(Preferred(version=Version(one)) for one in texts)
        for name, texts in (preferred or {}).items()
    }
    by_target = dict.fromkeys(project.matrix.targets, wanted)
    finder = Finder(project, load_catalog(), repository, by_target)
    return solve_matrix(project, finder, by_target, NoProgress())


def by_row(found: Outcome, name: str) -> dict[str, str]:
    return {
        one.target.row.name: str(pin.version)
        for one in found.resolutions
        if (pin := one.pin(name)) is not None
    }


def torches(**by_label: Sequence[str]) -> FakeRepository:
    """Wheels of torch for Linux by accelerator."""
    repository = FakeRepository()
    for label, known in by_label.items():
        for version in known:
            wheel(repository, "torch", version, label)
    return repository


def wheel(repository: FakeRepository, name: str, version: str, label: str, *requires: str) -> None:
    repository.add(
        f"{name}-{version}+{label}-cp312-cp312-manylinux_2_28_x86_64.whl",
        *requires,
        index=torch_index(label),
    )


SKEWED = {
    "cu130": ["2.9.0", "2.10.0", "2.11.0"],
    "cu126": ["2.8.0", "2.9.0", "2.10.0"],
    "cpu": ["2.8.0", "2.9.0", "2.11.0"],
}


def test_rows_go_their_own_ways_unless_asked() -> None:
    found = outcome(make_project("torch", matrix=make_matrix(*ROWS)), torches(**SKEWED))

    assert by_row(found, "torch") == {
        "linux-cu130": "2.11.0+cu130",
        "linux-cu126": "2.10.0+cu126",
        "linux-cpu": "2.11.0+cpu",
    }
    assert found.misalignments == ()


def test_the_newest_that_all_rows_have() -> None:
    project = make_project("torch", matrix=make_matrix(*ROWS), policy=COMMON)
    found = outcome(project, torches(**SKEWED))

    assert by_row(found, "torch") == {
        "linux-cu130": "2.9.0+cu130",
        "linux-cu126": "2.9.0+cu126",
        "linux-cpu": "2.9.0+cpu",
    }
    assert (found.failures, found.misalignments) == ((), ())


def test_the_order_of_rows_changes_nothing() -> None:
    repository = torches(**SKEWED)
    one = outcome(make_project("torch", matrix=make_matrix(*ROWS), policy=COMMON), repository)
    other = outcome(
        make_project("torch", matrix=make_matrix(*ROWS[::-1]), policy=COMMON), repository
    )

    assert one == other


def test_what_is_aligned_already_stays() -> None:
    """The newest of each row is the same one: nothing is solved again."""
    repository = torches(cu130=["2.8.0", "2.9.0"], cpu=["2.7.0", "2.9.0"])
    project = make_project("torch", matrix=make_matrix("linux-cu130", "linux-cpu"), policy=COMMON)

    assert set(by_row(outcome(project, repository), "torch").values()) == {
        "2.9.0+cu130",
        "2.9.0+cpu",
    }


def test_several_pythons_and_platforms_count_as_well() -> None:
    repository = FakeRepository()
    cpu = torch_index("cpu")
    for version, tags in (
        ("2.9.0", ["cp312-cp312-manylinux_2_28_x86_64", "cp313-cp313-manylinux_2_28_x86_64"]),
        ("2.8.0", ["cp312-cp312-manylinux_2_28_x86_64", "cp313-cp313-manylinux_2_28_x86_64"]),
        ("2.10.0", ["cp313-cp313-manylinux_2_28_x86_64"]),
    ):
        for tag in tags:
            repository.add(f"torch-{version}+cpu-{tag}.whl", index=cpu)
    for version in ("2.8.0", "2.10.0"):
        for tag in ("cp312", "cp313"):
            repository.add(f"torch-{version}-{tag}-none-macosx_11_0_arm64.whl", index=cpu)
    matrix = make_matrix("linux-cpu", "mac-cpu", pythons=("3.12", "3.13"))
    found = outcome(make_project("torch", matrix=matrix, policy=COMMON), repository)

    assert [str(one.pins[0].version) for one in found.resolutions] == [
        "2.8.0+cpu",
        "2.8.0+cpu",
        "2.8.0",
        "2.8.0",
    ]


def test_companions_follow_torch() -> None:
    """Torch is aligned first; what its companions are follows from it."""
    repository = torches(**SKEWED)
    for label, pairs in {
        "cu130": [("0.24.0", "2.9.0"), ("0.26.0", "2.11.0")],
        "cu126": [("0.24.0", "2.9.0"), ("0.25.0", "2.10.0")],
        "cpu": [("0.24.0", "2.9.0"), ("0.26.0", "2.11.0")],
    }.items():
        for version, torch in pairs:
            wheel(repository, "torchvision", version, label, f"torch=={torch}")
    project = make_project("torchvision", "torch", matrix=make_matrix(*ROWS), policy=COMMON)
    found = outcome(project, repository)

    assert {version.partition("+")[0] for version in by_row(found, "torchvision").values()} == {
        "0.24.0"
    }
    assert {version.partition("+")[0] for version in by_row(found, "torch").values()} == {"2.9.0"}


def test_a_companion_with_skew_of_its_own() -> None:
    """With one torch everywhere, another package of the family may still differ."""
    repository = torches(cu130=["2.9.0"], cpu=["2.9.0"])
    for label, known in {"cu130": ["0.14.0", "0.15.0"], "cpu": ["0.14.0", "0.16.0"]}.items():
        for version in known:
            wheel(repository, "torchao", version, label, "torch")
    project = make_project(
        "torch", "torchao", matrix=make_matrix("linux-cu130", "linux-cpu"), policy=COMMON
    )
    found = outcome(project, repository)

    assert by_row(found, "torchao") == {
        "linux-cu130": "0.14.0+cu130",
        "linux-cpu": "0.14.0+cpu",
    }


def test_a_common_version_that_does_not_solve_is_passed_over() -> None:
    """All rows have 2.9, but it requires what one row cannot have; the next common one is it."""
    repository = FakeRepository()
    wheel(repository, "torch", "2.10.0", "cu130")
    wheel(repository, "torch", "2.9.0", "cu130")
    wheel(repository, "torch", "2.8.0", "cu130")
    wheel(repository, "torch", "2.9.0", "cpu", "missing")
    wheel(repository, "torch", "2.8.0", "cpu")
    project = make_project("torch", matrix=make_matrix("linux-cu130", "linux-cpu"), policy=COMMON)
    found = outcome(project, repository)

    assert by_row(found, "torch") == {"linux-cu130": "2.8.0+cu130", "linux-cpu": "2.8.0+cpu"}


def test_packages_outside_of_the_family_are_not_aligned() -> None:
    repository = FakeRepository()
    repository.add("numpy-2.0-cp312-cp312-manylinux_2_28_x86_64.whl")
    repository.add("numpy-1.0-py3-none-any.whl")
    matrix = make_matrix("linux-cpu", "win-cpu")
    found = outcome(make_project("numpy", matrix=matrix, policy=COMMON), repository)

    assert by_row(found, "numpy") == {"linux-cpu": "2.0", "win-cpu": "1.0"}


def test_final_releases_before_pre_releases() -> None:
    """A pre-release that all rows have is no reason to leave an older final release."""
    repository = torches(cu130=["2.8.0", "2.9.0rc1", "2.10.0"], cpu=["2.8.0", "2.9.0rc1"])
    project = make_project("torch", matrix=make_matrix("linux-cu130", "linux-cpu"), policy=COMMON)

    assert set(by_row(outcome(project, repository), "torch").values()) == {
        "2.8.0+cu130",
        "2.8.0+cpu",
    }


def test_what_the_lock_had_is_kept() -> None:
    """A newer common version moves nothing; where the lock's own is gone, the newest is it."""
    repository = torches(
        cu130=["2.7.0", "2.8.0", "2.9.0", "2.10.0"], cpu=["2.7.0", "2.8.0", "2.9.0"]
    )
    project = make_project("torch", matrix=make_matrix("linux-cu130", "linux-cpu"), policy=COMMON)

    def kept(*known: str) -> set[str]:
        found = outcome(project, repository, {"torch": known})
        return {text.partition("+")[0] for text in by_row(found, "torch").values()}

    assert kept("2.8.0+cu130", "2.8.0+cpu") == {"2.8.0"}
    assert kept("2.8.0+cpu", "2.10.0+cu130") == {"2.8.0"}
    assert kept("2.5.0+cu130", "2.5.0+cpu") == {"2.9.0"}


def test_no_common_version() -> None:
    """The rows stay as they are, and it is said what each has and which row stands in the way."""
    repository = torches(cu130=["2.10.0", "2.9.0"], cu126=["2.9.0", "2.10.0"], cpu=["2.8.0"])
    project = make_project("torch", matrix=make_matrix(*ROWS), policy=COMMON)
    found = outcome(project, repository)

    assert by_row(found, "torch") == {
        "linux-cu130": "2.10.0+cu130",
        "linux-cu126": "2.10.0+cu126",
        "linux-cpu": "2.8.0+cpu",
    }
    assert found.misalignments == (
        Misalignment(
            name="torch",  # type: ignore[arg-type]
            offers=(
                ("linux-cu130", ("2.10.0", "2.9.0")),
                ("linux-cu126", ("2.10.0", "2.9.0")),
                ("linux-cpu", ("2.8.0",)),
            ),
            blocking=("linux-cpu",),
            required=True,
        ),
    )


def test_two_rows_have_nobody_to_blame() -> None:
    repository = torches(cu130=["2.10.0"], cpu=["2.8.0"])
    project = make_project("torch", matrix=make_matrix("linux-cu130", "linux-cpu"), policy=COMMON)

    (one,) = outcome(project, repository).misalignments
    assert one.blocking == ()


def test_a_package_that_nobody_asked_for_may_differ() -> None:
    """Triton comes with torch, which pins it: that it differs is a note and no failure."""
    repository = FakeRepository()
    for label, triton in (("cu130", "3.5.0"), ("cu126", "3.4.0")):
        wheel(repository, "torch", "2.9.0", label, f"triton=={triton}")
        repository.add(
            f"triton-{triton}-cp312-cp312-manylinux_2_28_x86_64.whl", index=torch_index(label)
        )
    project = make_project("torch", matrix=make_matrix("linux-cu130", "linux-cu126"), policy=COMMON)
    found = outcome(project, repository)

    assert [(one.name, one.required) for one in found.misalignments] == [("triton", False)]
    assert set(by_row(found, "torch").values()) == {"2.9.0+cu130", "2.9.0+cu126"}


def test_a_pin_of_one_row_counts_for_all() -> None:
    own = RowSettings(requirements=(required("torch==2.8.0"),))
    repository = torches(cu130=["2.8.0", "2.9.0"], cpu=["2.8.0", "2.9.0"])
    project = make_project(
        "torch",
        matrix=make_matrix("linux-cu130", "linux-cpu"),
        rows={"linux-cpu": own},
        policy=COMMON,
    )
    found = outcome(project, repository)

    assert by_row(found, "torch") == {"linux-cu130": "2.8.0+cu130", "linux-cpu": "2.8.0+cpu"}


@pytest.mark.parametrize("text", ["torch<2.9", "torch!=2.9.0"])
def test_constraints_count_too(text: str) -> None:
    project = make_project("torch", matrix=make_matrix(*ROWS), policy=COMMON, constraints=[text])
    repository = torches(
        cu130=["2.8.0", "2.9.0", "2.10.0"], cu126=["2.8.0", "2.9.0"], cpu=["2.8.0", "2.9.0"]
    )

    found = outcome(project, repository)
    assert {one.partition("+")[0] for one in by_row(found, "torch").values()} == {"2.8.0"}


def test_a_row_without_the_package_is_not_asked() -> None:
    own = RowSettings(exclude=frozenset({"torchao"}))  # type: ignore[arg-type]
    repository = torches(cu130=["2.9.0"], cu126=["2.9.0"], cpu=["2.9.0"])
    for label, known in {"cu130": ["0.14.0", "0.15.0"], "cu126": ["0.14.0"]}.items():
        for version in known:
            wheel(repository, "torchao", version, label, "torch")
    project = make_project(
        "torch", "torchao", matrix=make_matrix(*ROWS), policy=COMMON, rows={"linux-cpu": own}
    )
    found = outcome(project, repository)

    assert by_row(found, "torchao") == {
        "linux-cu130": "0.14.0+cu130",
        "linux-cu126": "0.14.0+cu126",
    }
    assert versions(found.resolutions[2]) == {"torch": "2.9.0+cpu"}


def test_nothing_is_aligned_while_a_row_fails() -> None:
    repository = torches(cu130=["2.8.0", "2.9.0"], cpu=["2.8.0"])
    project = make_project(
        "torch",
        "missing; platform_machine == 'AMD64'",
        matrix=make_matrix("linux-cu130", "linux-cpu", "win-cpu"),
        policy=COMMON,
    )
    found = outcome(project, repository)

    assert [one.target.row.name for one in found.failures] == ["win-cpu"]
    assert found.misalignments == ()


def test_an_older_torch_where_a_companion_has_none_in_common_beside_the_newest() -> None:
    """What was taken first is no reason to say that there is nothing."""
    repository = FakeRepository()
    for label, newest in (("cu130", "0.24.0"), ("cpu", "0.24.1")):
        index = torch_index(label)
        repository.wheels("torch", f"2.8.0+{label}", f"2.9.0+{label}", index=index)
        for version, torch in ((newest, "2.9.0"), ("0.23.0", "2.8.0")):
            repository.wheels(
                "torchvision", f"{version}+{label}", requires=[f"torch=={torch}"], index=index
            )
    project = make_project(
        "torch",
        "torchvision",
        matrix=make_matrix("linux-cu130", "linux-cpu"),
        policy=COMMON,
    )

    for resolution in solved(project, repository):
        found = {name: text.partition("+")[0] for name, text in versions(resolution).items()}
        assert found == {"torch": "2.8.0", "torchvision": "0.23.0"}


def test_a_search_that_was_given_up_is_no_proof() -> None:
    """It ends as one, and not in a claim that the rows have nothing in common."""
    repository = FakeRepository()
    for label, more in (("cu130", "2.9.0"), ("cpu", "2.10.0")):
        index = torch_index(label)
        # The one version in common asks for something that takes many rounds.
        repository.wheels("torch", f"2.8.0+{label}", requires=["deep"], index=index)
        repository.wheels("torch", f"{more}+{label}", index=index)
    for number in range(30):
        repository.wheels("deep", f"{number}.0", requires=[f"left=={number}", f"right=={number}"])
        repository.wheels("left", f"{number}.0", requires=["base<1"])
        repository.wheels("right", f"{number}.0", requires=["base>=1"])
    repository.wheels("base", "0.5", "1.0")
    project = make_project(
        "torch",
        matrix=make_matrix("linux-cu130", "linux-cpu"),
        policy=COMMON,
    )

    _, failures = solve(project, repository, limits=Limits(rounds=20))
    assert failures
    assert all(failure.gave_up for failure in failures)
