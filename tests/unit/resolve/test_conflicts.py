"""Rules of the catalogue that limit a package, and never bring it in."""

from __future__ import annotations

import pytest

from lockforge.catalog import Catalog, load_catalog
from tests.unit.fakes import FakeRepository, make_project, solved, torch_index, versions

CPU = torch_index("cpu")

RULES = """
rules:
  - package: codec
    versions: ">=2"
    requires: "torch>=2.9"
    when-present: true
    reason: codec 2 uses what torch 2.9 brought
    source: me
"""


@pytest.fixture
def catalog() -> Catalog:
    return load_catalog(RULES)


@pytest.fixture
def repository() -> FakeRepository:
    """The index of the row ends at torch 2.8, which codec 2 does not work with."""
    repository = FakeRepository()
    repository.wheels("torch", "2.8.0+cpu", index=CPU, requires=["numpy"])
    repository.wheels("numpy", "1.0", "2.0")
    repository.wheels("codec", "2.0")
    return repository


def chosen(repository: FakeRepository, catalog: Catalog, *requirements: str) -> dict[str, str]:
    (resolution,) = solved(make_project(*requirements), repository, catalog=catalog)
    return versions(resolution)


def test_what_brings_the_limited_package_in_can_give_way(
    repository: FakeRepository, catalog: Catalog
) -> None:
    repository.wheels("app", "2.0", requires=["torch"])
    repository.wheels("app", "1.0")

    assert chosen(repository, catalog, "codec", "app") == {"codec": "2.0", "app": "1.0"}


def test_what_the_limited_package_would_need_does_not_count(
    repository: FakeRepository, catalog: Catalog
) -> None:
    """It is not installed, so nothing that it requires is in the way."""
    repository.wheels("torch", "2.9.0+cpu", index=CPU, requires=["numpy<2"])
    repository.wheels("app", "2.0", requires=["torch<2.9"])
    repository.wheels("app", "1.0")

    found = chosen(repository, catalog, "codec", "app", "numpy==2.0")
    assert found == {"codec": "2.0", "app": "1.0", "numpy": "2.0"}


def test_the_limited_package_is_taken_back_where_nothing_else_works(
    repository: FakeRepository,
) -> None:
    """It was decided first; so one that has another version to offer gives way before."""
    repository.wheels("torch", "2.9.0+cpu", "2.10.0+cpu", index=CPU)
    catalog = load_catalog(RULES.replace("torch>=2.9", "torch<2.10"))
    assert chosen(repository, catalog, "codec", "torch") == {"codec": "2.0", "torch": "2.9.0+cpu"}

    repository.wheels("codec", "1.0")
    assert chosen(repository, catalog, "codec", "torch") == {"codec": "1.0", "torch": "2.10.0+cpu"}
