"""What the core needs of the world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.utils import NormalizedName

    from lockforge.model.index import Index
    from lockforge.model.probe import Answer, Question
    from lockforge.model.release import DistributionFile, Listing, Metadata


class Repository(Protocol):
    """Indexes, however they are reached: network, cache, recorded snapshot or directory."""

    def listing(self, index: Index, project: NormalizedName) -> Listing:
        """Give the files of *project*; raises ProjectNotFoundError or another IndexAccessError."""

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        """Give the core metadata of *file* itself; raises MetadataError or IndexAccessError."""

    def has_metadata(self, index: Index, file: DistributionFile) -> bool:
        """Whether the metadata of *file* is to be had without downloading all of it."""

    def sha256(self, index: Index, file: DistributionFile) -> str:
        """Find the sha256 of a file whose page states none; raises MissingHashError."""

    def prefetch(
        self,
        listings: Iterable[tuple[Index, NormalizedName]],
        metadata: Iterable[tuple[Index, DistributionFile]],
    ) -> bool:
        """Get these at once, so that asking for them soon costs no wait; errors come when asked.

        Says whether any of it was not at hand already.
        """


class System(Protocol):
    """A machine that can be asked: the one at hand, or one whose texts were captured."""

    def ask(self, question: Question) -> Answer:
        """Answer within the question's time and the machine's whole; never raises."""


class Progress(Protocol):
    """What a person waiting at a terminal may see."""

    def download(self, filename: str, done: int, length: int | None) -> None:
        """*done* of *length* bytes of a file have come; the length may be unknown."""

    def stage(self, text: str) -> None:
        """Say what goes on now, such as the Target that is solved."""
