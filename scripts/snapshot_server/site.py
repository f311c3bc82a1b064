"""From Request to Response: what each address of the served snapshot answers. Holds no socket."""

import gzip
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Self
from urllib.parse import unquote

from snapshot_server.message import Request, Response, accepts_gzip, select_media_type, select_range
from snapshot_server.pages import (
    make_project_list,
    render_json,
    render_listing_html,
    render_project_list_html,
    rewrite_listing,
    rewrite_pytorch_page,
)
from snapshot_server.snapshot import Snapshot, normalize_name
from snapshot_server.wheels import make_stand_in

_JSON = "application/vnd.pypi.simple.v1+json"
_HTML = "application/vnd.pypi.simple.v1+html"
_PLAIN_HTML = "text/html; charset=utf-8"
_OFFERED_HTML = {
    _HTML: _HTML,
    "application/vnd.pypi.simple.latest+html": _HTML,
    "text/html": _PLAIN_HTML,
}
_OFFERED = {_JSON: _JSON, "application/vnd.pypi.simple.latest+json": _JSON, **_OFFERED_HTML}

_VARY = "Accept, Accept-Encoding"
_FILE_HEADERS: tuple[tuple[str, str], ...] = (
    ("Content-Type", "application/octet-stream"),
    ("Cache-Control", "max-age=365000000, immutable, public"),
)

_NOT_ALLOWED = Response(status=HTTPStatus.METHOD_NOT_ALLOWED)
_NOT_FOUND = Response(
    status=HTTPStatus.NOT_FOUND,
    headers=(("Content-Type", "text/plain"),),
    body=b"not in the snapshot\n",
)
# What the real host answers for a missing object, since its storage hides which objects exist.
_ACCESS_DENIED = Response(
    status=HTTPStatus.FORBIDDEN,
    headers=(("Content-Type", "application/xml"),),
    body=b'<?xml version="1.0" encoding="UTF-8"?>\n'
    b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the server behaves: seconds of latency before each answer, and what it leaves out."""

    latency: float = 0.0
    sidecars: bool = True
    ranges: bool = True
    html_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page made once: both codings of its body, and the headers all its responses share."""

    body: bytes
    compressed: bytes
    etag: str
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def make(cls, body: bytes, content_type: str, cache_control: str, *, vary: str) -> Self:
        """Compress the body, and take the ETag from it."""
        etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = (
            ("Content-Type", content_type),
            ("Cache-Control", cache_control),
            ("ETag", etag),
            ("Vary", vary),
        )
        return cls(
            body=body, compressed=gzip.compress(body, 6, mtime=0), etag=etag, headers=headers
        )

    def answer(self, request: Request) -> Response:
        """Answer 304 to a client that has this body, else the body in a coding it accepts."""
        if self.etag in request.headers.get("if-none-match", ""):
            return Response(status=HTTPStatus.NOT_MODIFIED, headers=self.headers)
        if accepts_gzip(request.headers.get("accept-encoding", "")):
            headers = (*self.headers, ("Content-Encoding", "gzip"))
            return Response(status=HTTPStatus.OK, headers=headers, body=self.compressed)
        return Response(status=HTTPStatus.OK, headers=self.headers, body=self.body)


class Site:
    """The served snapshot; pages and stand-in wheels are made on their first request and kept."""

    def __init__(self, snapshot: Snapshot, base_url: str, options: Options) -> None:
        self._snapshot = snapshot
        self._base_url = base_url
        self._options = options
        self._pages: dict[tuple[str, str], Page] = {}
        self._pytorch_pages: dict[tuple[str, ...], Page] = {}
        self._wheels: dict[str, bytes] = {}

    def answer(self, request: Request) -> Response:
        """Answer any request; never raises."""
        if request.method not in {"GET", "HEAD"}:
            return _NOT_ALLOWED
        match request.path.split("/"):
            case ["", "files", host, *path]:
                return self._answer_file(request, f"https://{host}/{'/'.join(path)}")
            case ["", "simple", *names]:
                return self._answer_simple(request, names)
            case ["", "whl", *names]:
                return self._answer_whl(request, names)
        return _NOT_FOUND

    def _answer_simple(self, request: Request, names: list[str]) -> Response:
        match names:
            case [""]:
                return self._answer_projects(request)
            case [name, ""] if name == normalize_name(name):
                return self._answer_listing(request, name)
            case []:
                return _redirect("/simple/")
            case [name] | [name, ""]:
                return _redirect(f"/simple/{normalize_name(name)}/")
        return _NOT_FOUND

    def _answer_whl(self, request: Request, names: list[str]) -> Response:
        match names:
            case [""]:
                return _ACCESS_DENIED
            case [accelerator, ""]:
                return self._answer_pytorch(request, accelerator)
            case [accelerator, project, ""]:
                return self._answer_pytorch(request, accelerator, project)
            case [_] | [_, _]:
                return _redirect(f"{request.path}/")
        return _ACCESS_DENIED

    def _answer_projects(self, request: Request) -> Response:
        def make_body(media_type: str) -> bytes:
            document = make_project_list(self._snapshot.projects)
            return (
                render_json(document) if media_type == _JSON else render_project_list_html(document)
            )

        return self._answer_negotiated(request, "", make_body)

    def _answer_listing(self, request: Request, project: str) -> Response:
        def make_body(media_type: str) -> bytes:
            text = self._snapshot.read_listing(project)
            listing = rewrite_listing(text, self._base_url, sidecars=self._options.sidecars)
            return render_json(listing) if media_type == _JSON else render_listing_html(listing)

        if project not in self._snapshot.projects:
            return _NOT_FOUND
        return self._answer_negotiated(request, project, make_body)

    def _answer_negotiated(
        self, request: Request, project: str, make_body: Callable[[str], bytes]
    ) -> Response:
        offered = _OFFERED_HTML if self._options.html_only else _OFFERED
        media_type = select_media_type(request.headers.get("accept", ""), offered) or _PLAIN_HTML
        key = (project, media_type)
        if key not in self._pages:
            self._pages[key] = Page.make(
                make_body(media_type), media_type, "max-age=600, public", vary=_VARY
            )
        return self._pages[key].answer(request)

    def _answer_pytorch(self, request: Request, *path: str) -> Response:
        if path not in self._snapshot.pytorch_pages:
            return _ACCESS_DENIED
        if path not in self._pytorch_pages:
            text = self._snapshot.read_pytorch_page(path)
            body = rewrite_pytorch_page(text, self._base_url, sidecars=self._options.sidecars)
            cache_control = "max-age=600, public, must-revalidate"
            self._pytorch_pages[path] = Page.make(
                body, "text/html", cache_control, vary="Accept-Encoding"
            )
        return self._pytorch_pages[path].answer(request)

    def _answer_file(self, request: Request, address: str) -> Response:
        if address.endswith(".metadata") and self._options.sidecars:
            metadata = self._snapshot.find_metadata(address.removesuffix(".metadata"))
            if metadata is not None:
                return Response(status=HTTPStatus.OK, headers=_FILE_HEADERS, body=metadata)
        elif address.endswith(".whl"):
            wheel = self._make_wheel(address)
            if wheel is not None:
                return self._answer_wheel(request, wheel)
        return _NOT_FOUND

    def _make_wheel(self, address: str) -> bytes | None:
        if address not in self._wheels:
            metadata = self._snapshot.find_metadata(address)
            if metadata is None:
                return None
            self._wheels[address] = make_stand_in(unquote(address.rpartition("/")[2]), metadata)
        return self._wheels[address]

    def _answer_wheel(self, request: Request, wheel: bytes) -> Response:
        headers = _FILE_HEADERS
        if not self._options.ranges:
            return Response(status=HTTPStatus.OK, headers=headers, body=wheel)
        headers = (*headers, ("Accept-Ranges", "bytes"))
        try:
            part = select_range(request.headers.get("range", ""), len(wheel))
        except ValueError:
            headers = (*headers, ("Content-Range", f"bytes */{len(wheel)}"))
            return Response(status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers=headers)
        if part is None:
            return Response(status=HTTPStatus.OK, headers=headers, body=wheel)
        headers = (*headers, ("Content-Range", f"bytes {part.start}-{part.stop - 1}/{len(wheel)}"))
        return Response(status=HTTPStatus.PARTIAL_CONTENT, headers=headers, body=wheel[part])


def _redirect(location: str) -> Response:
    return Response(status=HTTPStatus.MOVED_PERMANENTLY, headers=(("Location", location),))
