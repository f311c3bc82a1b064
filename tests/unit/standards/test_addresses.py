"""Whose an address is, and what of it may be shown."""

from __future__ import annotations

import pytest

from lockforge.standards.addresses import (
    hide_secrets,
    may_hold_secrets,
    origin_of,
    public_address,
    shown_address,
)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        # RFC 6454, section 4 and 5: scheme, host and port; each scheme has its default port.
        ("http://example.com", "http://example.com"),
        ("http://example.com/path/file", "http://example.com"),
        ("http://example.com:80/", "http://example.com"),
        ("https://example.com:443/", "https://example.com"),
        ("http://example.com:8080/", "http://example.com:8080"),
        ("http://example.com:443/", "http://example.com:443"),
        ("https://Example.COM/", "https://example.com"),
        ("HTTPS://example.com/", "https://example.com"),
        ("https://user:word@example.com/", "https://example.com"),
        ("https://example.org@example.com/", "https://example.com"),
        ("http://[::1]:8080/simple/", "http://[::1]:8080"),
    ],
)
def test_origin(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize("url", ["http://[::1/", "http://example.com:port/"])
def test_no_origin(url: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        origin_of(url)


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://example.com/a%2Bb.whl", "https://example.com/a%2Bb.whl"),
        ("https://u:p@example.com:8443/a", "https://example.com:8443/a"),
        ("https://u:p@q@example.com/a?X-Signature=s3cret#sha256=0", "https://example.com/a"),
    ],
)
def test_public_address(url: str, public: str) -> None:
    assert public_address(url) == public


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "no answer from https://u:s3cret@example.com/a, twice",
            "no answer from https://***@example.com/a, twice",
        ),
        (
            "not an address: 'https://u:p@q@example.com/'",
            "not an address: 'https://***@example.com/'",
        ),
        (
            "in https://example.com/a.whl?X-Signature=s3cret\nhint: x",
            "in https://example.com/a.whl\nhint: x",
        ),
        (
            "index x (https://example.com/a.whl?sig=s3cret) has a",
            "index x (https://example.com/a.whl) has a",
        ),
        (
            "(see HTTPS://example.com/a?b=1), https://example.com/c?d=e;",
            "(see HTTPS://example.com/a), https://example.com/c;",
        ),
        ("git+https://example.com/acme@v1.0", "git+https://example.com/acme@v1.0"),
        ("acme @ file:///wheels/acme.whl", "acme @ file:///wheels/acme.whl"),
        ("did you mean https://example.com/?", "did you mean https://example.com/?"),
    ],
)
def test_hide_secrets(text: str, shown: str) -> None:
    """Only addresses lose anything, and once is enough."""
    assert hide_secrets(text) == shown
    assert hide_secrets(shown) == shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://u:p@example.com/a/b.whl?sig=s3cret", "https://example.com/a/b.whl"),
        ("git+https://token@example.com/a.git@v1", "git+https://example.com/a.git@v1"),
        ("file:///home/someone/wheels/b.whl", "b.whl"),
        ("file://host/share/b.whl", "b.whl"),
        ("git+file:///home/someone/acme/", "acme"),
        ("/home/someone/b.whl", "b.whl"),
        ("C:\\Users\\someone\\b.whl", "b.whl"),
        ("wheels/b.whl", "wheels/b.whl"),
        ("https://[::1/b.whl", "unreadable"),
    ],
)
def test_shown_address(url: str, shown: str) -> None:
    """No credential, no query and no place of the machine is left."""
    assert shown_address(url) == shown


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('url = "https://user:word@example.com/simple/"', True),
        ("url = 'https://us'er:wo/rd@example.com/simple/'", True),
        ("acme @ https://example.com/a.whl?token=word", True),
        ('url = "https://${USER}:${WORD}@example.com/simple/"', False),
        ('url = "https://${USER}@example.com/simple/"', False),
        ('url = "https://example.com/simple/"  # ask me@example.com, will you?', False),
        ("https://${USER}:word@example.com/", True),
    ],
)
def test_may_hold_secrets(text: str, *, secret: bool) -> None:
    """Rather too much counts than too little, but for variables, which tell nothing."""
    assert may_hold_secrets(text) is secret
