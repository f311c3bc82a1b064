"""HTTP messages as values, and the few header rules the server needs (RFC 9110)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Self

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_NO_BODY = frozenset({HTTPStatus.NOT_MODIFIED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request without a body; `path` is escaped, without query; header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    keeps_alive: bool

    @classmethod
    def parse(cls, head: bytes) -> Self:
        """Read what stands before the empty line; ValueError where it is no request."""
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, version = first.split(" ")
        headers = {}
        for line in lines:
            name, separator, value = line.partition(":")
            if not separator:
                raise ValueError(f"not a header: {line!r}")
            headers[name.lower()] = value.strip()
        connection = headers.get("connection", "").lower()
        return cls(
            method=method,
            path=target.partition("?")[0],
            headers=headers,
            keeps_alive=connection != "close"
            and (version == "HTTP/1.1" or connection == "keep-alive"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer; `Content-Length` and `Connection` are added when it is encoded."""

    status: HTTPStatus
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def encode(self, *, with_body: bool, keep_alive: bool) -> bytes:
        """Return the whole message, for one write; `with_body=False` answers HEAD."""
        lines = [f"HTTP/1.1 {self.status.value} {self.status.phrase}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if self.status not in _NO_BODY:
            lines.append(f"Content-Length: {len(self.body)}")
        lines.append(f"Connection: {'keep-alive' if keep_alive else 'close'}")
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        return head + self.body if with_body else head


def accepts_gzip(header: str) -> bool:
    """Read an Accept-Encoding header."""
    return any(quality > 0 for name, quality in _parse_weighted(header) if name in {"gzip", "*"})


def select_media_type(header: str, offered: Mapping[str, str]) -> str | None:
    """Return the offer an Accept header weighs highest, the earlier of two equals.

    `offered` maps each media range a client may name to the media type it gets.
    """
    weights = dict(_parse_weighted(header))
    best = max(offered, key=lambda name: weights.get(name, 0.0), default=None)
    return offered[best] if best is not None and weights.get(best, 0.0) > 0 else None


def select_range(header: str, size: int) -> slice | None:
    """Return what a Range header asks for; None where it is to be ignored (several ranges, others).

    Raises ValueError where no byte of the content is in the range (status 416).
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None or not any(match.groups()):
        return None
    first, last = match.groups()
    if first:
        start, stop = int(first), min(int(last) + 1, size) if last else size
    else:
        start, stop = max(size - int(last), 0), size
    if last and first and int(last) < int(first):
        return None
    if start >= stop:
        raise ValueError(f"{header} is outside of {size} bytes")
    return slice(start, stop)


def _parse_weighted(header: str) -> list[tuple[str, float]]:
    parsed = []
    for item in header.split(","):
        name, *parameters = (part.strip().lower() for part in item.split(";"))
        quality = next((value[2:] for value in parameters if value.startswith("q=")), "1")
        try:
            parsed.append((name, float(quality)))
        except ValueError:
            parsed.append((name, 0.0))
    return parsed
