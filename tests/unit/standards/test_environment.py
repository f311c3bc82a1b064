"""The PEP 508 environment of each platform."""

from __future__ import annotations

import pytest

from lockforge.model.platforms import PLATFORMS
from lockforge.standards.environment import decided_environment, host_environment

# What CPython itself says on such a machine: os.name, sys.platform, platform.system(), machine().
SYSTEMS = [
    ("linux", "posix", "linux", "Linux", "x86_64"),
    ("linux-aarch64", "posix", "linux", "Linux", "aarch64"),
    ("win", "nt", "win32", "Windows", "AMD64"),
    ("win-arm64", "nt", "win32", "Windows", "ARM64"),
    ("mac", "posix", "darwin", "Darwin", "arm64"),
    ("mac-x86_64", "posix", "darwin", "Darwin", "x86_64"),
]


@pytest.mark.parametrize(("name", "os_name", "sys_platform", "system", "machine"), SYSTEMS)
def test_environments(
    name: str, os_name: str, sys_platform: str, system: str, machine: str
) -> None:
    """A Target decides what all its hosts share; a host adds its patch release."""
    decided = {
        "implementation_name": "cpython",
        "os_name": os_name,
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_system": system,
        "python_version": "3.12",
        "sys_platform": sys_platform,
    }
    host = decided | {
        "implementation_version": "3.12.4",
        "platform_release": "",
        "platform_version": "",
        "python_full_version": "3.12.4",
    }
    assert decided_environment(PLATFORMS[name], (3, 12)) == decided
    assert host_environment(PLATFORMS[name], (3, 12), 4) == host
