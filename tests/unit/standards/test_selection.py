"""What a lock installs on one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.pylock import PackageSdist, PackageWheel

from lockforge.errors import LockSelectionError
from lockforge.model.platforms import PLATFORMS
from lockforge.standards.pylock import parse_pylock
from lockforge.standards.selection import select, select_possible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.pylock import Pylock

LINUX, WIN, MAC = PLATFORMS["linux"], PLATFORMS["win"], PLATFORMS["mac"]
HINT = "restore the lock from version control, or run `lockforge lock`"
HASH = "0" * 64


def wheel(filename: str) -> str:
    return (
        f'{{ name = "{filename}", url = "https://files.example/{filename}", '
        f'hashes = {{ sha256 = "{HASH}" }} }}'
    )


def package(
    name: str,
    version: str,
    *filenames: str,
    marker: str = "",
    requires_python: str = "",
    dependencies: Sequence[str] = (),
) -> str:
    """One entry; its wheel is a pure Python one unless others are named."""
    lines = ["[[packages]]", f'name = "{name}"', f'version = "{version}"']
    if marker:
        lines.append(f'marker = "{marker}"')
    if requires_python:
        lines.append(f'requires-python = "{requires_python}"')
    if dependencies:
        lines.append(f"dependencies = [{', '.join(dependencies)}]")
    wheels = ", ".join(map(wheel, filenames or [f"{name}-{version}-py3-none-any.whl"]))
    return "\n".join([*lines, f"wheels = [{wheels}]"]) + "\n"


HEAD = """\
lock-version = "1.0"
environments = ["sys_platform == 'linux'", "sys_platform == 'darwin'"]
requires-python = ">=3.12,<3.14"
extras = ["cpu", "cu130", "train"]
dependency-groups = ["dev"]
created-by = "test"
"""


def lock(*packages: str) -> Pylock:
    return parse_pylock("\n".join([HEAD, *packages]), where="pylock.toml")[0]


TORCH = lock(
    package(
        "torch",
        "2.6.0",
        "torch-2.6.0-cp312-none-macosx_11_0_arm64.whl",
        marker="sys_platform == 'darwin'",
    ),
    package(
        "torch",
        "2.6.0+cpu",
        "torch-2.6.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl",
        "torch-2.6.0+cpu-cp313-cp313-manylinux_2_28_x86_64.whl",
        marker="'cpu' in extras and sys_platform == 'linux'",
    ),
    package(
        "torch",
        "2.6.0+cu130",
        "torch-2.6.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
        marker="'cu130' in extras and sys_platform == 'linux'",
    ),
    package("plot", "1.0", marker="'train' in extras"),
    package("tests", "2.0", marker="'dev' in dependency_groups"),
    package("old", "3.0", marker="python_full_version < '3.12.4'"),
)


@pytest.mark.parametrize(
    ("platform", "python", "patch", "extras", "groups", "expected"),
    [
        ("linux", 12, 4, ["cpu"], [], {"torch": "2.6.0+cpu"}),
        ("linux", 13, 0, ["cpu"], [], {"torch": "2.6.0+cpu"}),
        ("linux", 12, 4, ["cu130"], [], {"torch": "2.6.0+cu130"}),
        ("linux", 12, 0, ["cu130"], [], {"torch": "2.6.0+cu130", "old": "3.0"}),
        ("linux", 12, 4, [], [], {}),
        ("mac", 12, 4, [], [], {"torch": "2.6.0"}),
        ("mac", 12, 4, ["cpu"], [], {"torch": "2.6.0"}),
        ("mac", 12, 4, ["train"], ["dev"], {"torch": "2.6.0", "plot": "1.0", "tests": "2.0"}),
    ],
)
def test_selection(
    platform: str,
    python: int,
    patch: int,
    extras: list[str],
    groups: list[str],
    expected: dict[str, str],
) -> None:
    """Markers pick the entries of the platform, the extras, the groups and the patch release."""
    found = select(
        TORCH, PLATFORMS[platform], (3, python), extras=extras, groups=groups, patch=patch
    )
    assert {name: str(one.version) for name, (one, _) in found.items()} == expected


def test_best_file() -> None:
    """Of an entry's wheels the best for the machine is taken, else the sdist."""
    several = package(
        "foo",
        "1.0",
        "foo-1.0-py3-none-any.whl",
        "foo-1.0-cp312-cp312-manylinux_2_17_x86_64.whl",
        "foo-1.0-cp312-cp312-manylinux_2_28_x86_64.whl",
        "foo-1.0-cp312-cp312-manylinux_2_34_x86_64.whl",
    )
    sdist = package("bar", "1.0", "bar-1.0-cp311-cp311-win_amd64.whl") + (
        f'sdist = {{ name = "bar-1.0.tar.gz", url = "https://files.example/bar-1.0.tar.gz", '
        f'hashes = {{ sha256 = "{HASH}" }} }}\n'
    )
    found = select(lock(several, sdist), LINUX, (3, 12))
    sources = {name: source for name, (_, source) in found.items()}
    foo, bar = sources["foo"], sources["bar"]
    assert isinstance(foo, PackageWheel)
    assert isinstance(bar, PackageSdist)
    assert (foo.filename, bar.filename) == (
        "foo-1.0-cp312-cp312-manylinux_2_28_x86_64.whl",
        "bar-1.0.tar.gz",
    )


def refused(
    pylock: Pylock, platform: str = "linux", python: int = 12, **keys: object
) -> LockSelectionError:
    with pytest.raises(LockSelectionError) as caught:
        select(pylock, PLATFORMS[platform], (3, python), **keys)  # type: ignore[arg-type]
    assert caught.value.hint == HINT
    return caught.value


def test_two_rows_at_once() -> None:
    """Two rows of one platform at once are an error that names both versions."""
    error = refused(TORCH, extras=["cpu", "cu130"])
    assert (error.message, error.where) == (
        "several entries of torch apply at once: 2.6.0 and 2.6.0+cpu and 2.6.0+cu130",
        "linux, Python 3.12.0",
    )


def test_two_entries_at_once() -> None:
    """A lock edited so that both entries apply is refused with the package and the versions."""
    edited = lock(package("torch", "2.6.0"), package("torch", "2.6.0+cpu"), package("a", "1.0"))
    error = refused(edited)
    assert error.message == "several entries of torch apply at once: 2.6.0 and 2.6.0+cpu"


@pytest.mark.parametrize(
    ("platform", "python", "keys", "message"),
    [
        ("win", 12, {}, "environments"),
        ("linux", 11, {}, "3.11.0"),
        ("linux", 14, {}, "3.14.0"),
        ("linux", 12, {"extras": ["cu126"]}, "cu126"),
        ("linux", 12, {"groups": ["docs"]}, "docs"),
        ("linux", 13, {"extras": ["cu130"]}, "torch"),
    ],
)
def test_refused(platform: str, python: int, keys: dict[str, object], message: str) -> None:
    """An environment, extra, group or wheel that the lock does not have is an error naming it."""
    assert message in refused(TORCH, platform, python, **keys).message


def test_requires_python() -> None:
    """An entry that excludes the patch release is an error, not left out."""
    locked = lock(package("foo", "1.0", requires_python=">=3.12.4"))
    assert "foo" in refused(locked, patch=3).message
    assert set(select(locked, LINUX, (3, 12), patch=4)) == {"foo"}


DEPENDS = [
    # dependencies of `a`, other entries, what is wrong
    (['{ name = "b" }'], [package("b", "1.0")], None),
    (['{ name = "b" }'], [], "a depends on b, of which no entry applies"),
    (
        ['{ name = "b" }'],
        [package("b", "1.0", marker="sys_platform == 'darwin'")],
        "a depends on b, of which no entry applies",
    ),
    (
        ['{ name = "b", marker = "sys_platform == \'darwin\'" }'],
        [package("b", "1.0", marker="sys_platform == 'darwin'")],
        None,
    ),
    (
        ['{ name = "b", marker = "sys_platform == \'linux\'" }'],
        [],
        "a depends on b, of which no entry applies",
    ),
    (['{ name = "b", version = "1.0" }'], [package("b", "1.0")], None),
    (['{ name = "b", version = "1.0" }'], [package("b", "2.0")], "b 2.0 is not what a depends on"),
    (
        ['{ name = "b", version = "1.0" }', '{ name = "b", version = "2.0" }'],
        [package("b", "2.0")],
        None,
    ),
    (
        ['{ name = "b", version = "1.0" }', '{ name = "b", version = "2.0" }'],
        [],
        "a depends on b, of which no entry applies",
    ),
]


@pytest.mark.parametrize(("dependencies", "others", "message"), DEPENDS)
def test_closed(dependencies: list[str], others: list[str], message: str | None) -> None:
    """A dependency left out is an error; one that is not for this machine is not missed."""
    locked = lock(package("a", "1.0", dependencies=dependencies), *others)
    if message is None:
        assert "a" in select(locked, LINUX, (3, 12))
    else:
        assert refused(locked).message == message


OPEN = lock(
    package(
        "always", "1.0", dependencies=['{ name = "new", marker = "platform_release > \'5\'" }']
    ),
    package("new", "1.0", marker="platform_release > '5'", requires_python=">=3.12.4"),
    package("early", "1.0", marker="python_full_version < '3.12.4'"),
    package("late", "1.0", marker="implementation_version >= '3.13.1'"),
    package("mac", "1.0", marker="platform_version == 'x' and sys_platform == 'darwin'"),
    package("train", "1.0", marker="'train' in extras and platform_release > '5'"),
    package("dev", "1.0", marker="'dev' in dependency_groups or platform_system == 'Darwin'"),
)


@pytest.mark.parametrize(
    ("platform", "python", "extras", "groups", "expected"),
    [
        ("linux", 12, [], [], {"always", "new", "early"}),
        ("linux", 13, [], [], {"always", "new", "late"}),
        ("linux", 13, ["train"], ["dev"], {"always", "new", "late", "train", "dev"}),
        ("mac", 12, [], [], {"always", "new", "early", "mac", "dev"}),
    ],
)
def test_selection_of_all_hosts(
    platform: str, python: int, extras: list[str], groups: list[str], expected: set[str]
) -> None:
    """What a Target does not decide counts as true; what it decides is decided."""
    found = select_possible(OPEN, PLATFORMS[platform], (3, python), extras=extras, groups=groups)
    assert set(found) == expected


@pytest.mark.parametrize(
    ("pylock", "message"),
    [
        (
            lock(package("a", "1.0", requires_python="<3.12")),
            "a requires Python <3.12, which no 3.12 is",
        ),
        (
            lock(package("a", "1.0", marker="extra == 'x'")),
            "a marker has no meaning in a lock: 'extra'",
        ),
        (
            lock(package("a", "1.0", dependencies=["{ name = 'b', marker = \"extra == 'x'\" }"])),
            "a marker has no meaning in a lock: 'extra'",
        ),
        (
            lock(
                package(
                    "a",
                    "1.0",
                    dependencies=["{ name = 'b', marker = \"platform_release > '5'\" }"],
                )
            ),
            "a depends on b, of which no entry applies",
        ),
        (lock(package("a", "1.0", dependencies=["{ x = 'b' }"])), "a dependency of a has no name"),
    ],
)
def test_no_host_at_all(pylock: Pylock, message: str) -> None:
    """What would be refused on every host, or on some, is an error here too."""
    with pytest.raises(LockSelectionError) as caught:
        select_possible(pylock, LINUX, (3, 12))
    assert (caught.value.message, caught.value.hint) == (message, HINT)


def test_a_marker_without_meaning() -> None:
    """PEP 508's `extra` has no value when a lock is installed."""
    pylock = lock(package("a", "1.0", marker="extra == 'x'"))
    assert refused(pylock).message == "a marker has no meaning in a lock: 'extra'"


def test_name_from_the_address() -> None:
    """A wheel without `name` is known by the last part of its address, `%2B` read as `+`."""
    text = f"""{HEAD}
[[packages]]
name = "torch"
version = "2.6.0+cpu"
wheels = [
  {{ url = "https://download.pytorch.org/whl/cpu/torch-2.6.0%2Bcpu-cp312-cp312-manylinux_2_28_x86_64.whl", hashes = {{ sha256 = "{HASH}" }} }},
]
"""  # noqa: E501
    pylock, _ = parse_pylock(text, where="pylock.toml")
    _, source = select(pylock, LINUX, (3, 12))["torch"]
    assert isinstance(source, PackageWheel)
    assert source.filename == "torch-2.6.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"
