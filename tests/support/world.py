"""A small world of packages on several indexes, laid out as the real ones are, behind HTTP.

The default index is JSON at ``/simple/``; PyTorch's indexes are HTML at ``/whl/<accelerator>/``,
where what is missing is forbidden. Every answer can be replaced, to be wrong in a chosen way.
"""

from __future__ import annotations

import hashlib
import html
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, unquote

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

from tests.support.wheels import build_sdist, build_wheel, metadata_text

DEFAULT = "pypi"
_JSON = "application/vnd.pypi.simple.v1+json"


@dataclass(kw_only=True)
class Entry:
    """One file of one index."""

    filename: str
    content: bytes
    metadata: str | None
    sidecar: bool
    hashed: bool
    requires_python: str | None
    yanked: str | None
    upload_time: str | None
    href: str | None

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass
class Answer:
    """What the server says at one address in place of what it would say."""

    status: int = 200
    body: bytes = b""
    content_type: str = "text/html"
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    """A Content-Length that may not be the body's."""


class World:
    """Indexes by name: ``pypi``, and PyTorch's by their accelerator."""

    def __init__(self) -> None:
        self.indexes: dict[str, dict[str, list[Entry]]] = {DEFAULT: {}}
        self.answers: dict[str, Answer | Callable[[int], Answer | None]] = {}
        """Replacements by path; a function gets the number of the request, counted from 1."""
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        """Method, path and headers of every request so far."""
        self.base = ""

    def add(
        self,
        index: str,
        filename: str,
        *,
        requires: Sequence[str] = (),
        extras: Sequence[str] = (),
        requires_python: str | None = None,
        announce_python: bool | None = None,
        sidecar: bool = True,
        hashed: bool = True,
        yanked: str | None = None,
        upload_time: str | None = None,
        href: str | None = None,
        marker: str = "",
        pkg_info: str | None = "",
    ) -> Entry:
        """Put a file on an index; PyTorch's pages announce no Requires-Python unless told to."""
        if filename.endswith(".whl"):
            name, version = parse_wheel_filename(filename)[:2]
            metadata = metadata_text(name, str(version), requires, requires_python, extras)
            content = build_wheel(filename, metadata, marker or index)
        else:
            name, version = parse_sdist_filename(filename)
            text = metadata_text(name, str(version), requires, requires_python, extras)
            content = build_sdist(filename, text if pkg_info == "" else pkg_info)
            metadata, sidecar = None, False
        if announce_python is None:
            announce_python = index == DEFAULT
        entry = Entry(
            filename=filename,
            content=content,
            metadata=metadata,
            sidecar=sidecar,
            hashed=hashed,
            requires_python=requires_python if announce_python else None,
            yanked=yanked,
            upload_time=upload_time,
            href=href,
        )
        self.indexes.setdefault(index, {}).setdefault(canonicalize_name(name), []).append(entry)
        return entry

    def entry(self, index: str, filename: str) -> Entry:
        return next(
            entry
            for entries in self.indexes[index].values()
            for entry in entries
            if entry.filename == filename
        )

    @property
    def default_url(self) -> str:
        return f"{self.base}/simple/"

    @property
    def torch_url(self) -> str:
        return f"{self.base}/whl"

    def index_url(self, index: str) -> str:
        """The address a lock names an index by."""
        return f"{self.base}/simple" if index == DEFAULT else f"{self.base}/whl/{index}"

    def page_path(self, index: str, project: str) -> str:
        return f"/simple/{project}/" if index == DEFAULT else f"/whl/{index}/{project}/"

    def file_path(self, index: str, filename: str) -> str:
        folder = "/files" if index == DEFAULT else f"/whl/{index}"
        return f"{folder}/{quote(filename)}"

    def _page(self, index: str, project: str) -> Answer | None:
        entries = self.indexes.get(index, {}).get(project)
        if entries is None:
            return None
        if index == DEFAULT:
            files = [self._json_entry(index, entry) for entry in entries]
            page = {"meta": {"api-version": "1.1"}, "name": project, "files": files}
            return Answer(body=json.dumps(page).encode(), content_type=_JSON)
        anchors = "".join(self._anchor(index, entry) for entry in entries)
        text = (
            f"<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for {project}</h1>\n{anchors}"
            "  </body>\n</html>\n<!--TIMESTAMP 1786518979-->\n"
        )
        return Answer(body=text.encode())

    def _json_entry(self, index: str, entry: Entry) -> dict[str, object]:
        found: dict[str, object] = {
            "filename": entry.filename,
            "url": entry.href or f"{self.base}{self.file_path(index, entry.filename)}",
            "hashes": {"sha256": entry.sha256} if entry.hashed else {},
            "size": len(entry.content),
        }
        if entry.requires_python:
            found["requires-python"] = entry.requires_python
        if entry.yanked is not None:
            found["yanked"] = entry.yanked or True
        if entry.upload_time:
            found["upload-time"] = entry.upload_time
        if entry.sidecar and entry.metadata is not None:
            digest = hashlib.sha256(entry.metadata.encode()).hexdigest()
            found["core-metadata"] = {"sha256": digest}
        return found

    def _anchor(self, index: str, entry: Entry) -> str:
        href = entry.href or self.file_path(index, entry.filename)
        if entry.hashed:
            href += f"#sha256={entry.sha256}"
        attributes = [f'href="{html.escape(href)}"']
        if entry.sidecar and entry.metadata is not None:
            digest = hashlib.sha256(entry.metadata.encode()).hexdigest()
            attributes += [
                f'data-dist-info-metadata="sha256={digest}"',
                f'data-core-metadata="sha256={digest}"',
            ]
        if entry.requires_python:
            attributes.append(f'data-requires-python="{html.escape(entry.requires_python)}"')
        if entry.yanked is not None:
            attributes.append(f'data-yanked="{html.escape(entry.yanked)}"')
        if entry.upload_time:
            attributes.append(f'data-upload-time="{entry.upload_time}"')
        return f"    <a {' '.join(attributes)}>{html.escape(entry.filename)}</a><br/>\n"

    def answer(self, path: str) -> Answer:
        """Answer a GET of *path*."""
        replaced = self.answers.get(path)
        if callable(replaced):
            replaced = replaced(sum(1 for _, asked, _ in self.requests if asked == path))
        if replaced is not None:
            return replaced
        parts = unquote(path).strip("/").split("/")
        found: Answer | None = None
        if path.endswith("/"):
            if len(parts) == 2 and parts[0] == "simple":
                found = self._page(DEFAULT, parts[1])
            elif len(parts) == 3 and parts[0] == "whl":
                found = self._page(parts[1], parts[2])
        elif parts[0] == "files" and len(parts) == 2:
            found = self._file(DEFAULT, parts[1])
        elif parts[0] == "whl" and len(parts) == 3:
            found = self._file(parts[1], parts[2])
        if found is None:
            # PyTorch's static storage forbids what it does not have.
            return Answer(status=403 if parts[0] == "whl" else 404, body=b"AccessDenied")
        return found

    def _file(self, index: str, filename: str) -> Answer | None:
        wanted = filename.removesuffix(".metadata")
        for entries in self.indexes.get(index, {}).values():
            for entry in entries:
                if entry.filename != wanted:
                    continue
                if filename == wanted:
                    return Answer(body=entry.content, content_type="application/octet-stream")
                if entry.sidecar and entry.metadata is not None:
                    return Answer(body=entry.metadata.encode(), content_type="text/plain")
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    world: World

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return

    def _answer(self, *, body: bool) -> None:
        self.world.requests.append((self.command, self.path, dict(self.headers)))
        answer = self.world.answer(self.path)
        status, content = answer.status, answer.body
        headers = dict(answer.headers)
        asked = self.headers.get("Range")
        if asked and status == 200 and "Accept-Ranges" not in headers:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            size = len(content)
            start = int(first) if first else max(size - int(last), 0)
            end = min(int(last), size - 1) if first and last else size - 1
            content, status = content[start : end + 1], 206
            headers["Content-Range"] = f"bytes {start}-{end}/{size}"
        self.send_response(status)
        self.send_header("Content-Type", answer.content_type)
        length = len(content) if answer.length is None else answer.length
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)
        if length != len(content):
            self.close_connection = True

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client may hang up; to print that would put it into the output under test.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serve(world: World) -> Iterator[World]:
    """Serve *world* on loopback; its ``base`` is set before anything can ask."""
    handler = type("Handler", (_Handler,), {"world": world})
    server = _Server(("127.0.0.1", 0), handler)
    world.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield world
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
