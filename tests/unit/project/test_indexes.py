"""The indexes a project names, and the credentials in their addresses."""

from __future__ import annotations

from typing import Any

import pytest

from lockforge.errors import Fault
from lockforge.model.access import IndexAccess
from lockforge.model.index import Index, UserIndex
from lockforge.project.faults import Faults
from lockforge.project.indexes import (
    Credentials,
    LocalPaths,
    check_address,
    check_index_address,
    find_links_index,
    parse_indexes,
    simple_index,
    torch_index,
)
from tests.unit.project.gathered import gathered

FOLDERS = {
    "file:///project/wheels": ("acme-core", "acme-extra"),
    "file:///here/wheels": ("acme-here",),
}
PATHS = LocalPaths(
    to_url=lambda text: f"file:///project/{text}",
    to_url_here=lambda text: f"file:///here/{text}",
    names_in=FOLDERS.get,
)


@pytest.mark.parametrize(
    ("url", "stripped", "credentials"),
    [
        ("https://pypi.org/simple", "https://pypi.org/simple", (None, None)),
        (
            "https://user:secret@acme.example/simple",
            "https://acme.example/simple",
            ("user", "secret"),
        ),
        (
            "https://token@acme.example:8443/simple/",
            "https://acme.example:8443/simple/",
            ("token", None),
        ),
        ("https://token:@acme.example/", "https://acme.example/", ("token", "")),
        ("https://:secret@acme.example/", "https://acme.example/", ("", "secret")),
        ("https://@acme.example/", "https://acme.example/", (None, None)),
        (
            "http://us%40er:p%3Aw%2Fd@acme.example/a?b=c",
            "http://acme.example/a?b=c",
            ("us@er", "p:w/d"),
        ),
        (
            "https://user:with@sign@acme.example/",
            "https://acme.example/",
            ("user", "with@sign"),
        ),
    ],
)
def test_credentials(url: str, stripped: str, credentials: tuple[str | None, str | None]) -> None:
    """Credentials are taken out of an address and kept beside it, decoded."""
    kept = Credentials()
    assert kept.strip(url, "acme") == stripped
    (access,) = kept.found
    assert (access.url, access.names) == (stripped, ("acme",))
    assert (access.user, access.password) == credentials


def test_an_address_that_says_nothing_is_not_kept() -> None:
    """Only an index, or what has credentials, is of use to whoever asks."""
    kept, url = Credentials(), "https://acme.example/acme-1.0.tar.gz"
    assert kept.strip(url) == url
    assert kept.found == []


ENVIRONMENT = {"ACME_USER": "some%40one", "ACME_TOKEN": "s3cret", "ACME_BOTH": "user:p:w"}


@pytest.mark.parametrize(
    ("user_info", "credentials"),
    [
        ("${ACME_USER}:${ACME_TOKEN}", ("some@one", "s3cret")),
        ("${ACME_TOKEN}", ("s3cret", None)),
        ("${ACME_BOTH}", ("user", "p:w")),
        ("user:${ACME_TOKEN}", ("user", "s3cret")),
        ("user:pre-${ACME_TOKEN}", ("user", "pre-s3cret")),
    ],
)
def test_variables_of_an_address(user_info: str, credentials: tuple[str, str | None]) -> None:
    """They are expanded before the address is taken apart and decoded, as pip does."""
    kept, faults = Credentials(ENVIRONMENT), Faults()
    url = f"https://{user_info}@acme.example/simple/"
    assert check_index_address(url, kept, faults, "url")
    assert gathered(faults) == ()
    assert kept.strip(url, "acme") == "https://acme.example/simple/"
    (access,) = kept.found
    assert (access.user, access.password) == credentials


OUTSIDE = "write the address out: all of it but user and password is written to the lock"


@pytest.mark.parametrize(
    ("url", "message", "hint"),
    [
        (
            "https://${ACME_NONE}@acme.example/",
            "the environment variable ACME_NONE is not set",
            "set it, or give the credentials in another way",
        ),
        (
            "https://user:${acme_token}@acme.example/",
            "${acme_token} does not name an environment variable",
            "write its name in capitals, digits and underscores",
        ),
        (
            "https://acme.example/${ACME_TOKEN}/simple/",
            "${ACME_TOKEN} stands outside of user and password",
            OUTSIDE,
        ),
        (
            "https://${ACME_HOST}/simple/",
            "${ACME_HOST} stands outside of user and password",
            OUTSIDE,
        ),
        ("${ACME_DIR}/wheels", "${ACME_DIR} stands outside of user and password", OUTSIDE),
        (
            "https://acme.example/simple/?token=s3cret",
            "an index has no query and no fragment: https://acme.example/simple/",
            "give credentials as user and password; the address is written to the lock",
        ),
        (
            "https://acme.example/{cuda}/",
            "unknown placeholder {cuda}",
            "use {accelerator} or {torch}",
        ),
        (
            "https://acme.example/{torch}/",
            "{torch} has no meaning here",
            "use it in an index of [[tool.lockforge.index]] that is not the default",
        ),
    ],
)
def test_addresses_no_index_may_have(url: str, message: str, hint: str) -> None:
    """What would be written to the lock may hold nothing secret, and nothing nobody fills in."""
    faults = Faults()
    check_index_address(url, Credentials(ENVIRONMENT), faults, "--index-url")
    assert gathered(faults) == (Fault(where="--index-url", message=message, hint=hint),)


@pytest.mark.parametrize(
    "url",
    [
        "https://user:s3/cret@acme.example/simple/",
        "https://user:s3cret@/simple/",
        "https://user:s3cret@acme.example:port/",
        "ftp://user:s3cret@acme.example/",
    ],
)
def test_what_is_no_address_is_shown_without_credentials(url: str) -> None:
    faults = Faults()
    assert not check_address(url, faults, "url")
    (fault,) = gathered(faults)
    assert fault.message.startswith("not an address: ")
    assert "cret" not in fault.message


@pytest.mark.parametrize(
    ("base", "channel", "url"),
    [
        ("https://download.pytorch.org/whl", None, "https://download.pytorch.org/whl/cu130/"),
        ("https://mirror.example/torch/", None, "https://mirror.example/torch/cu130/"),
        (
            "https://download.pytorch.org/whl",
            "nightly",
            "https://download.pytorch.org/whl/nightly/cu130/",
        ),
    ],
)
def test_torch_index(base: str, channel: str | None, url: str) -> None:
    """Each accelerator has an index of its own below the base and channel."""
    expected = Index(name="cu130", url=url, forbidden_means_missing=True)
    assert torch_index(base, channel, "cu130") == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://pypi.org/simple", "https://pypi.org/simple/"),
        ("https://pypi.org/simple//", "https://pypi.org/simple/"),
        ("https://u:p@acme.example/simple/", "https://acme.example/simple/"),
        ("mirror", "file:///project/mirror/"),
    ],
)
def test_simple_index(url: str, expected: str) -> None:
    """A simple index has one slash at its end and no credentials; a path becomes an address."""
    assert simple_index("acme", url, Credentials(), PATHS.to_url) == Index(
        name="acme", url=expected
    )


def test_find_links() -> None:
    """A flat folder, named from the current directory, serves what it holds."""
    faults = Faults()
    assert find_links_index("wheels", PATHS, faults, "--find-links") == UserIndex(
        index=Index(name="wheels", url="file:///here/wheels", layout="flat"),
        packages=("acme-here",),
    )
    assert find_links_index("missing", PATHS, faults, "--find-links") is None
    assert gathered(faults) == (
        Fault(
            where="--find-links",
            message="not a directory: missing",
            hint="give a directory of wheels",
        ),
    )


def read(*tables: Any) -> tuple[Index | None, list[UserIndex], tuple[Fault, ...]]:
    faults = Faults()
    found = parse_indexes(tables, Credentials(), PATHS, faults)
    return found.default, found.others, gathered(faults)


URL = "https://acme.example/simple"
PYG = "https://data.pyg.org/whl/torch-{torch}+{accelerator}.html"
GOOD: list[tuple[dict[str, Any], UserIndex]] = [
    (
        {"name": "internal", "url": URL, "packages": ["acme-*"]},
        UserIndex(index=Index(name="internal", url=f"{URL}/"), packages=("acme-*",)),
    ),
    (
        {"url": URL, "packages": ["Acme_Core", "acme.extra"], "accelerators": ["cu128"]},
        UserIndex(
            index=Index(name="acme.example", url=f"{URL}/"),
            packages=("acme-core", "acme-extra"),
            accelerators=("cu128",),
        ),
    ),
    # PEP 503: runs of separators are one dash.
    (
        {"url": URL, "packages": ["acme__core", "a.-_b"]},
        UserIndex(index=Index(name="acme.example", url=f"{URL}/"), packages=("acme-core", "a-b")),
    ),
    (
        {"name": "page", "url": f"{URL}/links.html", "packages": ["x"], "format": "flat"},
        UserIndex(
            index=Index(name="page", url=f"{URL}/links.html", layout="flat"), packages=("x",)
        ),
    ),
    # A page that does not say what it is.
    (
        {"name": "page", "url": f"{URL}/links.html", "packages": ["x"]},
        UserIndex(
            index=Index(name="page", url=f"{URL}/links.html", layout="flat"), packages=("x",)
        ),
    ),
    (
        {"name": "folder", "url": f"{URL}/links.html", "packages": ["x"], "format": "simple"},
        UserIndex(index=Index(name="folder", url=f"{URL}/links.html/"), packages=("x",)),
    ),
    # An open index serves whatever no route names.
    ({"name": "open", "url": URL}, UserIndex(index=Index(name="open", url=f"{URL}/"), packages=())),
    (
        {"url": "https://user:s3cret@acme.example:8443/simple"},
        UserIndex(
            index=Index(name="acme.example:8443", url="https://acme.example:8443/simple/"),
            packages=(),
        ),
    ),
    # What a Target fills in stays as it is.
    (
        {"name": "pyg", "url": PYG, "packages": ["torch-scatter"]},
        UserIndex(index=Index(name="pyg", url=PYG, layout="flat"), packages=("torch-scatter",)),
    ),
    (
        {"name": "extensions", "url": f"{URL}/{{torch}}/{{accelerator}}", "packages": ["x"]},
        UserIndex(
            index=Index(name="extensions", url=f"{URL}/{{torch}}/{{accelerator}}/"),
            packages=("x",),
        ),
    ),
    (
        {"name": "copies", "url": "copies/{accelerator}", "packages": ["x"]},
        UserIndex(
            index=Index(name="copies", url="file:///project/copies/{accelerator}", layout="flat"),
            packages=("x",),
        ),
    ),
    (
        {"name": "here", "url": "wheels"},
        UserIndex(
            index=Index(name="here", url="file:///project/wheels", layout="flat"),
            packages=("acme-core", "acme-extra"),
        ),
    ),
    (
        {"name": "here", "url": "wheels", "packages": ["acme-core"]},
        UserIndex(
            index=Index(name="here", url="file:///project/wheels", layout="flat"),
            packages=("acme-core",),
        ),
    ),
    (
        {"name": "mirror", "url": "mirror", "format": "simple", "packages": ["x"]},
        UserIndex(index=Index(name="mirror", url="file:///project/mirror/"), packages=("x",)),
    ),
]


@pytest.mark.parametrize(("table", "expected"), GOOD)
def test_index(table: dict[str, Any], expected: UserIndex) -> None:
    """An index serves the names it routes, in rows of the accelerators it is limited to."""
    assert read(table) == (None, [expected], ())


def test_default() -> None:
    """The default index serves everything that is not routed."""
    default = {"name": "mirror", "url": URL, "default": True}
    other = {"name": "other", "url": "https://other.example", "packages": ["x"]}
    assert read(other, default) == (
        Index(name="mirror", url=f"{URL}/"),
        [UserIndex(index=Index(name="other", url="https://other.example/"), packages=("x",))],
        (),
    )


EMPTY = "name packages, or leave the key out for an index of all that no other index routes"
OWN_NAME = "give each index a name of its own, told apart by more than case and punctuation"
FAULTY: list[tuple[Any, list[tuple[str, str, str | None]]]] = [
    (3, [("", "expected a table, found 3", None)]),
    ({}, [(".url", "missing", "give the address or the directory of the index")]),
    (
        {"url": URL, "packages": []},
        [
            (
                ".packages",
                "empty",
                EMPTY,
            )
        ],
    ),
    (
        "https://user:s3cret@acme.example/",
        [("", "expected a table, found 'https://***@acme.example/'", None)],
    ),
    (
        {"url": f"{URL}/{{cuda}}/", "packages": ["x"]},
        [(".url", "unknown placeholder {cuda}", "use {accelerator} or {torch}")],
    ),
    (
        {"url": "https://{torch}.example/", "packages": ["x"]},
        [(".url", "{torch} stands in the host", "write the host out, and use it in the path")],
    ),
    (
        {"url": f"{URL}/{{torch}}/", "default": True},
        [
            (
                ".url",
                "{torch} has no meaning here",
                "use it in an index of [[tool.lockforge.index]] that is not the default",
            )
        ],
    ),
    (
        {"name": "Torch", "url": URL, "packages": ["x"]},
        [(".name", "the name 'Torch' is that of PyTorch's indexes", OWN_NAME)],
    ),
    (
        {"name": "default", "url": URL, "packages": ["x"]},
        [(".name", "the name 'default' is that of the default index", OWN_NAME)],
    ),
    (
        {"name": "other-one", "url": URL, "packages": ["x"]},
        [(".name", "the name 'other-one' is that of tool.lockforge.index[0]", OWN_NAME)],
    ),
    (
        {"name": "again", "url": "https://u:p@other.example/", "packages": ["x"]},
        [
            (
                ".url",
                "the same address as in tool.lockforge.index[0]",
                "say all of an index in one table",
            )
        ],
    ),
    (
        {"url": URL, "packages": ["x"], "pakages": []},
        [(".pakages", "unknown key", "did you mean 'packages'?")],
    ),
    (
        {"url": URL, "packages": ["x", "$", "-a"], "accelerators": ["cu128", "cuda"]},
        [
            (".packages[1]", "not a package name or pattern: '$'", None),
            (".packages[2]", "not a package name or pattern: '-a'", None),
            (".accelerators[1]", "unknown accelerator 'cuda'", None),
        ],
    ),
    (
        {"url": URL, "packages": ["x"], "format": "html"},
        [(".format", "unknown format 'html'", 'expected "simple" or "flat"')],
    ),
    # All faults of a table at once.
    (
        {"url": URL, "packages": ["$"], "accelerators": ["cuda"], "format": "html"},
        [
            (".format", "unknown format 'html'", 'expected "simple" or "flat"'),
            (".packages[0]", "not a package name or pattern: '$'", None),
            (".accelerators[0]", "unknown accelerator 'cuda'", None),
        ],
    ),
    (
        {"url": "missing"},
        [(".url", "not a directory: missing", "give a directory of wheels")],
    ),
    ({"url": URL, "packages": "x"}, [(".packages", 'expected a list, found "x"', None)]),
    (
        {"url": URL, "default": "yes", "packages": ["x"]},
        [(".default", 'expected true or false, found "yes"', None)],
    ),
]


@pytest.mark.parametrize(("table", "expected"), FAULTY)
def test_faulty(table: Any, expected: list[tuple[str, str, str | None]]) -> None:
    """Every fault of a table has its key path and what was expected."""
    other = {"name": "Other_One", "url": "https://other.example", "packages": ["y"]}
    _, _, found = read(other, table)
    assert set(found) == {
        Fault(where=f"tool.lockforge.index[1]{key}", message=message, hint=hint)
        for key, message, hint in expected
    }


def test_names_of_indexes_without_a_name() -> None:
    """Each is named by its host, with its path where the host has two; a folder by its own name."""
    _, others, found = read(
        {"url": "https://u:s3cret@acme.example/one/"},
        {"url": "https://acme.example/two/"},
        {"url": "/home/someone/wheels", "format": "simple"},
        {"url": "file:///home/someone/more/", "format": "simple"},
        {"url": "./here", "format": "simple"},
    )
    assert found == ()
    assert [user.index.name for user in others] == [
        "acme.example",
        "acme.example/two/",
        "wheels",
        "more",
        "./here",
    ]


def test_what_is_kept_of_each_index() -> None:
    """The default index is called so beside its own name."""
    credentials = Credentials()
    tables = [
        {"name": "mirror", "url": "https://u:p@mirror.example/simple/", "default": True},
        {"name": "acme", "url": "https://acme.example/simple/"},
    ]
    parse_indexes(tables, credentials, PATHS, Faults())
    assert credentials.found == [
        IndexAccess(
            url="https://mirror.example/simple/",
            names=("mirror", "default"),
            user="u",
            password="p",
        ),
        IndexAccess(url="https://acme.example/simple/", names=("acme",)),
    ]


@pytest.mark.parametrize("pattern", ["torch", "Torch*", "*"])
def test_torch_on_pages_that_depend_on_it(pattern: str) -> None:
    """Which torch there is cannot be looked up where its own version is part of the address."""
    _, _, found = read({"name": "pyg", "url": PYG, "packages": ["torch-scatter", pattern]})
    assert [(fault.where, fault.message) for fault in found] == [
        (
            "tool.lockforge.index[0].packages[1]",
            f"{pattern.lower()!r} routes torch itself, on whose version the url depends",
        )
    ]


def test_two_defaults() -> None:
    """There is one default index."""
    table = {"url": URL, "default": True}
    _, _, found = read(table, table)
    assert found == (
        Fault(
            where="tool.lockforge.index[1].default",
            message="there is a default index already",
            hint="leave one",
        ),
    )
