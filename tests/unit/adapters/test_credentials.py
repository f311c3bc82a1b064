"""Which credentials a request gets, and what is said where an index refuses it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path

import pytest

from lockforge.adapters.credentials import Keychain, Login, Netrc, read_netrc
from lockforge.model.access import IndexAccess

ACME = "https://acme.example/simple/"
PAGE = f"{ACME}torch/"


def access(
    url: str = ACME, *names: str, user: str | None = None, password: str | None = None
) -> IndexAccess:
    return IndexAccess(url=url, names=names or ("acme",), user=user, password=password)


def keychain(
    *accesses: IndexAccess,
    environment: Mapping[str, str] | None = None,
    netrc: Mapping[str, tuple[str, str]] | None = None,
) -> Keychain:
    return Keychain(accesses, environment or {}, Netrc(name="~/.netrc", logins=netrc or {}))


def sent(keys: Keychain, url: str) -> str | None:
    """Give ``user:password`` of a request."""
    header = keys.header(url)
    if header is None:
        return None
    scheme, _, text = header.partition(" ")
    assert scheme == "Basic"
    return base64.b64decode(text).decode()


def test_a_header_is_utf8() -> None:
    """RFC 7617 names no other encoding; the value is the one of its section 2.1."""
    assert Login(user="test", password="123£", source="").header == "Basic dGVzdDoxMjPCow=="


def test_a_password_is_in_no_text_of_a_login() -> None:
    assert "s3cret" not in repr(Login(user="user", password="s3cret", source="its url"))
    assert "s3cret" not in repr(access(user="user", password="s3cret"))
    assert "s3cret" not in repr(Netrc(name="x", logins={"acme.example": ("user", "s3cret")}))


# --- where credentials come from -------------------------------------------------------------

OWN = {"LOCKFORGE_INDEX_ACME_USERNAME": "own", "LOCKFORGE_INDEX_ACME_PASSWORD": "1"}
UV = {"UV_INDEX_ACME_USERNAME": "uv", "UV_INDEX_ACME_PASSWORD": "2"}
NETRC = {"acme.example": ("net", "3")}


@pytest.mark.parametrize(
    ("stated", "environment", "netrc", "expected"),
    [
        ({"user": "url", "password": "0"}, {**OWN, **UV}, NETRC, "url:0"),
        ({}, {**OWN, **UV}, NETRC, "own:1"),
        ({}, UV, NETRC, "uv:2"),
        ({}, {}, NETRC, "net:3"),
        ({}, {}, {"other.example": ("net", "3")}, None),
        # A user without a password gets that user's password.
        ({"user": "own"}, {**OWN, **UV}, NETRC, "own:1"),
        ({"user": "url"}, {"LOCKFORGE_INDEX_ACME_PASSWORD": "1"}, NETRC, "url:1"),
        ({"user": "uv"}, {**OWN, **UV}, NETRC, "uv:2"),
        ({"user": "net"}, {**OWN, **UV}, NETRC, "net:3"),
        ({"user": "token"}, {**OWN, **UV}, NETRC, "token:"),
        ({"user": "token", "password": ""}, {**OWN, **UV}, NETRC, "token:"),
        # Either half may be all there is.
        ({}, {"UV_INDEX_ACME_USERNAME": "token"}, {}, "token:"),
        ({}, {"LOCKFORGE_INDEX_ACME_PASSWORD": "token"}, {}, ":token"),
        ({}, {"LOCKFORGE_INDEX_ACME_PASSWORD": "", **UV}, {}, "uv:2"),
        # The halves of two pairs are no pair.
        ({}, {"LOCKFORGE_INDEX_ACME_USERNAME": "own", **UV}, {}, "own:"),
    ],
)
def test_order(
    stated: dict[str, str],
    environment: dict[str, str],
    netrc: dict[str, tuple[str, str]],
    expected: str | None,
) -> None:
    """The address comes first, then lockforge's variables, uv's, and netrc."""
    keys = keychain(access(ACME, **stated), environment=environment, netrc=netrc)
    assert sent(keys, PAGE) == expected


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("acme", "ACME"),
        ("acme-gpu.v2", "ACME_GPU_V2"),
        ("acme.example:8443", "ACME_EXAMPLE_8443"),
        ("größe", "GR_SSE"),
    ],
)
def test_variables_of_a_name(name: str, variable: str) -> None:
    """Capitals and digits stay, anything else is an underscore (as in uv)."""
    environment = {f"LOCKFORGE_INDEX_{variable}_PASSWORD": "s3cret"}
    assert sent(keychain(access(ACME, name), environment=environment), PAGE) == ":s3cret"


def test_a_name_belongs_to_the_last_that_has_it() -> None:
    """The command line's default index stands in for the configured one."""
    environment = {"LOCKFORGE_INDEX_DEFAULT_PASSWORD": "s3cret"}
    configured = access("https://old.example/simple/", "mirror", "default")
    keys = keychain(configured, access(ACME, "default"), environment=environment)
    assert sent(keys, "https://old.example/simple/torch/") is None
    assert sent(keys, PAGE) == ":s3cret"


# --- whom they are sent to -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "owned"),
    [
        (PAGE, True),
        ("https://ACME.example:443/simple/torch/", True),
        ("https://acme.example/files/torch-1.0.whl", True),
        ("https://user:other@acme.example/simple/torch/", True),
        ("http://acme.example/simple/torch/", False),
        ("https://acme.example:8443/simple/torch/", False),
        ("https://www.acme.example/simple/torch/", False),
        ("https://acme.example.org/simple/torch/", False),
        ("https://acme.example@evil.example/simple/torch/", False),
    ],
)
@pytest.mark.parametrize("source", ["url", "environment", "netrc"])
def test_origin(url: str, source: str, *, owned: bool) -> None:
    """An origin is scheme, host and port (RFC 6454); it shares what its index has."""
    keys = {
        "url": keychain(access(user="u", password="p")),
        "environment": keychain(
            access(),
            environment={
                "LOCKFORGE_INDEX_ACME_USERNAME": "u",
                "LOCKFORGE_INDEX_ACME_PASSWORD": "p",
            },
        ),
        "netrc": keychain(access(), netrc={"acme.example": ("u", "p")}),
    }[source]
    assert sent(keys, url) == ("u:p" if owned else None)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://files.example/torch-1.0.whl", "u:p"),
        ("https://files.example:8443/torch-1.0.whl", "u:p"),
        ("http://files.example/torch-1.0.whl", None),
        ("https://more.files.example/torch-1.0.whl", None),
    ],
)
def test_netrc_for_a_host_without_index(url: str, expected: str | None) -> None:
    """A file's host may have an entry of its own, which is never sent in the clear."""
    assert sent(keychain(access(), netrc={"files.example": ("u", "p")}), url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://acme.example/one/simple/torch/", "one:1"),
        ("https://acme.example/one/simple", "one:1"),
        ("https://acme.example/two/simple/torch/", "two:2"),
        ("https://acme.example/two/files/torch-1.0.whl", "two:2"),
        # Parts of a path are compared whole.
        ("https://acme.example/two-more/torch-1.0.whl", "one:1"),
        ("https://acme.example/one/simple/deep/torch/", "deep:3"),
        # What has none of its own shares those of its origin.
        ("https://acme.example/none/simple/torch/", "one:1"),
    ],
)
def test_two_indexes_of_one_origin(url: str, expected: str) -> None:
    """The longest common path decides."""
    keys = keychain(
        access("https://acme.example/none/simple/", "none"),
        access("https://acme.example/one/simple/", "one", user="one", password="1"),
        access("https://acme.example/two/simple/", "two", user="two", password="2"),
        access("https://acme.example/one/simple/deep/", "deep", user="deep", password="3"),
    )
    assert sent(keys, url) == expected


# --- netrc -----------------------------------------------------------------------------------


def netrc_of(folder: Path, text: str | bytes) -> Netrc:
    path = folder / "logins"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_netrc({"NETRC": str(path)})


def test_netrc(tmp_path: Path) -> None:
    """Comments and macros are read over; the entry for all hosts belongs to none."""
    text = (
        "# my hosts\nmachine Acme.example login someone password s3cret\n"
        "macdef init\necho hi\n\nmachine token.example\n  login token\n"
        "default login anonymous password guest\n"
    )
    found = netrc_of(tmp_path, text)
    assert found.fault is None
    assert found.logins == {"acme.example": ("someone", "s3cret"), "token.example": ("token", "")}


def test_no_netrc(tmp_path: Path) -> None:
    path = str(tmp_path / "none")
    assert read_netrc({"NETRC": path}) == Netrc(name=path)


@pytest.mark.parametrize(
    "text",
    [
        "machine acme.example login someone\nmachine x login someone s3cret\n",
        "machine acme.example login someone\ns3cret\n",
    ],
)
def test_a_broken_netrc(text: str, tmp_path: Path) -> None:
    """The place is named and the words there are not: they may be a password.

    The standard library counts the line that ends a bad word or the next one.
    """
    found = netrc_of(tmp_path, text)
    assert found.logins == {}
    assert found.fault in {f"{found.name} cannot be read near line {number}" for number in (2, 3)}


def test_a_netrc_that_cannot_be_read(tmp_path: Path) -> None:
    found = read_netrc({"NETRC": str(tmp_path)})
    assert found.fault is not None
    assert found.fault.startswith(f"{tmp_path} cannot be read: ")


# --- refusals --------------------------------------------------------------------------------


def test_a_refusal_without_credentials() -> None:
    """Each way to give them is named as this index has it."""
    message, hint = keychain(access(ACME, "acme-gpu")).refusal(PAGE, 401)
    assert message == f"{ACME} answers 401 and no credentials are known"
    assert hint == (
        "give credentials that it accepts in the url of the index, "
        "in LOCKFORGE_INDEX_ACME_GPU_USERNAME and LOCKFORGE_INDEX_ACME_GPU_PASSWORD, "
        "for acme.example in ~/.netrc or for https://acme.example/simple/ in the keyring"
    )


@pytest.mark.parametrize(
    ("keys", "source"),
    [
        (keychain(access(user="u", password="s3cret")), "its url"),
        (
            keychain(access(), environment={"UV_INDEX_ACME_PASSWORD": "s3cret"}),
            "UV_INDEX_ACME_USERNAME and UV_INDEX_ACME_PASSWORD",
        ),
        (keychain(access(), netrc={"acme.example": ("u", "s3cret")}), "~/.netrc"),
    ],
)
def test_refused_credentials(keys: Keychain, source: str) -> None:
    """It is said which were not accepted, and never what they were."""
    message, hint = keys.refusal(PAGE, 401)
    assert message == f"{ACME} answers 401 to the credentials from {source}"
    assert "s3cret" not in hint


def test_a_refusal_with_a_broken_netrc() -> None:
    netrc = Netrc(name="~/.netrc", fault="~/.netrc cannot be read near line 2")
    _, hint = Keychain([access()], {}, netrc).refusal(PAGE, 401)
    assert hint.endswith("; ~/.netrc cannot be read near line 2")


@pytest.mark.parametrize("url", ["http://acme.example/files/x.whl", "https://acme.example:444/x"])
def test_a_refusal_of_an_origin_beside_an_index(url: str) -> None:
    """Nothing that is not for another origin can be asked for it."""
    keys = keychain(access(user="u", password="p"), netrc={"acme.example": ("u", "p")})
    message, hint = keys.refusal(url, 403)
    assert message.endswith("answers 403 and no credentials are known")
    assert hint == "no index is at this address, and credentials of others are not for it"
