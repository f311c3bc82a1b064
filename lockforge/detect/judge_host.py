"""Whether a build's platform, Python and floor are those of the host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lockforge.detect.builds import BITS, platform_base, platform_of
from lockforge.detect.words import listed
from lockforge.model.python import render_python

if TYPE_CHECKING:
    from lockforge.model.choice import Build
    from lockforge.model.machine import Facts, Interpreter
    from lockforge.model.platforms import Floor

_NUMBERS = re.compile(r"\d{1,9}", re.ASCII)
_RELEASE = re.compile(r"(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?", re.ASCII)


def why_not_host(build: Build, facts: Facts) -> str | None:
    """Say why *build* cannot be installed here, whatever accelerators there are; None if it can."""
    platform = platform_of(facts)
    if platform is None:
        return why_no_platform(facts)
    if build.platform.name != platform.name:
        what = "this row is" if build.locked else f"there are wheels of {build.accelerator.label}"
        return f"{what} for {build.platform.name}, and this host is {platform.name}"
    assert facts.python is not None
    # Another Python is sooner had than another system: that is said last.
    return _why_not_floor(build, facts) or _why_not_python(build, facts.python)


def why_no_platform(facts: Facts) -> str:
    """Say why no build at all is for this host, where `platform_of` knows none."""
    python = facts.python
    if python is None:
        return "nothing is known of the Python on this host"
    if python.bits != BITS:
        return f"this host's Python is a {python.bits}-bit one, and torch needs one of {BITS} bits"
    if facts.libc is not None and facts.libc.family == "musl":
        return f"this host has musl {facts.libc.version}, and torch's wheels need glibc"
    return f"torch has no wheels for {platform_base(python) or 'an unknown platform'}"


def host_floor(facts: Facts) -> Floor | None:
    """Give the glibc or macOS that the host has; None where that is not known."""
    if facts.os == "macos":
        numbers = _NUMBERS.findall(facts.os_version or "")
        return (int(numbers[0]), int(numbers[1]) if len(numbers) > 1 else 0) if numbers else None
    if facts.libc is None or facts.libc.family != "glibc":
        return None
    match = _RELEASE.match(facts.libc.version)
    return match and (int(match[1]), int(match[2]))


def has_python(build: Build, python: Interpreter) -> bool:
    """Whether *build* has files for the host's Python."""
    return _why_not_python(build, python) is None


def _why_not_python(build: Build, python: Interpreter) -> str | None:
    if python.implementation.lower() != "cpython":
        return f"torch needs CPython, and this host has {python.implementation or 'another Python'}"
    if python.free_threaded:
        return "this host's Python is a free-threaded one, for which no row is locked"
    match = _RELEASE.match(python.version)
    if match is None:
        return f"the version of this host's Python is not known: {python.version!r}"
    minor = (int(match[1]), int(match[2]))
    patch = None if match[3] is None else int(match[3])
    for one in build.pythons:
        if one[:2] == minor and (len(one) == 2 or (patch is not None and patch >= one[2])):  # noqa: PLR2004
            return None
    pythons = listed(list(map(render_python, build.pythons))) or "no Python"
    return f"this host has Python {python.version}, and the files are for {pythons}"


def _why_not_floor(build: Build, facts: Facts) -> str | None:
    need = build.platform.floor
    if need is None:
        return None
    what = "glibc" if build.platform.system == "linux" else "macOS"
    have = host_floor(facts)
    if have is None:
        return f"{what} {need[0]}.{need[1]} is needed, and which this host has is not known"
    if have < need:
        return f"{what} {need[0]}.{need[1]} is needed, and this host has {have[0]}.{have[1]}"
    return None
