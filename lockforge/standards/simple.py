"""An index page -> Listing (simple repository API: PEP 503, 592, 629, 658, 691, 700, 714)."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

from packaging.utils import canonicalize_name

from lockforge.errors import MalformedResponseError
from lockforge.model.release import DistributionFile, Listing

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"  # noqa: E501
"""What to ask a simple index for: PEP 691 recommends to weigh JSON above HTML."""

_SUFFIXES = (".whl", ".tar.gz", ".zip")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# Attribute values may hold a literal `>`, so quotes are respected.
_ATTRIBUTES = r"""(?:\s+[^\s=>/"']+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?)*\s*/?"""
_ANCHOR = re.compile(rf"<a({_ATTRIBUTES})>", re.IGNORECASE)
_BASE = re.compile(rf"<base({_ATTRIBUTES})>", re.IGNORECASE)
_META = re.compile(rf"<meta({_ATTRIBUTES})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([^\s=>/"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_FORM = re.compile(r"<(form|input)\b", re.IGNORECASE)


def parse_page(
    body: str, content_type: str, *, project: NormalizedName, url: str, index_url: str
) -> Listing:
    """Read a project page of a simple index, or a flat page with files of many projects.

    *url* is the address the page came from in the end, which relative addresses refer to.
    Raises MalformedResponseError.
    """
    if content_type.partition(";")[0].strip().endswith("json"):
        files = _parse_json(body, url)
    else:
        files = _parse_html(body, url)
    return Listing(project=project, index_url=index_url, files=files)


def _parse_json(body: str, url: str) -> tuple[DistributionFile, ...]:
    try:
        page = json.loads(body)
        version = page["meta"]["api-version"].strip()
        files = page["files"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MalformedResponseError(
            f"the page is not a JSON index page: {error}",
            where=url,
            hint="try again; if it persists, tell whoever runs the index",
        ) from error
    _check_version(version, url)
    try:
        return tuple(
            _from_json(entry, url) for entry in files if entry["filename"].endswith(_SUFFIXES)
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise MalformedResponseError(
            f"a file entry of the page is not as PEP 691 says: {error!r}",
            where=url,
            hint="try again; if it persists, tell whoever runs the index",
        ) from error


def _check_version(version: str, url: str) -> None:
    """Refuse another major version of the API, as PEP 629 demands."""
    if version.partition(".")[0] != "1":
        raise MalformedResponseError(
            f"the page is of index API version {version}; 1.x is understood",
            where=url,
            hint="update lockforge",
        )


def _from_json(entry: dict[str, Any], url: str) -> DistributionFile:
    address, hashes = entry["url"], entry["hashes"]
    requires_python, size = entry.get("requires-python"), entry.get("size")
    upload_time, yanked = entry.get("upload-time"), entry.get("yanked", False)
    # A page may have thousands of entries, so they are checked in one go.
    if not (
        isinstance(address, str)
        and isinstance(hashes, dict)
        and (requires_python is None or isinstance(requires_python, str))
        and (size is None or isinstance(size, int))
        and (upload_time is None or isinstance(upload_time, str))
    ):
        raise TypeError(f"{entry['filename']} has a value of the wrong type")
    # PEP 714: the new name wins where both are given.
    announced = entry.get("core-metadata", entry.get("dist-info-metadata", False))
    metadata: str | bool = bool(announced)
    if isinstance(announced, dict):
        metadata = _digest(announced.get("sha256")) or True
    return DistributionFile(
        filename=entry["filename"],
        url=address if "://" in address else urljoin(url, address),
        sha256=_digest(hashes.get("sha256")),
        requires_python=requires_python,
        yanked=(yanked if isinstance(yanked, str) else "") if yanked is not False else None,
        metadata=metadata,
        size=size,
        upload_time=upload_time,
    )


def _digest(value: object) -> str | None:
    """Read a sha256; raises ValueError for anything else."""
    if value is None or (isinstance(value, str) and _SHA256.fullmatch(value)):
        return value
    if not isinstance(value, str) or not _SHA256.fullmatch(value.lower()):
        raise ValueError(f"not a sha256: {value!r}")
    return value.lower()


def _parse_html(body: str, url: str) -> tuple[DistributionFile, ...]:
    text = _COMMENT.sub("", body)
    for meta in _META.finditer(text):
        attributes = _attributes(meta[1])
        if attributes.get("name", "").lower() == "pypi:repository-version":
            _check_version(attributes.get("content", ""), url)
    base = url
    if match := _BASE.search(text):
        base = urljoin(url, _attributes(match[1]).get("href", ""))
    parts = urlsplit(base)
    origin = f"{parts.scheme}://{parts.netloc}"
    try:
        files = tuple(
            file
            for match in _ANCHOR.finditer(text)
            if (file := _from_anchor(_attributes(match[1]), base, origin)) is not None
        )
    except ValueError as error:
        raise MalformedResponseError(
            f"a link of the page is not as PEP 503 says: {error}",
            where=url,
            hint="try again; if it persists, tell whoever runs the index",
        ) from error
    # An index page may be empty of files, but it never asks for anything.
    if not files and _FORM.search(text):
        raise MalformedResponseError(
            "the answer is a page with a form, not an index page: a login or a captive portal",
            where=url,
            hint="check the address and the credentials of the index",
        )
    return files


def _attributes(text: str) -> dict[str, str]:
    attributes = {}
    for name, double, single, bare in _ATTRIBUTE.findall(text):
        value = double or single or bare
        attributes[name.lower()] = html.unescape(value) if "&" in value else value
    return attributes


def _from_anchor(attributes: dict[str, str], base: str, origin: str) -> DistributionFile | None:
    href = attributes.get("href")
    if href is None:
        return None
    target, _, fragment = href.partition("#")
    # The name is the last part of the address: `%2B` there is `+` in the name.
    filename = unquote(target.partition("?")[0].rpartition("/")[2])
    if not filename.endswith(_SUFFIXES):
        return None
    algorithm, _, digest = fragment.partition("=")
    metadata: str | bool = False
    # PEP 714: the new name wins where both are given.
    announced = attributes.get("data-core-metadata", attributes.get("data-dist-info-metadata"))
    if announced is not None and announced != "false":
        kind, _, value = announced.partition("=")
        metadata = _digest(value) or True if kind == "sha256" and value else True
    return DistributionFile(
        filename=filename,
        url=_absolute(target, base, origin),
        sha256=_digest(digest) if algorithm == "sha256" and digest else None,
        requires_python=attributes.get("data-requires-python") or None,
        yanked=attributes.get("data-yanked"),
        metadata=metadata,
        upload_time=attributes.get("data-upload-time"),
    )


def _absolute(target: str, base: str, origin: str) -> str:
    """Join an address to its page's; the two common forms without the general and slow way."""
    if target.startswith(("https://", "http://")):
        return target
    if target[:1] == "/" and target[1:2] != "/" and "/." not in target:
        return origin + target
    return urljoin(base, target)


def project_url(index_url: str, project: NormalizedName) -> str:
    """Give the address of a project's page: PEP 503 wants the normalized name and a slash."""
    assert project == canonicalize_name(project)
    return f"{index_url.rstrip('/')}/{project}/"
