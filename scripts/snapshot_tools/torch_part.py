"""The PyTorch part of the snapshot, rebuilt from facts: pages, texts and their origins."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from snapshot_tools.core_metadata import hash_text
from snapshot_tools.derive import Derived
from snapshot_tools.facts import FAMILY, INDEXES, FactsFile
from snapshot_tools.html_pages import render_file_page, render_project_list
from snapshot_tools.json_lines import render_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchPart:
    """Files to write by path, origins by file place, and what is to be said about the part."""

    pages: Mapping[str, str]
    texts: frozenset[str]
    origins: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...]


def build_torch_part(
    files: Iterable[FactsFile], derived: Mapping[str, Derived], *, stamp: int
) -> TorchPart:
    """All pages of all indexes, a root wheel on each of them."""
    listed = tuple(files)
    hashes = {place: hash_text(one.text) for place, one in derived.items()}
    pages: dict[str, str] = {}
    texts: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for index in INDEXES:
        by_project: defaultdict[str, list[FactsFile]] = defaultdict(list)
        for file in listed:
            if file.folder in {"", index}:
                by_project[file.project].append(file)
        pages[f"whl/{index}/index.html"] = render_project_list(by_project, stamp=stamp)
        for project, members in by_project.items():
            page = render_file_page(project, members, hashes, stamp=stamp)
            pages[f"whl/{index}/{project}/index.html"] = page
    for file in listed:
        if file.place in derived:
            texts[file.project][hashes[file.place]] = derived[file.place].text
    for project, by_hash in texts.items():
        pages[f"whl/metadata/{project}.json"] = render_texts(by_hash)
    return TorchPart(
        pages=pages,
        texts=frozenset(one.text for one in derived.values()),
        origins={
            place: {"rule": one.rule, "from": one.source} for place, one in sorted(derived.items())
        },
        notes=tuple(_iter_notes(listed, derived)),
    )


def _iter_notes(files: tuple[FactsFile, ...], derived: Mapping[str, Derived]) -> Iterable[str]:
    for file in files:
        if file.other_sha256_seen:
            others = ", ".join(file.other_sha256_seen)
            yield f"{file.place}: sha256 is {file.sha256} here; other lock files saw {others}."
    for file in files:
        if file.project in FAMILY and file.filename.endswith(".whl") and file.place not in derived:
            yield f"{file.place}: no rule explains its metadata, so the page announces none."
    unknown = sum(not file.is_url_known for file in files)
    yield (
        f"{unknown} files of the PyTorch part come from lock files that give no address; theirs is "
        "the index folder on download.pytorch.org."
    )
