"""All Targets of a Matrix."""

from __future__ import annotations

import itertools

from tests.unit.fakes import FakeRepository, make_matrix, make_project, solved, versions


def test_canonical_order() -> None:
    """Resolutions come in the order of the matrix, whatever order rows and Pythons were given."""
    repository = FakeRepository()
    repository.wheels("foo", "1.0")
    expected = ["linux-cpu-py311", "linux-cpu-py312", "mac-cpu-py311", "mac-cpu-py312"]
    for rows in itertools.permutations(["linux-cpu", "mac-cpu"]):
        for pythons in itertools.permutations(["3.11", "3.12"]):
            project = make_project("foo", matrix=make_matrix(*rows, pythons=pythons))
            assert [one.target.id for one in solved(project, repository)] == expected


def test_each_python_on_its_own() -> None:
    """Each Python of a row has the newest version for it."""
    repository = FakeRepository()
    repository.add("foo-3.0-py3-none-any.whl", requires_python=">=3.12")
    repository.add("foo-2.0-cp311-cp311-manylinux_2_28_x86_64.whl")
    repository.add("foo-1.0-py3-none-any.whl")
    matrix = make_matrix("linux-cpu", pythons=("3.10", "3.11", "3.12"))
    found = [versions(one)["foo"] for one in solved(make_project("foo", matrix=matrix), repository)]
    assert found == ["1.0", "2.0", "3.0"]


def test_metadata_is_asked_once() -> None:
    """Rows share what only depends on the platform and the Python."""
    repository = FakeRepository()
    repository.wheels("foo", "1.0", requires=["bar"])
    repository.wheels("bar", "1.0")
    rows = make_matrix("linux-cu130", "linux-cu128", "linux-cpu")
    solved(make_project("foo", matrix=rows), repository)
    for asked in ("foo", "bar", "foo-1.0-py3-none-any.whl", "bar-1.0-py3-none-any.whl"):
        assert repository.asked.count(("pypi", asked)) == 1
