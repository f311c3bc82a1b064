"""Why a Target has no solution: who asked for what, and what the indexes have."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName

from lockforge.model.project import Policy, Project, ProjectRequirement
from lockforge.model.resolution import Cause, Failure, Offer, Refusal, TagGap
from tests.unit.fakes import (
    PYPI,
    FakeRepository,
    make_matrix,
    make_project,
    solve,
    torch_index,
)

CPU, CU130 = torch_index("cpu"), torch_index("cu130")


def failures(project: Project, repository: FakeRepository) -> list[Failure]:
    """The failures of all rows, without what might be done."""
    return [replace(one, suggestion=None) for one in solve(project, repository)[1]]


def failed(repository: FakeRepository, *requirements: str, row: str = "linux-cpu") -> Failure:
    """The failure of one row at Python 3.12."""
    (failure,) = failures(make_project(*requirements, matrix=make_matrix(row)), repository)
    return failure


def own(requirement: str) -> Cause:
    """What the project requires."""
    return Cause(requirement=requirement, parent=None, where="test")


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
    assert failures(project, repository) == [
        Failure(
            target=project.matrix.targets[0],
            causes=(own("torch>=2.9"),),
            offers=(
                Offer(
                    project=NormalizedName("torch"),
                    index_name="cu130",
                    index_url="https://download.pytorch.org/whl/cu130/",
                    found=True,
                    usable=("2.8.0+cu130",),
                    newest="2.10.0+cu130",
                    gaps=(
                        TagGap(
                            version="2.10.0",
                            pythons=("cp312", "cp313"),
                            platforms=("win_amd64",),
                            missing="linux",
                        ),
                    ),
                    refused=(Refusal(version="2.9.0+cpu", reason="built for cpu"),),
                ),
            ),
        )
    ]


def test_labels_of_one_version() -> None:
    """A version is told once, whatever labels its wheels bear, and not at all if one will do."""
    repository = FakeRepository()
    repository.add("torch-2.9.0+cpu-cp312-cp312-win_amd64.whl", index=CPU)
    repository.add("torch-2.9.0-cp312-cp312-macosx_14_0_arm64.whl", index=CPU)
    repository.add("torch-2.9.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl", index=CPU)
    (linux,) = failed(repository, "torch").offers
    assert [(one.version, one.platforms) for one in linux.gaps] == [
        ("2.9.0", ("macosx_14_0_arm64", "win_amd64"))
    ]
    (mac,) = failed(repository, "torch>3", row="mac-cpu").offers
    assert mac.gaps == ()


def test_no_such_project() -> None:
    """An index without the project is told from one without a fitting file."""
    failure = failed(FakeRepository(), "Missing_Thing>=1")
    assert failure.causes == (own("Missing_Thing>=1"),)
    assert failure.offers == (
        Offer(
            project=NormalizedName("missing-thing"),
            index_name="pypi",
            index_url="https://pypi.org/simple/",
            found=False,
        ),
    )


def test_conflict() -> None:
    """Both sides of a conflict are named, with the packages that ask and what brought them in."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", requires=["c<2"])
    repository.wheels("b", "1.0", requires=["c>=2"])
    repository.wheels("c", "1.0", "2.0")
    failure = failed(repository, "a", "b")
    assert failure.causes == (
        Cause(requirement="c<2", parent="a 1.0", via=(own("a"),)),
        Cause(requirement="c>=2", parent="b 1.0", via=(own("b"),)),
    )
    assert failure.offers == (offer("c", usable=("2.0", "1.0"), newest="2.0"),)


def test_deep_conflict() -> None:
    """A requirement out of reach at depth is named with the whole way there."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", "2.0", requires=["b[x]>=1"])
    repository.wheels("b", "1.0", requires=["c>=9; extra == 'x'"])
    repository.wheels("c", "1.0")
    found = failed(repository, "a").causes
    assert found == (
        Cause(
            requirement="c>=9",
            parent="b[x] 1.0",
            via=(own("a"), Cause(requirement="b[x]>=1", parent="a 2.0")),
        ),
    )


def test_shortest_way() -> None:
    """Of several ways to the one who asks the shortest is told, and circles do not matter."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", requires=["b", "far"])
    repository.wheels("far", "1.0", requires=["b>=1", "a"])
    repository.wheels("b", "1.0", requires=["c>=9", "far"])
    repository.wheels("c", "1.0")
    (cause,) = failed(repository, "a").causes
    assert cause.via == (own("a"), Cause(requirement="b", parent="a 1.0"))


def test_rows_fail_alike() -> None:
    """The label of a row is left out of who asks, so that rows are seen to fail alike."""
    repository = FakeRepository()
    for index in (CPU, CU130):
        stem = f"torch-2.9.0+{index.name}-cp312-cp312"
        repository.add(f"{stem}-manylinux_2_28_x86_64.whl", "c>=9", index=index)
    repository.wheels("c", "1.0")
    project = make_project("torch", matrix=make_matrix("linux-cpu", "linux-cu130"))
    first, second = failures(project, repository)
    assert first.causes == second.causes
    assert first.causes == (Cause(requirement="c>=9", parent="torch 2.9.0", via=(own("torch"),)),)


def test_constraint() -> None:
    """A constraint that takes part is named with its place."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", requires=["c>=2"])
    repository.wheels("c", "1.0", "2.0")
    limit = ProjectRequirement(requirement=Requirement("c<2"), where="constraints.txt:3")
    project = replace(make_project("a"), constraints=(limit,))
    (failure,) = failures(project, repository)
    assert failure.causes == (
        Cause(requirement="c>=2", parent="a 1.0", via=(own("a"),)),
        Cause(requirement="c<2", parent=None, kind="constraint", where="constraints.txt:3"),
    )


def test_override() -> None:
    """An override is named as such, with the one it speaks for."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", requires=["c>=1"])
    repository.wheels("c", "1.0", "2.0")
    override = ProjectRequirement(requirement=Requirement("c>=3"), where="pyproject.toml:9")
    project = replace(make_project("a"), overrides=(override,))
    (failure,) = failures(project, repository)
    assert failure.causes == (
        Cause(
            requirement="c>=3",
            parent="a 1.0",
            kind="override",
            where="pyproject.toml:9",
            via=(own("a"),),
        ),
    )


def test_addition() -> None:
    """What the catalogue asks for has its reason."""
    repository = FakeRepository()
    repository.add("torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", index=CPU)
    repository.add("torchaudio-2.8.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", index=CPU)
    causes = failed(repository, "torch", "torchaudio").causes
    assert [cause.reason != "" for cause in causes] == [False, True]


def test_python() -> None:
    """A file for another Python is refused for that, whoever tells it."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", requires_python=">=3.13")
    repository.add("foo-1.0-py3-none-any.whl", metadata_requires_python=">=3.14")
    assert failed(repository, "foo").offers == (
        offer(
            "foo",
            newest="2.0",
            refused=(
                Refusal(version="2.0", reason="needs Python >=3.13"),
                Refusal(
                    version="1.0",
                    filename="foo-1.0-py3-none-any.whl",
                    reason="its metadata needs Python >=3.14",
                ),
            ),
        ),
    )


def test_metadata() -> None:
    """A file whose metadata cannot be had is named with the reason and what makes up for it."""
    repository = FakeRepository()
    repository.add("foo_bar-1.0.tar.gz", broken="known only after a build")
    (found,) = failed(repository, "foo-bar").offers
    assert found == offer(
        "foo-bar",
        newest="1.0",
        refused=(
            Refusal(
                version="1.0",
                filename="foo_bar-1.0.tar.gz",
                reason="known only after a build",
                setting='[tool.lockforge.metadata."foo-bar==1.0"]',
            ),
        ),
    )


def test_refused_parent() -> None:
    """Where an older version asks because a newer one was struck out, that is told."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", requires=["c<2"])
    repository.add("a-2.0-py3-none-any.whl", broken="no METADATA")
    repository.wheels("c", "2.0")
    found = {one.project: one for one in failed(repository, "a").offers}
    assert [one.filename for one in found[NormalizedName("a")].refused] == [
        "a-2.0-py3-none-any.whl"
    ]


def test_yanked() -> None:
    """A yanked version is not offered as one the row can have; that it is yanked is said."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", yanked="broken")
    repository.add("foo-1.0-py3-none-any.whl", yanked="")
    (found,) = failed(repository, "foo").offers
    assert found.usable == ()
    assert found.refused == (
        Refusal(version="2.0", reason="yanked: broken"),
        Refusal(version="1.0", reason="yanked: no reason given"),
    )


def test_exclude_newer() -> None:
    """A file that is only too new is named with its time."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", upload_time="2026-11-02T00:00:00Z")
    repository.add("foo-1.0-py3-none-any.whl", upload_time="2026-01-01T00:00:00Z")
    project = make_project("foo>=2", exclude_newer="2026-11-01T23:59:59Z")
    ((found,),) = [failure.offers for failure in failures(project, repository)]
    assert found.refused == (
        Refusal(version="2.0", reason="uploaded 2026-11-02, after exclude-newer"),
    )


@pytest.mark.parametrize(
    ("policy", "filename"),
    [
        (Policy(only_binary=frozenset({"foo"})), "foo-1.0.tar.gz"),
        (Policy(no_binary=frozenset({"foo"})), "foo-1.0-py3-none-any.whl"),
    ],
)
def test_unwanted_kind(policy: Policy, filename: str) -> None:
    """A file of a kind that is not wanted is there, and refused for that."""
    repository = FakeRepository()
    repository.add(filename)
    project = replace(make_project("foo"), policy=policy)
    ((found,),) = [failure.offers for failure in failures(project, repository)]
    assert [(one.version, "wanted" in one.reason) for one in found.refused] == [("1.0", True)]


def test_prereleases() -> None:
    """That only pre-releases would do is said where they are ruled out, and not elsewhere."""
    repository = FakeRepository()
    repository.wheels("foo", "1.0", "2.0rc1", "2.0rc2")
    for prereleases, expected in (("disallow", ("2.0rc2", "2.0rc1")), ("allow", ())):
        policy = Policy(prereleases=prereleases)  # type: ignore[arg-type]
        project = replace(make_project("foo>=2.0rc1", "foo<2.1"), policy=policy)
        found = [
            one.prereleases for failure in failures(project, repository) for one in failure.offers
        ]
        assert found == ([expected] if expected else [])


def test_fallback() -> None:
    """Both indexes of a package with a fallback are told, the one that has nothing first."""
    repository = FakeRepository()
    repository.wheels("triton", "3.5.0")
    found = failed(repository, "triton>=4").offers
    assert [(one.index_name, one.found, one.usable) for one in found] == [
        ("cpu", False, ()),
        ("pypi", True, ("3.5.0",)),
    ]


def test_all_rows_together() -> None:
    """Every row that fails is told, and the others are not held back."""
    repository = FakeRepository()
    repository.add("foo-1.0-cp312-cp312-manylinux_2_28_x86_64.whl")
    project = make_project("foo", matrix=make_matrix("linux-cpu", "win-cpu", "mac-cpu"))
    assert [one.target.id for one in solve(project, repository)[0]] == ["linux-cpu-py312"]
    assert [one.target.id for one in failures(project, repository)] == [
        "win-cpu-py312",
        "mac-cpu-py312",
    ]


def test_order_does_not_matter() -> None:
    """The same failure is described in the same way, whatever the order of requirements."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", requires=["c<2"])
    repository.wheels("b", "1.0", requires=["c>=2"])
    repository.wheels("c", "1.0", "2.0")
    assert failed(repository, "a", "b") == failed(repository, "b", "a")
