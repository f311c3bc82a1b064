"""Each index is asked by the repository of its own kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.utils import NormalizedName

from lockforge.adapters.routed import RoutedRepository
from lockforge.errors import MissingHashError
from lockforge.model.index import Index
from lockforge.model.release import DistributionFile
from tests.unit.fakes import PYPI, FakeRepository

ACME = NormalizedName("acme")
FOLDER = Index(name="wheels", url="file:///proj/wheels", layout="flat")
WHEEL = "acme-1.0-py3-none-any.whl"
FAR = Index(name="direct reference", url=f"https://h.example/{WHEEL}", layout="direct")
NEAR = Index(name="direct reference", url=f"file:///proj/{WHEEL}", layout="direct")


@pytest.fixture
def local() -> FakeRepository:
    repository = FakeRepository()
    repository.add(WHEEL, "near", index=FOLDER)
    repository.add(WHEEL, "near", index=NEAR)
    return repository


@pytest.fixture
def remote() -> FakeRepository:
    repository = FakeRepository()
    repository.add(WHEEL, "far")
    repository.add(WHEEL, "far", index=FAR)
    return repository


def requirement_of(repository: RoutedRepository, index: Index) -> str:
    """What the one file of an index requires, which tells who was asked."""
    (file,) = repository.listing(index, ACME).files
    assert repository.has_metadata(index, file)
    (requirement,) = repository.metadata(index, file).requires_dist
    return str(requirement)


@pytest.mark.parametrize(("index", "requirement"), [(PYPI, "far"), (FOLDER, "near"), (FAR, "far")])
def test_who_is_asked(
    index: Index, requirement: str, local: FakeRepository, remote: FakeRepository
) -> None:
    assert requirement_of(RoutedRepository(local, remote), index) == requirement


def test_a_direct_reference_of_this_machine(
    local: FakeRepository, remote: FakeRepository, tmp_path: Path
) -> None:
    path = tmp_path / WHEEL
    path.write_bytes(b"")
    near = Index(name="direct reference", url=path.as_uri(), layout="direct")
    local.add(WHEEL, "near", index=near)

    (file,) = RoutedRepository(local, remote).listing(near, ACME).files
    assert file.filename == WHEEL
    assert local.asked == remote.asked == []
    with pytest.raises(MissingHashError):
        RoutedRepository(local, remote).sha256(near, file)


def test_a_direct_reference_lists_itself(local: FakeRepository, remote: FakeRepository) -> None:
    """Nobody is asked what it lists."""
    listing = RoutedRepository(local, remote).listing(FAR, ACME)

    assert listing.files == (DistributionFile(filename=WHEEL, url=FAR.url, sha256=None),)
    assert local.asked == remote.asked == []


def test_hashes(local: FakeRepository, remote: FakeRepository) -> None:
    file = DistributionFile(filename=WHEEL, url=FAR.url, sha256=None)

    for index in (FAR, NEAR):
        with pytest.raises(MissingHashError) as caught:
            RoutedRepository(local, remote).sha256(index, file)
        assert caught.value.where == index.url


def test_only_what_is_far_is_fetched_ahead(local: FakeRepository, remote: FakeRepository) -> None:
    """A direct reference has no page; its metadata is fetched like that of any other file."""
    repository = RoutedRepository(local, remote)
    file = DistributionFile(filename=WHEEL, url=FAR.url, sha256=None)
    near = DistributionFile(filename=WHEEL, url=NEAR.url, sha256=None)

    assert not repository.prefetch([(FOLDER, ACME), (FAR, ACME), (NEAR, ACME)], [(NEAR, near)])
    assert repository.prefetch([(PYPI, ACME)], [])
    assert repository.prefetch([], [(FAR, file)])
    assert not repository.prefetch([(PYPI, ACME)], [(FAR, file)])
