"""Requirements from pyproject.toml, requirements files and the command line."""

from __future__ import annotations

import posixpath
from typing import Any

import pytest
from packaging.requirements import Requirement

from lockforge.errors import Fault
from lockforge.model.project import ProjectRequirement
from lockforge.project.faults import Faults
from lockforge.project.requirements import (
    RequirementsFile,
    parse_requirement_text,
    parse_requirements_file,
    project_requirements,
)
from tests.unit.project.gathered import gathered


def entry(text: str, where: str, condition: str = "") -> ProjectRequirement:
    return ProjectRequirement(requirement=Requirement(text), where=where, condition=condition)


@pytest.mark.parametrize(
    "text", ["torch", "torch>=2.9", "torch[opt-einsum] >=2.9,<3; sys_platform == 'linux'"]
)
def test_requirement(text: str) -> None:
    """One requirement keeps where it was said and when it holds."""
    faults = Faults()
    found = parse_requirement_text(text, faults, "here", condition="'x' in extras")
    assert found == entry(text, "here", "'x' in extras")
    assert gathered(faults) == ()


def test_not_a_requirement() -> None:
    """What is no requirement is a fault with the reason and an example."""
    faults = Faults()
    assert parse_requirement_text("torch >=> 2", faults, "here") is None
    (fault,) = gathered(faults)
    assert (fault.where, fault.hint) == ("here", 'write "torch>=2.9" or so')
    assert fault.message.startswith("not a requirement: 'torch >=> 2': ")
    assert "\n" not in fault.message


def read(
    pyproject: dict[str, Any], extras: tuple[str, ...] = (), groups: tuple[str, ...] = ()
) -> tuple[list[ProjectRequirement], tuple[Fault, ...]]:
    faults = Faults()
    found = project_requirements(pyproject, extras=extras, groups=groups, faults=faults)
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
    },
}
DIRECT = [
    entry("torch>=2.9", "project.dependencies[0]"),
    entry("numpy", "project.dependencies[1]"),
]
OPTIONAL = "project.optional-dependencies"


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
    assert {(str(one.requirement), one.condition) for one in found[2:]} == {
        ("tqdm", "'all' in extras"),
        ('matplotlib; sys_platform == "linux"', "'all' in extras"),
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


def test_extras_in_a_circle() -> None:
    """Extras that name each other end."""
    optional = {"a": ["app[b]", "one"], "b": ["app[a]", "two"]}
    found, faults = read(
        {"project": {"name": "app", "optional-dependencies": optional}}, extras=("a",)
    )
    assert faults == ()
    assert {str(one.requirement) for one in found} == {"one", "two"}


def test_groups() -> None:
    """PEP 735: a group holds under its name, with the groups it includes."""
    where = "dependency-groups.dev-tools"
    condition = "'dev-tools' in dependency_groups"
    assert read(PYPROJECT, groups=("dev-tools",)) == (
        [*DIRECT, entry("pytest", where, condition), entry("ruff", where, condition)],
        (),
    )


FAULTS: list[tuple[dict[str, Any], tuple[str, ...], tuple[str, ...], list[Fault]]] = [
    (
        PYPROJECT,
        ("trian",),
        ("tset",),
        [
            Fault(
                where="tool.lockforge.extras",
                message="no extra 'trian'",
                hint="did you mean 'train'?",
            ),
            Fault(
                where="tool.lockforge.groups",
                message="no group 'tset'",
                hint="did you mean 'test'?",
            ),
        ],
    ),
    (
        {"project": {"optional-dependencies": {"CPU": ["torch"]}}},
        ("cpu",),
        (),
        [
            Fault(
                where="project.optional-dependencies.CPU",
                message="the extra 'cpu' has the name of an accelerator, which selects a row",
                hint="rename the extra",
            )
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
        {"project": {"dependencies": ["torch @ https://example.org/torch.whl"]}},
        (),
        (),
        [
            Fault(
                where="project.dependencies[0]",
                message="torch is given by a direct URL, which this version cannot lock",
                hint=(
                    "publish it on an index, or put its wheels in a directory and name that as "
                    "an index"
                ),
            )
        ],
    ),
    (
        {"project": {"dependencies": "torch", "optional-dependencies": []}},
        (),
        (),
        [
            Fault(where="project.dependencies", message="expected a list, found 'torch'"),
            Fault(where="project.optional-dependencies", message="expected a table, found []"),
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
    assert read(pyproject, extras, groups)[1] == tuple(expected)


@pytest.mark.parametrize(
    "table",
    [
        {"a": [{"include-group": "b"}], "b": [{"include-group": "a"}]},
        {"a": [{"include-group": "missing"}]},
        {"a": [{"unknown": "x"}]},
        {"a": ["not a requirement !"]},
        {"a": "torch"},
        {"a": [3]},
    ],
)
def test_faulty_group(table: dict[str, Any]) -> None:
    """A group that PEP 735 does not allow is a fault of that group, never a traceback."""
    _, faults = read({"dependency-groups": table}, groups=("a",))
    assert [fault.where for fault in faults] == ["dependency-groups.a"]


def read_files(files: dict[str, str]) -> tuple[RequirementsFile, tuple[Fault, ...]]:
    faults = Faults()
    found = parse_requirements_file("requirements.txt", files.get, faults)
    return found, gathered(faults)


HASH = "--hash=sha256:" + "0" * 64
LINES = [
    # text, requirements with their line numbers
    ("torch\nnumpy>=2\n", [("torch", 1), ("numpy>=2", 2)]),
    ("torch\r\n\r\nnumpy\r\n", [("torch", 1), ("numpy", 3)]),
    ("# comment\n\n  torch  # why\n", [("torch", 3)]),
    ("torch#no-comment\n", None),
    ("torch>=2.9 \\\n  ,<3\nnumpy\n", [("torch>=2.9,<3", 1), ("numpy", 3)]),
    (
        f"torch==2.9 \\\n    {HASH} \\\n    {HASH}\n# via x\nnumpy==2 {HASH}\n",
        [("torch==2.9", 1), ("numpy==2", 5)],
    ),
    (f"torch==2.9 {HASH.replace('=', ' ', 1)}\n", [("torch==2.9", 1)]),
    (
        "torch; sys_platform == 'linux'  # only there\n",
        [("torch; sys_platform == 'linux'", 1)],
    ),
    ("torch \\\r\n>=2\r\nnumpy", [("torch>=2", 1), ("numpy", 3)]),
    ("\n\n\\\n\ntorch\n", [("torch", 5)]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), LINES)
def test_lines(text: str, expected: list[tuple[str, int]] | None) -> None:
    """Comments, hashes and continuations are read, and every line keeps its number."""
    found, faults = read_files({"requirements.txt": text})
    if expected is None:
        assert [fault.where for fault in faults] == ["requirements.txt, line 1"]
        return
    assert faults == ()
    assert found.requirements == [
        entry(requirement, f"requirements.txt, line {line}") for requirement, line in expected
    ]


def test_nested_files() -> None:
    """A file is read once, relative to the one that names it, with its own line numbers."""
    files = {
        "requirements.txt": "-r base/more.txt\n--requirement=base/more.txt\nnumpy\n",
        "base/more.txt": "-r other.txt\n-r more.txt\ntorch\n",
        "base/other.txt": "\n\ntqdm\n",
    }
    found, faults = read_files(files)
    assert faults == ()
    assert found.requirements == [
        entry("tqdm", "base/other.txt, line 3"),
        entry("torch", "base/more.txt, line 3"),
        entry("numpy", "requirements.txt, line 3"),
    ]


def test_files_in_a_circle() -> None:
    """Files that name each other across folders are read once."""
    texts = {
        "requirements.txt": "-r base/more.txt\nnumpy\n",
        "base/more.txt": "-r ../requirements.txt\ntorch\n",
    }
    faults = Faults()
    found = parse_requirements_file(
        "requirements.txt", lambda path: texts.get(posixpath.normpath(path)), faults
    )
    assert gathered(faults) == ()
    assert [str(one.requirement) for one in found.requirements] == ["torch", "numpy"]


@pytest.mark.parametrize(
    ("line", "index_url", "find_links"),
    [
        ("-i https://acme.example/simple", "https://acme.example/simple", []),
        ("--index-url https://acme.example/simple", "https://acme.example/simple", []),
        ("--index-url=https://acme.example/simple", "https://acme.example/simple", []),
        ("-i https://acme.example/simple?a=b", "https://acme.example/simple?a=b", []),
        ("-f wheels", None, ["wheels"]),
        ("--find-links=wheels", None, ["wheels"]),
        ("--find-links wheels/v=1", None, ["wheels/v=1"]),
    ],
)
def test_options(line: str, index_url: str | None, find_links: list[str]) -> None:
    """The options that name an index are understood in each spelling."""
    found, faults = read_files({"requirements.txt": f"{line}\n"})
    assert faults == ()
    assert (found.index_url, found.find_links) == (index_url, find_links)


def test_faults_of_files() -> None:
    """Every faulty line of every file is told with its number."""
    text = "torch >=> 2\n--extra-index-url https://acme.example\n-e .\nnumpy\n-r missing.txt\n"
    found, faults = read_files({"requirements.txt": text})
    assert found.requirements == [entry("numpy", "requirements.txt, line 4")]
    hint = "move it to [tool.lockforge], or delete the line"
    assert faults[0].where == "requirements.txt, line 1"
    assert faults[1:] == (
        Fault(
            where="requirements.txt, line 2",
            message="the option --extra-index-url is not understood here",
            hint=hint,
        ),
        Fault(
            where="requirements.txt, line 3",
            message="the option -e is not understood here",
            hint=hint,
        ),
        Fault(where="missing.txt", message="no such requirements file"),
    )
