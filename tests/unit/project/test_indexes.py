"""The indexes a project names, and the credentials in their addresses."""

from __future__ import annotations

from typing import Any

import pytest

from lockforge.errors import Fault
from lockforge.model.index import Index, UserIndex
from lockforge.project.faults import Faults
from lockforge.project.indexes import (
    Credentials,
    LocalPaths,
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
        ("https://pypi.org/simple", "https://pypi.org/simple", {}),
        (
            "https://user:secret@acme.example/simple",
            "https://acme.example/simple",
            {"https://acme.example": ("user", "secret")},
        ),
        (
            "https://token@acme.example:8443/simple/",
            "https://acme.example:8443/simple/",
            {"https://acme.example:8443": ("token", "")},
        ),
        (
            "http://us%40er:p%3Aw%2Fd@acme.example/a?b=c",
            "http://acme.example/a?b=c",
            {"http://acme.example": ("us@er", "p:w/d")},
        ),
        (
            "https://user:with@sign@acme.example/",
            "https://acme.example/",
            {"https://acme.example": ("user", "with@sign")},
        ),
    ],
)
def test_credentials(url: str, stripped: str, credentials: dict[str, tuple[str, str]]) -> None:
    """Credentials are taken out of an address and kept for its origin, decoded."""
    kept = Credentials()
    assert kept.strip(url) == stripped
    assert kept.by_origin == credentials


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
    default, others = parse_indexes(tables, Credentials(), PATHS, faults)
    return default, others, gathered(faults)


URL = "https://acme.example/simple"
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


MISSING_PACKAGES = (
    "missing: an index that is not the default serves only what is routed to it",
    'add packages = ["acme-*"], or default = true',
)
FAULTY: list[tuple[Any, list[tuple[str, str, str | None]]]] = [
    (3, [("", "expected a table, found 3", None)]),
    ({}, [(".url", "missing", "give the address or the directory of the index")]),
    ({"url": URL}, [(".packages", *MISSING_PACKAGES)]),
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
    ({"url": URL, "packages": "x"}, [(".packages", "expected a list, found 'x'", None)]),
    (
        {"url": URL, "default": "yes", "packages": ["x"]},
        [(".default", "expected true or false, found 'yes'", None)],
    ),
]


@pytest.mark.parametrize(("table", "expected"), FAULTY)
def test_faulty(table: Any, expected: list[tuple[str, str, str | None]]) -> None:
    """Every fault of a table has its key path and what was expected."""
    _, _, found = read({"url": "https://other.example", "packages": ["y"]}, table)
    wanted = {
        Fault(where=f"tool.lockforge.index[1]{key}", message=message, hint=hint)
        for key, message, hint in expected
    }
    # Where none of the packages can be read, that there are none may be said too.
    message, hint = MISSING_PACKAGES
    none = {Fault(where="tool.lockforge.index[1].packages", message=message, hint=hint)}
    assert set(found) - (none - wanted) == wanted


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
