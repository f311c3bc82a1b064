"""One Target solved over indexes in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName
from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.errors import ConfigError, IndexUnavailableError
from lockforge.model.index import Index, UserIndex
from lockforge.model.project import RowSettings
from lockforge.model.release import Metadata
from lockforge.model.resolution import Addition, Edge, Pin, Preferred
from tests.unit.fakes import (
    PYPI,
    FakeRepository,
    make_matrix,
    make_project,
    make_row,
    required,
    solve,
    solved,
    torch_index,
    versions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.model.release import Listing

CPU, CU130 = torch_index("cpu"), torch_index("cu130")
ACME = Index(name="acme", url="https://acme.example/simple/")


def pure(packages: Mapping[str, Mapping[str, Sequence[str]]]) -> FakeRepository:
    """The default index with pure Python wheels: name -> version -> requirements."""
    repository = FakeRepository()
    for name, releases in packages.items():
        for version, requires in releases.items():
            repository.wheels(name, version, requires=requires)
    return repository


def chosen(repository: FakeRepository, *requirements: str) -> dict[str, str]:
    """The versions that a Linux row at Python 3.12 gets."""
    (resolution,) = solved(make_project(*requirements), repository)
    return versions(resolution)


def fails(repository: FakeRepository, *requirements: str) -> bool:
    """Whether that row has no solution."""
    return bool(solve(make_project(*requirements), repository)[1])


def test_whole_resolution() -> None:
    """A Resolution holds the pins sorted by name, each with its one file, and the edges."""
    repository = FakeRepository()
    torch = repository.add(
        "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", "numpy", index=CPU
    )
    repository.add("torch-2.9.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl", index=CPU)
    numpy = repository.add("numpy-2.3.1-cp312-cp312-manylinux_2_28_x86_64.whl")
    repository.add("numpy-2.3.1-cp312-cp312-manylinux_2_17_x86_64.whl")
    repository.add("numpy-2.3.1.tar.gz")
    project = make_project("torch")
    (resolution,) = solved(project, repository)
    assert resolution.target == project.matrix.targets[0]
    assert resolution.pins == (
        Pin(name=NormalizedName("numpy"), version=Version("2.3.1"), index=PYPI, file=numpy),
        Pin(name=NormalizedName("torch"), version=Version("2.9.0+cpu"), index=CPU, file=torch),
    )
    assert resolution.edges == (
        Edge(parent=NormalizedName("torch"), child=NormalizedName("numpy")),
    )
    assert resolution.additions == ()


FOO: dict[str, list[str]] = {"1.0": [], "1.10": [], "1.9": [], "2.0a1": [], "0.5": []}
SIMPLE = [
    # packages, requirements, chosen versions
    ({"foo": FOO}, ["foo"], {"foo": "1.10"}),
    ({"foo": FOO}, ["foo<1.10"], {"foo": "1.9"}),
    ({"foo": FOO}, ["foo==1.0"], {"foo": "1.0"}),
    ({"foo": FOO}, ["foo~=1.0", "foo!=1.10"], {"foo": "1.9"}),
    # PEP 440: pre-releases where asked for, or where there is nothing else.
    ({"foo": FOO}, ["foo>=2.0a1"], {"foo": "2.0a1"}),
    ({"foo": FOO}, ["foo==2.0a1"], {"foo": "2.0a1"}),
    ({"foo": {"1.0b1": [], "1.0b2": []}}, ["foo"], {"foo": "1.0b2"}),
    ({"foo": {"1.0": [], "2.0.dev1": []}}, ["foo"], {"foo": "1.0"}),
    ({"foo": {"1.0": [], "2.0rc1": [], "2.0rc2": []}}, ["foo>=1.5"], {"foo": "2.0rc2"}),
    # Names are normalized.
    ({"foo-bar": {"1.0": []}}, ["Foo_Bar"], {"foo-bar": "1.0"}),
    # Transitive requirements.
    (
        {"foo": {"1.0": ["bar<2"]}, "bar": {"1.0": ["baz"], "2.0": []}, "baz": {"3.0": []}},
        ["foo"],
        {"foo": "1.0", "bar": "1.0", "baz": "3.0"},
    ),
    # Circles.
    ({"foo": {"1.0": ["bar"]}, "bar": {"1.0": ["foo"]}}, ["foo"], {"foo": "1.0", "bar": "1.0"}),
    # Markers of other platforms, Pythons and extras do not hold.
    (
        {
            "foo": {
                "1.0": [
                    "bar; sys_platform == 'win32'",
                    "bar; python_version < '3.12'",
                    "bar; extra == 'train'",
                    "baz; sys_platform == 'linux'",
                ]
            },
            "baz": {"1.0": []},
        },
        ["foo", "nothing; sys_platform == 'darwin'"],
        {"foo": "1.0", "baz": "1.0"},
    ),
    (
        # A circle that nothing requires any more once a 2 is given up.
        {"a": {"1": [], "2": ["b"]}, "b": {"1": ["a<2", "c"]}, "c": {"1": ["b"]}},
        ["a"],
        {"a": "1"},
    ),
    # Backtracking: the newest foo wants a bar that there is not.
    (
        {"foo": {"1.0": ["bar"], "2.0": ["bar>=9"]}, "bar": {"1.0": []}},
        ["foo"],
        {"foo": "1.0", "bar": "1.0"},
    ),
    (
        {
            "a": {"1": ["c<2"], "2": ["c>=2"]},
            "b": {"1": ["c<2"], "2": ["c<2"]},
            "c": {"1": [], "2": []},
        },
        ["a", "b"],
        {"a": "1", "b": "2", "c": "1"},
    ),
]


@pytest.mark.parametrize(("packages", "requirements", "expected"), SIMPLE)
def test_versions(
    packages: dict[str, dict[str, list[str]]], requirements: list[str], expected: dict[str, str]
) -> None:
    """The newest versions that satisfy every requirement are chosen."""
    assert chosen(pure(packages), *requirements) == expected
    assert chosen(pure(packages), *reversed(requirements)) == expected


EXTRAS = [
    # requirements of foo 1.0, requirement, chosen versions beside foo
    (["bar; extra == 'train'"], "foo", {}),
    (["bar; extra == 'train'"], "foo[train]", {"bar": "1.0"}),
    (["bar; extra == 'Opt_Einsum'"], "foo[opt-einsum]", {"bar": "1.0"}),
    (["bar; extra == 'opt-einsum'"], "foo[Opt.Einsum]", {"bar": "1.0"}),
    (["bar; extra == 'a'", "baz; extra == 'b'"], "foo[a,b]", {"bar": "1.0", "baz": "1.0"}),
    (["bar; extra == 'a' and sys_platform == 'win32'"], "foo[a]", {}),
    (["bar; extra == 'a' and sys_platform == 'linux'"], "foo[a]", {"bar": "1.0"}),
    (["bar; extra == 'a' or extra == 'b'"], "foo[b]", {"bar": "1.0"}),
    (["bar", "baz; extra == 'a'"], "foo[a]", {"bar": "1.0", "baz": "1.0"}),
    # An extra that brings in others of the same package, and one of a dependency.
    (["foo[b]; extra == 'a'", "bar; extra == 'b'"], "foo[a]", {"bar": "1.0"}),
    (
        ["foo[b]; extra == 'a'", "foo[a]; extra == 'b'", "bar; extra == 'b'"],
        "foo[a]",
        {"bar": "1.0"},
    ),
    (["bar[x]"], "foo", {"bar": "1.0", "baz": "1.0"}),
    (["bar[x]; extra == 'a'"], "foo[a]", {"bar": "1.0", "baz": "1.0"}),
    # An extra nobody provides brings in nothing.
    (["bar; extra == 'a'"], "foo[unknown]", {}),
]


@pytest.mark.parametrize(("requires", "requirement", "others"), EXTRAS)
def test_extras(requires: list[str], requirement: str, others: dict[str, str]) -> None:
    """An extra brings in what is asked for under it, at any depth."""
    repository = pure(
        {
            "foo": {"1.0": requires},
            "bar": {"1.0": ["baz; extra == 'x'"]},
            "baz": {"1.0": []},
        }
    )
    assert chosen(repository, requirement) == {"foo": "1.0", **others}


def test_extra_is_of_the_chosen_version() -> None:
    """What an extra brings in is that of the version chosen, and edges start at the package."""
    repository = pure(
        {
            "foo": {"1.0": ["bar<2; extra == 'a'"], "2.0": ["bar>=9; extra == 'a'"]},
            "bar": {"1.0": []},
        }
    )
    (resolution,) = solved(make_project("foo[a]"), repository)
    assert versions(resolution) == {"foo": "1.0", "bar": "1.0"}
    assert [(edge.parent, edge.child) for edge in resolution.edges] == [("foo", "bar")]


def test_files_before_versions() -> None:
    """A version without a file for the row does not exist for it."""
    repository = FakeRepository()
    repository.add("foo-3.0-cp312-cp312-win_amd64.whl")
    repository.add("foo-2.5-py3-none-any.whl", requires_python=">=3.13")
    repository.add("foo-2.0-cp312-cp312-manylinux_2_17_x86_64.whl")
    repository.add("foo-1.0-py3-none-any.whl")
    project = make_project(
        "foo", matrix=make_matrix("linux-cpu", "win-cpu", "mac-cpu", pythons=("3.12",))
    )
    found = [versions(resolution) for resolution in solved(project, repository)]
    assert found == [{"foo": "2.0"}, {"foo": "3.0"}, {"foo": "1.0"}]


def test_floor() -> None:
    """A row with a lower floor gets the file for it."""
    repository = FakeRepository()
    for rung in (17, 28, 34):
        repository.add(f"foo-1.{rung}-cp312-cp312-manylinux_2_{rung}_x86_64.whl")
    found = []
    for floor in ((2, 17), (2, 28), (2, 35)):
        project = make_project("foo", matrix=make_matrix(make_row("linux-cpu", floor)))
        found += [versions(resolution) for resolution in solved(project, repository)]
    assert found == [{"foo": "1.17"}, {"foo": "1.28"}, {"foo": "1.34"}]


YANKED = [
    ("foo", {"foo": "1.0"}),
    ("foo>=1", {"foo": "1.0"}),
    ("foo<=2.0", {"foo": "1.0"}),
    ("foo==2.*", None),
    ("foo>=2", None),
    ("foo==2.0", {"foo": "2.0"}),
    ("foo===2.0", {"foo": "2.0"}),
]


@pytest.mark.parametrize(("requirement", "expected"), YANKED)
def test_yanked(requirement: str, expected: dict[str, str] | None) -> None:
    """PEP 592: a yanked file is for those who pin its version exactly."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", yanked="broken")
    repository.add("foo-1.0-py3-none-any.whl")
    resolutions, failures = solve(make_project(requirement), repository)
    found = [versions(resolution) for resolution in resolutions]
    assert (found, len(failures)) == (([expected], 0) if expected else ([], 1))


def test_yanked_by_a_pin_of_a_dependency() -> None:
    """A yanked version is the project's own to name: what a dependency pins is not enough."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", yanked="")
    repository.add("foo-1.0-py3-none-any.whl")
    repository.wheels("bar", "1.0", requires=["foo==2.0"])
    assert fails(repository, "foo", "bar")
    assert chosen(repository, "foo==2.0", "bar") == {"foo": "2.0", "bar": "1.0"}


def test_yanked_by_name_whoever_asks_for_an_extra_of_it() -> None:
    """The project names the version; that another package wants an extra of it changes nothing."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", yanked="")
    repository.wheels("bar", "1.0", requires=["foo[fast]"])
    assert chosen(repository, "foo==2.0", "bar") == {"foo": "2.0", "bar": "1.0"}


@pytest.mark.parametrize(
    ("best", "other"),
    [
        ("foo-1.0-py2.py3-none-any.whl", "foo-1.0-py3-none-any.whl"),
        ("foo-1.0-py3-none-any.whl", "foo-1.0.0-py3-none-any.whl"),
        ("foo-1.0.tar.gz", "foo-1.0.zip"),
    ],
)
def test_files_that_are_as_good_as_each_other(best: str, other: str) -> None:
    """Their names decide, and not which comes first on the page."""
    for filenames in ((best, other), (other, best)):
        repository = FakeRepository()
        for filename in filenames:
            repository.add(filename)
        (resolution,) = solved(make_project("foo"), repository)
        assert [pin.file.filename for pin in resolution.pins] == [best]


def test_a_reference_of_one_row_says_nothing_of_another() -> None:
    """What one row refuses for want of its own direct reference is there for the other."""
    url = "https://files.example/acme-1.0-py3-none-any.whl"
    repository = FakeRepository()
    repository.add("acme-1.0-py3-none-any.whl", index=Index(name="x", url=url, layout="direct"))
    repository.wheels("acme", "0.5")
    repository.wheels("user", "2.0", requires=[f"acme @ {url}"])
    repository.wheels("user", "1.0", requires=["acme"])
    for row, other in (("linux-cpu", "linux-cu130"), ("linux-cu130", "linux-cpu")):
        own = RowSettings(requirements=(required(f"acme @ {url}"),))
        project = make_project("user", matrix=make_matrix(row, other), rows={row: own})
        found = {one.target.row.name: versions(one) for one in solved(project, repository)}
        assert found == {
            row: {"acme": "1.0", "user": "2.0"},
            other: {"acme": "0.5", "user": "1.0"},
        }


def test_one_yanked_file() -> None:
    """PEP 592: files are yanked one by one; the version's other files are still there."""
    repository = FakeRepository()
    repository.add("foo-2.0-cp312-cp312-manylinux_2_28_x86_64.whl", yanked="broken")
    repository.add("foo-2.0-py3-none-any.whl")
    repository.add("foo-1.0-py3-none-any.whl")
    (resolution,) = solved(make_project("foo"), repository)
    assert [pin.file.filename for pin in resolution.pins] == ["foo-2.0-py3-none-any.whl"]


def test_exclude_newer() -> None:
    """A file uploaded later does not exist."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", upload_time="2026-11-02T00:00:00Z")
    repository.add("foo-1.0-py3-none-any.whl", upload_time="2026-11-01T00:00:00Z")
    (resolution,) = solved(make_project("foo", exclude_newer="2026-11-01T23:59:59Z"), repository)
    assert versions(resolution) == {"foo": "1.0"}


@pytest.mark.parametrize("announced", [True, False])
def test_partial_requires_python(announced: bool) -> None:  # noqa: FBT001
    """A limit within the minor is kept on the pin, whether the page or the metadata tells it."""
    repository = FakeRepository()
    repository.add(
        "foo-2.0-py3-none-any.whl",
        requires_python=">=3.12.4" if announced else None,
        metadata_requires_python=">=3.12.4",
    )
    repository.add("foo-1.0-py3-none-any.whl", requires_python=">=3.8")
    (resolution,) = solved(make_project("foo"), repository)
    assert [(str(pin.version), pin.requires_python) for pin in resolution.pins] == [
        ("2.0", ">=3.12.4")
    ]


def test_requires_python_of_the_metadata() -> None:
    """Where the page tells no Requires-Python, as PyTorch's do not, the metadata refuses."""
    repository = FakeRepository()
    repository.add("foo-3.0-py3-none-any.whl", metadata_requires_python=">=3.13")
    repository.add("foo-2.0-py3-none-any.whl", metadata_requires_python="<3.12")
    repository.add("foo-1.0-py3-none-any.whl", metadata_requires_python=">=3.8")
    assert chosen(repository, "foo") == {"foo": "1.0"}


REFUSED = [
    ({"broken": "core metadata is invalid"}, ()),
    ({}, ("bar @ https://example.org/bar.whl",)),
    # No environment can answer this.
    ({}, ("bar; sys_platform ~= 'linux'",)),
]


@pytest.mark.parametrize(("keys", "requires"), REFUSED)
def test_refused_by_its_metadata(keys: dict[str, str], requires: tuple[str, ...]) -> None:
    """A file whose metadata cannot be used is refused and the solve goes on."""
    repository = FakeRepository()
    repository.add("foo-2.0-py3-none-any.whl", *requires, **keys)  # type: ignore[arg-type]
    repository.add("foo-1.0-py3-none-any.whl")
    repository.wheels("bar", "1.0")
    assert chosen(repository, "foo", "bar") == {"foo": "1.0", "bar": "1.0"}


def test_other_file_of_a_refused_version() -> None:
    """When a version's best file is refused, its next file is tried before an older version."""
    repository = FakeRepository()
    repository.add("foo-2.0-cp312-cp312-manylinux_2_28_x86_64.whl", broken="broken")
    repository.add("foo-2.0-py3-none-any.whl")
    repository.add("foo-1.0-py3-none-any.whl")
    (resolution,) = solved(make_project("foo"), repository)
    assert [pin.file.filename for pin in resolution.pins] == ["foo-2.0-py3-none-any.whl"]


def test_sdist() -> None:
    """An sdist with static metadata is as good as a wheel, but never in place of one."""
    repository = FakeRepository()
    repository.add("foo-2.0.tar.gz", "bar")
    repository.add("foo-1.0.tar.gz", "bar")
    repository.add("foo-1.0-py3-none-any.whl")
    repository.wheels("bar", "1.0")
    assert chosen(repository, "foo") == {"foo": "2.0", "bar": "1.0"}
    assert chosen(repository, "foo<2") == {"foo": "1.0"}


def test_what_was_decided_first_stays() -> None:
    """A later requirement that excludes it is what gives way; uv answers so too."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", "2.0")
    repository.wheels("b", "2.0", requires=["a<2"])
    repository.wheels("b", "1.0")
    assert chosen(repository, "a", "b") == {"a": "2.0", "b": "1.0"}


def test_a_conflict_met_again_and_again_turns_the_order_round() -> None:
    """With many versions in the way, the package that could not be had comes first; as in uv."""
    repository = FakeRepository()
    repository.wheels("a", "1.0", "2.0")
    repository.wheels("b", *(f"{major}.0" for major in range(2, 8)), requires=["a<2"])
    repository.wheels("b", "1.0")
    assert chosen(repository, "a", "b") == {"a": "1.0", "b": "7.0"}


def test_what_only_a_version_brings_in_does_not_drive_that_version_out() -> None:
    """The newest g needs an a, and an a that goes with it is there."""
    repository = FakeRepository()
    repository.wheels("g", "2.0", requires=["a"])
    repository.wheels("g", "1.0")
    repository.wheels("a", "2.0", requires=["g<2"])
    repository.wheels("a", "1.0")
    assert chosen(repository, "g") == {"a": "1.0", "g": "2.0"}


def test_a_version_that_contradicts_itself_is_none() -> None:
    repository = FakeRepository()
    repository.wheels("a", "1.0", "2.0")
    repository.wheels("a", "3.0", requires=["a==1.0"])
    assert chosen(repository, "a") == {"a": "2.0"}


def test_extras_whose_parent_a_backtrack_leaves_behind() -> None:
    """Requirements of what is no longer there are forgotten with it, and nothing else is."""
    repository = FakeRepository()
    repository.wheels("a", "1.5")
    repository.wheels("a", "3.0", requires=["b[all]"])
    repository.wheels("b", "1.0", requires=["c", "c>=1.5", "c>=2.5,>2.5; extra == 'all'"])
    repository.wheels("b", "2.0", requires=["c[all,extra]<2.5"])
    repository.wheels("b", "2.5", requires=["a!=3.0", "c[extra_b]"])
    repository.wheels("b", "3.0", requires=["c==1.0"])
    repository.wheels("c", "2.5", "4.0")
    assert chosen(repository, "a") == {"a": "3.0", "b": "1.0", "c": "4.0"}


def test_stated_metadata() -> None:
    """What the user states for a version is taken and no file of it is asked."""
    repository = FakeRepository()
    repository.add("flash_attn-2.8.3.tar.gz", broken="known only after a build")
    repository.wheels("einops", "0.8")
    stated = Metadata(
        version=Version("2.8.3"), requires_python=None, requires_dist=(Requirement("einops"),)
    )
    project = make_project("flash-attn", metadata={(NormalizedName("flash-attn"), "2.8.3"): stated})
    (resolution,) = solved(project, repository)
    assert versions(resolution) == {"flash-attn": "2.8.3", "einops": "0.8"}
    assert ("pypi", "flash_attn-2.8.3.tar.gz") not in repository.asked


class TestRoutes:
    """A package has exactly one index in a row."""

    def test_family(self) -> None:
        """The family comes from the row's index, everything else from the default one."""
        repository = FakeRepository()
        repository.wheels("torch", "2.9.0+cpu", requires=["numpy"], index=CPU)
        repository.wheels("torch", "2.8.0+cu130", requires=["numpy"], index=CU130)
        repository.wheels("torch", "9.9")
        repository.wheels("numpy", "2.3")
        repository.wheels("numpy", "9.9", index=CPU)
        repository.wheels("numpy", "9.9", index=CU130)
        project = make_project("torch", matrix=make_matrix("linux-cu130", "linux-cpu"))
        found = [
            {pin.name: (str(pin.version), pin.index.name) for pin in resolution.pins}
            for resolution in solved(project, repository)
        ]
        assert found == [
            {"numpy": ("2.3", "pypi"), "torch": ("2.8.0+cu130", "cu130")},
            {"numpy": ("2.3", "pypi"), "torch": ("2.9.0+cpu", "cpu")},
        ]
        assert {asked for asked in repository.asked if asked[1] == "numpy"} == {("pypi", "numpy")}
        assert ("pypi", "torch") not in repository.asked

    def test_local_versions(self) -> None:
        """`==2.9.0` admits `2.9.0+cpu`, which is newer than `2.9.0`; foreign ones are refused."""
        repository = FakeRepository()
        repository.wheels("torch", "2.9.0", "2.9.0+cpu", "2.9.0+cu130", "2.10.0+cu130", index=CPU)
        assert chosen(repository, "torch") == {"torch": "2.9.0+cpu"}
        assert chosen(repository, "torch==2.9.0") == {"torch": "2.9.0+cpu"}

    def test_bare_version(self) -> None:
        """A version without a label on the row's own index is fine, as macOS has them."""
        repository = FakeRepository()
        repository.add("torch-2.9.0-cp312-none-macosx_11_0_arm64.whl", index=CPU)
        repository.add("torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl", index=CPU)
        project = make_project("torch", matrix=make_matrix("mac-cpu"))
        assert [versions(one) for one in solved(project, repository)] == [{"torch": "2.9.0"}]

    def test_user_index(self) -> None:
        """A name the user routes comes from that index and nowhere else, in the rows it is for."""
        repository = FakeRepository()
        repository.wheels("acme-core", "1.0", index=ACME)
        repository.wheels("acme-core", "9.9")
        user = UserIndex(index=ACME, packages=("acme-*",), accelerators=("cu130",))
        project = make_project(
            "acme-core", matrix=make_matrix("linux-cu130", "linux-cpu"), user_indexes=[user]
        )
        found = [versions(resolution) for resolution in solved(project, repository)]
        assert found == [{"acme-core": "1.0"}, {"acme-core": "9.9"}]

    def test_user_index_of_the_family(self) -> None:
        """The user's route goes before the family's."""
        repository = FakeRepository()
        repository.wheels("torch", "2.9.0+cu130", index=CPU)
        repository.wheels("torch", "2.8.0", index=ACME)
        user = UserIndex(index=ACME, packages=("torch",))
        (resolution,) = solved(make_project("torch", user_indexes=[user]), repository)
        assert versions(resolution) == {"torch": "2.8.0"}

    def test_two_routes(self) -> None:
        """A name that two indexes claim is a fault that names both."""
        other = Index(name="other", url="https://other.example/")
        users = [
            UserIndex(index=ACME, packages=("acme-*",)),
            UserIndex(index=other, packages=("acme-core",)),
        ]
        with pytest.raises(ConfigError) as caught:
            solve(make_project("acme-core", user_indexes=users), FakeRepository())
        assert [(fault.where, fault.message) for fault in caught.value.faults] == [
            (
                "tool.lockforge.index",
                (
                    "acme-core is routed to two indexes: acme (https://acme.example/simple/) "
                    "and other (https://other.example/)"
                ),
            )
        ]

    def test_fallback(self) -> None:
        """Plain triton comes from the row's index in the versions it has, else from the default."""
        repository = FakeRepository()
        repository.wheels("triton", "3.5.0", index=CPU)
        repository.wheels("triton", "3.4.0", "3.5.0", "3.6.0")
        found = {}
        for requirement in ("triton", "triton==3.5.0", "triton<3.5"):
            (resolution,) = solved(make_project(requirement), repository)
            (pin,) = resolution.pins
            found[requirement] = (str(pin.version), pin.index.name)
        assert found == {
            "triton": ("3.6.0", "pypi"),
            "triton==3.5.0": ("3.5.0", "cpu"),
            "triton<3.5": ("3.4.0", "pypi"),
        }

    def test_no_other_fallback(self) -> None:
        """No other package of the family is looked for elsewhere."""
        repository = FakeRepository()
        repository.wheels("torch", "2.9.0")
        _, failures = solve(make_project("torch"), repository)
        assert len(failures) == 1
        assert ("pypi", "torch") not in repository.asked


class TestRules:
    """Requirements that metadata lacks."""

    def test_companion(self) -> None:
        """Torchaudio of one minor brings the torch of that minor, and the report hears of it."""
        repository = FakeRepository()
        repository.wheels("torch", "2.8.0+cpu", "2.9.1+cpu", "2.10.0+cpu", index=CPU)
        repository.wheels("torchaudio", "2.9.1+cpu", index=CPU)
        (resolution,) = solved(make_project("torch", "torchaudio"), repository)
        assert versions(resolution) == {"torch": "2.9.1+cpu", "torchaudio": "2.9.1+cpu"}
        assert resolution.additions == (
            Addition(
                package=NormalizedName("torchaudio"),
                requirement="torch==2.9.*",
                reason="torchaudio X.Y is built against torch X.Y",
                source="torchaudio-2.11",
            ),
        )
        assert [(edge.parent, edge.child) for edge in resolution.edges] == [("torchaudio", "torch")]

    def test_metadata_that_says_so_itself(self) -> None:
        """Where the metadata pins torch nothing was added."""
        repository = FakeRepository()
        repository.wheels("torch", "2.9.1+cpu", index=CPU)
        repository.wheels("torchaudio", "2.9.1+cpu", requires=["torch==2.9.1"], index=CPU)
        (resolution,) = solved(make_project("torchaudio"), repository)
        assert resolution.additions == ()

    def numpy(self) -> FakeRepository:
        repository = FakeRepository()
        repository.wheels("torch", "2.2.2+cpu", index=CPU)
        repository.wheels("numpy", "1.26.4", "2.3.1")
        return repository

    ADDITION = Addition(
        package=NormalizedName("torch"),
        requirement="numpy<2",
        reason="torch 2.2 and older is built against NumPy 1",
        source="numpy-2",
    )

    def test_limit(self) -> None:
        """An old torch limits numpy where something else requires it."""
        (resolution,) = solved(make_project("torch", "numpy"), self.numpy())
        assert versions(resolution) == {"torch": "2.2.2+cpu", "numpy": "1.26.4"}
        assert resolution.additions == (self.ADDITION,)

    def test_limit_brings_nothing_in(self) -> None:
        """It does not bring numpy in."""
        (resolution,) = solved(make_project("torch"), self.numpy())
        assert (versions(resolution), resolution.additions) == ({"torch": "2.2.2+cpu"}, ())

    def test_limit_that_did_not_matter(self) -> None:
        """Where numpy is old anyway the report does not hear of the rule."""
        (resolution,) = solved(make_project("torch", "numpy<2"), self.numpy())
        assert versions(resolution) == {"torch": "2.2.2+cpu", "numpy": "1.26.4"}
        assert resolution.additions == ()

    def test_limit_by_another_version(self) -> None:
        """When the solve evades the limit without numpy, numpy does not come back by the rule."""
        repository = self.numpy()
        repository.wheels("foo", "2.0", requires=["numpy>=2"])
        repository.wheels("foo", "1.0")
        (resolution,) = solved(make_project("torch", "foo"), repository)
        assert versions(resolution) == {"torch": "2.2.2+cpu", "foo": "1.0"}

    def test_limit_keeps_the_condition(self) -> None:
        """A numpy that only an extra of the project wants is limited, not always installed."""
        project = make_project("torch", required("numpy", "'plot' in extras"), extras=["plot"])
        (resolution,) = solved(project, self.numpy())
        assert {pin.name: (str(pin.version), pin.condition) for pin in resolution.pins} == {
            "torch": ("2.2.2+cpu", ""),
            "numpy": ("1.26.4", "'plot' in extras"),
        }

    def test_rules_of_the_user(self) -> None:
        """A user's catalogue may have other rules."""
        repository = pure({"foo": {"1.4.2": []}, "bar": {"1.4.0": [], "1.5.0": []}})
        catalog = load_catalog(
            "rules: [{package: foo, versions: '', requires: 'bar=={minor}.*', "
            "reason: mine, source: me}]"
        )
        (resolution,) = solved(make_project("foo"), repository, catalog=catalog)
        assert versions(resolution) == {"foo": "1.4.2", "bar": "1.4.0"}


class TestConditions:
    """What a Target leaves open is kept on the pins."""

    def test_open_markers(self) -> None:
        """A marker on a patch release or a kernel stays, and what it is on is resolved."""
        repository = pure(
            {
                "foo": {"1.0": ["bar; python_full_version < '3.12.4'", "baz"]},
                "bar": {"1.0": ["qux; platform_release >= '5'"]},
                "baz": {"1.0": []},
                "qux": {"1.0": []},
            }
        )
        (resolution,) = solved(make_project("foo"), repository)
        early, kernel = "python_full_version < '3.12.4'", "platform_release >= '5'"
        assert {pin.name: pin.condition for pin in resolution.pins} == {
            "foo": "",
            "bar": early,
            "baz": "",
            "qux": f"{kernel} and {early}",
        }

    def test_markers_of_the_project(self) -> None:
        """The project's own open markers, extras and groups are conditions too."""
        repository = pure({name: {"1.0": []} for name in "abc"})
        project = make_project(
            "a; python_full_version >= '3.12.4' and sys_platform == 'linux'",
            required("b", "'train' in extras"),
            required("c; python_full_version >= '3.12.4'", "'dev' in dependency_groups"),
            extras=["train"],
            groups=["dev"],
        )
        (resolution,) = solved(project, repository)
        late = "python_full_version >= '3.12.4'"
        assert {pin.name: pin.condition for pin in resolution.pins} == {
            "a": late,
            "b": "'train' in extras",
            "c": f"'dev' in dependency_groups and {late}",
        }

    def test_always_wins(self) -> None:
        """A package that is required in any case has no condition."""
        repository = pure({"a": {"1.0": []}})
        project = make_project("a", required("a<2", "'train' in extras"), extras=["train"])
        (resolution,) = solved(project, repository)
        assert [pin.condition for pin in resolution.pins] == [""]


class TestRows:
    """Settings of one row."""

    def test_dependencies_and_exclude(self) -> None:
        """A row may require more than others, and leave a package out, at any depth."""
        repository = pure(
            {"a": {"1.0": ["b", "c"]}, "b": {"1.0": []}, "c": {"1.0": []}, "d": {"1.0": []}}
        )
        project = make_project(
            "a",
            "c",
            matrix=make_matrix("linux-cpu", "mac-cpu"),
            rows={
                "linux-cpu": RowSettings(requirements=(required("d"),)),
                "mac-cpu": RowSettings(exclude=frozenset({NormalizedName("c")})),
            },
        )
        found = [versions(resolution) for resolution in solved(project, repository)]
        assert found == [
            {"a": "1.0", "b": "1.0", "c": "1.0", "d": "1.0"},
            {"a": "1.0", "b": "1.0"},
        ]


class TestPreferences:
    """What an earlier lock chose is chosen again."""

    def test_kept_version(self) -> None:
        """A version stays although a newer one exists, unless a requirement moves it."""
        repository = pure({"foo": {"1.0": [], "2.0": [], "3.0": []}})
        wanted = {"foo": (Preferred(version=Version("2.0")),)}
        found = {
            requirement: versions(
                solved(make_project(requirement), repository, preferred=wanted)[0]
            )
            for requirement in ("foo", "foo>=1", "foo<2", "foo>2")
        }
        assert found == {
            "foo": {"foo": "2.0"},
            "foo>=1": {"foo": "2.0"},
            "foo<2": {"foo": "1.0"},
            "foo>2": {"foo": "3.0"},
        }

    def test_order(self) -> None:
        """The first preference that fits is taken."""
        repository = pure({"foo": {"1.0": [], "2.0": [], "3.0": []}})
        wanted = {"foo": tuple(Preferred(version=Version(one)) for one in ("2.0", "1.0"))}
        found = versions(solved(make_project("foo!=2.0"), repository, preferred=wanted)[0])
        assert found == {"foo": "1.0"}

    def test_kept_file(self) -> None:
        """A kept version keeps its file, whatever was uploaded since."""
        repository = FakeRepository()
        repository.add("foo-1.0-cp312-cp312-manylinux_2_28_x86_64.whl")
        repository.add("foo-1.0-py3-none-any.whl")
        wanted = {"foo": (Preferred(version=Version("1.0"), filename="foo-1.0-py3-none-any.whl"),)}
        (resolution,) = solved(make_project("foo"), repository, preferred=wanted)
        assert [pin.file.filename for pin in resolution.pins] == ["foo-1.0-py3-none-any.whl"]

    def test_vanished(self) -> None:
        """A version that is no longer there is replaced by the newest."""
        repository = pure({"foo": {"1.0": [], "3.0": []}})
        wanted = {"foo": (Preferred(version=Version("2.0"), filename="foo-2.0-py3-none-any.whl"),)}
        assert versions(solved(make_project("foo"), repository, preferred=wanted)[0]) == {
            "foo": "3.0"
        }


class Unavailable(FakeRepository):
    """An index that does not answer for one project."""

    def listing(self, index: Index, project: NormalizedName) -> Listing:
        if project == "bar":
            raise IndexUnavailableError("no answer", where=index.url)
        return super().listing(index, project)


def test_unavailable_index() -> None:
    """An index that does not answer is not one without the project."""
    repository = Unavailable()
    repository.wheels("foo", "2.0", requires=["bar"])
    repository.wheels("foo", "1.0")
    with pytest.raises(IndexUnavailableError, match="no answer"):
        solve(make_project("foo"), repository)


def test_unavailable_index_of_what_nobody_needs() -> None:
    """What the solve does not need is not missed, although it was fetched ahead."""
    repository = Unavailable()
    repository.wheels("foo", "2.0", requires=["bar"])
    repository.wheels("foo", "1.0")
    assert chosen(repository, "foo<2") == {"foo": "1.0"}
