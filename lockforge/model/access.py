"""What a project says of who may ask an index."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexAccess:
    """An address that the project names, with what stood in it before the host."""

    url: str
    """Without credentials."""
    names: tuple[str, ...] = ()
    """What the environment's variables may call it; none for an address that is no index."""
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    """None where the address states none, which is not the same as an empty one."""


def variable_part(name: str) -> str:
    """Give what stands for the name of an index in an environment variable's name."""
    return re.sub(r"[^A-Z0-9]", "_", name.upper())
