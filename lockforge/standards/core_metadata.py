"""METADATA -> Metadata (core metadata specification; the fields that resolving needs)."""

from __future__ import annotations

from functools import lru_cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion

from lockforge.errors import MetadataError, NeedsBuildError
from lockforge.model.release import Metadata
from lockforge.standards.filenames import parse_version

# Core metadata 2.2: before it, an sdist's fields may differ from those of the built wheel.
_STATIC_SDIST = (2, 2)
_READ = frozenset(
    {
        "metadata-version",
        "version",
        "requires-python",
        "requires-dist",
        "dynamic",
    }
)
_NEEDED = ("requires-dist", "requires-python", "provides-extra")


@lru_cache(maxsize=65536)
def parse_requirement(text: str) -> Requirement:
    """Read a requirement; the same text gives the same object, which nobody may change."""
    return Requirement(text)


def _headers(text: str) -> dict[str, list[str]]:
    """Read the header lines that are needed, up to the first empty one, folded lines joined."""
    headers: dict[str, list[str]] = {}
    values: list[str] | None = None
    for line in text.splitlines():
        # The e-mail format: the body begins after an empty line; one of blanks is folded.
        if not line:
            break
        if line[0] in " \t":
            if values:
                values[-1] += " " + line.strip()
            continue
        name, _, value = line.partition(":")
        name = name.strip().lower()
        values = headers.setdefault(name, []) if name in _READ else None
        if values is not None:
            values.append(value.strip())
    return headers


def parse_metadata(text: str, *, where: str) -> Metadata:
    """Read a METADATA file; raises MetadataError naming *where* and the field at fault."""
    headers = _headers(text)
    try:
        return Metadata(
            version=parse_version(headers["version"][0]),
            requires_python=headers.get("requires-python", [None])[0] or None,
            requires_dist=tuple(
                # A repeated line says nothing new; wheels of torch 2.13 for macOS have some.
                dict.fromkeys(map(parse_requirement, headers.get("requires-dist", ())))
            ),
        )
    except KeyError as error:
        raise MetadataError(
            f"core metadata without {error.args[0].title()}",
            where=where,
            hint="exclude this version, or report it to the project",
        ) from error
    except (InvalidRequirement, InvalidVersion) as error:
        raise MetadataError(
            f"core metadata is invalid: {error}",
            where=where,
            hint="exclude this version, or state its metadata in [tool.lockforge.metadata]",
        ) from error


def parse_sdist_metadata(text: str, *, where: str) -> Metadata:
    """Read an sdist's PKG-INFO where it is as good as a wheel's METADATA.

    Raises NeedsBuildError when only a build could tell (PEP 643).
    """
    headers = _headers(text)
    try:
        declared = parse_version(headers.get("metadata-version", ["1.0"])[0]).release
    except InvalidVersion:
        declared = (0,)
    dynamic = {field.lower() for field in headers.get("dynamic", ())}
    if declared < _STATIC_SDIST or dynamic.intersection(_NEEDED):
        raise NeedsBuildError(
            "the requirements of this sdist are known only after a build, which a lock never runs",
            where=where,
            hint="state them in [tool.lockforge.metadata], or exclude the package from the row",
        )
    return parse_metadata(text, where=where)
