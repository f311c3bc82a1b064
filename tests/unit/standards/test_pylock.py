"""pylock.toml as PEP 751 has it, with what lockforge adds beside it."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import pytest
from packaging.pylock import Pylock
from packaging.utils import NormalizedName

from lockforge.errors import LockSyntaxError
from lockforge.model.lock import Dependency, Lock, LockedFile, LockedPackage, LockedRow
from lockforge.standards.locked_rows import locked_rows
from lockforge.standards.pylock import parse_pylock, render_pylock

A, B, C, D = (letter * 64 for letter in "abcd")
ROW = LockedRow(
    name="linux-cu130",
    platform="linux",
    accelerator="cu130",
    pythons=("3.12", "3.13"),
    floor="glibc 2.28",
    extra="cu130",
    torch="2.11.0+cu130",
    index="https://download.pytorch.org/whl/cu130/",
    packages=2,
    digest=D,
    size=1234,
    unsized=1,
    min_driver="580",
    gpu_architectures=("8.0", "9.0"),
    gpu_ptx=("12.0",),
    judged_by="2.10",
)
BARE_ROW = LockedRow(
    name="win-cpu",
    platform="win",
    accelerator="cpu",
    pythons=("3.12",),
    floor=None,
    extra=None,
    torch=None,
    index="https://download.pytorch.org/whl/cpu/",
    packages=0,
    digest=A,
    size=0,
    unsized=0,
    min_driver=None,
    gpu_architectures=(),
    gpu_ptx=(),
    judged_by=None,
)
FULL = Lock(
    environments=("sys_platform == 'linux' and platform_machine == 'x86_64'",),
    requires_python=">=3.12,<3.14",
    extras=("cu130", "train"),
    dependency_groups=("dev",),
    default_groups=(),
    packages=(
        LockedPackage(
            name="mylib",  # type: ignore[arg-type]
            version="1.0",
            index=None,
            marker="'train' in extras",
            requires_python=">=3.12.1",
            dependencies=(),
            wheels=(),
            sdist=LockedFile(name="mylib-1.0.tar.gz", sha256=A, path="files/mylib-1.0.tar.gz"),
        ),
        LockedPackage(
            name="torch",  # type: ignore[arg-type]
            version="2.11.0+cu130",
            index="https://download.pytorch.org/whl/cu130",
            marker="",
            requires_python=None,
            dependencies=(
                Dependency(name="mylib"),  # type: ignore[arg-type]
                Dependency(
                    name="triton",  # type: ignore[arg-type]
                    version="3.5.0",
                    index="https://download.pytorch.org/whl/cu130",
                    marker="sys_platform == 'linux'",
                ),
            ),
            wheels=(
                LockedFile(
                    name="torch-2.11.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
                    sha256=B,
                    url="https://files.example/torch-2.11.0%2Bcu130-cp312-cp312-manylinux_2_28_x86_64.whl",
                    size=1234,
                ),
                LockedFile(
                    name="torch-2.11.0+cu130-cp313-cp313-manylinux_2_28_x86_64.whl",
                    sha256=C,
                    url="https://files.example/torch-2.11.0%2Bcu130-cp313-cp313-manylinux_2_28_x86_64.whl",
                ),
            ),
            sdist=None,
        ),
    ),
    rows=(ROW, BARE_ROW),
    requirements=("mylib", "torch>=2.9"),
    settings=("default index https://pypi.org/simple/",),
    additions=("torchaudio: torch>=2.11 (because; source: somewhere)",),
    notes=("a note",),
)
FULL_TEXT = f"""\
lock-version = "1.0"
environments = [
  "sys_platform == 'linux' and platform_machine == 'x86_64'",
]
requires-python = ">=3.12,<3.14"
extras = [
  "cu130",
  "train",
]
dependency-groups = [
  "dev",
]
default-groups = []
created-by = "lockforge"

[[packages]]
name = "mylib"
version = "1.0"
marker = "'train' in extras"
requires-python = ">=3.12.1"
sdist = {{ name = "mylib-1.0.tar.gz", path = "files/mylib-1.0.tar.gz", hashes = {{ sha256 = "{A}" }} }}

[[packages]]
name = "torch"
version = "2.11.0+cu130"
dependencies = [
  {{ name = "mylib" }},
  {{ name = "triton", version = "3.5.0", marker = "sys_platform == 'linux'", index = "https://download.pytorch.org/whl/cu130" }},
]
index = "https://download.pytorch.org/whl/cu130"
wheels = [
  {{ name = "torch-2.11.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl", url = "https://files.example/torch-2.11.0%2Bcu130-cp312-cp312-manylinux_2_28_x86_64.whl", size = 1234, hashes = {{ sha256 = "{B}" }} }},
  {{ name = "torch-2.11.0+cu130-cp313-cp313-manylinux_2_28_x86_64.whl", url = "https://files.example/torch-2.11.0%2Bcu130-cp313-cp313-manylinux_2_28_x86_64.whl", hashes = {{ sha256 = "{C}" }} }},
]

[tool.lockforge]
format = 1
requirements = [
  "mylib",
  "torch>=2.9",
]
settings = [
  "default index https://pypi.org/simple/",
]
additions = [
  "torchaudio: torch>=2.11 (because; source: somewhere)",
]
notes = [
  "a note",
]

[tool.lockforge.rows.linux-cu130]
platform = "linux"
accelerator = "cu130"
python = ["3.12", "3.13"]
floor = "glibc 2.28"
extra = "cu130"
torch = "2.11.0+cu130"
index = "https://download.pytorch.org/whl/cu130/"
min-driver = "580"
gpu-architectures = ["8.0", "9.0"]
gpu-ptx = ["12.0"]
gpu-architectures-of-torch = "2.10"
packages = 2
size = 1234
files-without-size = 1
digest = "{D}"

[tool.lockforge.rows.win-cpu]
platform = "win"
accelerator = "cpu"
python = ["3.12"]
index = "https://download.pytorch.org/whl/cpu/"
packages = 0
size = 0
digest = "{A}"
"""  # noqa: E501
SMALL = replace(
    FULL,
    extras=(),
    dependency_groups=(),
    packages=(
        LockedPackage(
            name="six",  # type: ignore[arg-type]
            version="1.17.0",
            index="https://pypi.org/simple",
            marker="",
            requires_python=None,
            dependencies=(),
            wheels=(
                LockedFile(
                    name="six-1.17.0-py2.py3-none-any.whl",
                    sha256=A,
                    url="https://files.example/six",
                ),
            ),
            sdist=None,
        ),
    ),
    rows=(BARE_ROW,),
    requirements=(),
    settings=(),
    additions=(),
    notes=(),
)
SMALL_TEXT = f"""\
lock-version = "1.0"
environments = [
  "sys_platform == 'linux' and platform_machine == 'x86_64'",
]
requires-python = ">=3.12,<3.14"
created-by = "lockforge"

[[packages]]
name = "six"
version = "1.17.0"
index = "https://pypi.org/simple"
wheels = [
  {{ name = "six-1.17.0-py2.py3-none-any.whl", url = "https://files.example/six", hashes = {{ sha256 = "{A}" }} }},
]

[tool.lockforge]
format = 1
requirements = []
settings = []

[tool.lockforge.rows.win-cpu]
platform = "win"
accelerator = "cpu"
python = ["3.12"]
index = "https://download.pytorch.org/whl/cpu/"
packages = 0
size = 0
digest = "{A}"
"""  # noqa: E501


@pytest.mark.parametrize(("lock", "text"), [(FULL, FULL_TEXT), (SMALL, SMALL_TEXT)])
def test_render(lock: Lock, text: str) -> None:
    """A lock is written in PEP 751's order of keys, one file and one value a line."""
    assert render_pylock(lock) == text


def test_valid_by_packaging() -> None:
    """Every reader of PEP 751 sees the same packages, files and hashes."""
    lock = Pylock.from_dict(tomllib.loads(FULL_TEXT) | {"packages": _without_dependencies()})
    assert [(one.name, str(one.version), str(one.marker or "")) for one in lock.packages] == [
        ("mylib", "1.0", '"train" in extras'),
        ("torch", "2.11.0+cu130", ""),
    ]
    assert [
        (wheel.filename, dict(wheel.hashes)) for one in lock.packages for wheel in one.wheels or ()
    ] == [
        ("torch-2.11.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl", {"sha256": B}),
        ("torch-2.11.0+cu130-cp313-cp313-manylinux_2_28_x86_64.whl", {"sha256": C}),
    ]


def _without_dependencies() -> list[dict[str, object]]:
    packages = tomllib.loads(FULL_TEXT)["packages"]
    return [{key: one[key] for key in one if key != "dependencies"} for one in packages]


def test_rows_read_back() -> None:
    """What a lock says of its rows is read as it was written, in its order."""
    for lock in (FULL, SMALL):
        _, data = parse_pylock(render_pylock(lock), where="pylock.toml")
        assert locked_rows(data, where="pylock.toml") == lock.rows


def test_nothing_to_install() -> None:
    """PEP 751 wants `packages` also where nothing is to be installed."""
    lock, data = parse_pylock(render_pylock(replace(SMALL, packages=())), where="pylock.toml")
    assert (list(lock.packages), locked_rows(data, where="")) == ([], (BARE_ROW,))


def test_names_that_are_no_bare_keys() -> None:
    """A row of a dotted accelerator has its name quoted."""
    lock = replace(SMALL, rows=(replace(BARE_ROW, name="linux-rocm7.2"),))
    text = render_pylock(lock)
    assert '[tool.lockforge.rows."linux-rocm7.2"]' in text
    assert locked_rows(tomllib.loads(text), where="") == lock.rows


RESTORE = "restore it from version control, or delete it and run `lockforge lock`"
CONFLICT = "take either side of the conflict (git checkout --ours), then run `lockforge lock`"
FAULTS = [
    (
        'lock-version = "1.0"\n<<<<<<< HEAD\ncreated-by = "a"\n=======\n>>>>>>> other\n',
        "the lock holds unresolved merge conflict markers",
        "pylock.toml, line 2",
        CONFLICT,
    ),
    (
        'lock-version = "1.0"\n\n\n=======\n',
        "the lock holds unresolved merge conflict markers",
        "pylock.toml, line 4",
        CONFLICT,
    ),
    (
        "||||||| parent of abc\n",
        "the lock holds unresolved merge conflict markers",
        "pylock.toml, line 1",
        CONFLICT,
    ),
    (
        'created-by = "x"\npackages = []\n',
        "the lock is not what PEP 751 says: Missing required value in 'lock-version'",
        "pylock.toml",
        RESTORE,
    ),
    (
        'lock-version = "1.0"\ncreated-by = "x"\n[[packages]]\nname = "Not_Normal"\n',
        (
            "the lock is not what PEP 751 says: Name 'Not_Normal' is not normalized in "
            "'packages[0].name'"
        ),
        "pylock.toml",
        RESTORE,
    ),
]


@pytest.mark.parametrize(("text", "message", "where", "hint"), FAULTS)
def test_faults(text: str, message: str, where: str, hint: str) -> None:
    """What is wrong with a lock is said with its line or address and the way out."""
    with pytest.raises(LockSyntaxError) as caught:
        parse_pylock(text, where="pylock.toml")
    error = caught.value
    assert (error.message, error.where, error.hint) == (message, where, hint)


def test_not_toml() -> None:
    """The place of a TOML fault is named."""
    with pytest.raises(LockSyntaxError, match=r"^the lock is not TOML: .*line 2") as caught:
        parse_pylock('lock-version = "1.0"\nno value\n', where="pylock.toml")
    assert (caught.value.where, caught.value.hint) == ("pylock.toml", RESTORE)


def test_later_version() -> None:
    """PEP 751: a tool must refuse a version of the format it does not support."""
    text = SMALL_TEXT.replace('lock-version = "1.0"', 'lock-version = "2.0"')
    with pytest.raises(LockSyntaxError, match=r"2\.0") as caught:
        parse_pylock(text, where="pylock.toml")
    assert (caught.value.where, caught.value.hint) == ("pylock.toml", "update lockforge")


def test_later_format() -> None:
    """A later revision of [tool.lockforge] is refused, not misread."""
    data = tomllib.loads(FULL_TEXT.replace("format = 1", "format = 2"))
    with pytest.raises(LockSyntaxError) as caught:
        locked_rows(data, where="pylock.toml")
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        "the lock's [tool.lockforge] is of format 2, newer than 1",
        "pylock.toml",
        "update lockforge",
    )


def test_lock_of_another_tool() -> None:
    """A lock without our table names no rows."""
    tables: list[dict[str, object]] = [{}, {"tool": {}}, {"tool": {"other": {"rows": {}}}}]
    for data in tables:
        assert locked_rows(data, where="pylock.toml") == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("format = 1\n", ""),
        ("format = 1\n", 'format = "one"\n'),
        ('platform = "linux"\n', ""),
        (f'digest = "{D}"\n', ""),
        ('python = ["3.12", "3.13"]', "python = 3"),
        # What no reader could use later is refused here as well.
        ('python = ["3.12", "3.13"]', 'python = ["three"]'),
        ('python = ["3.12", "3.13"]', "python = [3.12]"),
        ('platform = "linux"\n', 'platform = "amiga"\n'),
        ('floor = "glibc 2.28"\n', 'floor = "old"\n'),
    ],
)
def test_damaged_table(old: str, new: str) -> None:
    """A damaged table is said to be damaged, never a traceback later."""
    assert old in FULL_TEXT
    data = tomllib.loads(FULL_TEXT.replace(old, new))
    with pytest.raises(LockSyntaxError, match=r"^\[tool\.lockforge\] is damaged"):
        locked_rows(data, where="pylock.toml")


def with_package(package: LockedPackage) -> str:
    """The text of one entry."""
    text = render_pylock(replace(FULL, packages=(package,)))
    return text.partition("\n[[packages]]\n")[2].partition("\n[tool.lockforge]")[0]


def direct(**keys: Any) -> LockedPackage:
    """Give an entry of a direct reference, which has no index and no other source."""
    common: dict[str, Any] = {
        "name": "acme",
        "version": "1.0",
        "index": None,
        "marker": "",
        "requires_python": None,
        "dependencies": (),
        "wheels": (),
        "sdist": None,
    }
    return LockedPackage(**(common | keys))


WHEEL = "acme-1.0-py3-none-any.whl"
DIRECT: list[tuple[dict[str, Any], list[str]]] = [
    # an archive at an address, whose name is told by it
    (
        {"archive": LockedFile(name=WHEEL, sha256=A, url=f"https://h.example/{WHEEL}", size=7)},
        [
            'version = "1.0"',
            (
                f'archive = {{ url = "https://h.example/{WHEEL}", size = 7, '
                f'hashes = {{ sha256 = "{A}" }} }}'
            ),
        ],
    ),
    # an archive below the project
    (
        {
            "archive": LockedFile(name=WHEEL, sha256=A, path=f"wheels/{WHEEL}"),
            "marker": "sys_platform == 'linux'",
        },
        [
            'version = "1.0"',
            "marker = \"sys_platform == 'linux'\"",
            f'archive = {{ path = "wheels/{WHEEL}", hashes = {{ sha256 = "{A}" }} }}',
        ],
    ),
    # a directory, which has neither version nor hash
    (
        {"version": None, "directory": LockedFile(name="acme-1.0", sha256=None, path="libs/acme")},
        ['directory = { path = "libs/acme" }'],
    ),
    (
        {
            "version": None,
            "directory": LockedFile(name="acme-1.0", sha256=None, path="."),
            "editable": True,
            "dependencies": (Dependency(name=NormalizedName("torch")),),
        },
        [
            "dependencies = [",
            '  { name = "torch" },',
            "]",
            'directory = { path = ".", editable = true }',
        ],
    ),
]


@pytest.mark.parametrize(("keys", "lines"), DIRECT)
def test_direct_references(keys: dict[str, Any], lines: list[str]) -> None:
    """PEP 751: `archive` or `directory`, then no wheels, sdist or index; an archive has a hash."""
    assert with_package(direct(**keys)).splitlines() == ['name = "acme"', *lines]
    parsed = Pylock.from_dict(
        tomllib.loads(render_pylock(replace(FULL, packages=(direct(**keys),))))
    )
    (package,) = parsed.packages
    assert package.wheels is None
    assert package.sdist is None
    assert package.index is None
    assert (package.archive is None) != (package.directory is None)
