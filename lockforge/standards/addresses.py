"""Web addresses (RFC 3986): whose they are (RFC 6454), and what of them may be shown."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
_USER_INFO = re.compile(r"//[^/\s'\"]*@")
_QUERY = re.compile(r"(https?://[^\s'\"?#]*)\?[^\s'\"]+")


def origin_of(url: str) -> str:
    """Give scheme, host and port in one spelling; ValueError for what is no address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    port = parts.port
    default = port is None or port == _DEFAULT_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}" if default else f"{parts.scheme}://{host}:{port}"


def without_fragment(url: str) -> str:
    """Leave out what follows ``#``, such as a hash, which is no part of the place."""
    return url.partition("#")[0]


def public_address(url: str) -> str:
    """Leave out what a personal or signed address carries beside the place itself."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def hide_secrets(text: str) -> str:
    """Leave credentials and queries out of every address in a text for people."""
    return _QUERY.sub(r"\1", _USER_INFO.sub("//***@", text))
