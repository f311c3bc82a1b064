"""A keyring in a file: what it holds and what it was asked for are the test's to say and see."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.credentials import SimpleCredential


class FileKeyring(KeyringBackend):
    """Reads ``{service: [user, password]}`` and writes down each service it is asked for."""

    priority = 1

    def get_credential(self, service: str, username: str | None) -> SimpleCredential | None:
        folder = Path(os.environ["TEST_KEYRING"])
        with (folder / "asked").open("a") as asked:
            asked.write(f"{service} {username or ''}\n")
        found = json.loads((folder / "held").read_text()).get(service)
        if found is None or username not in {None, found[0]}:
            return None
        return SimpleCredential(*found)

    def get_password(self, service: str, username: str) -> str | None:
        found = self.get_credential(service, username)
        return found.password if found else None

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError("nobody writes to a keyring here")
