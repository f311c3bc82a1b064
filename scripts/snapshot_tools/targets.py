"""The environments the snapshot serves, as bits of a mask, and what belongs to which of them."""

from dataclasses import dataclass
from functools import cache

from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag

PYTHONS = ("3.11", "3.12", "3.13", "3.14")


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """What markers and wheel tags say about one operating system on one machine."""

    name: str
    os_name: str
    sys_platform: str
    platform_system: str
    machine: str
    wheel_prefixes: tuple[str, ...]
    wheel_machines: tuple[str, ...]


PLATFORMS = (
    Platform(
        name="linux-x86_64",
        os_name="posix",
        sys_platform="linux",
        platform_system="Linux",
        machine="x86_64",
        wheel_prefixes=("manylinux", "linux_"),
        wheel_machines=("x86_64",),
    ),
    Platform(
        name="linux-aarch64",
        os_name="posix",
        sys_platform="linux",
        platform_system="Linux",
        machine="aarch64",
        wheel_prefixes=("manylinux", "linux_"),
        wheel_machines=("aarch64",),
    ),
    Platform(
        name="win-amd64",
        os_name="nt",
        sys_platform="win32",
        platform_system="Windows",
        machine="AMD64",
        wheel_prefixes=("win_",),
        wheel_machines=("amd64",),
    ),
    Platform(
        name="win-arm64",
        os_name="nt",
        sys_platform="win32",
        platform_system="Windows",
        machine="ARM64",
        wheel_prefixes=("win_",),
        wheel_machines=("arm64",),
    ),
    Platform(
        name="mac-arm64",
        os_name="posix",
        sys_platform="darwin",
        platform_system="Darwin",
        machine="arm64",
        wheel_prefixes=("macosx_",),
        wheel_machines=("arm64", "universal2"),
    ),
    Platform(
        name="mac-x86_64",
        os_name="posix",
        sys_platform="darwin",
        platform_system="Darwin",
        machine="x86_64",
        wheel_prefixes=("macosx_",),
        wheel_machines=("x86_64", "universal2"),
    ),
)
TARGETS = tuple((platform, python) for platform in PLATFORMS for python in PYTHONS)
EVERYWHERE = (1 << len(TARGETS)) - 1


@cache
def select_by_tag(tag: Tag) -> int:
    """Select the targets that accept a wheel tag; none has a free-threaded ABI."""
    mask = 0
    for place, (platform, python) in enumerate(TARGETS):
        if _accepts_platform(platform, tag.platform) and _accepts_python(
            int(python.split(".")[1]), tag
        ):
            mask |= 1 << place
    return mask


@cache
def select_by_requires_python(requires_python: str | None) -> int:
    """Select the targets whose Python a `Requires-Python` admits."""
    specifiers = SpecifierSet(requires_python or "")
    return sum(
        1 << place
        for place, (_, python) in enumerate(TARGETS)
        if specifiers.contains(f"{python}.9")
    )


@cache
def select_by_marker(marker: str | None, extras: frozenset[str]) -> int:
    """Select the targets where a marker holds, without an extra or with one asked for."""
    if marker is None:
        return EVERYWHERE
    parsed = Marker(marker)
    return sum(
        1 << place
        for place, (platform, python) in enumerate(TARGETS)
        if any(
            parsed.evaluate(make_environment(platform, python, extra))
            for extra in ("", *sorted(extras))
        )
    )


def make_environment(platform: Platform, python: str, extra: str = "") -> dict[str, str]:
    """Make the marker variables of one target."""
    return {
        "implementation_name": "cpython",
        "implementation_version": f"{python}.9",
        "os_name": platform.os_name,
        "platform_machine": platform.machine,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": platform.platform_system,
        "platform_version": "",
        "python_full_version": f"{python}.9",
        "python_version": python,
        "sys_platform": platform.sys_platform,
        "extra": extra,
    }


def describe_targets(mask: int) -> str:
    """Name the targets of a mask."""
    names = (f"{platform.name} {python}" for platform, python in TARGETS)
    return ", ".join(name for place, name in enumerate(names) if mask >> place & 1)


def _accepts_platform(platform: Platform, tag: str) -> bool:
    return tag == "any" or (
        tag.startswith(platform.wheel_prefixes) and tag.endswith(platform.wheel_machines)
    )


def _accepts_python(minor: int, tag: Tag) -> bool:
    if tag.interpreter in {"py3", f"py3{minor}"}:
        return tag.abi == "none"
    if not tag.interpreter.startswith("cp3"):
        return False
    built_for = int(tag.interpreter.removeprefix("cp3") or 0)
    if tag.abi in {"abi3", "none"}:
        return built_for <= minor if tag.abi == "abi3" else built_for in {0, minor}
    return built_for == minor and tag.abi == f"cp3{minor}"
