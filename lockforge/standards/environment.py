"""Target -> PEP 508 environment, for CPython."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.model.python import render_minor
from lockforge.standards.patches import lowest_patch

if TYPE_CHECKING:
    from lockforge.model.platforms import Platform
    from lockforge.model.python import PythonMinor

OPEN_VARIABLES = (
    "python_full_version",
    "implementation_version",
    "platform_release",
    "platform_version",
)
"""The variables that a Target does not decide, or not wholly."""

_SYSTEMS = {
    "linux": ("posix", "linux", "Linux"),
    "windows": ("nt", "win32", "Windows"),
    "macos": ("posix", "darwin", "Darwin"),
}


def decided_environment(platform: Platform, python: PythonMinor) -> dict[str, str]:
    """Give the values of the variables that every host of the Target shares."""
    os_name, sys_platform, platform_system = _SYSTEMS[platform.system]
    return {
        "implementation_name": "cpython",
        "os_name": os_name,
        "platform_machine": platform.machine,
        "platform_python_implementation": "CPython",
        "platform_system": platform_system,
        "python_version": render_minor(python),
        "sys_platform": sys_platform,
    }


def host_environment(
    platform: Platform, python: PythonMinor, patch: int | None = None
) -> dict[str, str]:
    """Give the whole environment of one possible host of the Target, with an empty release.

    Without a *patch* it is the lowest that is covered.
    """
    full = f"{render_minor(python)}.{lowest_patch(python) if patch is None else patch}"
    return decided_environment(platform, python) | {
        "implementation_version": full,
        "python_full_version": full,
        "platform_release": "",
        "platform_version": "",
    }
