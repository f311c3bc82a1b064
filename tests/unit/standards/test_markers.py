"""Markers seen from a Target: true, false, or what is left open."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.markers import Marker, UndefinedComparison

from lockforge.model.platforms import PLATFORMS, Platform
from lockforge.standards.environment import host_environment
from lockforge.standards.markers import conjoin, decide, disjoin, parse, render

LINUX, WIN, MAC = PLATFORMS["linux"], PLATFORMS["win"], PLATFORMS["mac"]
PY312 = (3, 12)

DECIDED = [
    # marker, on Linux x86_64, on Windows, on an ARM Mac; all at Python 3.12
    ("sys_platform == 'linux'", True, False, False),
    ("sys_platform != 'darwin'", True, True, False),
    ("'linux' in sys_platform", True, False, False),
    ("sys_platform in 'linux darwin'", True, False, True),
    ("sys_platform not in 'linux darwin'", False, True, False),
    ("platform_system == 'Linux' and platform_machine == 'x86_64'", True, False, False),
    ("platform_machine == 'AMD64' or platform_machine == 'arm64'", False, True, True),
    ("os_name == 'nt'", False, True, False),
    ("implementation_name == 'cpython'", True, True, True),
    ("platform_python_implementation != 'PyPy'", True, True, True),
    ("python_version < '3.15'", True, True, True),
    ("python_version >= '3.13'", False, False, False),
    ("python_version == '3.12'", True, True, True),
    ("python_version in '3.11, 3.12'", True, True, True),
    ("'3.9' <= python_version", True, True, True),
    ("sys_platform == 'linux' or python_version < '3' and os_name == 'nt'", True, False, False),
    ("(sys_platform == 'linux' or os_name == 'nt') and python_version < '3'", False, False, False),
    ("extra == 'train'", False, False, False),
    ("extra != 'train'", True, True, True),
    # Decided by the minor alone, although a patch release is asked for:
    ("python_full_version >= '3.12'", True, True, True),
    ("python_full_version >= '3.12.0'", True, True, True),
    ("python_full_version < '3.13'", True, True, True),
    ("python_full_version < '3.12'", False, False, False),
    ("python_full_version > '3.11.999'", True, True, True),
    ("python_full_version < '3.11.4'", False, False, False),
    ("python_full_version != '3.13.2'", True, True, True),
    ("python_full_version ~= '3.12.0'", True, True, True),
    ("python_full_version == '3.12.*'", True, True, True),
    ("python_full_version != '3.12.*'", False, False, False),
    ("implementation_version >= '3.12'", True, True, True),
    # The other side of `and` or `or` decides:
    ("python_full_version < '3.12.4' and sys_platform == 'win32'", False, None, False),
    ("python_full_version < '3.12.4' or sys_platform == 'win32'", None, True, None),
    ("platform_release >= '20' and sys_platform == 'darwin'", False, False, None),
]
OPEN = [
    # marker, what is left of it on Linux at Python 3.12
    ("python_full_version < '3.12.4'", "python_full_version < '3.12.4'"),
    ("python_full_version < '3.12.1'", "python_full_version < '3.12.1'"),
    ("python_full_version > '3.12.0'", "python_full_version > '3.12.0'"),
    ("python_full_version > '3.12'", "python_full_version > '3.12'"),
    ("python_full_version <= '3.12'", "python_full_version <= '3.12'"),
    ("python_full_version == '3.12.4'", "python_full_version == '3.12.4'"),
    ("python_full_version != '3.12.4'", "python_full_version != '3.12.4'"),
    ("python_full_version ~= '3.12.4'", "python_full_version ~= '3.12.4'"),
    ("python_full_version === '3.12.4'", "python_full_version === '3.12.4'"),
    ("'3.12.4' <= python_full_version", "'3.12.4' <= python_full_version"),
    ("'3.12' < python_full_version", "'3.12' < python_full_version"),
    ("'3.12' == python_full_version", "'3.12' == python_full_version"),
    ("python_full_version in '3.12.4, 3.12.5'", "python_full_version in '3.12.4, 3.12.5'"),
    ("implementation_version >= '3.12.4'", "implementation_version >= '3.12.4'"),
    ("platform_release >= '5.10'", "platform_release >= '5.10'"),
    ("'tegra' in platform_release", "'tegra' in platform_release"),
    ("'Ubuntu' not in platform_version", "'Ubuntu' not in platform_version"),
    (
        'python_full_version < "3.12.4" and sys_platform == "linux"',
        "python_full_version < '3.12.4'",
    ),
    (
        "sys_platform == 'win32' or platform_release >= '5' and os_name == 'posix'",
        "platform_release >= '5'",
    ),
    (
        "os_name == 'posix' and (platform_release < '5' or platform_version == 'x')",
        "platform_release < '5' or platform_version == 'x'",
    ),
    (
        "platform_release > '4' and (platform_release < '5' or platform_version == 'x')",
        "platform_release > '4' and (platform_release < '5' or platform_version == 'x')",
    ),
]


@pytest.mark.parametrize(("marker", "linux", "win", "mac"), DECIDED)
def test_decided(marker: str, linux: bool | None, win: bool | None, mac: bool | None) -> None:  # noqa: FBT001
    """A Target decides what does not depend on a patch release or a kernel; None is open."""
    found = [decide(Marker(marker), platform, PY312) for platform in (LINUX, WIN, MAC)]
    assert [one if isinstance(one, bool) else None for one in found] == [linux, win, mac]


@pytest.mark.parametrize(("marker", "left"), OPEN)
def test_open(marker: str, left: str) -> None:
    """What is open is kept as text, without what is known."""
    assert decide(Marker(marker), LINUX, PY312) == left


@pytest.mark.parametrize(
    ("marker", "extra", "expected"),
    [
        ("extra == 'train'", "train", True),
        ("extra == 'train'", "test", False),
        ("extra == 'Opt_Einsum'", "opt-einsum", True),
        ("extra == 'train' and sys_platform == 'linux'", "train", True),
        ("extra == 'train' and sys_platform == 'win32'", "train", False),
        (
            "python_full_version < '3.12.4' and extra == 'train'",
            "train",
            "python_full_version < '3.12.4'",
        ),
        ("python_full_version < '3.12.4' and extra == 'train'", "", False),
        ("platform_release >= '5' or extra == 'train'", "train", True),
    ],
)
def test_extras(marker: str, extra: str, expected: bool | str) -> None:  # noqa: FBT001
    """An extra is asked for or not; nothing of it stays open."""
    assert decide(Marker(marker), LINUX, PY312, extra) == expected


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ("'x' in extras", "extras is known only where a lock is installed"),
        ("'x' not in extras", "extras is known only where a lock is installed"),
        ("sys_platform == 'linux' and 'x' in dependency_groups", "dependency_groups is known"),
        ("python_full_version > '3.12.2' and 'x' in extras", "extras is known"),
        ("platform_release in extras", "extras is known"),
        ("python_full_version in extras", "extras is known"),
        ("'a' == 'b'", "it compares no variable"),
    ],
)
def test_without_meaning(marker: str, reason: str) -> None:
    """A marker on what only a lock knows, or on nothing, is one kind of error."""
    with pytest.raises(UndefinedComparison, match=reason):
        decide(Marker(marker), LINUX, PY312)


ATOMS = st.sampled_from(
    [
        "sys_platform == 'linux'",
        "sys_platform != 'win32'",
        "platform_machine == 'arm64'",
        "os_name == 'posix'",
        "python_version < '3.12'",
        "python_version >= '3.12'",
        "python_version in '3.11 3.12'",
        "implementation_name == 'cpython'",
        "extra == 'train'",
        "python_full_version < '3.11.3'",
        "python_full_version >= '3.12.2'",
        "python_full_version != '3.12.0'",
        "python_full_version > '3.11'",
        "python_full_version ~= '3.12.1'",
        "'3.12.5' > python_full_version",
        "'3.12' < python_full_version",
        "python_full_version <= '3.11'",
        "implementation_version == '3.11.4'",
    ]
)
MARKERS = st.recursive(
    ATOMS,
    lambda inner: st.builds(
        "{0} {1} {2}".format,
        inner.map("({})".format) | ATOMS,
        st.sampled_from(["and", "or"]),
        inner.map("({})".format) | inner,
    ),
    max_leaves=6,
)
PLATFORM = st.sampled_from(list(PLATFORMS.values()))
PYTHON = st.sampled_from([(3, 10), (3, 11), (3, 12), (3, 13)])
PATCHES = range(8)


@given(ATOMS | MARKERS, PLATFORM, PYTHON, st.sampled_from(["", "train", "test"]))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_every_patch_release(
    text: str, platform: Platform, python: tuple[int, int], extra: str
) -> None:
    """What a Target decides is what `packaging` says on each of its hosts."""
    marker = Marker(text)
    decided = decide(marker, platform, python, extra)
    for patch in PATCHES:
        environment = host_environment(platform, python, patch)
        found = Marker(decided).evaluate(environment) if isinstance(decided, str) else decided
        assert found == marker.evaluate({**environment, "extra": extra})


@given(MARKERS)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_render(text: str) -> None:
    """A marker read and written means the same."""
    marker = Marker(text)
    written = Marker(render(parse(str(marker))))
    for platform in (LINUX, WIN, MAC):
        for python in ((3, 11), (3, 12)):
            for patch in (0, 3, 5):
                environment = {**host_environment(platform, python, patch), "extra": "train"}
                assert written.evaluate(environment) == marker.evaluate(environment)


A, B, C = "os_name == 'nt'", "sys_platform == 'linux'", "python_version < '3.12'"


@pytest.mark.parametrize(
    ("markers", "both", "either"),
    [
        ([A], A, A),
        ([A, B], f"{A} and {B}", f"{A} or {B}"),
        ([A, A], A, A),
        ([A, ""], A, ""),
        (["", ""], "", ""),
        ([A, B, A], f"{A} and {B}", f"{A} or {B}"),
        ([f"{A} or {B}", C], f"({A} or {B}) and {C}", f"{A} or {B} or {C}"),
        ([f"{A} and {B}", C], f"{A} and {B} and {C}", f"{A} and {B} or {C}"),
        (['os_name == "nt"'], A, A),
        (['platform_version == "it\'s"'], *['platform_version == "it\'s"'] * 2),
    ],
)
def test_joining(markers: list[str], both: str, either: str) -> None:
    """Markers are joined with no more parentheses and repetitions than needed."""
    assert conjoin(*markers) == both
    assert disjoin(*markers) == either


def test_nothing_to_join() -> None:
    """No conditions at all is the marker that always holds."""
    assert conjoin() == ""
