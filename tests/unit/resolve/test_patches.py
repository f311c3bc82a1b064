"""Solutions that must leave some patch release of the Python to be served."""

from __future__ import annotations

import pytest

from tests.unit.fakes import (
    FakeRepository,
    make_matrix,
    make_project,
    required,
    solve,
    solved,
    versions,
)


def chosen(repository: FakeRepository, *requirements: str) -> dict[str, str]:
    (resolution,) = solved(make_project(*requirements), repository)
    return versions(resolution)


def limited(repository: FakeRepository, filename: str, limit: str, *, announced: bool) -> None:
    """A file for some patch releases, which its page tells or its metadata alone."""
    if announced:
        repository.add(filename, requires_python=limit)
    else:
        repository.add(filename, metadata_requires_python=limit)


def with_limit(repository: FakeRepository, limit: str, *, announced: bool) -> None:
    """Two releases of b, of which the newer is for some patch releases only."""
    limited(repository, "b-2.0-py3-none-any.whl", limit, announced=announced)
    repository.add("b-1.0-py3-none-any.whl")


@pytest.mark.parametrize("announced", [True, False])
def test_two_limits_with_nothing_in_common(announced: bool) -> None:  # noqa: FBT001
    repository = FakeRepository()
    limited(repository, "a-1.0-py3-none-any.whl", ">=3.12.5", announced=announced)
    with_limit(repository, "<3.12.3", announced=announced)

    assert chosen(repository, "a", "b") == {"a": "1.0", "b": "1.0"}


def test_the_one_that_can_give_way_does() -> None:
    """Whichever is chosen last: the other has no release that suits."""
    repository = FakeRepository()
    repository.add("z-1.0-py3-none-any.whl", requires_python=">=3.12.5")
    with_limit(repository, "<3.12.3", announced=True)

    assert chosen(repository, "b", "z") == {"b": "1.0", "z": "1.0"}


def test_two_limits_of_which_none_can_give_way() -> None:
    repository = FakeRepository()
    repository.add("a-1.0-py3-none-any.whl", requires_python=">=3.12.5")
    repository.add("b-1.0-py3-none-any.whl", requires_python="<3.12.3")

    _, (failure,) = solve(make_project("a", "b"), repository)
    reasons = [refusal.reason for offer in failure.offers for refusal in offer.refused]
    assert [reason for reason in reasons if "leaves no patch release of 3.12" in reason]


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("on_the_path", [True, False])
def test_a_limit_and_a_condition_with_nothing_in_common(
    announced: bool,  # noqa: FBT001
    on_the_path: bool,  # noqa: FBT001
) -> None:
    """Be it the need's own condition, or that of what asks for it."""
    repository = FakeRepository()
    repository.wheels("m", "1.0", requires=["b"])
    with_limit(repository, ">=3.12.5", announced=announced)
    asked = f"{'m' if on_the_path else 'b'}; python_full_version < '3.12.3'"

    assert chosen(repository, asked)["b"] == "1.0"
    # Without the condition the newer one is right: the lock covers what is left.
    assert chosen(repository, "m")["b"] == "2.0"


def test_what_the_project_does_not_cover_does_not_count() -> None:
    """Neither a file for it, nor a requirement that holds there alone."""
    repository = FakeRepository()
    with_limit(repository, "<3.12.3", announced=True)
    project = make_project(
        "b", required("missing; python_full_version < '3.12.4'"), requires_python=">=3.12.4"
    )

    (resolution,) = solved(project, repository)
    assert versions(resolution) == {"b": "1.0"}


def test_a_stated_patch_release_must_be_served() -> None:
    repository = FakeRepository()
    with_limit(repository, ">=3.12.5", announced=False)
    project = make_project("b", matrix=make_matrix("linux-cpu", pythons=("3.12.3",)))

    (resolution,) = solved(project, repository)
    assert versions(resolution) == {"b": "1.0"}
