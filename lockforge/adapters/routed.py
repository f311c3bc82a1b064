"""The Repository that sends each index to the one of its own kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.adapters.direct import direct_listing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.utils import NormalizedName

    from lockforge.model.index import Index
    from lockforge.model.release import DistributionFile, Listing, Metadata
    from lockforge.ports import Repository


class RoutedRepository:
    """Sends ``file:`` indexes to one repository and all others to another.

    A direct reference says itself what it lists.
    """

    def __init__(self, local: Repository, remote: Repository) -> None:
        self._local = local
        self._remote = remote

    def _of(self, index: Index) -> Repository:
        return self._local if index.url.startswith("file:") else self._remote

    def listing(self, index: Index, project: NormalizedName) -> Listing:
        if index.layout == "direct":
            return direct_listing(index, project)
        return self._of(index).listing(index, project)

    def metadata(self, index: Index, file: DistributionFile) -> Metadata:
        return self._of(index).metadata(index, file)

    def has_metadata(self, index: Index, file: DistributionFile) -> bool:
        return self._of(index).has_metadata(index, file)

    def sha256(self, index: Index, file: DistributionFile) -> str:
        return self._of(index).sha256(index, file)

    def prefetch(
        self,
        listings: Iterable[tuple[Index, NormalizedName]],
        metadata: Iterable[tuple[Index, DistributionFile]],
    ) -> bool:
        return self._remote.prefetch(
            [
                (index, project)
                for index, project in listings
                if self._of(index) is self._remote and index.layout != "direct"
            ],
            [pair for pair in metadata if self._of(pair[0]) is self._remote],
        )
