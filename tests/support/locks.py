"""Reading a lock as an installer does, with packaging alone."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.pylock import Pylock
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms

_SYSTEMS = {
    "linux": ("posix", "linux", "Linux", "x86_64"),
    "linux-aarch64": ("posix", "linux", "Linux", "aarch64"),
    "win": ("nt", "win32", "Windows", "AMD64"),
    "mac": ("posix", "darwin", "Darwin", "arm64"),
    "mac-x86_64": ("posix", "darwin", "Darwin", "x86_64"),
}


def environment(platform: str, python: str, patch: int = 0) -> dict[str, str]:
    os_name, sys_platform, platform_system, machine = _SYSTEMS[platform]
    return {
        "implementation_name": "cpython",
        "implementation_version": f"{python}.{patch}",
        "os_name": os_name,
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": platform_system,
        "platform_version": "",
        "python_full_version": f"{python}.{patch}",
        "python_version": python,
        "sys_platform": sys_platform,
    }


def tags(platform: str, python: str) -> list[Tag]:
    if platform == "win":
        names = ["win_amd64"]
    elif platform == "mac":
        names = list(mac_platforms((14, 0), "arm64"))
    elif platform == "mac-x86_64":
        names = list(mac_platforms((11, 0), "x86_64"))
    else:
        machine = _SYSTEMS[platform][3]
        names = [f"manylinux_2_{minor}_{machine}" for minor in range(28, 16, -1)]
        names += [f"manylinux2014_{machine}", f"linux_{machine}"]
    version = tuple(map(int, python.split(".")))
    interpreter = f"cp{python.replace('.', '')}"
    return [
        *cpython_tags(version, abis=[interpreter], platforms=names),
        *compatible_tags(version, interpreter=interpreter, platforms=names),
    ]


@dataclass(frozen=True)
class Chosen:
    """One selected file."""

    version: str
    index: str | None
    filename: str
    sha256: str
    url: str | None
    path: str | None


class Lock:
    """A lock on disk."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text("utf-8")
        self.data: dict[str, Any] = tomllib.loads(self.text)
        self.pylock = Pylock.from_dict(self.data)

    def select(
        self,
        platform: str,
        python: str = "3.12",
        *,
        extras: Sequence[str] = (),
        groups: Sequence[str] = (),
        patch: int = 0,
    ) -> dict[str, Chosen]:
        """Select what an installer would; raises packaging's own error."""
        selected = self.pylock.select(
            environment=environment(platform, python, patch),  # type: ignore[arg-type]
            tags=tags(platform, python),
            extras=extras,
            dependency_groups=groups,
        )
        return {
            package.name: Chosen(
                version=str(package.version),
                index=package.index,
                filename=source.filename,  # type: ignore[union-attr]
                sha256=source.hashes["sha256"],  # type: ignore[union-attr]
                url=source.url,  # type: ignore[union-attr]
                path=source.path,
            )
            for package, source in selected
        }

    def versions(self, platform: str, python: str = "3.12", **options: Any) -> dict[str, str]:
        """Give the selected versions by name."""
        return {
            name: chosen.version
            for name, chosen in self.select(platform, python, **options).items()
        }

    @property
    def file_names(self) -> list[str]:
        """Every file of the lock, in its order."""
        return [
            wheel["name"]
            for package in self.data["packages"]
            for wheel in package.get("wheels", [])
        ]
