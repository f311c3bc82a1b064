"""The proof: a rendered lock gives every Resolution back, or it is not written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lockforge.errors import LockSyntaxError, ProofError
from lockforge.merge.verify import verify
from lockforge.standards.pylock import render_pylock
from tests.unit.fakes import (
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
    from collections.abc import Callable, Sequence

    from lockforge.model.project import Project
    from lockforge.model.resolution import Resolution

CPU, CU130 = torch_index("cpu"), torch_index("cu130")
HINT = "this is a fault of lockforge; please report it with the command and the project's files"


def prove(
    project: Project, resolutions: Sequence[Resolution], change: tuple[str, str] | None = None
) -> str:
    """Merge, write, perhaps change the text, and prove it."""
    lock = merged(project, resolutions)
    text = render_pylock(lock)
    if change is not None:
        assert change[0] in text, change[0]
        text = text.replace(*change, 1)
    pylock, data = verify(
        text,
        resolutions,
        extras=project.extras,
        groups=project.groups,
        shared=frozenset(row.platform for row in lock.rows if row.extra),
    )
    assert len(pylock.packages) == len(data["packages"])
    return text


def three_rows() -> tuple[Project, FakeRepository]:
    repository = FakeRepository()
    for label, index in (("cu130", CU130), ("cpu", CPU)):
        repository.add(
            f"torch-2.9.0+{label}-cp312-cp312-manylinux_2_28_x86_64.whl", "numpy", index=index
        )
    repository.add("torch-2.9.0-cp312-none-macosx_11_0_arm64.whl", "numpy", index=CPU)
    repository.wheels("numpy", "2.3.1")
    repository.wheels("tqdm", "4.0")
    repository.wheels("pytest", "9.0", requires=["pluggy"])
    repository.wheels("pluggy", "1.0")
    project = make_project(
        "torch",
        required("tqdm", "'train' in extras"),
        required("pytest", "'dev' in dependency_groups"),
        required("pluggy", "'docs' in dependency_groups"),
        matrix=make_matrix("linux-cu130", "linux-cpu", "mac-cpu"),
        extras=["train"],
        groups=["dev", "docs"],
    )
    return project, repository


def test_proved() -> None:
    """An untouched lock proves itself and is given back as it is read."""
    project, repository = three_rows()
    prove(project, solved(project, repository))


CUDA_HASH = digest_of(CU130, "torch-2.9.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl")
TAMPERED = [
    # old text, new text, what is said
    (CUDA_HASH, "0" * 64, "the lock does not give linux-cu130-py312 back: torch differ"),
    (
        "torch-2.9.0-cp312-none-macosx_11_0_arm64.whl",
        "torch-2.9.0-1-cp312-none-macosx_11_0_arm64.whl",
        "the lock does not give mac-cpu-py312 back: torch differ",
    ),
    (
        "marker = \"'cu130' in extras\"",
        "marker = \"'cpu' in extras\"",
        "the lock does not give linux-cu130-py312 back: torch differ",
    ),
    (
        "marker = \"sys_platform == 'darwin'\"",
        "marker = \"sys_platform == 'win32'\"",
        "the lock does not give mac-cpu-py312 back: torch differ",
    ),
    (
        "marker = \"sys_platform == 'darwin'\"\n",
        "",
        "several entries of torch apply at once",
    ),
    (
        "marker = \"'train' in extras\"\n",
        "",
        "the lock does not give linux-cu130-py312 back: tqdm differ",
    ),
    (
        "marker = \"'train' in extras\"",
        "marker = \"'train' in extras and sys_platform == 'darwin'\"",
        "the lock does not give linux-cu130-py312 back: tqdm differ",
    ),
    ('extras = [\n  "cpu",\n', "extras = [\n", "cpu"),
    (
        "  \"sys_platform == 'darwin' and platform_machine == 'arm64'\",\n",
        "",
        "the lock does not serve mac-cpu-py312",
    ),
    (
        'name = "numpy"\nversion = "2.3.1"\n',
        'name = "numpy"\nversion = "2.3.1"\nmarker = "sys_platform == \'linux\'"\n',
        "numpy",
    ),
    ("manylinux_2_28_x86_64", "manylinux_2_34_x86_64", "linux-cpu-py312"),
]


@pytest.mark.parametrize(("old", "new", "message"), TAMPERED)
def test_tampered(old: str, new: str, message: str) -> None:
    """A lock that does not give one row back is refused, with the row and what differs."""
    project, repository = three_rows()
    resolutions = solved(project, repository)
    with pytest.raises(ProofError) as caught:
        prove(project, resolutions, (old, new))
    assert message in caught.value.message
    assert caught.value.hint == HINT


def test_no_patch_release_left() -> None:
    """Where the limits leave no patch release of a Target, the limits are named."""
    project, repository = three_rows()
    resolutions = solved(project, repository)
    limits = 'requires-python = ">=3.12,<3.13"'
    with pytest.raises(ProofError) as caught:
        prove(project, resolutions, (limits, 'requires-python = ">=3.13"'))
    assert caught.value.message == (
        "no patch release of Python 3.12 suits linux-cu130-py312: the lock >=3.13"
    )


def test_not_a_lock() -> None:
    """A text that is no lock at all is refused too."""
    project, repository = three_rows()
    with pytest.raises(LockSyntaxError):
        prove(project, solved(project, repository), ("lock-version", "lok-version"))


def open_dependency() -> tuple[Project, FakeRepository]:
    """Redis needs async-timeout before Python 3.11.3 only."""
    repository = FakeRepository()
    early = "python_full_version < '3.11.3'"
    repository.wheels("redis", "6.4.0", requires=[f"async-timeout>=4.0.3; {early}"])
    repository.wheels("async-timeout", "5.0.1")
    matrix = make_matrix("linux-cpu", "mac-cpu", pythons=("3.11", "3.12"))
    return make_project("redis", matrix=matrix), repository


def open_dependency_of_an_extra() -> tuple[Project, FakeRepository]:
    """The same below an extra of the project."""
    _, repository = open_dependency()
    project = make_project(
        required("redis", "'cache' in extras"),
        matrix=make_matrix("linux-cpu", pythons=("3.11",)),
        extras=["cache"],
    )
    return project, repository


def open_kernel() -> tuple[Project, FakeRepository]:
    """A dependency on some kernels only."""
    repository = FakeRepository()
    repository.wheels("foo", "1.0", requires=["bar; 'tegra' in platform_release"])
    repository.wheels("bar", "1.0")
    return make_project("foo"), repository


def open_requirement() -> tuple[Project, FakeRepository]:
    """A requirement of the project on some patch releases only."""
    repository = FakeRepository()
    repository.wheels("foo", "1.0", requires=["bar"])
    repository.wheels("bar", "1.0")
    return make_project("foo; python_full_version >= '3.12.4'"), repository


def first_patches_excluded() -> tuple[Project, FakeRepository]:
    """A wheel that refuses the first patch releases of the minor."""
    repository = FakeRepository()
    repository.add("foo-1.0-py3-none-any.whl", requires_python=">=3.8,!=3.12.0")
    return make_project("foo"), repository


def last_patches_excluded() -> tuple[Project, FakeRepository]:
    """A wheel that refuses the last patch releases of the minor."""
    repository = FakeRepository()
    repository.add("foo-1.0-py3-none-any.whl", requires_python=">=3.8,<3.12.9")
    return make_project("foo; python_full_version >= '3.12.1'"), repository


def project_excludes_patches() -> tuple[Project, FakeRepository]:
    """A project that asks for a patch release itself."""
    repository = FakeRepository()
    repository.wheels("foo", "1.0")
    return make_project("foo", requires_python=">=3.12.4"), repository


def circle() -> tuple[Project, FakeRepository]:
    """Packages that require each other, on one platform only."""
    repository = FakeRepository()
    repository.wheels("foo", "1.0", requires=["bar; sys_platform == 'linux'"])
    repository.wheels("bar", "1.0", requires=["foo"])
    return make_project("foo", matrix=make_matrix("linux-cpu", "win-cpu")), repository


def another_version_for_another_reason() -> tuple[Project, FakeRepository]:
    """A dependency on one platform, of which the other has another version on its own account."""
    repository = FakeRepository()
    repository.add("foo-2.0-cp312-cp312-manylinux_2_28_x86_64.whl")
    repository.add("foo-1.0-py3-none-any.whl")
    repository.wheels("bar", "1.0", requires=["foo; sys_platform == 'linux'"])
    return make_project("foo", "bar", matrix=make_matrix("linux-cpu", "win-cpu")), repository


def other_limits_of_files() -> tuple[Project, FakeRepository]:
    """Wheels of one version that admit other patch releases; no row is bound by another's."""
    repository = FakeRepository()
    repository.add("foo-1.0-cp312-cp312-manylinux_2_28_x86_64.whl", requires_python=">=3.12.4")
    repository.add("foo-1.0-cp312-cp312-win_amd64.whl", requires_python="<3.12.4")
    return make_project("foo", matrix=make_matrix("linux-cpu", "win-cpu")), repository


def floors() -> tuple[Project, FakeRepository]:
    """Rows of one platform with other floors and other files, and two Pythons."""
    repository = FakeRepository()
    for minor in (11, 12):
        for rung in (28, 34):
            repository.add(f"foo-1.0-cp3{minor}-cp3{minor}-manylinux_2_{rung}_x86_64.whl")
    repository.wheels("bar", "1.0", requires=["foo"])
    rows = (make_row("linux-cu130", (2, 34)), make_row("linux-cpu", (2, 28)))
    return make_project("bar", matrix=make_matrix(*rows, pythons=("3.11", "3.12"))), repository


def native_and_manylinux() -> tuple[Project, FakeRepository]:
    """One version as ``linux_aarch64`` and as ``manylinux``, as torch 2.10.0 has it."""
    repository = FakeRepository()
    for platform in ("linux_aarch64", "manylinux_2_28_aarch64"):
        repository.add(f"torch-2.10.0+cpu-cp312-cp312-{platform}.whl", index=CPU)
    return make_project("torch", matrix=make_matrix("linux-aarch64-cpu")), repository


def nothing() -> tuple[Project, FakeRepository]:
    """A requirement that no row has."""
    repository = FakeRepository()
    repository.wheels("foo", "1.0")
    return make_project("foo; sys_platform == 'win32'"), repository


def names_of_accelerators() -> tuple[Project, FakeRepository]:
    """Rows whose labels have dots, and a row alone on its platform."""
    repository = FakeRepository()
    for label in ("rocm7.2", "rocm6.4"):
        repository.wheels("torch", f"2.9.0+{label}", index=torch_index(label))
    repository.wheels("torch", "2.9.0", index=CPU)
    matrix = make_matrix("linux-rocm7.2", "linux-rocm6.4", "mac-cpu")
    return make_project("torch", matrix=matrix), repository


WORLDS = [
    open_dependency,
    open_dependency_of_an_extra,
    open_kernel,
    open_requirement,
    first_patches_excluded,
    last_patches_excluded,
    project_excludes_patches,
    circle,
    another_version_for_another_reason,
    other_limits_of_files,
    floors,
    native_and_manylinux,
    nothing,
    names_of_accelerators,
]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
def test_worlds(world: Callable[[], tuple[Project, FakeRepository]]) -> None:
    """What can be solved can be locked and proved."""
    project, repository = world()
    prove(project, solved(project, repository))


def test_kept_file_beside_a_new_one() -> None:
    """A kept file and a newer build that another row installs stay apart."""
    before, after = FakeRepository(), FakeRepository()
    before.add("foo-1.0-py3-none-any.whl")
    after.add("foo-1.0-py3-none-any.whl")
    after.add("foo-1.0-1-py3-none-any.whl")
    project = make_project("foo", matrix=make_matrix("linux-cpu", "mac-cpu"))
    (linux, _), (_, mac) = solved(project, before), solved(project, after)
    prove(project, [linux, mac])
