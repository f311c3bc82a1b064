"""The PyTorch part of the snapshot, fetched: real pages with fewer lines, and sidecars."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import unquote, urljoin, urlsplit

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from snapshot_tools.core_metadata import cut_metadata, hash_text
from snapshot_tools.download import DownloadError, Downloads
from snapshot_tools.facts import FAMILY, INDEXES
from snapshot_tools.json_lines import render_texts
from snapshot_tools.torch_part import TorchPart

LIVE_RULES = {
    "sidecar": "The file's own <href>.metadata, cut; the announced hash is that of the cut text."
}
# Mirrored projects list everything PyPI has; a few versions are enough of a trap.
ORDINARY_VERSIONS = 3
_ANCHOR = re.compile(r'^\s*<a href="(?P<href>[^"]+)"(?P<attributes>[^>]*)>(?P<name>[^<]+)</a>')
_UPLOAD_TIME = re.compile(r'data-upload-time="([^"]+)"')
_METADATA = re.compile(r' data-(?:dist-info|core)-metadata="[^"]*"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a page; `url` is empty for a line that is not a file."""

    text: str
    url: str = ""
    filename: str = ""
    version: Version | None = None

    @property
    def place(self) -> str:
        """The path by which the manifest names the file."""
        path = unquote(urlsplit(self.url).path)
        return path.lstrip("/") if path.startswith("/whl/") else f"whl/{self.filename}"


def record_live(*, downloads: Downloads, address: str, until: str) -> TorchPart:
    """Fetch the pages of all indexes below an address, and the metadata that they announce."""
    pages: dict[str, str] = {}
    lines: dict[str, tuple[Line, ...]] = {}
    notes: list[str] = []
    for index in INDEXES:
        listing = downloads.load(f"{address}{index}/")
        if listing is None:
            notes.append(f"{index}: the address {address}{index}/ does not exist.")
            continue
        projects = [
            unquote(match["href"]).strip("/") for match in _iter_anchors(listing.decode("utf-8"))
        ]
        urls = {f"{address}{index}/{project}/": project for project in projects}
        found: set[str] = set()
        for url, body in downloads.load_all(urls).items():
            kept = (
                ()
                if body is None
                else select_lines(urls[url], url, body.decode("utf-8"), until=until)
            )
            if any(line.url for line in kept):
                found.add(urls[url])
                lines[f"whl/{index}/{urls[url]}/index.html"] = kept
        pages[f"whl/{index}/index.html"] = _select_projects(listing.decode("utf-8"), found)
    texts = _load_texts(downloads, (line for kept in lines.values() for line in kept))
    by_project: dict[str, dict[str, str]] = {}
    origins: dict[str, dict[str, str]] = {}
    for path, kept in lines.items():
        project = path.split("/")[2]
        pages[path] = "".join(f"{_announce(line, texts.get(line.url)).text}\n" for line in kept)
        for line in kept:
            if line.url in texts:
                by_project.setdefault(project, {})[hash_text(texts[line.url])] = texts[line.url]
                origins[line.place] = {"rule": "sidecar", "from": f"{line.url}.metadata"}
    for project, found_texts in by_project.items():
        pages[f"whl/metadata/{project}.json"] = render_texts(found_texts)
    return TorchPart(
        pages=pages, texts=frozenset(texts.values()), origins=origins, notes=tuple(notes)
    )


def select_lines(project: str, page_url: str, page: str, *, until: str) -> tuple[Line, ...]:
    """Select the lines of a page that the snapshot keeps, unchanged."""
    parsed = [
        line for text in page.splitlines() if (line := _parse_line(page_url, text, until=until))
    ]
    versions = {line.version for line in parsed if line.version}
    if project in FAMILY:
        kept = {
            version for version in versions if FAMILY[project].contains(Version(version.public))
        }
    else:
        kept = set(sorted(versions, reverse=True)[:ORDINARY_VERSIONS])
    return tuple(line for line in parsed if not line.url or line.version in kept)


def _parse_line(page_url: str, text: str, *, until: str) -> Line | None:
    match = _ANCHOR.match(text)
    if match is None:
        return Line(text=text)
    upload_time = _UPLOAD_TIME.search(match["attributes"])
    if upload_time and upload_time[1][:10] > until:
        return None
    filename = match["name"]
    try:
        parse = parse_wheel_filename if filename.endswith(".whl") else parse_sdist_filename
        version = parse(filename)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None
    url = urljoin(page_url, match["href"].partition("#")[0])
    return Line(text=text, url=url, filename=filename, version=version)


def _load_texts(downloads: Downloads, lines: Iterable[Line]) -> Mapping[str, str]:
    announced = {f"{line.url}.metadata" for line in lines if _METADATA.search(line.text)}
    bodies = downloads.load_all(announced)
    if broken := [url for url, body in bodies.items() if body is None]:
        raise DownloadError(
            f"{broken[0]}: announced by its page but missing ({len(broken)} such files)"
        )
    return {
        url.removesuffix(".metadata"): cut_metadata(body.decode("utf-8"))
        for url, body in bodies.items()
        if body is not None
    }


def _announce(line: Line, text: str | None) -> Line:
    if text is None:
        return line
    digest = f"sha256={hash_text(text)}"
    return replace(
        line,
        text=_METADATA.sub(lambda match: re.sub(r'"[^"]*"', f'"{digest}"', match[0]), line.text),
    )


def _iter_anchors(page: str) -> Iterable[re.Match[str]]:
    return (match for line in page.splitlines() if (match := _ANCHOR.match(line)))


def _select_projects(page: str, projects: set[str]) -> str:
    lines = page.splitlines()
    anchors = {line: match["href"].strip("/") for line in lines if (match := _ANCHOR.match(line))}
    return "".join(
        f"{line}\n" for line in lines if line not in anchors or anchors[line] in projects
    )
