"""Which of the versions that fit is wanted: pre-releases, strategies, constraints, overrides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName
from packaging.version import Version

from lockforge.errors import NeedsBuildError
from lockforge.model.project import Policy, RowSettings
from lockforge.model.release import DistributionFile, Metadata
from tests.unit.fakes import (
    FakeRepository,
    make_matrix,
    make_project,
    required,
    solve,
    solved,
    versions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.model.index import Index
    from lockforge.model.project import Prereleases, Strategy


def pure(packages: Mapping[str, Mapping[str, Sequence[str]]]) -> FakeRepository:
    """The default index with pure Python wheels: name -> version -> requirements."""
    repository = FakeRepository()
    for name, releases in packages.items():
        for version, requires in releases.items():
            repository.wheels(name, version, requires=requires)
    return repository


def chosen(
    repository: FakeRepository,
    *requirements: str,
    policy: Policy | None = None,
    constraints: Sequence[str] = (),
    overrides: Sequence[str] = (),
) -> dict[str, str] | None:
    """The versions that a Linux row at Python 3.12 gets; None for no solution."""
    project = make_project(
        *requirements, policy=policy, constraints=constraints, overrides=overrides
    )
    resolutions, failures = solve(project, repository)
    assert len(resolutions) + len(failures) == 1
    return versions(resolutions[0]) if resolutions else None


FINAL_AND_MORE: dict[str, list[str]] = {"1.0": [], "1.1": [], "2.0a1": [], "2.0rc1": []}
PRERELEASES: list[tuple[dict[str, list[str]], str, str | None, str | None, str | None]] = [
    # releases, requirement, what is taken with if-necessary, allow, disallow
    (FINAL_AND_MORE, "foo", "1.1", "2.0rc1", "1.1"),
    (FINAL_AND_MORE, "foo>=1", "1.1", "2.0rc1", "1.1"),
    (FINAL_AND_MORE, "foo<1.1", "1.0", "1.0", "1.0"),
    # Named by a specifier (PEP 440), or all there is.
    (FINAL_AND_MORE, "foo>=2.0a1", "2.0rc1", "2.0rc1", None),
    (FINAL_AND_MORE, "foo==2.0a1", "2.0a1", "2.0a1", None),
    (FINAL_AND_MORE, "foo>1.1", "2.0rc1", "2.0rc1", None),
    ({"1.0.dev1": [], "1.0a1": []}, "foo", "1.0a1", "1.0a1", None),
    # A final release that is not admitted is no reason against the pre-releases that are.
    ({"1.0": [], "2.0b1": []}, "foo!=1.0", "2.0b1", "2.0b1", None),
    # A post-release is a final one.
    ({"1.0": [], "1.0.post1": []}, "foo", "1.0.post1", "1.0.post1", "1.0.post1"),
]


@pytest.mark.parametrize(("releases", "requirement", "usual", "allow", "disallow"), PRERELEASES)
def test_prereleases(
    releases: dict[str, list[str]],
    requirement: str,
    usual: str | None,
    allow: str | None,
    disallow: str | None,
) -> None:
    repository = pure({"foo": releases})

    def taken(word: Prereleases) -> str | None:
        found = chosen(repository, requirement, policy=Policy(prereleases=word))
        return found["foo"] if found else None

    assert [taken("if-necessary"), taken("allow"), taken("disallow")] == [usual, allow, disallow]


def test_a_prerelease_where_every_final_release_conflicts() -> None:
    """PEP 440 admits it where nothing else satisfies; "disallow" means what it says."""
    repository = pure(
        {"foo": {"1.0": ["bar<2"], "2.0rc1": ["bar>=2"]}, "bar": {"1.0": [], "2.0": []}}
    )

    def taken(word: Prereleases) -> dict[str, str] | None:
        return chosen(repository, "foo>=1.0rc0", "bar>=2", policy=Policy(prereleases=word))

    assert taken("if-necessary") == {"foo": "2.0rc1", "bar": "2.0"}
    assert taken("disallow") is None


def test_prereleases_of_dependencies() -> None:
    repository = pure({"foo": {"1.0": ["bar"]}, "bar": {"1.0": [], "1.1b1": []}})

    def taken(word: Prereleases) -> dict[str, str] | None:
        return chosen(repository, "foo", policy=Policy(prereleases=word))

    assert taken("if-necessary") == taken("disallow") == {"foo": "1.0", "bar": "1.0"}
    assert taken("allow") == {"foo": "1.0", "bar": "1.1b1"}


STACK: dict[str, dict[str, list[str]]] = {
    "app": {"1.0": ["lib>=1.2", "tool"], "2.0": ["lib>=1.5", "tool"], "0.9": ["missing"]},
    "lib": {"1.0": [], "1.2": [], "1.5": [], "2.0": []},
    "tool": {"1": [], "2": []},
}
STRATEGIES: list[tuple[Strategy, dict[str, str]]] = [
    ("highest", {"app": "2.0", "lib": "2.0", "tool": "2"}),
    ("lowest", {"app": "1.0", "lib": "1.2", "tool": "1"}),
    ("lowest-direct", {"app": "1.0", "lib": "2.0", "tool": "2"}),
]


@pytest.mark.parametrize(("strategy", "expected"), STRATEGIES)
def test_strategies(strategy: Strategy, expected: dict[str, str]) -> None:
    """What cannot be had is passed over upwards as well as downwards."""
    assert chosen(pure(STACK), "app", policy=Policy(strategy=strategy)) == expected


def test_what_is_direct() -> None:
    """A package that the project names too is direct, whoever else requires it."""
    found = chosen(pure(STACK), "app", "lib", policy=Policy(strategy="lowest-direct"))

    assert found == {"app": "1.0", "lib": "1.2", "tool": "2"}


def test_a_constraint_makes_nothing_direct() -> None:
    found = chosen(
        pure(STACK),
        "app",
        policy=Policy(strategy="lowest-direct"),
        constraints=["lib>=1"],
    )

    assert found == {"app": "1.0", "lib": "2.0", "tool": "2"}


@pytest.mark.parametrize("strategy", ["lowest", "lowest-direct"])
def test_the_lowest_final_release(strategy: Strategy) -> None:
    """A pre-release of the lowest version is not the lowest version."""
    repository = pure({"foo": {"1.0a1": [], "1.0": [], "2.0": []}})

    def taken(word: Prereleases) -> dict[str, str] | None:
        return chosen(repository, "foo>=1.0a1", policy=Policy(strategy=strategy, prereleases=word))

    assert taken("if-necessary") == {"foo": "1.0"}
    assert taken("allow") == {"foo": "1.0a1"}


def test_the_lowest_may_be_an_sdist() -> None:
    repository = FakeRepository()
    repository.add("foo-1.0.tar.gz")
    repository.wheels("foo", "2.0", "3.0")

    assert chosen(repository, "foo", policy=Policy(strategy="lowest")) == {"foo": "1.0"}


def test_the_lowest_is_not_a_yanked_one() -> None:
    repository = FakeRepository()
    repository.add("foo-1.0-py3-none-any.whl", yanked="")
    repository.wheels("foo", "2.0", "3.0")

    assert chosen(repository, "foo", policy=Policy(strategy="lowest")) == {"foo": "2.0"}


FOO: dict[str, dict[str, list[str]]] = {"foo": {"1.0": [], "1.5": [], "2.0": []}}


def test_a_constraint_limits_what_others_require() -> None:
    repository = pure({**FOO, "app": {"1": ["foo"]}, "bar": {"1": []}})

    assert chosen(repository, "app", constraints=["foo<2", "bar<0"]) == {"app": "1", "foo": "1.5"}
    assert chosen(repository, "app", constraints=["foo<2", "foo!=1.5"]) == {
        "app": "1",
        "foo": "1.0",
    }
    assert chosen(repository, "app", constraints=["foo>=3"]) is None
    assert chosen(repository, "foo>1", constraints=["foo<2"]) == {"foo": "1.5"}


def test_a_constraint_limits_what_extras_bring_in() -> None:
    repository = pure(
        {
            "app": {"1.0": ["foo; extra == 'x'"], "2.0": ["foo>=2; extra == 'x'"]},
            **FOO,
        }
    )

    assert chosen(repository, "app[x]", constraints=["foo<2"]) == {"app": "1.0", "foo": "1.5"}
    assert chosen(repository, "app[x]", constraints=["app<2"]) == {"app": "1.0", "foo": "2.0"}


def test_a_constraint_makes_the_solver_go_back() -> None:
    repository = pure({**FOO, "app": {"1": ["foo<2"], "2": ["foo>=2"]}})

    assert chosen(repository, "app", constraints=["foo<2"]) == {"app": "1", "foo": "1.5"}


def test_a_constraint_of_one_row() -> None:
    own = RowSettings(constraints=(required("foo<2"),))
    project = make_project("foo", matrix=make_matrix("linux-cpu", "win-cpu"), rows={"win-cpu": own})

    assert [versions(one)["foo"] for one in solved(project, pure(FOO))] == ["2.0", "1.5"]


def test_an_override_replaces_what_conflicts() -> None:
    """That is what it is for: a limit in somebody's metadata that is wrong."""
    repository = pure({**FOO, "app": {"1": ["foo<2"]}, "bar": {"1": ["foo>=2"]}})

    assert chosen(repository, "app", "bar") is None
    assert chosen(repository, "app", "bar", overrides=["foo==1.5"]) == {
        "app": "1",
        "bar": "1",
        "foo": "1.5",
    }
    assert chosen(repository, "app", "foo>=2", overrides=["foo<=1.5"]) == {
        "app": "1",
        "foo": "1.5",
    }


def test_an_override_still_obeys_constraints() -> None:
    repository = pure(FOO)

    assert chosen(repository, "foo", overrides=["foo>1"], constraints=["foo<2"]) == {"foo": "1.5"}
    assert chosen(repository, "foo", overrides=["foo==2"], constraints=["foo<2"]) is None


def test_an_override_whose_marker_never_holds_drops_the_package() -> None:
    repository = pure({"app": {"1": ["missing"]}})

    assert chosen(repository, "app") is None
    assert chosen(repository, "app", overrides=["missing; sys_platform == 'never'"]) == {"app": "1"}


def test_an_override_with_an_extra() -> None:
    repository = pure(
        {"app": {"1": ["foo"]}, "foo": {"1": ["bar; extra == 'x'"]}, "bar": {"3": []}}
    )

    assert chosen(repository, "app", overrides=["foo[x]==1"]) == {
        "app": "1",
        "foo": "1",
        "bar": "3",
    }
    # It keeps those that are asked for.
    assert chosen(repository, "foo[x]", overrides=["foo==1"]) == {"foo": "1", "bar": "3"}


YANKED: list[tuple[dict[str, Sequence[str]], dict[str, str] | None]] = [
    ({"constraints": ["foo==2.0"]}, {"app": "1", "foo": "2.0"}),
    ({"overrides": ["foo==2.0"]}, {"app": "1", "foo": "2.0"}),
    ({"constraints": ["foo>=2.0"]}, None),
    ({"overrides": ["foo>=2.0"]}, None),
    ({}, {"app": "1", "foo": "1.0"}),
]


@pytest.mark.parametrize(("more", "expected"), YANKED)
def test_yanked_by_a_limit_of_the_projects_own(
    more: dict[str, Sequence[str]], expected: dict[str, str] | None
) -> None:
    """An exact pin admits a yanked version wherever the project has it (PEP 592)."""
    repository = pure({"app": {"1": ["foo"]}, "foo": {"1.0": []}})
    repository.add("foo-2.0-py3-none-any.whl", yanked="broken")

    assert chosen(repository, "app", **more) == expected  # type: ignore[arg-type]


def test_yanked_by_the_pin_of_another_row() -> None:
    own = RowSettings(requirements=(required("foo==2.0"),))
    repository = pure({"foo": {"1.0": []}})
    repository.add("foo-2.0-py3-none-any.whl", yanked="broken")
    project = make_project("foo", matrix=make_matrix("linux-cpu", "win-cpu"), rows={"win-cpu": own})

    assert [versions(one)["foo"] for one in solved(project, repository)] == ["1.0", "2.0"]


class NeedsBuild(FakeRepository):
    """An index whose sdists tell nothing without a build."""

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        found = super().metadata(index, file)
        if not file.is_wheel:
            raise NeedsBuildError("known only after a build", where=file.filename)
        return found

    @property
    def tried(self) -> list[str]:
        return [name for _, name in self.asked if name.endswith(".tar.gz")]


def test_the_first_sdist_that_needs_a_build_ends_the_search() -> None:
    """Older sdists are not tried one after the other: one from before the problem is no answer."""
    repository = NeedsBuild()
    for version in ("1.0", "1.1", "2.0", "2.1"):
        repository.add(f"foo-{version}.tar.gz")
    project = make_project("foo", matrix=make_matrix("linux-cpu", "win-cpu"))

    resolutions, failures = solve(project, repository)

    assert (resolutions, len(failures)) == ([], 2)
    assert set(repository.tried) == {"foo-2.1.tar.gz"}
    (offer,) = failures[0].offers
    assert [(one.version, one.setting) for one in offer.refused][:1] == [
        ("2.1", '[tool.lockforge.metadata."foo==2.1"]')
    ]


def test_wheels_are_still_there_when_an_sdist_needs_a_build() -> None:
    """No older sdist is tried, but an older wheel tells what it requires."""
    repository = NeedsBuild()
    repository.add("foo-3.0.tar.gz")
    repository.add("foo-2.0.tar.gz")
    repository.wheels("foo", "1.0")

    assert chosen(repository, "foo") == {"foo": "1.0"}
    assert repository.tried == ["foo-3.0.tar.gz"]


def test_stated_metadata_of_an_older_sdist() -> None:
    """What the user states is found although a newer sdist needs a build."""
    repository = NeedsBuild()
    for version in ("1.0", "2.0"):
        repository.add(f"foo-{version}.tar.gz")
    repository.wheels("bar", "3")
    name = NormalizedName("foo")
    stated = Metadata(
        version=Version("1.0"), requires_python=None, requires_dist=(Requirement("bar"),)
    )
    project = make_project("foo", metadata={(name, "1.0"): stated})

    (resolution,) = solved(project, repository)
    assert versions(resolution) == {"foo": "1.0", "bar": "3"}


def test_no_binary_takes_the_sdist() -> None:
    repository = FakeRepository()
    repository.wheels("foo", "2.0")
    repository.add("foo-2.0.tar.gz", "bar")
    repository.wheels("bar", "1")

    assert chosen(repository, "foo", policy=Policy(no_binary=frozenset({"foo"}))) == {
        "foo": "2.0",
        "bar": "1",
    }
    assert chosen(repository, "bar", policy=Policy(no_binary=frozenset({":all:"}))) is None
    assert chosen(repository, "foo>2", policy=Policy(only_binary=frozenset({"foo"}))) is None
