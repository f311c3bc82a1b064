"""What would work: a change that was tried, or none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName

from lockforge.errors import IndexUnavailableError
from lockforge.model.index import Index
from lockforge.model.project import Project, ProjectRequirement, RowSettings
from lockforge.model.release import DistributionFile, Metadata
from lockforge.model.resolution import Suggestion
from tests.unit.fakes import FakeRepository, make_matrix, make_project, required, solve, torch_index

CPU = torch_index("cpu")


def suggestions(project: Project, repository: FakeRepository) -> list[Suggestion | None]:
    return [failure.suggestion for failure in solve(project, repository)[1]]


def pin(subject: str, replaces: str, where: str = "test") -> Suggestion:
    return Suggestion(kind="pin", subject=subject, replaces=replaces, where=where)


def conflict() -> FakeRepository:
    """Two libraries of which one needs an old, one a new version of a third."""
    repository = FakeRepository()
    repository.wheels("old", "2.0", requires=["base<2"])
    repository.wheels("new", "2.0", requires=["base>=2"])
    repository.wheels("new", "1.0", requires=["base"])
    repository.wheels("base", "1.0", "2.0")
    return repository


def test_another_pin() -> None:
    """The version that the row has once the pin is left out."""
    assert suggestions(make_project("old", "new==2.0"), conflict()) == [pin("new==1.0", "new==2.0")]


def test_a_pin_with_extras() -> None:
    """Extras stay, and the label of the row is left out."""
    repository = FakeRepository()
    repository.add("torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", index=CPU)
    project = make_project("torch[opt-einsum]==2.10")
    assert suggestions(project, repository) == [
        pin("torch[opt-einsum]==2.9.0", "torch[opt-einsum]==2.10")
    ]


def test_exact_pins_first() -> None:
    """Of two requirements either of which may give way, the one that demands more does."""
    repository = FakeRepository()
    repository.wheels("zeta", "1.0", requires=["alpha<2"])
    repository.wheels("zeta", "2.0", requires=["alpha"])
    repository.wheels("alpha", "1.0", "2.0")
    project = make_project("alpha>=2", "zeta==1.0")
    assert suggestions(project, repository) == [pin("zeta==2.0", "zeta==1.0")]


def test_limits_of_the_project() -> None:
    """A constraint or an override of the project, for all rows or one, may be what is wrong."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", requires=["base>=2"])
    repository.wheels("base", "1.0", "2.0")
    entry = ProjectRequirement(requirement=Requirement("base<2"), where="there")
    project = make_project("a")
    for limited in (
        replace(project, constraints=(entry,)),
        replace(project, rows={"linux-cpu": RowSettings(constraints=(entry,))}),
    ):
        assert suggestions(limited, repository) == [pin("base==2.0", "base<2", "there")]
    wrong = ProjectRequirement(requirement=Requirement("base>=3"), where="there")
    for overridden in (
        replace(project, overrides=(wrong,)),
        replace(project, rows={"linux-cpu": RowSettings(overrides=(wrong,))}),
    ):
        assert suggestions(overridden, repository) == [pin("base==2.0", "base>=3", "there")]


def test_a_requirement_of_the_row() -> None:
    """What the row alone requires may give way too."""
    repository = FakeRepository()
    repository.wheels("a", "1.0")
    settings = RowSettings(requirements=(required("a==2"),))
    project = make_project(rows={"linux-cpu": settings})
    assert suggestions(project, repository) == [pin("a==1.0", "a==2")]


def test_another_python() -> None:
    """The newest Python of the row that has a solution."""
    repository = FakeRepository()
    for minor in ("11", "12"):
        repository.add(f"foo-1.0-cp3{minor}-cp3{minor}-manylinux_2_28_x86_64.whl")
    matrix = make_matrix("linux-cpu", pythons=("3.11", "3.12", "3.13"))
    assert suggestions(make_project("foo", matrix=matrix), repository) == [
        Suggestion(kind="python", subject="3.12")
    ]


def test_another_row() -> None:
    """A row of the same platform, never one of another."""
    repository = FakeRepository()
    repository.add("torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", index=CPU)
    rows = make_matrix("linux-cu130", "linux-cpu", "win-cpu")
    assert suggestions(make_project("torch", matrix=rows), repository) == [
        Suggestion(kind="row", subject="linux-cpu"),
        None,
    ]


def test_exclude() -> None:
    """A package that one row cannot have is left out of it, with what brought it in."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", requires=["native"])
    repository.wheels("b", "1.0")
    repository.add("native-1.0-cp312-cp312-win_amd64.whl")
    rows = make_matrix("linux-cpu", "win-cpu")
    assert suggestions(make_project("a", "b", matrix=rows), repository) == [
        Suggestion(kind="exclude", subject="a")
    ]


def test_never_without_torch() -> None:
    """A row without torch is no way out."""
    repository = FakeRepository()
    repository.add("torch-2.9.0+cpu-cp312-cp312-win_amd64.whl", index=CPU)
    assert suggestions(make_project("torch"), repository) == [None]


def test_never_a_slip() -> None:
    """A name that no index of any row has is to be corrected, not excluded."""
    repository = FakeRepository()
    repository.wheels("b", "1.0")
    assert suggestions(make_project("nosuch", "b"), repository) == [None]


def test_what_does_not_work_is_not_suggested() -> None:
    """Two faults at once are not cured by one change."""
    repository = FakeRepository()
    repository.wheels("a", "1.0")
    repository.wheels("b", "1.0")
    assert suggestions(make_project("a==2", "b==2"), repository) == [None]


class Remote(FakeRepository):
    """Indexes of which some files are out of reach, or only to be had whole."""

    def __init__(self, *, whole: str = "", broken: str = "") -> None:
        super().__init__()
        self._whole = whole
        self._broken = broken

    def has_metadata(self, index: Index, file: DistributionFile) -> bool:
        return file.filename != self._whole

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        if file.filename == self._broken:
            raise IndexUnavailableError("no answer", where=file.url)
        return super().metadata(index, file)


def test_nothing_is_downloaded() -> None:
    """A version whose metadata only the whole file tells is not looked into."""
    repository = Remote(whole="a-2.0-py3-none-any.whl")
    repository.wheels("a", "1.0", "2.0")
    assert suggestions(make_project("a==3"), repository) == [pin("a==1.0", "a==3")]
    assert ("pypi", "a-2.0-py3-none-any.whl") not in repository.asked


def test_an_index_that_fails_is_not_told() -> None:
    """What goes wrong while trying does not hide the failure."""
    repository = Remote(broken="a-2.0-py3-none-any.whl")
    repository.wheels("a", "2.0")
    assert suggestions(make_project("a==3"), repository) == [
        Suggestion(kind="exclude", subject="a")
    ]


@pytest.mark.parametrize("requirements", [("old", "new==2.0"), ("new==2.0", "old")])
def test_order_does_not_matter(requirements: tuple[str, str]) -> None:
    """The suggestion follows from what there is, not from the order it is written in."""
    assert suggestions(make_project(*requirements), conflict()) == [pin("new==1.0", "new==2.0")]


def test_names_are_normalized() -> None:
    """An exclusion is spelt as the configuration spells it."""
    repository = FakeRepository()
    repository.add("foo_bar-1.0-cp312-cp312-win_amd64.whl")
    assert suggestions(make_project("Foo_Bar"), repository) == [
        Suggestion(kind="exclude", subject=NormalizedName("foo-bar"))
    ]
