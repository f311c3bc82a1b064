"""Which index serves a package in a Target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.utils import NormalizedName

from lockforge.catalog import load_catalog
from lockforge.errors import ConfigError, IndexUnavailableError
from lockforge.model.index import Index, Route, UserIndex
from lockforge.resolve.demands import demands_of
from lockforge.resolve.routes import Router
from tests.unit.fakes import (
    PYPI,
    FakeRepository,
    make_matrix,
    make_project,
    solve,
    solved,
    torch_index,
    versions,
)

if TYPE_CHECKING:
    from lockforge.model.project import Project
    from lockforge.model.release import Listing

CPU, CU130 = torch_index("cpu"), torch_index("cu130")
ACME = Index(name="acme", url="https://acme.example/simple/")
EXTRA = Index(name="extra", url="https://extra.example/simple/")
ROWS = make_matrix("linux-cu130", "linux-cpu")
WHEEL = "https://files.example/acme-1.0-py3-none-any.whl"


class Routes:
    """A Router asked by plain names."""

    def __init__(self, project: Project, repository: FakeRepository | None = None) -> None:
        self._targets = {one.row.name: one for one in project.matrix.targets}
        self.repository = repository or FakeRepository()
        demands = {target: demands_of(project, target) for target in project.matrix.targets}
        self._router = Router(project, load_catalog(), self.repository, demands)

    def route(self, name: str, row: str = "linux-cu130") -> Route:
        return self._router.route(NormalizedName(name), self._targets[row])

    def sources(self, name: str, row: str = "linux-cu130") -> list[str]:
        found = self._router.sources(NormalizedName(name), self._targets[row])
        return [index.name for index in found]

    def faults(self, name: str, row: str = "linux-cu130") -> str:
        with pytest.raises(ConfigError) as caught:
            self.route(name, row)
        (fault,) = caught.value.faults
        return f"{fault.where}: {fault.message}\n{fault.hint}"


def user(index: Index, *packages: str, accelerators: tuple[str, ...] = ()) -> UserIndex:
    return UserIndex(index=index, packages=packages, accelerators=accelerators)


def test_what_nobody_routes() -> None:
    """One place is not asked who has it: there is no other."""
    routes = Routes(make_project(matrix=ROWS))

    assert routes.route("numpy") == Route(index=PYPI)
    assert routes.sources("numpy") == ["pypi"]
    assert routes.repository.asked == []


def test_the_family() -> None:
    routes = Routes(make_project(matrix=ROWS))

    assert routes.route("torch") == Route(index=CU130, family=True)
    assert routes.route("torch", "linux-cpu") == Route(index=CPU, family=True)
    assert routes.route("triton") == Route(index=CU130, fallback=PYPI, family=True)
    assert routes.sources("triton") == ["cu130", "pypi"]


def test_a_name_that_the_user_routes() -> None:
    """It comes from there alone, the family's too; its labels are read."""
    project = make_project(matrix=ROWS, user_indexes=[user(ACME, "acme-*", "torch")])
    routes = Routes(project)

    assert routes.route("acme-core") == Route(index=ACME, labelled=True)
    assert routes.route("torch") == Route(index=ACME, family=True, labelled=True)
    assert routes.sources("torch") == ["acme"]
    assert routes.route("torchvision") == Route(index=CU130, family=True)
    assert routes.repository.asked == []


def test_accelerators_of_an_index() -> None:
    project = make_project(
        matrix=ROWS,
        user_indexes=[
            user(ACME, "flash-attn", accelerators=("cu130",)),
            user(EXTRA, "flash-attn", accelerators=("cpu",)),
        ],
    )
    routes = Routes(project)

    assert routes.route("flash-attn").index == ACME
    assert routes.route("flash-attn", "linux-cpu").index == EXTRA


def test_a_name_routed_twice() -> None:
    """The message names both indexes and where, and what to do; other rows are not concerned."""
    project = make_project(
        matrix=ROWS,
        user_indexes=[user(ACME, "acme-*"), user(EXTRA, "acme-core", accelerators=("cu130",))],
    )
    routes = Routes(project)

    text = routes.faults("acme-core")
    assert "acme-core" in text
    assert f"acme ({ACME.url}) and extra ({EXTRA.url})" in text
    assert text.startswith("tool.lockforge.index")
    assert "`packages`" in text
    assert routes.route("acme-core", "linux-cpu").index == ACME
    assert routes.route("acme-other").index == ACME


def test_an_open_index_serves_what_it_alone_has() -> None:
    repository = FakeRepository()
    repository.wheels("inner", "1", index=ACME)
    repository.wheels("numpy", "2")
    project = make_project(matrix=ROWS, user_indexes=[user(ACME)])
    routes = Routes(project, repository)

    assert routes.route("inner") == Route(index=ACME, labelled=True)
    assert routes.route("numpy") == Route(index=PYPI)
    # To explain what no index has, the default one is as good as any.
    assert routes.route("nothing") == Route(index=PYPI)
    assert routes.sources("numpy") == ["pypi", "acme"]


def test_an_open_index_is_not_asked_for_the_family_or_what_is_routed() -> None:
    repository = FakeRepository()
    for name in ("torch", "inner"):
        repository.wheels(name, "9", index=ACME)
    project = make_project(matrix=ROWS, user_indexes=[user(ACME), user(EXTRA, "inner")])
    routes = Routes(project, repository)

    assert routes.route("torch").index == CU130
    assert routes.route("inner").index == EXTRA
    assert routes.sources("torch") == ["cu130"]
    assert routes.sources("inner") == ["extra"]
    assert repository.asked == []


@pytest.mark.parametrize(
    ("first", "second"), [(PYPI, ACME), (ACME, EXTRA)], ids=["default", "two of the user's"]
)
def test_a_name_that_two_open_indexes_have(first: Index, second: Index) -> None:
    """Neither is guessed, however the versions compare: that is how packages are confused."""
    repository = FakeRepository()
    repository.wheels("inner", "1", index=first)
    repository.wheels("inner", "99", index=second)
    project = make_project(matrix=ROWS, user_indexes=[user(ACME), user(EXTRA)])
    routes = Routes(project, repository)

    text = routes.faults("inner")
    assert f"{first.name} ({first.url}) and {second.name} ({second.url})" in text
    assert 'packages = ["inner"]' in text


def test_an_open_index_of_some_rows() -> None:
    repository = FakeRepository()
    repository.wheels("inner", "1")
    repository.wheels("inner", "2", index=ACME)
    project = make_project(matrix=ROWS, user_indexes=[user(ACME, accelerators=("cu130",))])
    routes = Routes(project, repository)

    assert routes.route("inner", "linux-cpu") == Route(index=PYPI)
    assert "inner is on two indexes" in routes.faults("inner")


def test_an_open_index_that_does_not_answer() -> None:
    """It may have the name, so the others are not taken in its place."""

    class Down(FakeRepository):
        def listing(self, index: Index, project: NormalizedName) -> Listing:
            if index == ACME:
                raise IndexUnavailableError("no answer", where=index.url)
            return super().listing(index, project)

    repository = Down()
    repository.wheels("inner", "1")
    routes = Routes(make_project(matrix=ROWS, user_indexes=[user(ACME)]), repository)

    with pytest.raises(IndexUnavailableError):
        routes.route("inner")


def test_an_answer_is_remembered() -> None:
    repository = FakeRepository()
    repository.wheels("inner", "1", index=ACME)
    routes = Routes(make_project(matrix=ROWS, user_indexes=[user(ACME)]), repository)

    assert routes.route("inner") is routes.route("inner")
    assert len(repository.asked) == len({PYPI, ACME})


def test_placeholders() -> None:
    """The accelerator is that of the row; torch is left to whoever lists the pages."""
    index = Index(
        name="pyg",
        url="https://pyg.example/torch-{torch}+{accelerator}.html",
        layout="flat",
    )
    project = make_project(matrix=ROWS, user_indexes=[user(index, "torch-scatter")])
    routes = Routes(project)

    assert routes.route("torch-scatter").index.url == "https://pyg.example/torch-{torch}+cu130.html"
    assert (
        routes.route("torch-scatter", "linux-cpu").index.url
        == "https://pyg.example/torch-{torch}+cpu.html"
    )
    assert routes.route("torch-scatter").index.layout == "flat"


def test_an_open_index_with_the_accelerator_in_its_address() -> None:
    index = Index(name="gpu", url="https://gpu.example/{accelerator}/")
    repository = FakeRepository()
    repository.wheels("kernels", "1", index=Index(name="gpu", url="https://gpu.example/cu130/"))
    routes = Routes(make_project(matrix=ROWS, user_indexes=[user(index)]), repository)

    assert routes.route("kernels").index.url == "https://gpu.example/cu130/"
    assert routes.route("kernels", "linux-cpu") == Route(index=PYPI)


def test_a_direct_reference_is_its_own_index() -> None:
    """It wins over every index and asks none, family or routed; only where it holds."""
    project = make_project(
        f"acme @ {WHEEL} ; sys_platform == 'linux'",
        f"torch @ {WHEEL.replace('acme', 'torch')} ; platform_machine == 'x86_64'",
        matrix=make_matrix("linux-cu130", "win-cpu"),
        user_indexes=[user(ACME, "acme")],
    )
    routes = Routes(project)

    route = routes.route("acme")
    assert (route.index.url, route.is_direct, route.fallback) == (WHEEL, True, None)
    assert routes.sources("acme") == [WHEEL]
    assert routes.route("torch").is_direct
    assert routes.route("acme", "win-cpu") == Route(index=ACME, labelled=True)
    assert routes.repository.asked == []


def test_two_indexes_of_what_nobody_needs() -> None:
    """Looking ahead meets names that no solution has; they are no reason to fail."""
    repository = FakeRepository()
    repository.wheels("foo", "2.0", requires=["inner"])
    repository.wheels("foo", "1.0")
    for index in (PYPI, ACME):
        repository.wheels("inner", "1", index=index)
    project = make_project("foo<2", user_indexes=[user(ACME)])

    (resolution,) = solved(project, repository)
    assert versions(resolution) == {"foo": "1.0"}
    with pytest.raises(ConfigError):
        solve(make_project("foo", user_indexes=[user(ACME)]), repository)
