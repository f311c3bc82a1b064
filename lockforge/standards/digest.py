"""The digest that makes a row one exact set of bytes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def row_digest(hashes: Iterable[str]) -> str:
    """Give the sha256 over the sorted file hashes of a row, one a line."""
    text = "".join(f"{one}\n" for one in sorted(set(hashes)))
    return hashlib.sha256(text.encode()).hexdigest()
