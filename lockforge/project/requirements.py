"""One requirement as the user writes it -> ProjectRequirement."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.markers import UndefinedComparison
from packaging.requirements import InvalidRequirement, Requirement

from lockforge.model.platforms import PLATFORMS
from lockforge.model.project import ProjectRequirement
from lockforge.project.references import is_bare
from lockforge.standards.addresses import without_fragment
from lockforge.standards.markers import decide

if TYPE_CHECKING:
    from packaging.markers import Marker

    from lockforge.project.faults import Faults
    from lockforge.project.references import Place, References

_ANY_MINOR = (3, 12)
# An address may have a semicolon of its own, as pip reads it: a blank tells them apart.
_MARKER = re.compile(r"\s+;\s*|;\s+|(?<=\.whl|\.zip);|(?<=\.gz);|(?<=\]);")
_EXTRAS = re.compile(r"(.+?)(\[[^\[\]]*\])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Reads the requirements of one document; what is wrong with them is added to *faults*."""

    faults: Faults
    references: References
    place: Place
    """What a relative path in the document is relative to."""
    bare: bool = False
    """Whether a path or an address may stand without a name, as in a requirements file."""

    def read(
        self, text: str, where: str, *, condition: str = "", editable: bool = False
    ) -> ProjectRequirement | None:
        """Read one requirement; None for a faulty one."""
        found = self._read(text, where, condition)
        if found is None or not editable:
            return found
        url = found.requirement.url
        if url is None or self.references.kind_of(without_fragment(url)) != "directory":
            self.faults.add(where, f"only a directory can be editable: {text}", "leave out -e")
            return None
        return replace(found, editable=True)

    def _read(self, text: str, where: str, condition: str) -> ProjectRequirement | None:
        if self.bare and is_bare(text):
            requirement = self._read_bare(text, where)
        else:
            requirement = self._read_named(text, where)
        if requirement is None:
            return None
        if requirement.marker is not None and not self._has_meaning(requirement.marker, where):
            return None
        return ProjectRequirement(requirement=requirement, where=where, condition=condition)

    def _read_named(self, text: str, where: str) -> Requirement | None:
        requirement = self._parse(text, text, where)
        if requirement is None or requirement.url is None:
            return requirement
        found = self.references.resolve(
            requirement.url, requirement.name, self.place, self.faults, where
        )
        if found is None:
            return None
        requirement.url = found[1]
        return requirement

    def _read_bare(self, text: str, where: str) -> Requirement | None:
        reference, *marker = _MARKER.split(text.strip(), maxsplit=1)
        match = _EXTRAS.fullmatch(reference)
        assert match is not None
        found = self.references.resolve(match[1], None, self.place, self.faults, where)
        if found is None:
            return None
        name, address = found
        named = " ; ".join([f"{name}{match[2] or ''} @ {address}", *marker])
        return self._parse(named, text, where)

    def _parse(self, text: str, written: str, where: str) -> Requirement | None:
        try:
            return Requirement(text)
        except InvalidRequirement as error:
            reason = str(error).splitlines()[0]
        hint = f'write "NAME @ {written}"' if is_bare(written) else 'write "torch>=2.9" or so'
        self.faults.add(where, f"not a requirement: {written!r}: {reason}", hint)
        return None

    def _has_meaning(self, marker: Marker, where: str) -> bool:
        if reason := meaningless(marker):
            self.faults.add(where, f"a marker without meaning: {marker}: {reason}")
        return reason is None


def meaningless(marker: Marker) -> str | None:
    """Say why *marker* means nothing in a requirement; None for one that does."""
    try:
        for platform in PLATFORMS.values():
            decide(marker, platform, _ANY_MINOR)
    except UndefinedComparison as error:
        return str(error)
    return None


def limited(entry: ProjectRequirement, marker: Marker | None) -> ProjectRequirement:
    """Give a requirement as it stands where *marker* holds too."""
    if marker is None:
        return entry
    requirement = Requirement(str(entry.requirement))
    own = requirement.marker
    requirement.marker = marker if own is None else own & marker
    return replace(entry, requirement=requirement)
