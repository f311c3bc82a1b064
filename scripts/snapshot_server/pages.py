"""Index pages as the server sends them: as recorded, with every file address turned to the server.

The default index's HTML (PEP 503, 592, 714) is made from its recorded JSON.
"""

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from snapshot_server.snapshot import PYTORCH_HOST

_FILE_HREF = re.compile(r'href="(?:https?://([^/"]+))?(/[^"]*)"')
_ANNOUNCEMENT = re.compile(r'\s+data-(?:core|dist-info)-metadata="[^"]*"')
_ANNOUNCEMENT_KEYS = ("core-metadata", "dist-info-metadata", "data-dist-info-metadata")


def rewrite_address(address: str, base_url: str) -> str:
    """Turn `https://host/path` into `<base_url>/files/host/path`; escapes are left alone."""
    return f"{base_url}/files/{address.partition('://')[2]}"


def rewrite_listing(text: str, base_url: str, *, sidecars: bool) -> dict[str, Any]:
    """Return a recorded PEP 691 page that points to the server, and maybe announces no sidecars."""
    listing: dict[str, Any] = json.loads(text)
    for file in listing["files"]:
        file["url"] = rewrite_address(file["url"], base_url)
        if not sidecars:
            for key in _ANNOUNCEMENT_KEYS:
                file.pop(key, None)
    return listing


def render_json(document: dict[str, Any]) -> bytes:
    """Render a PEP 691 page, compact."""
    return json.dumps(document, separators=(",", ":")).encode()


def render_listing_html(listing: dict[str, Any]) -> bytes:
    """Render a PEP 691 page as PEP 503 HTML, as PyPI does."""
    return _render_page(
        f"Links for {listing['name']}", (_render_file(file) for file in listing["files"])
    )


def rewrite_pytorch_page(text: str, base_url: str, *, sidecars: bool) -> bytes:
    """Return a recorded PyTorch page that points to the server, root-relatively where it did."""

    def replace(match: re.Match[str]) -> str:
        host, path = match.groups()
        start = f"{base_url}/files/{host}" if host else f"/files/{PYTORCH_HOST}"
        return f'href="{start}{path}"'

    page = _FILE_HREF.sub(replace, text)
    return (page if sidecars else _ANNOUNCEMENT.sub("", page)).encode()


def make_project_list(projects: Iterable[str]) -> dict[str, Any]:
    """Return the PEP 691 page at the root of the default index."""
    return {
        "meta": {"api-version": "1.1"},
        "projects": [{"name": name} for name in sorted(projects)],
    }


def render_project_list_html(document: dict[str, Any]) -> bytes:
    """Render the root of the default index as PEP 503 HTML."""
    names = [escape(project["name"]) for project in document["projects"]]
    return _render_page("Simple index", (f'<a href="/simple/{name}/">{name}</a>' for name in names))


def _render_page(title: str, anchors: Iterable[str]) -> bytes:
    head = (
        f'<meta name="pypi:repository-version" content="1.1">\n    <title>{escape(title)}</title>'
    )
    body = "".join(f"{anchor}<br />\n" for anchor in anchors)
    return (
        f"<!DOCTYPE html>\n<html>\n  <head>\n    {head}\n  </head>\n"
        f"  <body>\n    <h1>{escape(title)}</h1>\n{body}  </body>\n</html>\n"
    ).encode()


def _render_file(file: dict[str, Any]) -> str:
    digest = file.get("hashes", {}).get("sha256")
    attributes = [("href", file["url"] + (f"#sha256={digest}" if digest else ""))]
    if file.get("requires-python"):
        attributes.append(("data-requires-python", file["requires-python"]))
    if metadata := file.get("core-metadata"):
        value = f"sha256={metadata['sha256']}" if isinstance(metadata, dict) else "true"
        attributes += [("data-dist-info-metadata", value), ("data-core-metadata", value)]
    if yanked := file.get("yanked"):
        attributes.append(("data-yanked", yanked if isinstance(yanked, str) else ""))
    written = " ".join(f'{name}="{escape(value)}"' for name, value in attributes)
    return f"<a {written}>{escape(file['filename'])}</a>"
