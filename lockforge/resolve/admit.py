"""Which files of a listing exist for a Target, and why the others do not.

Files are judged before versions are compared, so a version without a usable file does not exist
for the row.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lockforge.model.accelerator import is_label
from lockforge.model.project import ALL
from lockforge.resolve.labels import mentions_build, parse_label
from lockforge.standards.filenames import parse_sdist_name, parse_wheel_name
from lockforge.standards.patches import python_fits
from lockforge.standards.tags import tag_ranks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.version import Version

    from lockforge.model.accelerator import Accelerator
    from lockforge.model.index import Route
    from lockforge.model.matrix import Target
    from lockforge.model.project import Policy
    from lockforge.model.release import DistributionFile, Listing
    from lockforge.resolve.labels import Label

# The date and time of RFC 3339 in UTC, without fraction and zone, compare as text.
_TO_THE_SECOND = 19
_DATE = 10


class Admitted(NamedTuple):
    """One usable file; the best file of a version has the greatest `preference`."""

    version: Version
    file: DistributionFile
    preference: tuple[bool, bool, int, tuple[int, str]]
    """Not yanked before yanked (PEP 592), wheels before sdists, the best tag, the highest build."""
    requires_python: str | None
    """Set where some patch releases of the minor are excluded."""
    label: Label | None = None
    """What the wheel was built for, where its local version says so."""


class Refused(NamedTuple):
    """One file that does not exist for the Target."""

    version: Version
    file: DistributionFile
    reason: str
    by_tags: bool = False
    """Whether it is made for other Pythons or platforms, which is nothing to remark on alone."""
    unreadable: bool = False
    """Whether its local version cannot be read, which the user must hear of."""


# Most files are for other Targets: the same words for all cost nothing.
_OTHER_TAGS = "made for other Pythons or platforms"
_NO_SDIST = "an sdist, and only wheels are wanted"
_NO_WHEEL = "a wheel, and only sdists are wanted"
_UNTIMED = "its page tells no upload time, which exclude-newer needs"
_UNTIMED_FAMILY = "its page tells no upload time, which exclude-newer-strict refuses"


@lru_cache(maxsize=4096)
def _foreign_label(local: str, accelerator: str) -> str | None:
    """Give the accelerator a local version names where it is not the row's."""
    for label in re.findall(r"cu\d+|rocm\d+(?:\.\d+)*|cpu|xpu", local):
        if is_label(label) and label != accelerator:
            return str(label)
    return None


def wants_wheels(policy: Policy, name: str) -> bool:
    """Whether wheels of *name* exist; what names the package wins over what holds for all."""
    return name not in policy.no_binary and not (
        ALL in policy.no_binary and name not in policy.only_binary
    )


def wants_sdists(policy: Policy, name: str) -> bool:
    """Whether sdists of *name* exist."""
    return name not in policy.only_binary and not (
        ALL in policy.only_binary and name not in policy.no_binary
    )


def judge(
    listing: Listing, target: Target, route: Route, policy: Policy
) -> Iterator[Admitted | Refused]:
    """Judge every file of *listing* that is of its project, in the page's order."""
    ranks = tag_ranks(target.row.platform, target.python)
    wheels = wants_wheels(policy, listing.project)
    sdists = wants_sdists(policy, listing.project)
    read_labels = route.labelled and _is_extension(listing)
    accelerator = target.row.accelerator
    for file in listing.files:
        wheel = parse_wheel_name(file.filename) if file.is_wheel else None
        version = wheel.version if wheel else _source_version(file, listing.project)
        if version is None or (wheel and wheel.project != listing.project):
            continue
        # What the project names itself is wanted.
        if not (route.is_direct or (wheels if wheel else sdists)):
            yield Refused(version, file, _NO_WHEEL if wheel else _NO_SDIST)
            continue
        rank = ranks.rank(wheel.triple) if wheel else 0
        if rank is None:
            yield Refused(version, file, _OTHER_TAGS, by_tags=True)
            continue
        fits = python_fits(file.requires_python, target.python) if file.requires_python else "all"
        if fits == "none":
            yield Refused(version, file, f"needs Python {file.requires_python}")
            continue
        label = None
        if version.local and (route.family or read_labels):
            label = parse_label(version.local) if read_labels else None
            # What PyTorch publishes, or the project names itself, needs no label of that kind.
            if label is None and not (route.family or route.is_direct):
                reason = f"its label {version.local!r} cannot be read"
                yield Refused(version, file, reason, unreadable=True)
                continue
            if refusal := _foreign(version.local, label, accelerator, route):
                yield Refused(version, file, refusal)
                continue
        if refusal := _late(file, route, policy):
            yield Refused(version, file, refusal)
            continue
        build = wheel.build if wheel else (0, "")
        yield Admitted(
            version,
            file,
            (file.yanked is None, wheel is not None, -rank, build),
            file.requires_python if fits == "some" else None,
            label,
        )


def _source_version(file: DistributionFile, project: str) -> Version | None:
    """Give the version of an sdist or source tree of *project*; None for any other file."""
    if file.is_wheel:
        return None
    # A source tree is named as its sdist would be, without the suffix.
    named = parse_sdist_name(f"{file.filename}.zip" if file.source_tree else file.filename)
    return named[1] if named is not None and named[0] == project else None


def _is_extension(listing: Listing) -> bool:
    """Whether local versions on the page say what wheels are built for.

    Elsewhere a local version is a vendor's own mark, and says nothing of rows.
    """
    for file in listing.files:
        # Version makes `+` of what was written `%2B`; a file name has one plus at most.
        if "+" in file.filename and (wheel := parse_wheel_name(file.filename)):
            local = wheel.version.local
            if local and mentions_build(local):
                return True
    return False


def _foreign(local: str, label: Label | None, accelerator: Accelerator, route: Route) -> str | None:
    """Say why a local version is not one of the row's."""
    if route.family and (foreign := _foreign_label(local, accelerator.label)):
        return f"built for {foreign}"
    if label is not None and not label.suits(accelerator):
        return f"built for {label.accelerator}"
    return None


def _late(file: DistributionFile, route: Route, policy: Policy) -> str | None:
    """Say why a file is too new, or may be."""
    limit = policy.exclude_newer
    if limit is None:
        return None
    if file.upload_time:
        late = file.upload_time[:_TO_THE_SECOND] > limit[:_TO_THE_SECOND]
        return f"uploaded {file.upload_time[:_DATE]}, after exclude-newer" if late else None
    if route.is_untimed:
        return None
    # PyTorch's own pages tell no times, and there is no other place to take the family from.
    if route.family:
        return _UNTIMED_FAMILY if policy.exclude_newer_strict else None
    return _UNTIMED
