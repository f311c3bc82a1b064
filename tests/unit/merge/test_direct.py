"""Direct references of the project in a Lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lockforge.catalog import load_catalog
from lockforge.merge.merge import merge
from lockforge.merge.verify import verify
from lockforge.model.index import Index
from lockforge.model.lock import Dependency, Lock, LockedFile, LockedPackage
from lockforge.model.project import ProjectRequirement, RowSettings
from lockforge.model.release import UNKNOWN_VERSION, DistributionFile, Listing
from lockforge.standards.pylock import render_pylock
from tests.unit.fakes import (
    FakeRepository,
    digest_of,
    make_matrix,
    make_project,
    required,
    solved,
)

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

    from lockforge.model.project import Project
    from lockforge.model.release import Metadata

WHEEL = "acme-1.0-py3-none-any.whl"
URL = f"https://h.example/{WHEEL}"
TREE = "file:///proj/libs/acme"


def at(url: str) -> Index:
    """The index that a direct reference is."""
    return Index(name="direct reference", url=url, layout="direct")


class WithTree(FakeRepository):
    """Also knows one source tree, of a version that its name alone tells."""

    def __init__(self, *requires: str, version: str = "1.0") -> None:
        super().__init__()
        self._name = f"acme-{version}"
        self._metadata_of = self.add(f"{self._name}-py3-none-any.whl", *requires, index=at(TREE))

    def listing(self, index: Index, project: NormalizedName) -> Listing:
        listing = super().listing(index, project)
        if index.url != TREE:
            return listing
        file = DistributionFile(filename=self._name, url=TREE, sha256=None, source_tree=True)
        return Listing(project=project, index_url=TREE, files=(file,))

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        return super().metadata(index, self._metadata_of if file.source_tree else file)


def locate(file: DistributionFile) -> LockedFile:
    if file.url.startswith("file:///proj/"):
        path = file.url.removeprefix("file:///proj/")
        return LockedFile(name=file.filename, sha256=file.sha256, path=path)
    return LockedFile(name=file.filename, sha256=file.sha256, url=file.url)


def locked(project: Project, repository: FakeRepository) -> Lock:
    """Solve, merge, write and prove."""
    resolutions = solved(project, repository)
    lock = merge(
        project.matrix,
        resolutions,
        asked=project.matrix,
        catalog=load_catalog(),
        locate=locate,
        requires_python=None,
        extras=project.extras,
        groups=project.groups,
        requirements=[],
        settings=[],
        torch_indexes={label: one.url for label, one in project.torch_indexes.items()},
    )
    shared = frozenset(row.platform for row in lock.rows if row.extra)
    verify(
        render_pylock(lock),
        resolutions,
        extras=project.extras,
        groups=project.groups,
        shared=shared,
    )
    return lock


def entry(**keys: Any) -> LockedPackage:
    """Give an entry of a direct reference, which has no index and no other source."""
    common: dict[str, Any] = {
        "name": "acme",
        "version": "1.0",
        "index": None,
        "marker": "",
        "requires_python": None,
        "dependencies": (),
        "wheels": (),
        "sdist": None,
    }
    return LockedPackage(**(common | keys))


ARCHIVE = LockedFile(name=WHEEL, sha256=digest_of(at(URL), WHEEL), url=URL)


def test_an_archive() -> None:
    """It has its address and hash, its version, and no index."""
    repository = FakeRepository()
    # The file of the reference is where the reference says.
    file = repository.add(WHEEL, index=at(URL))
    found = locked(make_project(f"acme @ {URL}"), repository)

    assert found.packages == (
        entry(archive=LockedFile(name=WHEEL, sha256=ARCHIVE.sha256, url=file.url)),
    )


def test_an_sdist_is_an_archive_as_well() -> None:
    repository = FakeRepository()
    url = "https://h.example/acme-1.0.tar.gz"
    file = repository.add("acme-1.0.tar.gz", index=at(url))

    (package,) = locked(make_project(f"acme @ {url}"), repository).packages
    assert package.sdist is None
    assert package.archive == LockedFile(name="acme-1.0.tar.gz", sha256=file.sha256, url=file.url)


@pytest.mark.parametrize("editable", [True, False])
def test_a_directory(editable: bool) -> None:  # noqa: FBT001
    """PEP 751: no version, which may change with what is in it, and no hash."""
    repository = WithTree("numpy")
    repository.wheels("numpy", "2.0")
    reference = required(f"acme @ {TREE}")
    project = make_project(
        ProjectRequirement(
            requirement=reference.requirement, where=reference.where, editable=editable
        )
    )

    acme, numpy = locked(project, repository).packages
    assert acme == entry(
        version=None,
        directory=LockedFile(name="acme-1.0", sha256=None, path="libs/acme"),
        editable=editable,
        dependencies=(Dependency(name=numpy.name),),
    )


def test_a_directory_counts_as_a_package_without_bytes() -> None:
    lock = locked(make_project(f"acme @ {TREE}"), WithTree())

    (row,) = lock.rows
    assert (row.packages, row.size, row.unsized) == (1, 0, 0)


def test_a_reference_on_one_platform_and_an_index_on_the_others() -> None:
    """Two entries of one version: markers tell them apart for an installer."""
    repository = FakeRepository()
    repository.add(WHEEL, index=at(URL))
    repository.wheels("acme", "1.0")
    project = make_project(
        f"acme @ {URL} ; sys_platform == 'win32'",
        "acme; sys_platform != 'win32'",
        matrix=make_matrix("linux-cpu", "win-cpu", "mac-cpu"),
    )

    packages = locked(project, repository).packages
    assert {(one.index, one.archive is not None, one.marker) for one in packages} == {
        (None, True, "sys_platform == 'win32'"),
        ("https://pypi.org/simple", False, "sys_platform != 'win32'"),
    }


def test_a_dependency_on_one_of_two_twins() -> None:
    """A reference has no index to be named by, so its marker says which entry is meant."""
    repository = FakeRepository()
    repository.add(WHEEL, index=at(URL))
    repository.wheels("acme", "1.0")
    repository.wheels("app", "1.0", requires=["acme"])
    project = make_project(
        "app",
        f"acme @ {URL} ; sys_platform == 'win32'",
        matrix=make_matrix("linux-cpu", "win-cpu"),
    )

    packages = locked(project, repository).packages
    (app,) = (one for one in packages if one.name == "app")
    assert {(one.name, one.version) for one in app.dependencies} == {("acme", "1.0")}
    indexed = [one for one in app.dependencies if one.index]
    direct = [one for one in app.dependencies if not one.index]
    assert [one.index for one in indexed] == ["https://pypi.org/simple"]
    assert [one.marker for one in direct] == ["sys_platform == 'win32'"]


def test_a_directory_and_an_index() -> None:
    repository = WithTree()
    repository.wheels("acme", "1.0", "2.0")
    repository.wheels("app", "1.0", requires=["acme"])
    project = make_project(
        "app",
        f"acme @ {TREE} ; sys_platform == 'win32'",
        matrix=make_matrix("linux-cpu", "win-cpu"),
    )

    packages = locked(project, repository).packages
    (app,) = (one for one in packages if one.name == "app")
    assert {(one.version, one.marker) for one in packages if one.name == "acme"} == {
        (None, "sys_platform == 'win32'"),
        ("2.0", "sys_platform == 'linux'"),
    }
    assert {(one.version, one.marker) for one in app.dependencies} >= {
        (None, "sys_platform == 'win32'")
    }
    assert len(app.dependencies) == len({"directory", "index"})


def test_references_of_two_rows_on_one_platform() -> None:
    """The usual GPU extension: one wheel for each CUDA, told apart by the extra of the row."""
    repository = FakeRepository()
    urls = {
        label: f"https://h.example/{label}/acme-1.0+{label}-py3-none-any.whl"
        for label in ("cu128", "cu130")
    }
    for label, url in urls.items():
        repository.add(f"acme-1.0+{label}-py3-none-any.whl", index=at(url))
    project = make_project(
        matrix=make_matrix("linux-cu130", "linux-cu128"),
        rows={
            f"linux-{label}": RowSettings(requirements=(required(f"acme @ {url}"),))
            for label, url in urls.items()
        },
    )

    packages = locked(project, repository).packages
    assert [(one.version, one.marker) for one in packages] == [
        ("1.0+cu128", "'cu128' in extras"),
        ("1.0+cu130", "'cu130' in extras"),
    ]


def test_references_of_two_pythons() -> None:
    """One wheel for each Python, which a direct reference can only say with a marker."""
    repository = FakeRepository()
    lines = []
    for python, tag in (("3.12", "cp312"), ("3.13", "cp313")):
        filename = f"acme-1.0-{tag}-{tag}-manylinux_2_28_x86_64.whl"
        repository.add(filename, index=at(f"https://h.example/{filename}"))
        lines.append(f"acme @ https://h.example/{filename} ; python_version == '{python}'")
    project = make_project(*lines, matrix=make_matrix("linux-cpu", pythons=("3.12", "3.13")))

    packages = locked(project, repository).packages
    assert len({one.archive and one.archive.name for one in packages}) == len(packages) == 2
    assert all("python_version" in one.marker for one in packages)


def test_a_reference_of_an_extra() -> None:
    repository = FakeRepository()
    repository.add(WHEEL, index=at(URL))
    repository.wheels("numpy", "2.0")
    project = make_project(
        "numpy", required(f"acme @ {URL}", "'train' in extras"), extras=["train"]
    )

    acme, _ = locked(project, repository).packages
    assert (acme.marker, acme.archive is not None) == ("'train' in extras", True)


def test_one_reference_for_all_rows_is_one_entry() -> None:
    repository = FakeRepository()
    repository.add(WHEEL, index=at(URL))
    project = make_project(
        f"acme @ {URL}", matrix=make_matrix("linux-cpu", "linux-cu130", "win-cpu", "mac-cpu")
    )

    (package,) = locked(project, repository).packages
    assert package.marker == ""


def test_a_dependency_that_references_what_the_project_does() -> None:
    """The same address is no second source."""
    repository = FakeRepository()
    repository.add(WHEEL, index=at(URL))
    repository.wheels("app", "1.0", requires=[f"acme @ {URL}"])

    acme, app = locked(make_project("app", f"acme @ {URL}"), repository).packages
    assert acme.archive is not None
    assert app.dependencies == (Dependency(name=acme.name),)


def test_a_hash_in_the_fragment_is_no_other_address() -> None:
    repository = FakeRepository()
    url = f"{URL}#sha256={'a' * 64}"
    repository.add(WHEEL, index=at(url))
    repository.wheels("app", "1.0", requires=[f"acme @ {URL}"])

    acme, app = locked(make_project("app", f"acme @ {url}"), repository).packages
    assert acme.archive is not None
    assert app.dependencies == (Dependency(name=acme.name),)


def test_a_directory_whose_version_is_not_known_satisfies_what_requires_it() -> None:
    """A version that only a build would tell cannot be compared; the project chose the source."""
    repository = WithTree(version=str(UNKNOWN_VERSION))
    repository.wheels("app", "1.0", requires=["acme>=2"])

    acme, _ = locked(make_project("app", f"acme @ {TREE}"), repository).packages
    assert acme.directory is not None
