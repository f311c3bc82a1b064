"""Dependencies of pyproject.toml, with the extras and groups asked for."""

from __future__ import annotations

from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lockforge.errors import Fault
from lockforge.model.project import ProjectRequirement
from lockforge.project.dependencies import Asked, OwnExtras, choose_parts, project_requirements
from lockforge.project.faults import Faults
from lockforge.project.options import Options
from tests.unit.project.disk import Disk
from tests.unit.project.gathered import gathered
from tests.unit.project.reading import make_reader


def entry(text: str, where: str, condition: str = "") -> ProjectRequirement:
    return ProjectRequirement(requirement=Requirement(text), where=where, condition=condition)


def read(
    pyproject: dict[str, Any], extras: tuple[str, ...] = (), groups: tuple[str, ...] = ()
) -> tuple[list[ProjectRequirement], tuple[Fault, ...]]:
    faults = Faults()
    asked = Asked(
        extras=dict.fromkeys(map(canonicalize_name, extras), "--extra"),
        groups=dict.fromkeys(map(canonicalize_name, groups), "--group"),
    )
    reader = make_reader(Disk({}), faults)
    found = project_requirements(pyproject, asked, OwnExtras.of(pyproject, reader), reader)
    return found, gathered(faults)


PYPROJECT = {
    "project": {
        "name": "My.App",
        "dependencies": ["torch>=2.9", "numpy"],
        "optional-dependencies": {
            "train": ["tqdm", "my_app[Plot]"],
            "Plot": ["matplotlib; sys_platform == 'linux'"],
            "all": ["my-app[train,plot]"],
            "linux": ["my-app[plot]; sys_platform == 'linux'"],
        },
    },
    "dependency-groups": {
        "test": ["pytest"],
        "Dev_Tools": [{"include-group": "test"}, "ruff"],
        "everything": [{"include-group": "dev.tools"}, {"include-group": "TEST"}, "my-app[train]"],
    },
}
DIRECT = [
    entry("torch>=2.9", "project.dependencies[0]"),
    entry("numpy", "project.dependencies[1]"),
]
OPTIONAL = "project.optional-dependencies"


def texts(found: list[ProjectRequirement]) -> set[tuple[str, str]]:
    return {(str(one.requirement), one.condition) for one in found}


def test_dependencies() -> None:
    """Without extras and groups only the dependencies themselves are taken."""
    assert read(PYPROJECT) == (DIRECT, ())


def test_extra() -> None:
    """An extra's requirements hold under its name; the project's other extras come with it."""
    assert read(PYPROJECT, extras=("train",)) == (
        [
            *DIRECT,
            entry("tqdm", f"{OPTIONAL}.train[0]", "'train' in extras"),
            entry(
                "matplotlib; sys_platform == 'linux'",
                f"{OPTIONAL}.Plot[0]",
                "'train' in extras",
            ),
        ],
        (),
    )


def test_extra_of_extras() -> None:
    """What an extra brings in by way of others holds under its own name."""
    found, faults = read(PYPROJECT, extras=("all",))
    assert faults == ()
    assert texts(found[2:]) == {
        ("tqdm", "'all' in extras"),
        ('matplotlib; sys_platform == "linux"', "'all' in extras"),
    }


def test_extras_that_meet_again() -> None:
    """A requirement that is reached in two ways is there once, under each extra asked for."""
    optional = {
        "all": ["me[train,eval]"],
        "train": ["me[base]", "tqdm"],
        "eval": ["me[base]", "evaluate"],
        "base": ["numpy"],
    }
    found, faults = read(
        {"project": {"name": "me", "optional-dependencies": optional}}, extras=("all", "eval")
    )
    assert faults == ()
    assert len(found) == len(texts(found))
    assert texts(found) == {
        ("numpy", "'all' in extras"),
        ("tqdm", "'all' in extras"),
        ("evaluate", "'all' in extras"),
        ("numpy", "'eval' in extras"),
        ("evaluate", "'eval' in extras"),
    }


def test_marker_on_an_extra_of_ones_own() -> None:
    """A marker on `app[extra]` limits what that extra brings in."""
    pyproject = {
        "project": {
            "name": "app",
            "optional-dependencies": {
                "gpu": ["app[fast]; sys_platform == 'linux'"],
                "fast": ["xformers"],
            },
        }
    }
    found, faults = read(pyproject, extras=("gpu",))
    assert faults == ()
    (one,) = found
    assert one.requirement.marker is not None
    for platform in ("linux", "win32"):
        holds = one.requirement.marker.evaluate({"sys_platform": platform})
        assert holds is (platform == "linux")


@pytest.mark.parametrize(
    "optional",
    [
        {"a": ["app[b]", "one"], "b": ["app[a]", "two"]},
        {"a": ["app[a]", "one", "app[b]"], "b": ["two"]},
        {"a": ["app[b]", "one"], "b": ["app[c]", "two"], "c": ["app[b,a]"]},
    ],
)
def test_extras_in_a_circle(optional: dict[str, list[str]]) -> None:
    """Extras that name each other end, and nothing is read twice."""
    found, faults = read(
        {"project": {"name": "app", "optional-dependencies": optional}}, extras=("a",)
    )
    assert faults == ()
    assert sorted(str(one.requirement) for one in found) == ["one", "two"]


def test_own_extra_among_the_dependencies() -> None:
    """The project's own extra there is always required, and the project itself is not."""
    pyproject = {
        "project": {
            "name": "app",
            "dependencies": ["app[fast]", "torch"],
            "optional-dependencies": {"fast": ["xformers"]},
        }
    }
    found, faults = read(pyproject)
    assert faults == ()
    assert texts(found) == {("xformers", ""), ("torch", "")}


def test_groups() -> None:
    """PEP 735: a group holds under its normalized name, with the groups it includes."""
    condition = "'dev-tools' in dependency_groups"
    assert read(PYPROJECT, groups=("dev_tools",)) == (
        [
            *DIRECT,
            entry("pytest", "dependency-groups.test[0]", condition),
            entry("ruff", "dependency-groups.Dev_Tools[1]", condition),
        ],
        (),
    )


def test_group_of_groups_and_extras() -> None:
    """What groups and extras bring in by way of a group holds under that group's name alone."""
    found, faults = read(PYPROJECT, groups=("everything",))
    assert faults == ()
    condition = "'everything' in dependency_groups"
    assert texts(found[2:]) == {
        ("pytest", condition),
        ("ruff", condition),
        ("tqdm", condition),
        ('matplotlib; sys_platform == "linux"', condition),
    }


FAULTS: list[tuple[dict[str, Any], tuple[str, ...], tuple[str, ...], list[Fault]]] = [
    (
        PYPROJECT,
        ("trian",),
        ("tset",),
        [
            Fault(where="--extra", message="no extra 'trian'", hint="did you mean 'train'?"),
            Fault(where="--group", message="no group 'tset'", hint="did you mean 'test'?"),
        ],
    ),
    (
        {},
        ("train",),
        ("test",),
        [
            Fault(where="--extra", message="no extra 'train'", hint="there are none"),
            Fault(where="--group", message="no group 'test'", hint="there are none"),
        ],
    ),
    (
        {"project": {"optional-dependencies": {"CPU": [], "rocm7_2": [], "mps": []}}},
        ("cpu", "rocm7.2", "mps"),
        (),
        [
            Fault(
                where="project.optional-dependencies.CPU",
                message="the extra 'cpu' has the name of an accelerator, which selects a row",
                hint="rename the extra",
            ),
            Fault(
                where="project.optional-dependencies.rocm7_2",
                message="the extra 'rocm7-2' has the name of an accelerator, which selects a row",
                hint="rename the extra",
            ),
            Fault(
                where="project.optional-dependencies.mps",
                message="the extra 'mps' has the name of an accelerator, which selects a row",
                hint="rename the extra",
            ),
        ],
    ),
    (
        {"project": {"name": "app", "optional-dependencies": {"a": ["app[bb]"], "b": []}}},
        ("a",),
        (),
        [
            Fault(
                where="project.optional-dependencies.a[0]",
                message="no extra 'bb'",
                hint="did you mean 'b'?",
            )
        ],
    ),
    (
        {"project": {"optional-dependencies": {"Train": [], "train": []}}},
        (),
        (),
        [
            Fault(
                where="project.optional-dependencies.train",
                message="'Train' is the same extra",
                hint="leave one of them",
            )
        ],
    ),
    (
        {"project": {"dependencies": "torch", "optional-dependencies": []}},
        (),
        (),
        [
            Fault(where="project.dependencies", message='expected a list, found "torch"'),
            Fault(where="project.optional-dependencies", message="expected a table, found a list"),
        ],
    ),
]


@pytest.mark.parametrize(("pyproject", "extras", "groups", "expected"), FAULTS)
def test_faults(
    pyproject: dict[str, Any],
    extras: tuple[str, ...],
    groups: tuple[str, ...],
    expected: list[Fault],
) -> None:
    """Every fault has its key path; a misspelt name has its nearest match."""
    found = read(pyproject, extras, groups)[1]
    assert sorted(found, key=str) == sorted(expected, key=str)


@pytest.mark.parametrize(
    ("table", "place", "word"),
    [
        (
            {"a": [{"include-group": "b"}], "b": ["x", {"include-group": "a"}]},
            "b[1]",
            "a -> b -> a",
        ),
        ({"a": [{"include-group": "A"}]}, "a[0]", "a -> a"),
        ({"A": ["x", {"include-group": "missing"}]}, "A[1]", "no group 'missing'"),
        ({"a": [{"unknown": "x"}]}, "a[0]", "found a table"),
        ({"a": [{"include-group": "b", "x": "y"}], "b": []}, "a[0]", "found a table"),
        ({"a": [{"include-group": 3}]}, "a[0]", "found a table"),
        (
            {"a": ["not a requirement !"]},
            "a[0]",
            "not a requirement: 'not a requirement !': ",
        ),
        ({"a": "torch"}, "a", 'expected a list, found "torch"'),
        ({"a": ["x", 3]}, "a[1]", "found 3"),
        ({"a": [], "A": []}, "A", "'a' is the same group"),
    ],
)
def test_faulty_group(table: dict[str, Any], place: str, word: str) -> None:
    """What PEP 735 does not allow is a fault of that item of that group, as the file spells it."""
    _, faults = read({"dependency-groups": table}, groups=("a",))
    assert [fault.where for fault in faults] == [f"dependency-groups.{place}"]
    assert word in faults[0].message
    assert "\n" not in faults[0].message
    assert "exception" not in faults[0].message


def test_every_fault_of_a_group() -> None:
    """Several faults of one group come at once."""
    table = {"a": ["!", {"include-group": "missing"}]}
    _, faults = read({"dependency-groups": table}, groups=("a",))
    assert [fault.where for fault in faults] == ["dependency-groups.a[0]", "dependency-groups.a[1]"]


def test_faulty_requirement_of_a_group() -> None:
    """What PEP 735 allows and a lock cannot have is told too; the rest of the group is read."""
    table = {"a": ["acme @ git+https://host.example/acme.git", "ruff"]}
    found, faults = read({"dependency-groups": table}, groups=("a",))
    assert [fault.where for fault in faults] == ["dependency-groups.a[0]"]
    assert texts(found) == {("ruff", "'a' in dependency_groups")}


CONFIG = {"extras": ["Train"], "groups": ["dev_tools"]}
CHOICES: list[tuple[Options, list[str], list[str]]] = [
    (Options(), ["train"], ["dev-tools"]),
    (Options(extras=("plot",), groups=("test",)), ["plot", "train"], ["dev-tools", "test"]),
    (Options(all_extras=True), ["all", "linux", "plot", "train"], ["dev-tools"]),
    (Options(all_groups=True), ["train"], ["dev-tools", "everything", "test"]),
    (Options(no_default_groups=True), ["train"], []),
    (Options(no_default_groups=True, groups=("test",)), ["train"], ["test"]),
    (
        Options(no_default_groups=True, all_groups=True),
        ["train"],
        ["dev-tools", "everything", "test"],
    ),
]


@pytest.mark.parametrize(("options", "extras", "groups"), CHOICES)
def test_choice(options: Options, extras: list[str], groups: list[str]) -> None:
    """Options add to what is configured; the configured groups can be left out."""
    faults = Faults()
    asked = choose_parts(options, CONFIG, PYPROJECT, faults)
    assert (list(asked.extras), list(asked.groups)) == (extras, groups)
    assert gathered(faults) == ()


@pytest.mark.parametrize(
    "options",
    [
        Options(requirements=("torch",)),
        Options(requirement_files=("requirements.txt",)),
        Options(editables=(".",)),
    ],
)
def test_parts_of_other_requirements(options: Options) -> None:
    """Requirements from elsewhere have no extras and no groups, not even those configured."""
    faults = Faults()
    assert choose_parts(options, CONFIG, PYPROJECT, faults) == Asked(extras={}, groups={})
    assert gathered(faults) == ()


def test_asking_for_parts_of_other_requirements() -> None:
    """Each option that asks for one is named."""
    faults = Faults()
    options = Options(
        requirements=("torch",),
        extras=("train",),
        all_extras=True,
        groups=("test",),
        all_groups=True,
        no_default_groups=True,
    )
    choose_parts(options, {}, PYPROJECT, faults)
    assert gathered(faults) == tuple(
        Fault(
            where=option,
            message=(
                "extras and groups belong to pyproject.toml, and the requirements are taken from "
                "elsewhere"
            ),
            hint="leave it out, and name what it brings in as requirements too",
        )
        for option in (
            "--extra",
            "--all-extras",
            "--group",
            "--all-groups",
            "--no-default-groups",
        )
    )
