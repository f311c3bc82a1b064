"""The digest of a row."""

from __future__ import annotations

import hashlib
import itertools

from lockforge.standards.digest import row_digest

ONE, TWO, THREE = (hashlib.sha256(name).hexdigest() for name in (b"one", b"two", b"three"))


def test_definition() -> None:
    """It is the sha256 over the sorted hashes of the files, one a line, each once."""
    lines = "".join(f"{one}\n" for one in sorted([ONE, TWO, THREE]))
    expected = hashlib.sha256(lines.encode()).hexdigest()
    found = {row_digest(order) for order in itertools.permutations([ONE, TWO, THREE, TWO])}
    assert found == {expected}


def test_another_file_is_another_digest() -> None:
    """A row with one other file is another set of bytes."""
    assert len({row_digest(hashes) for hashes in ([ONE, TWO], [ONE, THREE], [ONE], [])}) == 4
