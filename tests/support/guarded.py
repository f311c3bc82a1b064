"""A world that demands credentials (RFC 7617), by where a path begins."""

from __future__ import annotations

import base64
from pathlib import Path

from tests.support.world import Answer, World


def basic(user: str, password: str) -> str:
    """What the Authorization header says."""
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


class GuardedWorld(World):
    """A world with doors: each beginning of a path has the one user it opens for."""

    def __init__(self) -> None:
        super().__init__()
        self.doors: dict[str, tuple[str, str]] = {}

    def answer(self, path: str) -> Answer:
        doors = [beginning for beginning in self.doors if path.startswith(beginning)]
        if doors:
            wanted = basic(*self.doors[max(doors, key=len)])
            sent = [headers for _, asked, headers in self.requests if asked == path]
            if sent[-1].get("Authorization") != wanted:
                return Answer(status=401, headers={"WWW-Authenticate": 'Basic realm="index"'})
        return super().answer(path)

    def inside(self, path: str) -> Answer:
        """Answer as if every door were open."""
        return super().answer(path)

    def sent(self, beginning: str = "/") -> set[str | None]:
        """Give the Authorization headers that came, None for a request without one."""
        return {
            headers.get("Authorization")
            for _, path, headers in self.requests
            if path.startswith(beginning)
        }


def secrets_in(folder: Path, *secrets: str) -> list[Path]:
    """List the files below *folder* that hold one of *secrets* in any form it is written in."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(secret.encode() in path.read_bytes() for secret in secrets)
    ]
