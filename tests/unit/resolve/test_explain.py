"""Why a Target has no solution: who asked for what, and what the indexes have."""

from __future__ import annotations

from packaging.utils import NormalizedName

from lockforge.model.resolution import Cause, Failure, Offer
from tests.unit.fakes import (
    PYPI,
    FakeRepository,
    make_matrix,
    make_project,
    solve,
    torch_index,
)

CPU, CU130 = torch_index("cpu"), torch_index("cu130")


def failed(repository: FakeRepository, *requirements: str, row: str = "linux-cpu") -> Failure:
    """The failure of one row at Python 3.12."""
    resolutions, failures = solve(make_project(*requirements, matrix=make_matrix(row)), repository)
    assert resolutions == []
    (failure,) = failures
    return failure


def offer(name: str, **keys: object) -> Offer:
    return Offer(
        project=NormalizedName(name),
        index_name=PYPI.name,
        index_url=PYPI.url,
        found=True,
        **keys,  # type: ignore[arg-type]
    )


def test_whole_failure() -> None:
    """A Failure names the requirement, the index, its newest version and what that is for."""
    repository = FakeRepository()
    repository.add("torch-2.10.0+cu130-cp313-cp313-win_amd64.whl", index=CU130)
    repository.add("torch-2.10.0+cu130-cp312-cp312-win_amd64.whl", index=CU130)
    repository.add("torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", index=CU130)
    repository.add("torch-2.8.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl", index=CU130)
    repository.wheels("torch", "2.11")
    project = make_project("torch>=2.9", matrix=make_matrix("linux-cu130"))
    assert solve(project, repository)[1] == [
        Failure(
            target=project.matrix.targets[0],
            causes=(Cause(requirement="torch>=2.9", parent=None),),
            offers=(
                Offer(
                    project=NormalizedName("torch"),
                    index_name="cu130",
                    index_url="https://download.pytorch.org/whl/cu130/",
                    found=True,
                    usable=("2.8.0+cu130",),
                    newest="2.10.0+cu130",
                    pythons=("cp312", "cp313"),
                    platforms=("win_amd64",),
                    refused=(
                        (
                            "2.10.0+cu130: wheels for Pythons cp312, cp313 "
                            "and platforms win_amd64 only"
                        ),
                        "2.9.0+cpu: built for cpu",
                    ),
                ),
            ),
        )
    ]


def test_no_such_project() -> None:
    """An index without the project is told from one without a fitting file."""
    failure = failed(FakeRepository(), "Missing_Thing>=1")
    assert failure.causes == (Cause(requirement="Missing_Thing>=1", parent=None),)
    assert failure.offers == (
        Offer(
            project=NormalizedName("missing-thing"),
            index_name="pypi",
            index_url="https://pypi.org/simple/",
            found=False,
        ),
    )


def test_conflict() -> None:
    """Both sides of a conflict are named, with the packages that ask."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", requires=["c<2"])
    repository.wheels("b", "1.0", requires=["c>=2"])
    repository.wheels("c", "1.0", "2.0")
    failure = failed(repository, "a", "b")
    assert failure.causes == (
        Cause(requirement="c<2", parent="a 1.0"),
        Cause(requirement="c>=2", parent="b 1.0"),
    )
    assert failure.offers == (
        offer("c", usable=("2.0", "1.0"), newest="2.0", pythons=("py3",), platforms=("any",)),
    )


def test_deep_conflict() -> None:
    """A requirement that is out of reach at depth is named by its own text."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", "2.0", requires=["b[x]>=1"])
    repository.wheels("b", "1.0", requires=["c>=9; extra == 'x'"])
    repository.wheels("c", "1.0")
    failure = failed(repository, "a")
    assert Cause(requirement="c>=9", parent="b[x] 1.0") in failure.causes


def test_python() -> None:
    """A file for another Python is refused for that, whoever tells it."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", requires_python=">=3.13")
    repository.add("foo-1.0-py3-none-any.whl", metadata_requires_python=">=3.14")
    assert failed(repository, "foo").offers == (
        offer(
            "foo",
            newest="2.0",
            pythons=("py3",),
            platforms=("any",),
            refused=(
                "2.0: needs Python >=3.13",
                "foo-1.0-py3-none-any.whl: its metadata needs Python >=3.14",
            ),
        ),
    )


def test_metadata() -> None:
    """A file whose metadata cannot be used is named with the reason."""
    repository = FakeRepository()
    repository.add("foo-1.0.tar.gz", broken="known only after a build")
    (found,) = failed(repository, "foo").offers
    assert found == offer(
        "foo", newest="1.0", refused=("foo-1.0.tar.gz: known only after a build",)
    )


def test_yanked() -> None:
    """A yanked version is not offered as one the row can have; that it is yanked is said."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", yanked="broken")
    repository.add("foo-1.0-py3-none-any.whl")
    (found,) = failed(repository, "foo>=2").offers
    assert found.usable == ("1.0",)
    assert any("yanked" in reason for reason in found.refused)


def test_exclude_newer() -> None:
    """A file that is only too new is named with its time."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", upload_time="2026-11-02T00:00:00Z")
    repository.add("foo-1.0-py3-none-any.whl", upload_time="2026-01-01T00:00:00Z")
    project = make_project("foo>=2", exclude_newer="2026-11-01T23:59:59Z")
    ((found,),) = [failure.offers for failure in solve(project, repository)[1]]
    assert found.refused == ("2.0: uploaded 2026-11-02T00:00:00Z, after exclude-newer",)


def test_fallback() -> None:
    """For a package with a fallback, what the default index has is told as well."""
    repository = FakeRepository()
    repository.wheels("triton", "3.5.0")
    found = failed(repository, "triton>=4").offers
    assert ("pypi", ("3.5.0",)) in [(one.index_name, one.usable) for one in found]


def test_all_rows_together() -> None:
    """Every row that fails is told, and the others are not held back."""
    repository = FakeRepository()
    repository.add("foo-1.0-cp312-cp312-manylinux_2_28_x86_64.whl")
    project = make_project("foo", matrix=make_matrix("linux-cpu", "win-cpu", "mac-cpu"))
    resolutions, failures = solve(project, repository)
    assert [one.target.id for one in resolutions] == ["linux-cpu-py312"]
    assert [one.target.id for one in failures] == ["win-cpu-py312", "mac-cpu-py312"]


def test_order_does_not_matter() -> None:
    """The same failure is described in the same way, whatever the order of requirements."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", requires=["c<2"])
    repository.wheels("b", "1.0", requires=["c>=2"])
    repository.wheels("c", "1.0", "2.0")
    assert failed(repository, "a", "b") == failed(repository, "b", "a")
