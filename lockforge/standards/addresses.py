"""Web addresses (RFC 3986): whose they are (RFC 6454), and what of them may be shown."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
_WEB = ("http", "https")
_USER_INFO = re.compile(r"//[^/\s'\"]*@")
# What closes a bracket or a sentence after an address is no part of its query.
_QUERY = re.compile(r"(https?://[^\s'\"?#]*)\?[^\s'\"]*[^\s'\").,:;\]}]", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{[^{}]*\}")
# Where nothing may be overlooked, an address has no end but a blank.
_ANY_USER_INFO = re.compile(r"//(?!:?@)\S*@")
_ANY_QUERY = re.compile(r"https?://\S*\?\S", re.IGNORECASE)


def is_web(address: str) -> bool:
    """Whether *address* is one of the web, and not a path or ``file:`` address."""
    return urlsplit(address).scheme in _WEB


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


def shown_address(url: str) -> str:
    """Give what of an address in metadata may be shown: no secret, and no place of a machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "unreadable"
    local = parts.scheme.endswith("file") or len(parts.scheme) == 1
    # A single letter is a drive of Windows.
    if local or (parts.path.startswith("/") and not parts.netloc):
        return re.split(r"[/\\]", parts.path.rstrip("/\\"))[-1]
    return public_address(url)


def hide_secrets(text: str) -> str:
    """Leave credentials and queries out of every address in a text for people."""
    return _QUERY.sub(r"\1", _USER_INFO.sub("//***@", text))


def hide_user_info(text: str) -> str:
    """Leave out whatever may be credentials in what is no proper address."""
    return re.sub(r"//\S*@", "//***@", text)


def may_hold_secrets(text: str) -> bool:
    """Whether an address in *text* may have credentials other than variables, or a query."""
    plain = _VARIABLE.sub("", text)
    return _ANY_USER_INFO.search(plain) is not None or _ANY_QUERY.search(plain) is not None
