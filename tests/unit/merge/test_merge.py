"""Resolutions of all Targets merged into one Lock."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from lockforge.model.index import Index, UserIndex
from lockforge.model.lock import Dependency, LockedFile, LockedPackage
from lockforge.model.matrix import Matrix
from lockforge.standards.environment import host_environment
from lockforge.standards.pylock import parse_pylock, render_pylock
from tests.unit.fakes import (
    PYPI,
    FakeRepository,
    digest_of,
    make_matrix,
    make_project,
    make_row,
    merged,
    required,
    solved,
    torch_index,
)

if TYPE_CHECKING:
    from lockforge.model.lock import Lock
    from lockforge.model.project import Project

CPU, CU130 = torch_index("cpu"), torch_index("cu130")


def locked(project: Project, repository: FakeRepository) -> Lock:
    return merged(project, solved(project, repository))


def file(filename: str, index: Index = PYPI) -> LockedFile:
    return LockedFile(
        name=filename, sha256=digest_of(index, filename), url=f"{index.url}files/{filename}"
    )


def package(
    name: str,
    version: str,
    *filenames: str,
    index: Index = PYPI,
    marker: str = "",
    dependencies: tuple[Dependency, ...] = (),
    requires_python: str | None = None,
) -> LockedPackage:
    return LockedPackage(
        name=NormalizedName(name),
        version=version,
        index=index.url.rstrip("/"),
        marker=marker,
        requires_python=requires_python,
        dependencies=dependencies,
        wheels=tuple(file(one, index) for one in filenames),
        sdist=None,
    )


def on(name: str, **keys: str) -> Dependency:
    return Dependency(name=NormalizedName(name), **keys)


LINUX_CPU = "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"
LINUX_CUDA = "torch-2.9.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl"
MAC = "torch-2.9.0-cp312-none-macosx_11_0_arm64.whl"
NUMPIES = (
    "numpy-2.3.1-cp312-cp312-macosx_14_0_arm64.whl",
    "numpy-2.3.1-cp312-cp312-manylinux_2_28_x86_64.whl",
)


def three_rows() -> FakeRepository:
    repository = FakeRepository()
    repository.add(LINUX_CUDA, "numpy", "triton; sys_platform == 'linux'", index=CU130)
    repository.add(LINUX_CPU, "numpy", index=CPU)
    repository.add(MAC, "numpy", index=CPU)
    repository.add("triton-3.5.0-py3-none-any.whl", index=CU130)
    for filename in NUMPIES:
        repository.add(filename)
    return repository


ROWS = ("linux-cu130", "linux-cpu", "mac-cpu")


def test_three_rows() -> None:
    """One entry per name, version and index, with the files its rows install and its marker."""
    lock = locked(make_project("torch", matrix=make_matrix(*ROWS)), three_rows())
    cuda, linux, mac = (
        "'cu130' in extras",
        "'cpu' in extras and sys_platform == 'linux'",
        "sys_platform == 'darwin'",
    )
    numpy = on("numpy")
    assert lock.packages == (
        package("numpy", "2.3.1", *NUMPIES),
        package("torch", "2.9.0", MAC, index=CPU, marker=mac, dependencies=(numpy,)),
        package("torch", "2.9.0+cpu", LINUX_CPU, index=CPU, marker=linux, dependencies=(numpy,)),
        package(
            "torch",
            "2.9.0+cu130",
            LINUX_CUDA,
            index=CU130,
            marker=cuda,
            dependencies=(numpy, on("triton")),
        ),
        package("triton", "3.5.0", "triton-3.5.0-py3-none-any.whl", index=CU130, marker=cuda),
    )
    assert (lock.environments, lock.requires_python) == (
        (
            "sys_platform == 'darwin' and platform_machine == 'arm64'",
            "sys_platform == 'linux' and platform_machine == 'x86_64'",
        ),
        ">=3.12,<3.13",
    )
    assert (lock.extras, lock.dependency_groups, lock.default_groups) == (("cpu", "cu130"), (), ())
    assert [(row.name, row.extra, row.packages) for row in lock.rows] == [
        ("linux-cu130", "cu130", 3),
        ("linux-cpu", "cpu", 2),
        ("mac-cpu", None, 2),
    ]
    assert (lock.requirements, lock.additions, lock.notes) == (("torch",), (), ())


def test_rows_on_different_platforms() -> None:
    """Rows that share no platform need no extra."""
    project = make_project("torch", matrix=make_matrix("linux-cu130", "mac-cpu"))
    lock = locked(project, three_rows())
    assert lock.extras == ()
    assert {row.extra for row in lock.rows} == {None}


def test_rocm() -> None:
    """The extra of a row is the normalized label."""
    repository = three_rows()
    repository.wheels("torch", "2.9.0+rocm7.2", index=torch_index("rocm7.2"))
    project = make_project("torch", matrix=make_matrix("linux-rocm7.2", "linux-cpu"))
    lock = locked(project, repository)
    assert lock.extras == ("cpu", "rocm7-2")
    rocm = [one.marker for one in lock.packages if "rocm" in (one.version or "")]
    assert rocm == ["'rocm7-2' in extras"]


def test_project_extras_and_groups() -> None:
    """The project's own extras and groups keep their names and stand in markers."""
    repository = three_rows()
    repository.wheels("tqdm", "4.0")
    repository.wheels("pytest", "9.0")
    project = make_project(
        "torch",
        required("tqdm", "'train' in extras"),
        required("pytest", "'dev' in dependency_groups"),
        matrix=make_matrix(*ROWS),
        extras=["train"],
        groups=["dev"],
    )
    lock = locked(project, repository)
    assert (lock.extras, lock.dependency_groups, lock.default_groups) == (
        ("cpu", "cu130", "train"),
        ("dev",),
        (),
    )
    assert {one.name: one.marker for one in lock.packages if one.name in {"tqdm", "pytest"}} == {
        "tqdm": "'train' in extras",
        "pytest": "'dev' in dependency_groups",
    }


def test_same_version_on_two_indexes() -> None:
    """The index is part of what an entry is; dependencies name it where nothing less does."""
    repository = FakeRepository()
    plain = "torchvision-0.24.0-cp312-cp312-manylinux_2_28_aarch64.whl"
    for index, label in ((CPU, "cpu"), (CU130, "cu130")):
        repository.add(plain, index=index)
        repository.wheels("torch", f"2.9.0+{label}", requires=["torchvision"], index=index)
    project = make_project("torch", matrix=make_matrix("linux-aarch64-cu130", "linux-aarch64-cpu"))
    lock = locked(project, repository)
    assert lock.packages == (
        *(
            package(
                "torch",
                f"2.9.0+{label}",
                f"torch-2.9.0+{label}-py3-none-any.whl",
                index=index,
                marker=f"'{label}' in extras",
                dependencies=(on("torchvision", version="0.24.0", index=index.url.rstrip("/")),),
            )
            for index, label in ((CPU, "cpu"), (CU130, "cu130"))
        ),
        package("torchvision", "0.24.0", plain, index=CPU, marker="'cpu' in extras"),
        package("torchvision", "0.24.0", plain, index=CU130, marker="'cu130' in extras"),
    )


def test_other_versions_by_platform() -> None:
    """A dependency that has several versions names its own."""
    repository = FakeRepository()
    repository.add("foo-2.0-cp312-cp312-win_amd64.whl")
    repository.add("foo-1.0-py3-none-any.whl")
    repository.wheels("bar", "1.0", requires=["foo"])
    lock = locked(make_project("bar", matrix=make_matrix("linux-cpu", "win-cpu")), repository)
    assert lock.packages == (
        package(
            "bar",
            "1.0",
            "bar-1.0-py3-none-any.whl",
            dependencies=(on("foo", version="1.0"), on("foo", version="2.0")),
        ),
        package("foo", "1.0", "foo-1.0-py3-none-any.whl", marker="sys_platform == 'linux'"),
        package(
            "foo", "2.0", "foo-2.0-cp312-cp312-win_amd64.whl", marker="sys_platform == 'win32'"
        ),
    )


def test_dependency_of_some_targets() -> None:
    """Where a dependency is not for all of its parent's Targets, its marker says where it is."""
    repository = FakeRepository()
    repository.wheels("bar", "1.0", requires=["foo; sys_platform == 'win32'"])
    repository.wheels("foo", "1.0")
    lock = locked(make_project("bar", matrix=make_matrix("linux-cpu", "win-cpu")), repository)
    win = "sys_platform == 'win32'"
    assert lock.packages == (
        package("bar", "1.0", "bar-1.0-py3-none-any.whl", dependencies=(on("foo", marker=win),)),
        package("foo", "1.0", "foo-1.0-py3-none-any.whl", marker=win),
    )


def test_floors_of_one_platform() -> None:
    """Rows of one platform with other floors install other files, so they have entries of own."""
    repository = FakeRepository()
    names = [f"foo-1.0-cp312-cp312-manylinux_2_{rung}_x86_64.whl" for rung in (28, 34)]
    for name in names:
        repository.add(name)
    matrix = make_matrix(make_row("linux-cu130", (2, 34)), make_row("linux-cpu", (2, 28)))
    lock = locked(make_project("foo", matrix=matrix), repository)
    assert lock.packages == (
        package("foo", "1.0", names[0], marker="'cpu' in extras"),
        package("foo", "1.0", names[1], marker="'cu130' in extras"),
    )


def test_pythons() -> None:
    """Wheels of several Pythons stand in one entry, other versions in entries of their own."""
    repository = FakeRepository()
    wheels = [f"foo-1.0-cp3{minor}-cp3{minor}-manylinux_2_28_x86_64.whl" for minor in (11, 12)]
    for name in wheels:
        repository.add(name)
    repository.wheels("bar", "1.0")
    repository.add("bar-2.0-py3-none-any.whl", requires_python=">=3.12")
    matrix = make_matrix("linux-cpu", pythons=("3.11", "3.12"))
    lock = locked(make_project("foo", "bar", matrix=matrix), repository)
    assert [(one.name, one.version, one.wheels) for one in lock.packages] == [
        ("bar", "1.0", (file("bar-1.0-py3-none-any.whl"),)),
        ("bar", "2.0", (file("bar-2.0-py3-none-any.whl"),)),
        ("foo", "1.0", tuple(map(file, wheels))),
    ]
    for one, minors in zip(lock.packages, ([11], [12], [11, 12]), strict=True):
        found = [
            minor
            for minor in (11, 12)
            if not one.marker
            or Marker(one.marker).evaluate(
                host_environment(make_row("linux-cpu").platform, (3, minor))
            )
        ]
        assert found == minors


REQUIRES_PYTHON = [
    # Pythons of the lock, requires-python of the project, patch releases that are covered
    (("3.12",), None, ["3.12.0", "3.12.9"]),
    (("3.11", "3.12"), None, ["3.11.0", "3.12.9"]),
    (("3.11", "3.13"), None, ["3.11.0", "3.13.9"]),
    (("3.12",), ">=3.8", ["3.12.0", "3.12.9"]),
    (("3.12",), ">=3.12.4", ["3.12.4", "3.12.9"]),
    (("3.12", "3.13"), ">=3.12.4", ["3.12.4", "3.13.0"]),
    (("3.12",), ">3.12.3", ["3.12.4", "3.12.9"]),
    (("3.12",), "!=3.12.0", ["3.12.4", "3.12.9"]),
    (("3.12",), "!=3.12.4", ["3.12.0", "3.12.9"]),
    (("3.12",), ">3.12.0", ["3.12.4", "3.12.9"]),
    (("3.12",), "<=3.12.0", ["3.12.0"]),
    (("3.12",), "<3.12.4", ["3.12.0"]),
    (("3.12",), "~=3.12.4", ["3.12.4", "3.12.9"]),
    (("3.12",), "==3.12", ["3.12.0"]),
    (("3.11", "3.12"), ">=3.11,!=3.12.*,<4", ["3.11.0"]),
]


@pytest.mark.parametrize(("pythons", "stated", "covered"), REQUIRES_PYTHON)
def test_requires_python(pythons: tuple[str, ...], stated: str | None, covered: list[str]) -> None:
    """`requires-python` admits what is locked and the project allows, and nothing else."""
    repository = FakeRepository()
    repository.wheels("foo", "1.0")
    project = make_project(
        "foo", matrix=make_matrix("linux-cpu", pythons=pythons), requires_python=stated
    )
    lock = locked(project, repository)
    limits, wanted = SpecifierSet(lock.requires_python), SpecifierSet(stated or "")
    candidates = [f"3.{minor}.{patch}" for minor in (10, 11, 12, 13, 14) for patch in (0, 3, 4, 9)]
    assert [one for one in candidates if limits.contains(one)] == [
        one for one in candidates if one.rpartition(".")[0] in pythons and wanted.contains(one)
    ]
    assert [one for one in covered if not limits.contains(one)] == []


def test_environments_of_rows_with_other_pythons() -> None:
    """Where platforms have other Pythons `environments` says which."""
    matrix = make_matrix("linux-cpu", pythons=("3.12", "3.13"))
    mac = make_matrix("mac-cpu", pythons=("3.13",))
    both = Matrix(targets=(*matrix.targets, *mac.targets))
    repository = FakeRepository()
    repository.wheels("foo", "1.0")
    lock = locked(make_project("foo", matrix=both), repository)
    assert lock.environments == (
        "sys_platform == 'darwin' and platform_machine == 'arm64' and python_version == '3.13'",
        "sys_platform == 'linux' and platform_machine == 'x86_64'",
    )


def test_partial_requires_python() -> None:
    """A limit within a minor stands on the entry."""
    repository = FakeRepository()
    repository.add("foo-1.0-py3-none-any.whl", requires_python=">=3.12.4")
    lock = locked(make_project("foo"), repository)
    assert lock.packages == (
        package("foo", "1.0", "foo-1.0-py3-none-any.whl", requires_python=">=3.12.4"),
    )


def test_requires_python_is_what_is_covered() -> None:
    """Where every Target needs an entry with a limit, the lock as a whole has that limit."""
    repository = FakeRepository()
    repository.add("foo-1.0-py3-none-any.whl", requires_python=">=3.12.4")
    limits = SpecifierSet(locked(make_project("foo"), repository).requires_python)
    assert [patch for patch in range(8) if limits.contains(f"3.12.{patch}")] == [4, 5, 6, 7]


def test_local_files() -> None:
    """Files of a directory have no index that an installer could ask."""
    local = Index(name="wheels", url="file:///project/wheels", layout="flat")
    repository = FakeRepository()
    repository.wheels("foo", "1.0", index=local)
    project = make_project("foo", user_indexes=[UserIndex(index=local, packages=("foo",))])
    assert [one.index for one in locked(project, repository).packages] == [None]


def test_additions_and_sorting() -> None:
    """What lockforge added is said once, with its reason and source; lists are sorted."""
    repository = FakeRepository()
    repository.wheels("torch", "2.9.1+cpu", "2.9.1+cu130", index=CPU)
    repository.wheels("torchaudio", "2.9.1+cpu", index=CPU)
    project = make_project("torchaudio", "torch", matrix=make_matrix("linux-cpu", "win-cpu"))
    lock = locked(project, repository)
    assert lock.additions == (
        (
            "torchaudio: torch==2.9.* "
            "(torchaudio X.Y is built against torch X.Y; source: torchaudio-2.11)"
        ),
    )
    assert lock.requirements == ("torch", "torchaudio")


def test_order_of_resolutions() -> None:
    """The order Resolutions come in does not change a byte."""
    repository = three_rows()
    repository.add(LINUX_CPU.replace("cp312", "cp313"), "numpy", index=CPU)
    repository.add(LINUX_CUDA.replace("cp312", "cp313"), "numpy", index=CU130)
    repository.add(NUMPIES[1].replace("cp312", "cp313"))
    matrix = make_matrix("linux-cu130", "linux-cpu", pythons=("3.12", "3.13"))
    project = make_project("torch", matrix=matrix)
    resolutions = solved(project, repository)
    texts = {render_pylock(merged(project, order)) for order in itertools.permutations(resolutions)}
    assert len(texts) == 1


def test_order_of_everything_else() -> None:
    """The order of rows, Pythons, requirements and pages does not change a byte."""
    texts = set()
    for rows in itertools.permutations(ROWS):
        for requirements in (("torch", "numpy"), ("numpy", "torch")):
            for keys in ((0, 1), (1, 0)):
                project = make_project(*requirements, matrix=make_matrix(*rows))
                lock = locked(project, three_rows().reordered(keys))
                texts.add(render_pylock(lock))
    (text,) = texts
    parse_pylock(text, where="the lock")
