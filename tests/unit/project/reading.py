"""A Reader of requirements over a given disk."""

from __future__ import annotations

from lockforge.project.faults import Faults
from lockforge.project.indexes import Credentials
from lockforge.project.references import Place, References
from lockforge.project.requirements import Reader
from tests.unit.project.disk import Disk


def make_reader(disk: Disk, faults: Faults | None = None, *, bare: bool = False) -> Reader:
    """Give a Reader for texts written in the project's directory."""
    references = References(
        paths=disk.paths,
        kind_of=disk.kind_of,
        read=disk.read,
        credentials=Credentials(),
        sha256_of=disk.sha256_of,
    )
    return Reader(
        faults=Faults() if faults is None else faults,
        references=references,
        place=Place(to_url=disk.paths.to_url, name="the project's directory"),
        bare=bare,
    )
