"""What an existing lock chose, to be chosen again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from lockforge.lockfile.previous import known_files, preferences
from lockforge.model.resolution import Preferred
from lockforge.standards.pylock import parse_pylock
from tests.unit.fakes import (
    FakeRepository,
    digest_of,
    lock_text,
    make_matrix,
    make_project,
    make_target,
    required,
    torch_index,
)

if TYPE_CHECKING:
    from packaging.pylock import Pylock

CPU, CU130 = torch_index("cpu"), torch_index("cu130")
CUDA_WHEEL = "torch-2.9.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl"
CPU_WHEEL = "torch-2.8.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"
MAC_WHEEL = "torch-2.10.0-cp312-none-macosx_11_0_arm64.whl"


def lock(*rows: str) -> Pylock:
    repository = FakeRepository()
    repository.add(CUDA_WHEEL, "numpy", index=CU130)
    repository.add(CPU_WHEEL, "numpy", index=CPU)
    repository.add(MAC_WHEEL, "numpy", index=CPU)
    repository.add("numpy-2.3.1-py3-none-any.whl")
    repository.wheels("tqdm", "4.0")
    project = make_project(
        "torch",
        required("tqdm", "'train' in extras"),
        matrix=make_matrix(*rows),
        extras=["train"],
    )
    return parse_pylock(lock_text(project, repository), where="pylock.toml")[0]


def own(version: str, filename: str) -> Preferred:
    return Preferred(version=Version(version), filename=filename)


def other(*versions: str) -> tuple[Preferred, ...]:
    return tuple(Preferred(version=Version(version)) for version in versions)


NUMPY = own("2.3.1", "numpy-2.3.1-py3-none-any.whl")
TQDM = own("4.0", "tqdm-4.0-py3-none-any.whl")


def test_own_pins_first() -> None:
    """A Target takes its own pins with their files, then the versions of other rows."""
    locked = lock("linux-cu130", "linux-cpu", "mac-cpu")
    assert preferences(locked, make_target("linux-cu130"), moving=()) == {
        "torch": (
            own("2.9.0+cu130", CUDA_WHEEL),
            *other("2.10.0", "2.8.0+cpu"),
        ),
        "numpy": (NUMPY,),
        "tqdm": (TQDM,),
    }
    assert preferences(locked, make_target("mac-cpu"), moving=())["torch"] == (
        own("2.10.0", MAC_WHEEL),
        *other("2.9.0+cu130", "2.8.0+cpu"),
    )


def test_rows_without_extras() -> None:
    """Rows alone on their platforms need no extra to be found."""
    locked = lock("linux-cu130", "mac-cpu")
    found = preferences(locked, make_target("linux-cu130"), moving=())
    assert found["torch"][0].filename == CUDA_WHEEL


def test_new_row() -> None:
    """A Target the lock does not serve takes the versions of others, newest first."""
    locked = lock("linux-cu130", "linux-cpu", "mac-cpu")
    assert preferences(locked, make_target("win-cpu"), moving=()) == {
        "torch": other("2.10.0", "2.9.0+cu130", "2.8.0+cpu"),
        "numpy": other("2.3.1"),
        "tqdm": other("4.0"),
    }


def test_new_python() -> None:
    """The same for a new Python of a locked row."""
    found = preferences(lock("mac-cpu"), make_target("mac-cpu", "3.13"), moving=())
    assert found == {
        "torch": other("2.10.0"),
        "numpy": other("2.3.1"),
        "tqdm": other("4.0"),
    }


def test_moving() -> None:
    """Packages that shall move have no preference."""
    locked = lock("linux-cu130", "mac-cpu")
    found = preferences(locked, make_target("mac-cpu"), moving=("torch", "tqdm"))
    assert found == {"numpy": (NUMPY,)}


def test_known_files() -> None:
    """Files are known by index and name, for one name is another file on another index."""
    found = {
        key: file.hashes["sha256"]
        for key, file in known_files(lock("linux-cu130", "mac-cpu"), moving=()).items()
    }
    pypi, cpu, cuda = (
        "https://pypi.org/simple",
        "https://download.pytorch.org/whl/cpu",
        "https://download.pytorch.org/whl/cu130",
    )
    default = make_project("x").default_index
    assert found == {
        (pypi, NUMPY.filename): digest_of(default, "numpy-2.3.1-py3-none-any.whl"),
        (pypi, TQDM.filename): digest_of(default, "tqdm-4.0-py3-none-any.whl"),
        (cuda, CUDA_WHEEL): digest_of(CU130, CUDA_WHEEL),
        (cpu, MAC_WHEEL): digest_of(CPU, MAC_WHEEL),
    }
