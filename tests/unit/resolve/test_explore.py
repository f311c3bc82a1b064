"""What is fetched ahead of a solve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.model.resolution import Preferred
from lockforge.resolve.explore import explore
from lockforge.resolve.finder import Finder
from tests.unit.fakes import (
    FakeRepository,
    Preferences,
    make_matrix,
    make_project,
    torch_index,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.utils import NormalizedName

    from lockforge.model.index import Index
    from lockforge.model.project import Project
    from lockforge.model.release import DistributionFile


class Recording(FakeRepository):
    """Indexes that write down each batch they are asked for, as ``index/what``."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def prefetch(
        self,
        listings: Iterable[tuple[Index, NormalizedName]],
        metadata: Iterable[tuple[Index, DistributionFile]],
    ) -> bool:
        pages, files = list(listings), list(metadata)
        batch = [f"{index.name}/{project}" for index, project in pages]
        batch += [f"{index.name}/{file.filename}" for index, file in files]
        if batch:
            self.batches.append(batch)
        return super().prefetch(pages, files)


def explored(
    project: Project, repository: Recording, preferred: Preferences | None = None
) -> list[list[str]]:
    """The batches of one walk over all Targets."""
    targets = project.matrix.targets
    wanted = {target: preferred or {} for target in targets}
    finder = Finder(project, load_catalog(), repository, wanted)
    explore(finder, wanted)
    return repository.batches


def small_world() -> Recording:
    repository = Recording()
    for label in ("cpu", "cu130"):
        index = torch_index(label)
        repository.wheels("torch", f"2.9.0+{label}", requires=["numpy"], index=index)
    repository.wheels("numpy", "1.0", "2.0", requires=["meson"])
    repository.wheels("meson", "1.0")
    return repository


def test_waves() -> None:
    """Pages of all rows come at once, then metadata, then the pages those ask for."""
    project = make_project("torch", matrix=make_matrix("linux-cu130", "linux-cpu"))
    assert explored(project, small_world()) == [
        ["cpu/torch", "cu130/torch"],
        [
            "cpu/torch-2.9.0+cpu-py3-none-any.whl",
            "cu130/torch-2.9.0+cu130-py3-none-any.whl",
        ],
        ["pypi/numpy"],
        ["pypi/numpy-2.0-py3-none-any.whl"],
        ["pypi/meson"],
        ["pypi/meson-1.0-py3-none-any.whl"],
    ]


def test_limits_and_preferences() -> None:
    """The file guessed is the one the solve is likely to choose."""
    limited = explored(make_project("torch", "numpy<2"), small_world())
    assert ["pypi/numpy-1.0-py3-none-any.whl"] in [batch[-1:] for batch in limited]
    wanted = {"numpy": (Preferred(version=Version("1.0")),)}
    kept = explored(make_project("numpy"), small_world(), wanted)
    assert kept[1] == ["pypi/numpy-1.0-py3-none-any.whl"]


def test_fallback() -> None:
    """Both pages that may serve a package are fetched."""
    repository = Recording()
    repository.wheels("triton", "3.5.0")
    assert explored(make_project("triton"), repository)[0] == ["cpu/triton", "pypi/triton"]


def test_what_is_at_hand() -> None:
    """Where nothing had to be fetched the walk ends."""
    repository = small_world()
    project = make_project("torch")
    first = len(explored(project, repository))
    assert len(explored(project, repository)) == first + 2
