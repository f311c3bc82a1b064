"""Reads the snapshot's directory: which pages it has, and which METADATA belongs to which file."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urljoin

PYTORCH_HOST = "download.pytorch.org"

_ANCHOR = re.compile(r"<a\s([^>]*)>", re.IGNORECASE)
_HREF = re.compile(r'href="([^"#]*)')
_METADATA_HASH = re.compile(r'data-(?:core|dist-info)-metadata="sha256=([0-9a-f]{64})"')


def normalize_name(name: str) -> str:
    """Return the project name as PEP 503 spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


class Snapshot:
    """The directory as it was when opened; names are listed once, texts are read when asked for.

    Only listed names are ever joined to a path, so a request cannot leave the directory.
    """

    def __init__(self, directory: Path) -> None:
        self._simple = directory / "simple"
        self._whl = directory / "whl"
        if not self._simple.is_dir() and not self._whl.is_dir():
            raise FileNotFoundError(
                f"{directory} has neither a simple/ nor a whl/ folder: not a snapshot"
            )
        self.projects = frozenset(page.parent.name for page in self._simple.glob("*/index.json"))
        self.pytorch_pages = frozenset(
            page.parent.relative_to(self._whl).parts
            for pattern in ("*/index.html", "*/*/index.html")
            for page in self._whl.glob(pattern)
        )
        self._metadata: dict[str, dict[str, bytes]] = {}
        self._lock = threading.Lock()

    def read_listing(self, project: str) -> str:
        """Return the recorded PEP 691 page of one of `projects`."""
        return (self._simple / project / "index.json").read_text(encoding="utf-8")

    def read_pytorch_page(self, path: tuple[str, ...]) -> str:
        """Return one of `pytorch_pages`: `(accelerator,)` or `(accelerator, project)`."""
        return self._whl.joinpath(*path, "index.html").read_text(encoding="utf-8")

    def find_metadata(self, address: str) -> bytes | None:
        """Return the METADATA of the file that some page lists at this public address, if recorded.

        The address is compared unquoted, since clients differ in whether they keep `%2B`.
        """
        project = normalize_name(address.rpartition("/")[2].partition("-")[0])
        with self._lock:
            if project not in self._metadata:
                self._metadata[project] = self._load_metadata(project)
        return self._metadata[project].get(unquote(address))

    def _load_metadata(self, project: str) -> dict[str, bytes]:
        texts: dict[str, str] = {}
        for path in (
            self._simple / project / "metadata.json",
            self._whl / "metadata" / f"{project}.json",
        ):
            if path.is_file():
                texts.update(json.loads(path.read_text(encoding="utf-8")))
        return {
            unquote(address): texts[digest].encode()
            for address, digest in self._iter_announced(project)
            if digest in texts
        }

    def _iter_announced(self, project: str) -> Iterator[tuple[str, str]]:
        if project in self.projects:
            for file in json.loads(self.read_listing(project))["files"]:
                announced = file.get("core-metadata")
                if isinstance(announced, dict) and "sha256" in announced:
                    yield file["url"].partition("#")[0], announced["sha256"]
        for path in sorted(self.pytorch_pages):
            if path[1:] == (project,):
                base = "/".join((f"https://{PYTORCH_HOST}/whl", *path, ""))
                for anchor in _ANCHOR.findall(self.read_pytorch_page(path)):
                    href, announced = _HREF.search(anchor), _METADATA_HASH.search(anchor)
                    if href and announced:
                        yield urljoin(base, href[1]), announced[1]
