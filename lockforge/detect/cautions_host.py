"""What a person should know of the host itself: platform, Python and C library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lockforge.detect.builds import BITS, catalog_builds, platform_base, platform_of
from lockforge.detect.judge_host import has_python, host_floor
from lockforge.model.accelerator import Accelerator
from lockforge.model.machine import Caution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockforge.catalog import Catalog
    from lockforge.model.choice import Build, Choice
    from lockforge.model.machine import Facts, Interpreter
    from lockforge.model.platforms import Platform

_CPU = Accelerator("cpu")
# How wheel tags begin for an implementation.
_TAGS = {"cpython": "cp", "pypy": "pp", "graalvm": "graalpy"}
_CODE = re.compile(r"\W+", re.ASCII)


def host_cautions(facts: Facts, choice: Choice, catalog: Catalog) -> Iterator[Caution]:
    """Say what keeps all builds or the good ones from this host, whatever its accelerators."""
    python = facts.python
    if python is None:
        return
    platform = platform_of(facts)
    if python.bits != BITS:
        yield Caution(
            code=f"python_is_{python.bits}bit",
            text=f"this Python is a {python.bits}-bit one, and torch has wheels for {BITS} bits "
            f"alone; install a {BITS}-bit Python",
        )
    elif platform is not None:
        yield from _mac_cautions(facts, platform, catalog)
        yield from _floor_cautions(facts, choice, platform)
        yield from _python_cautions(python, choice, platform, catalog)
    elif facts.libc is not None and facts.libc.family == "musl":
        yield Caution(
            code="no_wheels_for_musl",
            text="torch's wheels for Linux need glibc, and this system has musl, as Alpine does; "
            "take a system or an image with glibc, such as Debian's",
        )
    else:
        base = platform_base(python) or "an unknown platform"
        yield _no_wheels(python, f"torch has no wheels for {base}, whatever the Python")


def _mac_cautions(facts: Facts, platform: Platform, catalog: Catalog) -> Iterator[Caution]:
    if platform.name != "mac-x86_64":
        return
    newest = catalog.newest_torch(_CPU, platform)
    apple = facts.apple
    if apple is not None and (apple.translated or apple.hardware_arch == "arm64"):
        chip = apple.chip or "arm64"
        yield Caution(
            code="x86_64_python_on_apple_silicon",
            text=f"this Python is built for x86_64 and runs under Rosetta on {chip}; "
            "install one built for arm64 for the current torch and for the GPU",
        )
    if newest is not None:
        yield Caution(
            code=f"torch_max_{newest}_for_macos_x86_64",
            text=f"torch {newest} is the last with wheels for macOS on x86_64",
        )


def _floor_cautions(facts: Facts, choice: Choice, platform: Platform) -> Iterator[Caution]:
    """Say that the system is too old for every build there is for it."""
    have = host_floor(facts)
    if have is None and platform.floor is not None:
        what = "C library" if platform.system == "linux" else "macOS"
        yield Caution(
            code="libc_unknown" if platform.system == "linux" else "macos_unknown",
            text=f"which {what} this host has is not known, and so not whether any wheel runs here",
        )
    own = [build.platform.floor for build in _own(choice, platform)]
    floors = [floor for floor in own or [platform.floor] if floor is not None]
    if have is None or not floors or have >= min(floors):
        return
    what = "glibc" if platform.system == "linux" else "macOS"
    newer = "system, or a container with one," if platform.system == "linux" else "macOS"
    old, new = (f"{major}.{minor}" for major, minor in (have, min(floors)))
    yield Caution(
        code=f"{what.lower()}_too_old:{old}<{new}",
        text=f"this host has {what} {old}, and the wheels are built for {new} and newer; take a "
        f"newer {newer} or lock an older torch at a lower floor",
    )


def _python_cautions(
    python: Interpreter, choice: Choice, platform: Platform, catalog: Catalog
) -> Iterator[Caution]:
    """Say that there is no build for this Python, neither here nor in the catalogue.

    That an old accelerator is built for it helps nobody whom that does not serve.
    """
    served = any(one.status != "refused" for one in choice.verdicts)
    known = catalog_builds(catalog, platform, [_CPU.label])
    if not served and not any(has_python(build, python) for build in known):
        yield _no_wheels(
            python,
            f"neither a row here nor the current torch has wheels for {_named(python)} on "
            f"{platform_base(python)}; take a Python that they are built for",
        )


def _named(python: Interpreter) -> str:
    kind = "free-threaded " if python.free_threaded else ""
    return f"{kind}{python.implementation} {python.minor}"


def _own(choice: Choice, platform: Platform) -> list[Build]:
    builds = (one.build for one in choice.verdicts)
    return [build for build in builds if build.platform.name == platform.name]


def _no_wheels(python: Interpreter, text: str) -> Caution:
    base = platform_base(python)
    minor = python.minor.replace(".", "")
    abi = "t" if python.free_threaded else ""
    tag = f"{_TAGS.get(python.implementation.lower(), '')}{minor}{abi}"
    return Caution(
        code=f"no_wheels_for:{_CODE.sub('_', base)}:{_CODE.sub('_', tag)}",
        text=text,
    )
