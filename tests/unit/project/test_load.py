"""A whole project, from its files and the command line."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName
from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.errors import ConfigError, Fault
from lockforge.model.access import IndexAccess
from lockforge.model.index import Index, UserIndex
from lockforge.model.project import Policy, Project, ProjectRequirement, RowSettings
from lockforge.model.release import Metadata
from lockforge.project.load import Files, Loaded, load_project
from lockforge.project.options import Options
from tests.unit.fakes import PYPI, make_matrix, make_row, torch_index
from tests.unit.project.disk import Disk

NOW = datetime(2026, 11, 15, 8, 30, tzinfo=UTC)
DISK = Disk(
    {
        "/here/requirements.txt": "-i https://r.example/simple\n-f wheels\ntorch\ntqdm\n",
        "/here/wheels/acme_local-1.0-py3-none-any.whl": "",
        "/here/limits.txt": "numpy<2\n",
        "/here/overrides.txt": "numpy==1.26.4\n",
        "/project/wheels/acme-1.0-py3-none-any.whl": "",
        "/project/libs/zed/pyproject.toml": "[project]\nname = 'Zed'\n",
        "/elsewhere/acme-1.0-py3-none-any.whl": "",
    }
)
FILES = Files(
    pyproject={},
    python_version=None,
    read=DISK.read,
    paths=DISK.paths,
    kind_of=DISK.kind_of,
    sha256_of=DISK.sha256_of,
    where="pyproject.toml",
)
SMALL: dict[str, Any] = {
    "project": {"dependencies": ["torch"]},
    "tool": {"lockforge": {"matrix": ["linux-cpu"], "python": ["3.12"]}},
}
FULL: dict[str, Any] = {
    "project": {
        "name": "app",
        "requires-python": ">=3.12",
        "dependencies": ["torch>=2.9", "acme-core"],
        "optional-dependencies": {"train": ["tqdm"]},
    },
    "dependency-groups": {"dev": ["pytest"]},
    "tool": {
        "other": {},
        "lockforge": {
            "matrix": ["linux-cu130", "linux-cpu", "mac-cpu"],
            "python": ["3.12", "3.13"],
            "align": "row",
            "exclude-newer": "7 days",
            "extras": ["train"],
            "groups": ["dev"],
            "torch-index": "https://user:secret@mirror.example/whl/",
            "channel": "test",
            "rows": {
                "linux-cu130": {"glibc": "2.34", "dependencies": ["flash-attn"]},
                "mac-cpu": {"macos": "15.0", "exclude": ["Torch_Audio"]},
            },
            "index": [
                {"name": "pypi-mirror", "url": "https://pypi.example/simple", "default": True},
                {
                    "name": "acme",
                    "url": "https://token@acme.example/simple",
                    "packages": ["acme-*"],
                    "accelerators": ["cu130"],
                },
            ],
            "metadata": {
                "Flash_Attn==2.8.3": {
                    "requires-dist": ["torch", "einops"],
                    "requires-python": ">=3.9",
                }
            },
        },
    },
}


def load(
    pyproject: dict[str, Any] | None = None,
    options: Options | None = None,
    *,
    python_version: str | None = None,
) -> Loaded:
    files = replace(FILES, pyproject=pyproject or {}, python_version=python_version)
    return load_project(options or Options(), files, load_catalog(), NOW)


def small(**keys: Any) -> dict[str, Any]:
    """The small project with other keys in [tool.lockforge], underscores read as dashes."""
    config = {name.replace("_", "-"): value for name, value in keys.items()}
    return {
        "project": SMALL["project"],
        "tool": {"lockforge": SMALL["tool"]["lockforge"] | config},
    }


def torch(label: str, base: str = "https://mirror.example/whl/test") -> Index:
    return Index(name=label, url=f"{base}/{label}/", forbidden_means_missing=True)


def requirement(text: str, where: str, condition: str = "") -> ProjectRequirement:
    return ProjectRequirement(requirement=Requirement(text), where=where, condition=condition)


def test_every_key() -> None:
    """Every key of the file finds its place; credentials are kept apart."""
    loaded = load(FULL)
    assert loaded.project == Project(
        requirements=(
            requirement("torch>=2.9", "project.dependencies[0]"),
            requirement("acme-core", "project.dependencies[1]"),
            requirement("tqdm", "project.optional-dependencies.train[0]", "'train' in extras"),
            requirement("pytest", "dependency-groups.dev[0]", "'dev' in dependency_groups"),
        ),
        requires_python=SpecifierSet(">=3.12"),
        matrix=make_matrix(
            make_row("linux-cu130", (2, 34)),
            make_row("linux-cpu"),
            make_row("mac-cpu", (15, 0)),
            pythons=("3.12", "3.13"),
        ),
        rows={
            "linux-cu130": RowSettings(
                requirements=(
                    requirement("flash-attn", "tool.lockforge.rows.linux-cu130.dependencies[0]"),
                )
            ),
            "mac-cpu": RowSettings(exclude=frozenset({NormalizedName("torch-audio")})),
        },
        default_index=Index(name="pypi-mirror", url="https://pypi.example/simple/"),
        torch_indexes={"cu130": torch("cu130"), "cpu": torch("cpu")},
        user_indexes=(
            UserIndex(
                index=Index(name="acme", url="https://acme.example/simple/"),
                packages=("acme-*",),
                accelerators=("cu130",),
            ),
        ),
        metadata={
            (NormalizedName("flash-attn"), "2.8.3"): Metadata(
                version=Version("2.8.3"),
                requires_python=">=3.9",
                requires_dist=(Requirement("torch"), Requirement("einops")),
            )
        },
        policy=Policy(exclude_newer="2026-11-08T08:30:00Z"),
        extras=(NormalizedName("train"),),
        groups=(NormalizedName("dev"),),
    )
    assert [one for one in loaded.accesses if one.user is not None] == [
        IndexAccess(url="https://acme.example/simple", names=("acme",), user="token"),
        IndexAccess(
            url="https://mirror.example/whl/",
            names=("torch",),
            user="user",
            password="secret",
        ),
    ]
    assert loaded.requirements == (
        "acme-core",
        "linux-cu130: flash-attn",
        "pytest ['dev' in dependency_groups]",
        "torch>=2.9",
        "tqdm ['train' in extras]",
    )
    everything = "\n".join([*loaded.requirements, *loaded.settings])
    assert not {"secret", "token", "user"} & set(everything.replace("@", " ").split())


def test_defaults() -> None:
    """Without more than a matrix there are PyPI, PyTorch's own indexes and the default floors."""
    assert load(SMALL).project == Project(
        requirements=(requirement("torch", "project.dependencies[0]"),),
        requires_python=None,
        matrix=make_matrix("linux-cpu"),
        rows={},
        default_index=PYPI,
        torch_indexes={"cpu": torch_index("cpu")},
        user_indexes=(),
        metadata={},
    )


def test_options_win() -> None:
    """The command line overrides the file, key by key."""
    project = load(
        FULL,
        Options(
            matrix=("win-cpu",),
            python=("3.14",),
            index_url="https://u:p@index.example/simple",
            torch_index="https://torch.example",
            channel="nightly",
            exclude_newer="2026-01-01",
            find_links=("wheels",),
        ),
    ).project
    assert project.matrix == make_matrix("win-cpu", pythons=("3.14",))
    assert project.default_index == Index(name="default", url="https://index.example/simple/")
    assert project.torch_indexes == {"cpu": torch("cpu", "https://torch.example/nightly")}
    assert project.policy.exclude_newer == "2026-01-01T23:59:59Z"
    assert project.user_indexes[1:] == (
        UserIndex(
            index=Index(name="wheels", url="file:///here/wheels", layout="flat"),
            packages=("acme-local",),
        ),
    )


def test_requirements_on_the_command_line() -> None:
    """Requirements there replace those of the project; no file is needed at all."""
    options = Options(requirements=("torch", "tqdm>=4"), matrix=("mac-cpu",), python=("3.12",))
    expected = (requirement("torch", "command line"), requirement("tqdm>=4", "command line"))
    assert load({}, options).project.requirements == expected
    assert load(SMALL, options).project.requirements == expected


def test_requirements_files() -> None:
    """A requirements file replaces the project's requirements and may name indexes."""
    project = load(SMALL, Options(requirement_files=("requirements.txt",))).project
    assert project.requirements == (
        requirement("torch", "requirements.txt, line 3"),
        requirement("tqdm", "requirements.txt, line 4"),
    )
    assert project.default_index == Index(name="default", url="https://r.example/simple/")
    assert [user.index.name for user in project.user_indexes] == ["wheels"]


@pytest.mark.parametrize(
    ("option", "configured", "file", "requires_python", "expected"),
    [
        (("3.14",), ["3.13"], "3.12", ">=3.11", ("3.14",)),
        ((), ["3.13"], "3.12", ">=3.11", ("3.13",)),
        ((), [], "3.12", ">=3.11", ("3.12",)),
        ((), [], None, ">=3.11", ("3.11", "3.12", "3.13", "3.14")),
        ((), [], None, None, ("3.10", "3.11", "3.12", "3.13", "3.14")),
    ],
)
def test_choice_of_pythons(
    option: tuple[str, ...],
    configured: list[str],
    file: str | None,
    requires_python: str | None,
    expected: tuple[str, ...],
) -> None:
    """The option, else the key, else .python-version, else all that are allowed."""
    pyproject = small(python=configured)
    if requires_python:
        pyproject["project"] = {**pyproject["project"], "requires-python": requires_python}
    loaded = load(pyproject, Options(python=option), python_version=file)
    assert loaded.project.matrix == make_matrix("linux-cpu", pythons=expected)


FAULTS: list[tuple[dict[str, Any], list[Fault]]] = [
    (
        small(pythn=["3.12"], channel="nightli", exclude_newer="soon", torch_index=3),
        [
            Fault(
                where="tool.lockforge.pythn",
                message="unknown key",
                hint="did you mean 'python'?",
            ),
            Fault(where="tool.lockforge.torch-index", message="expected a string, found 3"),
            Fault(
                where="tool.lockforge.channel",
                message="unknown channel 'nightli'",
                hint="did you mean 'nightly'?",
            ),
            Fault(
                where="tool.lockforge.exclude-newer",
                message="not a date or duration: 'soon'",
                hint='expected "2026-11-01", "2026-11-01T12:00:00Z" or "7 days"',
            ),
        ],
    ),
    (
        small(
            rows={
                "linux-cpux": {},
                "linux-cpu": {
                    "glibc": "old",
                    "macos": "15.0",
                    "dependencies": ["torch", "!"],
                    "exclude": "x",
                },
            }
        ),
        [
            Fault(
                where="tool.lockforge.rows.linux-cpux",
                message="no such row in the matrix",
                hint="did you mean 'linux-cpu'?",
            ),
            Fault(
                where="tool.lockforge.rows.linux-cpu.macos",
                message="unknown key",
                hint="expected one of: glibc, dependencies, exclude, constraints, overrides",
            ),
            Fault(
                where="tool.lockforge.rows.linux-cpu.glibc",
                message="not a version of glibc that linux can start from: 'old'",
                hint='expected "2.5" to "2.99"',
            ),
            Fault(
                where="tool.lockforge.rows.linux-cpu.dependencies[1]",
                message=(
                    "not a requirement: '!': "
                    "Expected package name at the start of dependency specifier"
                ),
                hint='write "torch>=2.9" or so',
            ),
            Fault(
                where="tool.lockforge.rows.linux-cpu.exclude",
                message='expected a list, found "x"',
            ),
        ],
    ),
    (
        small(
            metadata={
                "flash-attn": {},
                "a==1": {"requires-dist": ["!"], "requires-python": "three", "x": 1},
                "b==1": 3,
            }
        ),
        [
            Fault(
                where='tool.lockforge.metadata."flash-attn"',
                message="not a pinned name",
                hint='write "flash-attn==2.8.3" or so',
            ),
            Fault(
                where='tool.lockforge.metadata."a==1".x',
                message="unknown key",
                hint="expected one of: requires-dist, requires-python",
            ),
            Fault(
                where='tool.lockforge.metadata."a==1".requires-dist[0]',
                message=(
                    "not a requirement: '!': "
                    "Expected package name at the start of dependency specifier"
                ),
            ),
            Fault(
                where='tool.lockforge.metadata."a==1".requires-python',
                message="not a version specifier: 'three'",
            ),
            Fault(where='tool.lockforge.metadata."b==1"', message="expected a table, found 3"),
        ],
    ),
    (
        {"project": SMALL["project"]},
        [
            Fault(
                where="tool.lockforge.matrix",
                message="no matrix",
                hint="give --matrix linux-cu130,mac-cpu or the like, or set tool.lockforge.matrix",
            )
        ],
    ),
    (
        {"tool": SMALL["tool"]},
        [
            Fault(
                where="project.dependencies",
                message="nothing to lock",
                hint="name requirements there, with -r FILE, or on the command line",
            )
        ],
    ),
    (
        small(align="colums"),
        [
            Fault(
                where="tool.lockforge.align",
                message="unknown value 'colums'",
                hint="expected one of: row, common",
            )
        ],
    ),
    (
        {**SMALL, "project": {"dependencies": ["torch"], "requires-python": 3.12}},
        [Fault(where="project.requires-python", message="expected a string, found 3.12")],
    ),
]


@pytest.mark.parametrize(("pyproject", "expected"), FAULTS)
def test_faults(pyproject: dict[str, Any], expected: list[Fault]) -> None:
    """All faults come at once, each with its key path and what was expected."""
    with pytest.raises(ConfigError) as caught:
        load(pyproject)
    assert caught.value.faults == tuple(expected)
    assert caught.value.where == "pyproject.toml"


def test_a_row_is_the_same_however_it_is_spelt() -> None:
    """What is set for a row holds for it by the name of this run."""
    rows = {
        "linux-x86_64-cpu": {"glibc": "2.34", "constraints": ["numpy<2"]},
        "mac-arm64-mps": {"exclude": ["numpy"]},
    }
    config = small(matrix=["linux-cpu", "mac-cpu"], rows=rows)

    project = load(config).project
    other = load(config, Options(matrix=("linux-x86_64-cpu",))).project

    assert [row.platform.floor for row in project.matrix.rows] == [(2, 34), (14, 0)]
    assert project.rows == {
        "linux-cpu": RowSettings(
            constraints=(
                requirement("numpy<2", "tool.lockforge.rows.linux-x86_64-cpu.constraints[0]"),
            )
        ),
        "mac-cpu": RowSettings(exclude=frozenset({NormalizedName("numpy")})),
    }
    assert [row.platform.floor for row in other.matrix.rows] == [(2, 34)]
    assert list(other.rows) == ["linux-x86_64-cpu"]


def test_two_tables_of_one_row() -> None:
    with pytest.raises(ConfigError) as caught:
        load(small(rows={"linux-cpu": {}, "linux-x86_64-cpu": {"glibc": "2.34"}}))
    assert caught.value.faults == (
        Fault(
            where="tool.lockforge.rows.linux-x86_64-cpu",
            message="tool.lockforge.rows.linux-cpu is of the same row",
            hint="say all of a row in one table",
        ),
    )


@pytest.mark.parametrize(
    "value",
    ["2026-11-01T12:00:00Z", datetime(2026, 11, 1, 12, tzinfo=UTC), datetime(2026, 11, 1, 12)],  # noqa: DTZ001
)
def test_a_moment_of_toml(value: object) -> None:
    """A date or moment may stand without quotes, as TOML has them; without a zone it is UTC."""
    assert load(small(**{"exclude-newer": value})).project.policy.exclude_newer == (
        "2026-11-01T12:00:00Z"
    )


def test_a_date_of_toml() -> None:
    day = load(small(**{"exclude-newer": date(2026, 11, 1)}))
    assert day.project.policy.exclude_newer == "2026-11-01T23:59:59Z"
    assert day.settings == load(small(**{"exclude-newer": "2026-11-01"})).settings


@pytest.mark.parametrize(
    ("config", "where"),
    [
        ({"metadata": {"!!==1": {}}}, 'metadata."!!==1"'),
        (
            {"metadata": {"a==1": {"requires-dist": ["b; 'x' in extras"]}}},
            'metadata."a==1".requires-dist[0]',
        ),
        ({"rows": {"linux-cpu": {"exclude": ["a", "b c"]}}}, "rows.linux-cpu.exclude[1]"),
        ({"constraints": ["a; 'x' in dependency_groups"]}, "constraints[0]"),
        ({"matrix": "linux-cpu"}, "matrix"),
    ],
)
def test_slips(config: dict[str, Any], where: str) -> None:
    """What could be read as nothing is a fault, and one only."""
    with pytest.raises(ConfigError) as caught:
        load(small(**config))
    assert [fault.where for fault in caught.value.faults] == [f"tool.lockforge.{where}"]


@pytest.mark.parametrize(
    ("pyproject", "where"),
    [
        ({"tool": 3, "project": []}, {"tool", "project"}),
        ({"tool": {"lockforge": []}}, {"tool.lockforge"}),
        ({"tool": {"lockforge": {"matrix": "linux-cpu"}}}, {"tool.lockforge.matrix"}),
        (small(rows=[]), {"tool.lockforge.rows"}),
        (small(rows={"linux-cpu": 3}), {"tool.lockforge.rows.linux-cpu"}),
        (small(index={}), {"tool.lockforge.index"}),
        (small(metadata=[]), {"tool.lockforge.metadata"}),
        (small(python="3.12"), {"tool.lockforge.python"}),
        (small(python=[3.12]), {"tool.lockforge.python[0]"}),
        (small(matrix=[1, "linux-cpu"]), {"tool.lockforge.matrix[0]"}),
    ],
)
def test_wrong_kinds(pyproject: dict[str, Any], where: set[str]) -> None:
    """A table or list of the wrong kind is a fault at its key, never a traceback."""
    with pytest.raises(ConfigError) as caught:
        load(pyproject)
    assert where <= {fault.where for fault in caught.value.faults}


def test_faults_of_everything() -> None:
    """Faults of options, files and tables are told together."""
    with pytest.raises(ConfigError) as caught:
        load(
            small(rows={"x": {}}, index=[{}], metadata={"a": {}}, extras=["x"], groups=["y"]),
            Options(
                requirements=("!",),
                requirement_files=("missing.txt",),
                matrix=("linux",),
                python=("2.7",),
                channel="beta",
                exclude_newer="soon",
                find_links=("nowhere",),
            ),
        )
    assert {fault.where for fault in caught.value.faults} >= {
        "--matrix[0]",
        "--python[0]",
        "command line",
        "missing.txt",
        "--find-links",
        "tool.lockforge.rows.x",
        "tool.lockforge.index[0].url",
        'tool.lockforge.metadata."a"',
    }


def test_settings_of_rows_that_are_not_locked() -> None:
    """A row the command line leaves out leaves nothing in the lock."""
    pyproject = small(matrix=["linux-cpu", "mac-cpu"], rows={"mac-cpu": {"dependencies": ["tqdm"]}})
    assert load(pyproject).requirements == ("mac-cpu: tqdm", "torch")
    assert load(pyproject, Options(matrix=("linux-cpu",))).requirements == ("torch",)


OTHER = [
    small(exclude_newer="2026-01-01"),
    small(channel="nightly"),
    small(torch_index="https://mirror.example/whl"),
    small(index=[{"url": "https://pypi.example/simple", "default": True}]),
    small(index=[{"url": "https://acme.example/simple", "packages": ["acme-*"]}]),
    small(
        index=[
            {
                "url": "https://acme.example/simple",
                "packages": ["acme-*"],
                "accelerators": ["cpu"],
            }
        ]
    ),
    small(rows={"linux-cpu": {"glibc": "2.34"}}),
    small(rows={"linux-cpu": {"exclude": ["torchaudio"]}}),
    small(constraints=["numpy<2"]),
    small(overrides=["numpy<2"]),
    small(overrides=["zed @ libs/zed"]),
    small(rows={"linux-cpu": {"constraints": ["numpy<2"]}}),
    small(rows={"linux-cpu": {"overrides": ["numpy<2"]}}),
    small(prerelease="allow"),
    small(prerelease="disallow"),
    small(resolution="lowest"),
    small(resolution="lowest-direct"),
    small(align="common"),
    small(only_binary=["torch"]),
    small(only_binary=[":all:"]),
    small(no_binary=["torch"]),
    small(exclude_newer="2026-11-02", exclude_newer_strict=True),
    small(metadata={"a==1": {"requires-dist": ["torch"]}}),
    small(metadata={"a==1": {"requires-dist": []}}),
    small(metadata={"a==1": {"requires-dist": [], "requires-python": ">=3.9"}}),
]


def test_settings_tell_projects_apart() -> None:
    """Whatever decides the result besides the requirements and the matrix is in the settings."""
    found = [load(pyproject).settings for pyproject in (SMALL, *OTHER)]
    assert len(set(found)) == len(found)


def test_settings_of_a_patch_level_limit() -> None:
    """What requires-python leaves of a minor ends up in the lock, so it decides the result."""
    texts = set()
    for limit in (">=3.12", ">=3.12.4"):
        project = {"dependencies": ["torch"], "requires-python": limit}
        loaded = load({**SMALL, "project": project})
        texts.add((loaded.requirements, loaded.settings))
    assert len(texts) == 2


def test_order_does_not_matter() -> None:
    """Requirements and settings are the same text, whatever order they were written in."""
    turned = load(
        {
            "tool": {
                "lockforge": {
                    key: value[::-1] if isinstance(value, list) else value
                    for key, value in reversed(FULL["tool"]["lockforge"].items())
                }
            },
            "dependency-groups": FULL["dependency-groups"],
            "project": {**FULL["project"], "dependencies": ["acme-core", "torch>=2.9"]},
        }
    )
    straight = load(FULL)
    assert turned.requirements == straight.requirements
    assert turned.settings == straight.settings
    assert turned.project.matrix == straight.project.matrix


def test_the_defaults_are_no_settings() -> None:
    """To write down what holds anyway changes no lock."""
    stated = small(
        prerelease="if-necessary",
        resolution="highest",
        align="row",
        constraints=[],
        overrides=[],
        only_binary=[":none:"],
        no_binary=[],
        exclude_newer_strict=False,
    )
    assert load(stated).settings == load(SMALL).settings


RESTRICTED = small(
    constraints=["scipy<2 ; sys_platform == 'linux'", "NumPy<2"],
    overrides=["acme[fast] @ ./wheels/acme-1.0-py3-none-any.whl", "numpy==1.26.4"],
    rows={"linux-cpu": {"constraints": ["pillow<12"], "overrides": ["tqdm==4"]}},
    prerelease="allow",
    resolution="lowest-direct",
    align="common",
    only_binary=["Foo_bar", "a"],
    no_binary=["b"],
    exclude_newer="2026-11-01",
    exclude_newer_strict=True,
)


def test_restrictions() -> None:
    """Constraints and overrides of all rows and of one keep where they were said."""
    project = load(RESTRICTED).project
    at = "tool.lockforge"
    assert project.constraints == (
        requirement("scipy<2 ; sys_platform == 'linux'", f"{at}.constraints[0]"),
        requirement("NumPy<2", f"{at}.constraints[1]"),
    )
    assert project.overrides == (
        requirement(
            "acme[fast] @ file:///project/wheels/acme-1.0-py3-none-any.whl", f"{at}.overrides[0]"
        ),
        requirement("numpy==1.26.4", f"{at}.overrides[1]"),
    )
    assert project.rows == {
        "linux-cpu": RowSettings(
            constraints=(requirement("pillow<12", f"{at}.rows.linux-cpu.constraints[0]"),),
            overrides=(requirement("tqdm==4", f"{at}.rows.linux-cpu.overrides[0]"),),
        )
    }


def test_what_a_lock_records_of_restrictions() -> None:
    assert set(load(RESTRICTED).settings) - set(load(SMALL).settings) == {
        'constraint scipy<2; sys_platform == "linux"',
        "constraint NumPy<2",
        "override acme[fast] @ wheels/acme-1.0-py3-none-any.whl",
        "override numpy==1.26.4",
        # The sha256 of no bytes at all (FIPS 180-4).
        (
            "file wheels/acme-1.0-py3-none-any.whl: sha256 "
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        ),
        "linux-cpu: constraint pillow<12",
        "linux-cpu: override tqdm==4",
        "prerelease allow",
        "resolution lowest-direct",
        "align common",
        "only-binary foo-bar",
        "only-binary a",
        "no-binary b",
        "exclude newer 2026-11-01",
        "exclude newer strict",
    }


def test_what_a_lock_records_of_indexes() -> None:
    """What lies at an address, and how it is read, where the address alone does not tell."""
    indexes = [
        {"name": "acme", "url": "https://acme.example/simple", "packages": ["acme"]},
        {"name": "page", "url": "https://acme.example/all", "packages": ["a"], "format": "flat"},
        {"name": "x.html", "url": "https://x.example/x.html", "packages": ["b"]},
        {"name": "y", "url": "https://y.example/y.html", "packages": ["c"], "format": "simple"},
        {"name": "local", "url": "./wheels"},
        {"name": "copies", "url": "./libs", "format": "simple", "packages": ["d"]},
    ]
    assert set(load(small(index=indexes)).settings) - set(load(SMALL).settings) == {
        "index https://acme.example/simple/ serves acme",
        "index https://acme.example/all as flat serves a",
        "index https://x.example/x.html serves b",
        "index https://y.example/y.html/ serves c",
        "index local at ./wheels serves acme",
        "index copies at ./libs as simple serves d",
    }
    unnamed = [{"url": "./wheels"}, {"url": "/project/libs", "format": "simple"}]
    assert set(load(small(index=unnamed)).settings) - set(load(SMALL).settings) == {
        "index ./wheels serves acme",
        "index libs as simple serves any name",
    }


def test_what_a_lock_records_of_stated_metadata() -> None:
    """The addresses in it are worded without what may be secret."""
    requires = [
        "torch",
        "acme @ https://user:s3cret@acme.example/acme-1.0.zip?sig=s3cret",
        "zed @ file:///home/someone/zed-1.0.zip",
    ]
    loaded = load(small(metadata={"bar==1": {"requires-dist": requires}}))
    assert set(loaded.settings) - set(load(SMALL).settings) == {
        (
            "metadata bar==1 requires acme @ https://acme.example/acme-1.0.zip, torch, "
            "zed @ zed-1.0.zip"
        )
    }


def test_what_a_lock_records_of_the_catalogue() -> None:
    """A user's additions count by what they say, not by how it is written."""

    def recorded(text: str | None) -> set[str]:
        files = replace(FILES, pyproject=SMALL)
        settings = load_project(Options(), files, load_catalog(text), NOW).settings
        return set(settings) - set(load(SMALL).settings)

    (one,) = recorded("python:\n  minors: ['3.12']\n")
    assert re.fullmatch("catalog [0-9a-f]{16}", one)
    assert recorded("# Ours.\npython: {minors: ['3.12']}\n") == {one}
    assert recorded("python: {minors: ['3.13']}\n") != {one}
    assert recorded("# Nothing.\n") == recorded(None) == set()


def test_a_row_asks_for_an_extra_of_the_project() -> None:
    """The name is the project's own in a row too, and never one to ask an index for."""
    pyproject = small(rows={"linux-cpu": {"dependencies": ["App[gpu]; os_name == 'posix'", "b"]}})
    pyproject["project"] = {
        "name": "app",
        "optional-dependencies": {"gpu": ["flash-attn", "app[more]"], "more": ["einops"]},
    }
    assert load(pyproject).project.rows["linux-cpu"].requirements == (
        requirement("flash-attn; os_name == 'posix'", "project.optional-dependencies.gpu[0]"),
        requirement("einops; os_name == 'posix'", "project.optional-dependencies.more[0]"),
        requirement("b", "tool.lockforge.rows.linux-cpu.dependencies[1]"),
    )


@pytest.mark.parametrize("reverse", [False, True])
def test_one_directory_is_editable_or_not(*, reverse: bool) -> None:
    """Where one of the lines that name it says so it is, in whatever order they come."""
    lines = ["-e /project/libs/zed", "/project/libs/zed", "torch"]
    disk = Disk({**DISK.files, "/here/r.txt": "\n".join(lines[::-1] if reverse else lines)})
    rows = {"linux-cpu": {"dependencies": ["zed @ ./libs/zed"]}}
    files = replace(FILES, pyproject=small(rows=rows), read=disk.read)
    options = Options(requirement_files=("r.txt",))
    project = load_project(options, files, load_catalog(), NOW).project

    found = (*project.requirements, *project.rows["linux-cpu"].requirements)
    assert {(one.requirement.name, one.editable) for one in found} == {
        ("zed", True),
        ("torch", False),
    }


def test_restrictions_of_the_command_line() -> None:
    """Constraints add up; an override there takes the place of the configured one."""
    options = Options(constraint_files=("limits.txt",), override_files=("overrides.txt",))
    project = load(
        small(constraints=["scipy<2"], overrides=["NumPy==2", "tqdm==4"]), options
    ).project
    assert [(str(one.requirement), one.where) for one in project.constraints] == [
        ("scipy<2", "tool.lockforge.constraints[0]"),
        ("numpy<2", "limits.txt, line 1"),
    ]
    assert [(str(one.requirement), one.where) for one in project.overrides] == [
        ("numpy==1.26.4", "overrides.txt, line 1"),
        ("tqdm==4", "tool.lockforge.overrides[1]"),
    ]


def test_faults_of_restrictions() -> None:
    """Each list is judged on its own, a row's for that row."""
    with pytest.raises(ConfigError) as caught:
        load(
            small(
                constraints=["a[x]", "b @ ./wheels/acme-1.0-py3-none-any.whl", "!"],
                overrides=["numpy==1", "numpy==2", 3],
                rows={
                    "linux-cpu": {
                        "constraints": ["c @ https://host.example/c-1.0.tar.gz"],
                        "overrides": [
                            "scipy==1; sys_platform == 'win32'",
                            "scipy==2",
                            "scipy==3; sys_platform == 'linux'",
                            # One that all rows share may be another in one row.
                            "numpy==3",
                        ],
                    }
                },
            ),
            Options(constraint_files=("missing.txt",), override_files=("missing.txt",)),
        )
    assert sorted(fault.where for fault in caught.value.faults) == [
        "missing.txt",
        "missing.txt",
        "tool.lockforge.constraints[0]",
        "tool.lockforge.constraints[1]",
        "tool.lockforge.constraints[2]",
        "tool.lockforge.overrides[1]",
        "tool.lockforge.overrides[2]",
        "tool.lockforge.rows.linux-cpu.constraints[0]",
        "tool.lockforge.rows.linux-cpu.overrides[2]",
    ]


ACME = "acme-1.0-py3-none-any.whl"


def test_direct_references() -> None:
    """Wherever one is stated, it is relative to that place, and shown relative to the project."""
    pyproject = small(rows={"linux-cpu": {"dependencies": ["zed @ libs/zed"]}})
    pyproject["project"] = {
        "name": "app",
        "dependencies": [f"acme @ wheels/{ACME}"],
        "optional-dependencies": {"more": [f"acme @ ../elsewhere/{ACME}"]},
    }
    pyproject["dependency-groups"] = {"dev": ["zed @ ./libs/zed"]}
    loaded = load(pyproject, Options(extras=("more",), groups=("dev",)))
    assert {one.requirement.url for one in loaded.project.requirements} == {
        f"file:///project/wheels/{ACME}",
        f"file:///elsewhere/{ACME}",
        "file:///project/libs/zed",
    }
    assert loaded.requirements == (
        f"acme @ ../elsewhere/{ACME} ['more' in extras]",
        f"acme @ wheels/{ACME}",
        "linux-cpu: zed @ libs/zed",
        "zed @ libs/zed ['dev' in dependency_groups]",
    )
    assert loaded.uses_local_files


def test_direct_references_of_the_command_line() -> None:
    """They are relative to the current directory; an editable one is recorded as such."""
    options = Options(
        requirements=(f"../project/wheels/{ACME}", f"https://u:p@host.example/{ACME}?key=k"),
        editables=("../project/libs/zed[fast]",),
    )
    loaded = load(SMALL, options)
    assert loaded.project.requirements == (
        requirement(f"acme @ file:///project/wheels/{ACME}", "command line"),
        requirement(f"acme @ https://host.example/{ACME}?key=k", "command line"),
        replace(requirement("zed[fast] @ file:///project/libs/zed", "--editable"), editable=True),
    )
    assert loaded.requirements == (
        f"acme @ https://host.example/{ACME}",
        f"acme @ wheels/{ACME}",
        "zed[fast] @ libs/zed",
    )
    assert "editable zed" in loaded.settings


@pytest.mark.parametrize(
    ("pyproject", "local"),
    [
        (SMALL, False),
        (small(overrides=["zed @ libs/zed"]), True),
        (small(rows={"linux-cpu": {"overrides": ["zed @ libs/zed"]}}), True),
        (small(rows={"linux-cpu": {"dependencies": ["zed @ libs/zed"]}}), True),
        (small(overrides=[f"acme @ https://host.example/{ACME}"]), False),
    ],
)
def test_local_files(pyproject: dict[str, Any], *, local: bool) -> None:
    """Whatever brings a file of this machine in is told, since it may change unseen."""
    assert load(pyproject).uses_local_files is local


def test_pythons_that_nobody_stated() -> None:
    derived = load(small(python=[])).project
    stated = load(SMALL).project
    from_file = load(small(python=[]), python_version="3.12\n").project
    assert [one.pythons_derived for one in (derived, stated, from_file)] == [True, False, False]


def test_patch_release() -> None:
    """A stated patch release is where the Target begins."""
    project = load(small(python=["3.12.3", "3.13"])).project
    assert [target.python for target in project.matrix.targets] == [(3, 12, 3), (3, 13)]
    project = load(SMALL, Options(python=("3.11.9",))).project
    assert [target.python for target in project.matrix.targets] == [(3, 11, 9)]


def test_extras_and_groups_add_up() -> None:
    """Those of the command line come beside those of the file."""
    pyproject = {
        **FULL,
        "project": {
            **FULL["project"],
            "optional-dependencies": {"train": ["tqdm"], "eval": ["evaluate"]},
        },
        "dependency-groups": {"dev": ["pytest"], "docs": ["sphinx"]},
    }
    project = load(pyproject, Options(extras=("eval",), groups=("docs",))).project
    assert (project.extras, project.groups) == (("eval", "train"), ("dev", "docs"))
    project = load(pyproject, Options(all_extras=True, no_default_groups=True)).project
    assert (project.extras, project.groups) == (("eval", "train"), ())


def test_an_extra_named_like_an_accelerator_among_all() -> None:
    pyproject = {
        **SMALL,
        "project": {"optional-dependencies": {"cu130": ["triton"], "train": ["tqdm"]}},
    }
    with pytest.raises(ConfigError) as caught:
        load(pyproject, Options(all_extras=True))
    assert [fault.where for fault in caught.value.faults] == ["project.optional-dependencies.cu130"]


def test_notes() -> None:
    """What a file says and is not used is passed on."""
    text = (
        "--extra-index-url https://download.pytorch.org/whl/cu130\n"
        f"torch==2.9 --hash=sha256:{'0' * 64}\n"
    )
    disk = Disk({"/here/pins.txt": text})
    files = replace(FILES, pyproject=SMALL, read=disk.read)
    options = Options(requirement_files=("pins.txt",))
    loaded = load_project(options, files, load_catalog(), NOW)
    assert [note.partition(": ")[0] for note in loaded.notes] == ["pins.txt", "pins.txt, line 1"]
    assert load(SMALL).notes == ()
