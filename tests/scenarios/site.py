"""Built scenarios behind one HTTP server, and what their pages and files say."""

from __future__ import annotations

import json
import tarfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.metadata import parse_email
from packaging.requirements import Requirement

from tests.independent.check_lock import PageFile

_JSON = "application/vnd.pypi.simple.v1+json"
# Below this, pages are HTML whatever is accepted.
HTML_ONLY = "html"
_TYPES = {"index.json": _JSON, "index.html": "text/html; charset=utf-8"}


class _Handler(BaseHTTPRequestHandler):
    """Serves a directory of built scenarios: pages by what is accepted, files as they are."""

    protocol_version = "HTTP/1.1"
    # Head and body leave together: sent apart, the second waits for the first to be acknowledged.
    wbufsize = -1

    def __init__(self, root: Path, *arguments: object) -> None:
        self._root = root
        super().__init__(*arguments)  # type: ignore[arg-type]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return

    def do_GET(self) -> None:
        asked = unquote(urlsplit(self.path).path).lstrip("/")
        path = self._root / asked.removeprefix(f"{HTML_ONLY}/")
        if path.is_dir():
            is_json = _JSON in self.headers.get("Accept", "") and path == self._root / asked
            path /= "index.json" if is_json else "index.html"
        found = path.is_file() and ".." not in path.parts
        body = path.read_bytes() if found else b"there is no such thing here"
        self.send_response(HTTPStatus.OK if found else HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", _TYPES.get(path.name, "application/octet-stream"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serve(root: Path) -> Iterator[str]:
    """Serve *root* on loopback; gives the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, root))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True, kw_only=True)
class Site:
    """The index of one scenario."""

    root: Path
    url: str

    @property
    def index_url(self) -> str:
        """The address of the index."""
        return f"{self.url}/simple/"

    @property
    def projects(self) -> tuple[str, ...]:
        """What the index has, by name."""
        return tuple(sorted(path.name for path in (self.root / "simple").glob("*/")))

    def page(self, project: str) -> dict[str, PageFile]:
        """Give the files of a project by name."""
        path = self.root / "simple" / project / "index.json"
        return {
            entry["filename"]: PageFile(
                filename=entry["filename"],
                url=f"{self.url}/files/{entry['filename']}",
                sha256=entry["hashes"]["sha256"],
                metadata=None,
                requires_python=entry.get("requires-python"),
            )
            for entry in json.loads(path.read_text("utf-8"))["files"]
        }

    def requires(self, filename: str) -> Sequence[Requirement]:
        """List what the very file requires."""
        path = self.root / "files" / filename
        if filename.endswith(".whl"):
            text = path.with_name(f"{filename}.metadata").read_text("utf-8")
        else:
            with tarfile.open(path) as archive:
                stem = filename.removesuffix(".tar.gz")
                member = archive.extractfile(f"{stem}/PKG-INFO")
                assert member is not None
                text = member.read().decode()
        raw, _ = parse_email(text)
        return tuple(map(Requirement, raw.get("requires_dist", ())))
