"""Index pages as PyPI, PyTorch's hosts and others serve them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from packaging.utils import NormalizedName

from lockforge.errors import MalformedResponseError
from lockforge.model.release import DistributionFile, Listing
from lockforge.standards.simple import ACCEPT, parse_page, project_url

TORCH = NormalizedName("torch")
INDEX = "https://download.pytorch.org/whl/cu128/"
URL = f"{INDEX}torch/"
HTML = "text/html"
JSON = "application/vnd.pypi.simple.v1+json"
METADATA_HASH = "86107f52ff49e63a75c9d345374cac30140e053a12ffa728d676fee836e69022"
WHEEL_HASH = "ac1849553ee673dfafb44c610c60cb60a2890f0e117f43599a526cf777eb8b8c"
X86 = "torch-2.7.0+cu128-cp310-cp310-manylinux_2_28_x86_64.whl"
ARM = "torch-2.7.0+cu128-cp310-cp310-manylinux_2_28_aarch64.whl"
FOO = "foo-1.0-py3-none-any.whl"


def read(body: str, content_type: str = HTML, url: str = URL) -> tuple[DistributionFile, ...]:
    """Read a page of torch; what is wrong with the Listing around the files fails here."""
    listing = parse_page(body, content_type, project=TORCH, url=url, index_url=INDEX)
    assert listing == Listing(project=TORCH, index_url=INDEX, files=listing.files)
    return listing.files


def foo(
    url: str = f"https://files.example/{FOO}",
    *,
    sha256: str | None = None,
    yanked: str | None = None,
    metadata: str | bool = False,
    requires_python: str | None = None,
) -> DistributionFile:
    return DistributionFile(
        filename=FOO,
        url=url,
        sha256=sha256,
        yanked=yanked,
        metadata=metadata,
        requires_python=requires_python,
    )


def test_page_of_pytorch() -> None:
    """`%2B` is `+` in the name, the address may be on another host, a METADATA hash is no wheel's.

    The page is the one of pytorch/pytorch#153469: one wheel without a hash of its own.
    """
    body = f"""<!DOCTYPE html>
<html>
  <body>
    <h1>Links for torch</h1>
    <a href="/whl/cu128/{ARM.replace("+", "%2B")}" data-dist-info-metadata="sha256={METADATA_HASH}" data-core-metadata="sha256={METADATA_HASH}">{ARM}</a><br/>
    <a href="https://download-r2.pytorch.org/whl/cu128/{X86.replace("+", "%2B")}#sha256={WHEEL_HASH}" data-dist-info-metadata="sha256={METADATA_HASH}" data-core-metadata="sha256={METADATA_HASH}" data-upload-time="2026-03-23T15:10:22Z">{X86}</a><br/>
  </body>
</html>
<!--TIMESTAMP 1786518979-->
"""  # noqa: E501
    assert read(body) == (
        DistributionFile(
            filename=ARM,
            url="https://download.pytorch.org/whl/cu128/"
            "torch-2.7.0%2Bcu128-cp310-cp310-manylinux_2_28_aarch64.whl",
            sha256=None,
            metadata=METADATA_HASH,
        ),
        DistributionFile(
            filename=X86,
            url="https://download-r2.pytorch.org/whl/cu128/"
            "torch-2.7.0%2Bcu128-cp310-cp310-manylinux_2_28_x86_64.whl",
            sha256=WHEEL_HASH,
            metadata=METADATA_HASH,
            upload_time="2026-03-23T15:10:22Z",
        ),
    )


FILES = "https://files.example"
ANCHORS = [
    (f'<a href="{FILES}/{FOO}">x</a>', foo()),
    (f"<a href='{FILES}/{FOO}'>x</a>", foo()),
    (f"<a href={FILES}/{FOO}>x</a>", foo()),
    (f'<A HREF="{FILES}/{FOO}">x</A>', foo()),
    (f'<a\n  class="file"\n  href = "{FILES}/{FOO}"\n>x</a>', foo()),
    (f'<a href="{FOO}">x</a>', foo(f"{URL}{FOO}")),
    (f'<a href="../{FOO}">x</a>', foo(f"{INDEX}{FOO}")),
    (f'<a href="/whl/{FOO}">x</a>', foo(f"https://download.pytorch.org/whl/{FOO}")),
    (f'<a href="//cdn.example/{FOO}">x</a>', foo(f"https://cdn.example/{FOO}")),
    # PEP 503: the fragment holds the hash; any algorithm may be used, we need sha256.
    (f'<a href="{FILES}/{FOO}#sha256={WHEEL_HASH}">x</a>', foo(sha256=WHEEL_HASH)),
    (f'<a href="{FILES}/{FOO}#md5=d41d8cd98f00b204e9800998ecf8427e">x</a>', foo()),
    (f'<a href="{FILES}/{FOO}#sha256=">x</a>', foo()),
    (
        f'<a href="{FILES}/{FOO}?a=1&amp;b=2#sha256={WHEEL_HASH}">x</a>',
        foo(f"{FILES}/{FOO}?a=1&b=2", sha256=WHEEL_HASH),
    ),
    # PEP 503: the specifier is HTML-encoded; browsers take it literally as well.
    (
        f'<a href="{FILES}/{FOO}" data-requires-python="&gt;=3.8,&lt;4">x</a>',
        foo(requires_python=">=3.8,<4"),
    ),
    (
        f'<a data-requires-python=">=3.8,<4" href="{FILES}/{FOO}">x</a>',
        foo(requires_python=">=3.8,<4"),
    ),
    (f'<a href="{FILES}/{FOO}" data-requires-python="">x</a>', foo()),
    # PEP 592: the attribute's presence yanks; its value is the reason.
    (f'<a href="{FILES}/{FOO}" data-yanked="broken &amp; bad">x</a>', foo(yanked="broken & bad")),
    (f'<a href="{FILES}/{FOO}" data-yanked="">x</a>', foo(yanked="")),
    (f'<a href="{FILES}/{FOO}" data-yanked>x</a>', foo(yanked="")),
    # PEP 658 and 714: `sha256=...`, `true`, or absent; the new name wins.
    (f'<a href="{FILES}/{FOO}" data-core-metadata="true">x</a>', foo(metadata=True)),
    (f'<a href="{FILES}/{FOO}" data-core-metadata="false">x</a>', foo()),
    (
        f'<a href="{FILES}/{FOO}" data-dist-info-metadata="sha256={METADATA_HASH}">x</a>',
        foo(metadata=METADATA_HASH),
    ),
    (
        (
            f'<a href="{FILES}/{FOO}" data-dist-info-metadata="true" '
            f'data-core-metadata="sha256={METADATA_HASH}">x</a>'
        ),
        foo(metadata=METADATA_HASH),
    ),
    (f'<a href="{FILES}/{FOO}" data-core-metadata="md5=0">x</a>', foo(metadata=True)),
    (f'<a href="{FILES}/{FOO}" data-gpg-sig="true" rel=internal>x</a>', foo()),
    (f'<a href="{FILES}/{FOO}" />', foo()),
]


@pytest.mark.parametrize(("anchor", "file"), ANCHORS)
def test_anchors(anchor: str, file: DistributionFile) -> None:
    """One anchor in every spelling HTML has for it gives one file."""
    assert read(f"<!DOCTYPE html><html><body>\n{anchor}<br>\n</body></html>") == (file,)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<!DOCTYPE html><html><body></body></html>",
        '<a href="../">parent</a>',
        '<a href="torch/">torch</a>',
        f'<a name="{FOO}">{FOO}</a>',
        f'<!-- <a href="{FOO}">{FOO}</a> -->',
        f'<!--\n<a href="{FOO}">\n{FOO}</a>\n--><!-- again -->',
        f'<a href="{FOO}.asc">{FOO}.asc</a>',
        f'<a href="{FOO}.metadata">{FOO}.metadata</a>',
        '<a href="foo-1.0.exe">x</a><a href="foo-1.0-py3.8.egg">x</a>',
        f'<abbr href="{FOO}">{FOO}</abbr>',
        f"<p>{FOO}</p>",
    ],
)
def test_no_files(body: str) -> None:
    """What is no anchor to a wheel or sdist is no file."""
    assert read(body) == ()


def test_base() -> None:
    """Relative addresses are relative to the base the page names, itself relative to the page."""
    for base in ("/files/", "https://download.pytorch.org/files/"):
        body = f'<html><head><base href="{base}"></head><body><a href="{FOO}">x</a></body></html>'
        assert read(body) == (foo(f"https://download.pytorch.org/files/{FOO}"),)


def test_order_and_suffixes() -> None:
    """Wheels and sdists come in the page's order, whatever project they are of."""
    names = ["b-2.0-py3-none-any.whl", "a-1.0.tar.gz", "c-3.0.zip", "a-0.9-py3-none-any.whl"]
    body = "".join(f'<a href="{name}">{name}</a>' for name in names)
    assert [file.filename for file in read(body)] == names


LOGIN = '<html><body><form action="/login"><input name="user"></form></body></html>'


def test_login_page() -> None:
    """A page that asks for something is not an empty index page."""
    with pytest.raises(MalformedResponseError) as caught:
        read(LOGIN)
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        "the answer is a page with a form, not an index page: a login or a captive portal",
        URL,
        "check the address and the credentials of the index",
    )


@pytest.mark.parametrize(
    ("version", "accepted"), [("1.0", True), ("1.1", True), ("1.99", True), ("2.0", False)]
)
def test_version_of_html(version: str, accepted: bool) -> None:  # noqa: FBT001
    """PEP 629: a client must refuse a page of a later major version."""
    body = (
        f'<html><head><meta name="pypi:repository-version" content="{version}"></head>'
        f'<body><a href="{FILES}/{FOO}">x</a></body></html>'
    )
    if accepted:
        assert read(body) == (foo(),)
    else:
        with pytest.raises(MalformedResponseError, match=version):
            read(body)


def page(*files: dict[str, Any], version: str = "1.1") -> str:
    return json.dumps({"meta": {"api-version": version}, "name": "torch", "files": files})


def entry(**keys: Any) -> dict[str, Any]:
    return {"filename": FOO, "url": f"{FILES}/{FOO}", "hashes": {}} | {
        name.replace("_", "-"): value for name, value in keys.items()
    }


ENTRIES = [
    (entry(), foo()),
    (entry(hashes={"sha256": WHEEL_HASH, "md5": "0"}), foo(sha256=WHEEL_HASH)),
    (entry(hashes={"md5": "0"}), foo()),
    (entry(url=FOO), foo(f"{URL}{FOO}")),
    (entry(url=f"/files/{FOO}"), foo(f"https://download.pytorch.org/files/{FOO}")),
    (entry(requires_python=">=3.8"), foo(requires_python=">=3.8")),
    # PEP 592 and 691: a boolean, or the reason as a string.
    (entry(yanked=False), foo()),
    (entry(yanked=True), foo(yanked="")),
    (entry(yanked="broken"), foo(yanked="broken")),
    # PEP 714: false, true, or a mapping of hashes; the new name wins.
    (entry(core_metadata=False), foo()),
    (entry(core_metadata=True), foo(metadata=True)),
    (entry(core_metadata={"sha256": METADATA_HASH}), foo(metadata=METADATA_HASH)),
    (entry(core_metadata={"md5": "0"}), foo(metadata=True)),
    (entry(dist_info_metadata={"sha256": METADATA_HASH}), foo(metadata=METADATA_HASH)),
    (
        entry(core_metadata={"sha256": METADATA_HASH}, dist_info_metadata={"sha256": WHEEL_HASH}),
        foo(metadata=METADATA_HASH),
    ),
    (entry(core_metadata=False, dist_info_metadata=True), foo()),
    (entry(gpg_sig=True, provenance=None), foo()),
]


@pytest.mark.parametrize(("one", "file"), ENTRIES)
def test_entries(one: dict[str, Any], file: DistributionFile) -> None:
    """One JSON entry with every optional key in each of its forms gives one file."""
    assert read(page(one), JSON) == (file,)


def test_size_and_upload_time() -> None:
    """PEP 700 adds the size and the time of upload."""
    body = page(entry(size=1234, upload_time="2026-03-23T15:10:22.123456Z"))
    assert read(body, JSON) == (
        DistributionFile(
            filename=FOO,
            url=f"{FILES}/{FOO}",
            sha256=None,
            size=1234,
            upload_time="2026-03-23T15:10:22.123456Z",
        ),
    )


def test_other_suffixes_in_json() -> None:
    """Installers of other kinds are left out."""
    names = ["foo-1.0.exe", FOO, "foo-1.0.tar.gz", "foo-1.0-py3.8.egg", "foo-1.0.zip"]
    files = read(page(*(entry(filename=name) for name in names)), JSON)
    assert [file.filename for file in files] == [FOO, "foo-1.0.tar.gz", "foo-1.0.zip"]


@pytest.mark.parametrize("content_type", [JSON, f"{JSON}; charset=utf-8", "application/json"])
def test_content_types_of_json(content_type: str) -> None:
    """The content type decides, with or without parameters."""
    assert read(page(entry()), content_type) == (foo(),)


@pytest.mark.parametrize(
    "content_type", [HTML, "text/html; charset=utf-8", "application/vnd.pypi.simple.v1+html", ""]
)
def test_content_types_of_html(content_type: str) -> None:
    """PyTorch's hosts answer HTML whatever is asked for."""
    assert read(f'<a href="{FILES}/{FOO}">x</a>', content_type) == (foo(),)


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.4", "1.99"])
def test_later_minor_versions_of_json(version: str) -> None:
    """PEP 629: a later minor version is read."""
    assert read(page(entry(), version=version), JSON) == (foo(),)


@pytest.mark.parametrize("version", ["2.0", "0.9", "10.1"])
def test_other_major_versions_of_json(version: str) -> None:
    """PEP 629: another major version is refused."""
    with pytest.raises(MalformedResponseError) as caught:
        read(page(entry(), version=version), JSON)
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        f"the page is of index API version {version}; 1.x is understood",
        URL,
        "update lockforge",
    )


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html></html>",
        "[]",
        "{}",
        "null",
        '"text"',
        '{"files": []}',
        '{"meta": {}, "files": []}',
        '{"meta": {"api-version": 1}, "files": []}',
        '{"meta": {"api-version": "1.0"}}',
        '{"meta": {"api-version": "1.0"}, "files": [{"url": "x"}]}',
        '{"meta": {"api-version": "1.0"}, "files": [{"filename": "x.whl"}]}',
        '{"meta": {"api-version": "1.0"}, "files": [{"filename": "x.whl", "url": "x.whl"}]}',
        '{"meta": {"api-version": "1.0"}, "files": ["x.whl"]}',
        '{"meta": {"api-version": "1.0"}, "files": 3}',
    ],
)
def test_malformed_json(body: str) -> None:
    """What is not as PEP 691 says is refused with its address, never a traceback."""
    with pytest.raises(MalformedResponseError) as caught:
        read(body, JSON)
    assert caught.value.where == URL
    assert caught.value.hint == "try again; if it persists, tell whoever runs the index"


def test_accept() -> None:
    """JSON is asked for first, HTML is taken too, and the legacy type last."""
    kinds = [part.split(";") for part in ACCEPT.split(", ")]
    weights = {kind: float(rest[0].removeprefix("q=")) if rest else 1.0 for kind, *rest in kinds}
    assert sorted(weights, key=lambda kind: -weights[kind]) == [
        JSON,
        "application/vnd.pypi.simple.v1+html",
        "text/html",
    ]


@pytest.mark.parametrize("index_url", ["https://pypi.org/simple", "https://pypi.org/simple/"])
def test_project_url(index_url: str) -> None:
    """PEP 503: the normalized name below the index, with a slash at its end."""
    expected = "https://pypi.org/simple/typing-extensions/"
    assert project_url(index_url, NormalizedName("typing-extensions")) == expected
