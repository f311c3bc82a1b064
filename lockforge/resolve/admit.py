"""Which files of a listing exist for a Target, and why the others do not.

Files are judged before versions are compared, so a version without a usable file does not exist
for the row.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lockforge.model.accelerator import is_label
from lockforge.standards.filenames import parse_sdist_name, parse_wheel_name
from lockforge.standards.patches import python_fits
from lockforge.standards.tags import tag_ranks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.version import Version

    from lockforge.model.matrix import Target
    from lockforge.model.release import DistributionFile, Listing

# The date and time of RFC 3339 in UTC, without fraction and zone, compare as text.
_TO_THE_SECOND = 19


class Admitted(NamedTuple):
    """One usable file; the best file of a version has the greatest `preference`."""

    version: Version
    file: DistributionFile
    preference: tuple[bool, bool, int, tuple[int, str]]
    """Not yanked before yanked (PEP 592), wheels before sdists, the best tag, the highest build."""
    requires_python: str | None
    """Set where some patch releases of the minor are excluded."""


class Refused(NamedTuple):
    """One file that does not exist for the Target."""

    version: Version
    file: DistributionFile
    reason: str
    by_tags: bool = False
    """Whether it is made for other Pythons or platforms, which is nothing to remark on alone."""


# Most files are for other Targets: the same words for all cost nothing.
_OTHER_TAGS = "made for other Pythons or platforms"


@lru_cache(maxsize=4096)
def _foreign_label(local: str, accelerator: str) -> str | None:
    """Give the accelerator a local version names where it is not the row's."""
    for label in re.findall(r"cu\d+|rocm\d+(?:\.\d+)*|cpu|xpu", local):
        if is_label(label) and label != accelerator:
            return str(label)
    return None


def judge(
    listing: Listing, target: Target, *, family: bool, exclude_newer: str | None
) -> Iterator[Admitted | Refused]:
    """Judge every file of *listing* that is of its project, in the page's order."""
    ranks = tag_ranks(target.row.platform, target.python)
    accelerator = target.row.accelerator.label
    for file in listing.files:
        wheel = parse_wheel_name(file.filename) if file.is_wheel else None
        if wheel is not None:
            name, version = wheel.project, wheel.version
        elif (sdist := parse_sdist_name(file.filename)) is not None and not file.is_wheel:
            name, version = sdist
        else:
            continue
        if name != listing.project:
            continue
        rank = ranks.rank(wheel.triple) if wheel else 0
        if rank is None:
            assert wheel is not None
            yield Refused(version, file, _OTHER_TAGS, by_tags=True)
            continue
        fits = "all"
        if file.requires_python:
            fits = python_fits(file.requires_python, target.python)
            if fits == "none":
                reason = f"needs Python {file.requires_python}"
                yield Refused(version, file, reason)
                continue
        local = version.local if family else None
        if local and (foreign := _foreign_label(local, accelerator)):
            yield Refused(version, file, f"built for {foreign}")
            continue
        # Pages without upload times (PyTorch's older ones) cannot be judged by time.
        if exclude_newer and file.upload_time and _newer(file.upload_time, exclude_newer):
            yield Refused(version, file, f"uploaded {file.upload_time}, after exclude-newer")
            continue
        build = wheel.build if wheel else (0, "")
        yield Admitted(
            version,
            file,
            (file.yanked is None, wheel is not None, -rank, build),
            file.requires_python if fits == "some" else None,
        )


def _newer(upload_time: str, limit: str) -> bool:
    return upload_time[:_TO_THE_SECOND] > limit[:_TO_THE_SECOND]
