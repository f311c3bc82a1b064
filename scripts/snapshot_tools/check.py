"""What the recorder checks in its own result: hashes against facts, requirements against files."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from snapshot_tools.core_metadata import read_requirements
from snapshot_tools.crawl import Crawl
from snapshot_tools.derive import Derived
from snapshot_tools.facts import FAMILY, INDEXES, FactsFile
from snapshot_tools.targets import describe_targets, select_by_marker, select_by_tag

_ANCHOR = re.compile(
    r'href="(?P<url>[^"#]+)(?:#sha256=(?P<sha256>[0-9a-f]{64}))?"[^>]*>(?P<name>[^<]+)</a>'
)


class HashMismatchError(Exception):
    """A page gives a file another hash than the facts do."""


def check_hashes(pages: Mapping[str, str], facts: Path) -> None:
    """Check that each file has the hash its facts give, and none where they give none."""
    known: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for index in ("root", *INDEXES):
        packages = json.loads((facts / f"{index}.json").read_text(encoding="utf-8"))["packages"]
        for record in (record for records in packages.values() for record in records):
            if record["sha256"]:
                known[index, record["filename"]].add(record["sha256"])
    for path, page in pages.items():
        own = path.split("/")[1]
        for match in _ANCHOR.finditer(page):
            # A file below its index is the file of that index alone, whatever its name.
            places = (own,) if f"/{own}/" in match["url"] else ("root", *INDEXES)
            expected = {sha256 for index in places for sha256 in known[index, match["name"]]}
            is_expected = match["sha256"] in expected if expected else match["sha256"] is None
            if not is_expected:
                raise HashMismatchError(f"{path}: {match['name']}: {match['sha256']} is no fact")


def find_gaps(crawl: Crawl, wanted: Iterable[str]) -> tuple[str, ...]:
    """Find requirements of the PyTorch part that no kept file of the default index satisfies."""
    gaps: list[str] = []
    for text in sorted(wanted):
        requirement = Requirement(text)
        project = canonicalize_name(requirement.name)
        targets = _select_targets(requirement)
        if project in FAMILY or not targets:
            continue
        versions = {file.version for file in crawl.kept.get(project, ()) if file.targets & targets}
        if not any(_satisfies(version, requirement) for version in versions):
            gaps.append(
                f"{text}: required by the PyTorch part, not to be had on the default index."
            )
    return tuple(gaps)


def find_holes(files: Iterable[FactsFile], derived: Mapping[str, Derived]) -> tuple[str, ...]:
    """Find what family wheels pin of the family that was not gathered for their targets."""
    listed = [file for file in files if file.project in FAMILY]
    served = {file.place: _select_by_wheel(file.filename) for file in listed}
    members: defaultdict[str, list[FactsFile]] = defaultdict(list)
    for file in listed:
        members[file.project].append(file)
    holes: defaultdict[str, int] = defaultdict(int)
    askers: defaultdict[str, set[str]] = defaultdict(set)
    for file in listed:
        for text in read_requirements(derived[file.place].text if file.place in derived else ""):
            requirement = Requirement(text)
            missing = served[file.place] & _select_targets(requirement)
            if canonicalize_name(requirement.name) not in FAMILY or not missing:
                continue
            for member in members[canonicalize_name(requirement.name)]:
                is_on_index = member.folder in {"", file.folder} or not file.folder
                if is_on_index and _satisfies(member.version, requirement):
                    missing &= ~served[member.place]
            if missing:
                pin = f"{requirement.name}{requirement.specifier}"
                holes[pin] |= missing
                askers[pin].add(f"{file.project} {file.version}")
    return tuple(
        f"{pin} was not gathered on the PyTorch part for {describe_targets(holes[pin])}, "
        f"where it is pinned by {', '.join(sorted(askers[pin]))}."
        for pin in sorted(holes)
    )


def _satisfies(version: Version, requirement: Requirement) -> bool:
    return requirement.specifier.contains(version, prereleases=True)


def _select_targets(requirement: Requirement) -> int:
    marker = str(requirement.marker) if requirement.marker else None
    return select_by_marker(marker, frozenset())


def _select_by_wheel(filename: str) -> int:
    mask = 0
    if filename.endswith(".whl"):
        for tag in parse_wheel_filename(filename)[3]:
            mask |= select_by_tag(tag)
    return mask
