"""The snapshot server, asked by real clients over a tiny snapshot."""

import gzip
import hashlib
import io
import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from snapshot_server import serve

JSON = "application/vnd.pypi.simple.v1+json"
LAUNCHER = Path(__file__).parents[2] / "scripts" / "serve_snapshot"

IDNA = "Metadata-Version: 2.1\nName: idna\nVersion: 3.7\nRequires-Python: >=3.5\n\n"
TORCH = """\
Metadata-Version: 2.1
Name: torch
Version: 2.11.0+cu130
Requires-Dist: filelock
Requires-Dist: idna

"""
FILELOCK = "Metadata-Version: 2.1\nName: filelock\nVersion: 3.16.0\n\n"

IDNA_WHEEL = "idna-3.7-py3-none-any.whl"
IDNA_PATH = f"packages/aa/bb/{IDNA_WHEEL}"
IDNA_FILE = f"/files/files.pythonhosted.org/{IDNA_PATH}"
TORCH_PATH = "whl/cu130/torch-2.11.0%2Bcu130-cp312-cp312-manylinux_2_28_x86_64.whl"
TORCH_FILE = f"/files/download-r2.pytorch.org/{TORCH_PATH}"
FILELOCK_PATH = "/whl/filelock-3.16.0-py3-none-any.whl"
FILELOCK_FILE = f"/files/download.pytorch.org{FILELOCK_PATH}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def make_file(name: str, path: str, **others: Any) -> dict[str, Any]:
    return {
        "filename": name,
        "url": f"https://files.pythonhosted.org/{path}",
        "hashes": {"sha256": "0" * 64},
        "yanked": False,
        **others,
    }


def render_anchor(href: str, metadata: str | None) -> str:
    announced = (
        f' data-dist-info-metadata="sha256={metadata}" data-core-metadata="sha256={metadata}"'
    )
    return f'    <a href="{href}#sha256={"1" * 64}"{announced if metadata else ""}>file</a><br/>\n'


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A default index with idna, and a cu130 index with torch and filelock."""
    root = tmp_path_factory.mktemp("snapshot")
    idna = {
        "meta": {"api-version": "1.1"},
        "name": "idna",
        "files": [
            make_file(
                IDNA_WHEEL,
                IDNA_PATH,
                **{"requires-python": ">=3.5", "core-metadata": {"sha256": digest(IDNA)}},
            ),
            make_file(
                "idna-3.6-py3-none-any.whl",
                "packages/cc/idna-3.6-py3-none-any.whl",
                yanked='"bad" <data>',
            ),
            make_file("idna-3.7.tar.gz", "packages/dd/idna-3.7.tar.gz"),
        ],
    }
    files = {
        "simple/idna/index.json": json.dumps(idna),
        "simple/idna/metadata.json": json.dumps({digest(IDNA): IDNA}),
        "whl/cu130/index.html": '<a href="torch/">torch</a><br/>\n',
        "whl/cu130/torch/index.html": render_anchor(
            f"https://download-r2.pytorch.org/{TORCH_PATH}", digest(TORCH)
        ),
        "whl/cu130/filelock/index.html": render_anchor(FILELOCK_PATH, digest(FILELOCK)),
        "whl/metadata/torch.json": json.dumps({digest(TORCH): TORCH}),
        "whl/metadata/filelock.json": json.dumps({digest(FILELOCK): FILELOCK}),
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def client(snapshot: Path) -> Iterator[httpx.Client]:
    with serve(snapshot) as base_url, httpx.Client(base_url=base_url) as client:
        yield client


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        pytest.param("*/*", "text/html; charset=utf-8", id="anything"),
        pytest.param(JSON, JSON, id="json"),
        pytest.param("application/vnd.pypi.simple.latest+json", JSON, id="latest-json"),
        pytest.param(
            f"{JSON}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01",
            JSON,
            id="as-pip-and-uv",
        ),
        pytest.param(f"{JSON};q=0.1, text/html", "text/html; charset=utf-8", id="html-preferred"),
        pytest.param(f"{JSON};q=0, text/html;q=0.1", "text/html; charset=utf-8", id="json-refused"),
        pytest.param(
            f"{JSON};q=none, text/html;q=0.1", "text/html; charset=utf-8", id="weight-no-number"
        ),
        pytest.param(
            "application/vnd.pypi.simple.v1+html",
            "application/vnd.pypi.simple.v1+html",
            id="html-of-the-standard",
        ),
    ],
)
@pytest.mark.parametrize("path", ["/simple/", "/simple/idna/"])
def test_default_index_negotiates(
    client: httpx.Client, path: str, accept: str, content_type: str
) -> None:
    answer = client.get(path, headers={"Accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (200, content_type)
    assert answer.headers["vary"] == "Accept, Accept-Encoding"


def test_json_page_is_the_recorded_one_with_rewritten_addresses(
    client: httpx.Client, snapshot: Path
) -> None:
    recorded = json.loads((snapshot / "simple/idna/index.json").read_text())
    for file in recorded["files"]:
        file["url"] = file["url"].replace("https://", f"{client.base_url}/files/")
    assert client.get("/simple/idna/", headers={"Accept": JSON}).json() == recorded


def test_html_page_says_what_the_json_says(client: httpx.Client) -> None:
    page = client.get("/simple/idna/").text
    base = f"{client.base_url}/files/files.pythonhosted.org/packages"
    fragment = f"#sha256={'0' * 64}"
    metadata = f"sha256={digest(IDNA)}"
    attributes = (
        'data-requires-python="&gt;=3.5" '
        f'data-dist-info-metadata="{metadata}" data-core-metadata="{metadata}"'
    )
    yanked = 'data-yanked="&quot;bad&quot; &lt;data&gt;"'
    assert re.findall(r"<a (.*)</a>", page) == [
        f'href="{base}/aa/bb/{IDNA_WHEEL}{fragment}" {attributes}>{IDNA_WHEEL}',
        f'href="{base}/cc/idna-3.6-py3-none-any.whl{fragment}" {yanked}>idna-3.6-py3-none-any.whl',
        f'href="{base}/dd/idna-3.7.tar.gz{fragment}">idna-3.7.tar.gz',
    ]


def test_project_list(client: httpx.Client) -> None:
    assert client.get("/simple/", headers={"Accept": JSON}).json()["projects"] == [{"name": "idna"}]
    assert '<a href="/simple/idna/">idna</a>' in client.get("/simple/").text


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/simple", "/simple/"),
        ("/simple/idna", "/simple/idna/"),
        ("/simple/IDNA/", "/simple/idna/"),
        ("/simple/zope_interface", "/simple/zope-interface/"),
        ("/whl/cu130", "/whl/cu130/"),
        ("/whl/cu130/torch", "/whl/cu130/torch/"),
    ],
)
def test_redirect_to_the_canonical_address(client: httpx.Client, path: str, location: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["location"]) == (301, location)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 404),
        ("/simple/absent/", 404),
        ("/simple/idna/extra/", 404),
        ("/simple/../MANIFEST.json", 404),
        ("/files/files.pythonhosted.org/packages/dd/idna-3.7.tar.gz", 404),
        ("/files/files.pythonhosted.org/packages/cc/idna-3.6-py3-none-any.whl", 404),
        ("/files/files.pythonhosted.org/packages/cc/idna-3.6-py3-none-any.whl.metadata", 404),
        ("/whl/", 403),
        ("/whl/cu999/", 403),
        ("/whl/cu130/absent/", 403),
        ("/whl/cu999/torch/", 403),
        ("/whl/cu130/..%2F..%2Fsimple/", 403),
        ("/whl/metadata/torch.json", 301),
        ("/whl/cu130/torch/extra/", 403),
    ],
)
def test_missing_things(client: httpx.Client, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    if status == 403:
        assert answer.headers["content-type"] == "application/xml"
        assert "<Code>AccessDenied</Code>" in answer.text


@pytest.mark.parametrize("path", ["/simple/idna/", "/whl/cu130/torch/"])
def test_page_is_revalidated(client: httpx.Client, path: str) -> None:
    first = client.get(path)
    assert "max-age=600" in first.headers["cache-control"]
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (
        304,
        b"",
        first.headers["etag"],
    )
    assert client.get(path, headers={"If-None-Match": '"another"'}).status_code == 200


def test_page_is_compressed_for_those_who_ask(client: httpx.Client) -> None:
    url = f"{client.base_url}/simple/idna/"
    with urllib.request.urlopen(url) as answer:
        plain = answer.read()
        assert answer.headers["Content-Encoding"] is None
    request = urllib.request.Request(url, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    with urllib.request.urlopen(request) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(answer.read()) == plain


def test_pytorch_page_is_html_whatever_is_asked(client: httpx.Client) -> None:
    answer = client.get("/whl/cu130/torch/", headers={"Accept": JSON})
    assert answer.headers["content-type"] == "text/html"
    assert answer.text == render_anchor(f"{client.base_url}{TORCH_FILE}", digest(TORCH))


def test_root_relative_address_stays_root_relative(client: httpx.Client) -> None:
    assert client.get("/whl/cu130/filelock/").text == render_anchor(FILELOCK_FILE, digest(FILELOCK))


def test_pytorch_project_list_keeps_its_relative_addresses(client: httpx.Client) -> None:
    assert client.get("/whl/cu130/").text == '<a href="torch/">torch</a><br/>\n'


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (IDNA_FILE, IDNA),
        (TORCH_FILE, TORCH),
        (TORCH_FILE.replace("%2B", "+"), TORCH),
        (FILELOCK_FILE, FILELOCK),
    ],
)
def test_sidecar(client: httpx.Client, file: str, text: str) -> None:
    answer = client.get(f"{file}.metadata")
    assert (answer.text, answer.headers["content-type"]) == (text, "application/octet-stream")
    assert hashlib.sha256(answer.content).hexdigest() == digest(text)


def test_without_sidecars(snapshot: Path) -> None:
    with serve(snapshot, sidecars=False) as base_url, httpx.Client(base_url=base_url) as client:
        listing = client.get("/simple/idna/", headers={"Accept": JSON})
        assert all("core-metadata" not in file for file in listing.json()["files"])
        assert "-metadata=" not in client.get("/simple/idna/").text
        assert client.get("/whl/cu130/torch/").text == render_anchor(base_url + TORCH_FILE, None)
        assert client.get(f"{TORCH_FILE}.metadata").status_code == 404
        assert read_metadata(client.get(TORCH_FILE).content) == TORCH


def test_html_only(snapshot: Path) -> None:
    with serve(snapshot, html_only=True) as base_url:
        answer = httpx.get(f"{base_url}/simple/idna/", headers={"Accept": JSON})
        assert answer.headers["content-type"] == "text/html; charset=utf-8"


def read_metadata(wheel: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return archive.read(name).decode()


def test_stand_in_wheel_is_a_valid_wheel(client: httpx.Client) -> None:
    wheel = client.get(TORCH_FILE).content
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [
            "torch/__init__.py",
            "torch-2.11.0+cu130.dist-info/METADATA",
            "torch-2.11.0+cu130.dist-info/WHEEL",
            "torch-2.11.0+cu130.dist-info/RECORD",
        ]
        wheel_text = archive.read("torch-2.11.0+cu130.dist-info/WHEEL").decode()
        recorded = archive.read("torch-2.11.0+cu130.dist-info/RECORD").decode()
    assert "Tag: cp312-cp312-manylinux_2_28_x86_64\n" in wheel_text
    assert [line.split(",")[0] for line in recorded.splitlines()] == archive.namelist()
    assert read_metadata(wheel) == TORCH
    assert client.get(TORCH_FILE).content == wheel


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("bytes=0-3", slice(0, 4)),
        ("bytes=10-", slice(10, None)),
        ("bytes=-22", slice(-22, None)),
        ("bytes=-999999", slice(0, None)),
        ("bytes=5-999999", slice(5, None)),
    ],
)
def test_range(client: httpx.Client, asked: str, expected: slice) -> None:
    wheel = client.get(IDNA_FILE).content
    answer = client.get(IDNA_FILE, headers={"Range": asked})
    start, stop, _ = expected.indices(len(wheel))
    assert (answer.status_code, answer.content) == (206, wheel[expected])
    assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(wheel)}"


@pytest.mark.parametrize("asked", ["bytes=0-1,4-5", "lines=0-1", "bytes=-", "bytes=9-3"])
def test_range_to_be_ignored(client: httpx.Client, asked: str) -> None:
    answer = client.get(IDNA_FILE, headers={"Range": asked})
    assert (answer.status_code, answer.content) == (200, client.get(IDNA_FILE).content)


@pytest.mark.parametrize("asked", ["bytes=999999-", "bytes=-0"])
def test_range_outside_of_the_wheel(client: httpx.Client, asked: str) -> None:
    answer = client.get(IDNA_FILE, headers={"Range": asked})
    size = len(client.get(IDNA_FILE).content)
    assert (answer.status_code, answer.headers["content-range"]) == (416, f"bytes */{size}")


def test_head_of_a_wheel(client: httpx.Client) -> None:
    answer = client.head(IDNA_FILE)
    assert (answer.status_code, answer.content, answer.headers["accept-ranges"]) == (
        200,
        b"",
        "bytes",
    )
    assert int(answer.headers["content-length"]) == len(client.get(IDNA_FILE).content)


def test_without_ranges(snapshot: Path) -> None:
    with serve(snapshot, ranges=False) as base_url:
        answer = httpx.get(base_url + IDNA_FILE, headers={"Range": "bytes=0-3"})
        assert (answer.status_code, "accept-ranges" in answer.headers) == (200, False)


def test_latency_is_applied_to_each_request(snapshot: Path) -> None:
    with serve(snapshot, latency=0.05) as base_url, httpx.Client(base_url=base_url) as client:
        start = time.perf_counter()
        client.get("/simple/idna/")
        client.get("/simple/absent/")
        assert time.perf_counter() - start >= 0.1


def test_other_methods_are_refused(client: httpx.Client) -> None:
    assert client.post("/simple/idna/", content=b"x" * 100).status_code == 405
    assert client.get("/simple/idna/").status_code == 200


def test_malformed_request_ends_the_connection(client: httpx.Client) -> None:
    url = client.base_url
    answer = exchange(url, b"nonsense\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    answer = exchange(url, b"GET /simple/ HTTP/1.1\r\nno colon\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_pipelined_requests_and_close(client: httpx.Client) -> None:
    first = b"HEAD /simple/ HTTP/1.1\r\n\r\n"
    last = b"HEAD /simple/ HTTP/1.1\r\nConnection: close\r\n\r\n"
    assert exchange(client.base_url, first + last).count(b"HTTP/1.1 200 OK") == 2


def exchange(url: httpx.URL, sent: bytes) -> bytes:
    """Send raw bytes and return all that is answered until the server closes the connection."""
    with socket.create_connection((url.host, url.port or 0), timeout=10) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(4096), b""))


def test_not_a_snapshot(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not a snapshot"), serve(tmp_path):
        pass


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_launcher_prints_its_address_and_stops_on_a_signal(
    snapshot: Path, stop: signal.Signals
) -> None:
    command = [sys.executable, str(LAUNCHER), str(snapshot), "--latency", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        with httpx.Client(base_url=base_url) as client:
            assert client.get("/simple/idna/").status_code == 200
            process.send_signal(stop)
            assert process.wait(timeout=10) == 0


def test_launcher_refuses_what_is_no_snapshot(tmp_path: Path) -> None:
    command = [sys.executable, str(LAUNCHER), str(tmp_path)]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "not a snapshot" in answer.stderr


@pytest.fixture
def uv() -> Path:
    path = Path(sys.executable).with_name("uv")
    if not path.exists():
        pytest.skip("uv is not installed beside this Python")
    return path


# uv takes a 403 for a refusal unless told: it expects them of the real host alone.
UV_CONFIGURATION = """
[[index]]
url = "{base_url}/whl/cu130/"
ignore-error-codes = [403]

[[index]]
url = "{base_url}/simple/"
default = true
"""


def compile_with_uv(uv: Path, directory: Path, requirement: str, *options: str) -> list[str]:
    """Return the pins for that requirement on Linux x86_64; the cache is empty."""
    requirements = directory / "requirements.in"
    requirements.write_text(f"{requirement}\n", encoding="utf-8")
    command = [
        str(uv),
        "pip",
        "compile",
        str(requirements),
        "--no-header",
        "--no-annotate",
        *options,
    ]
    command += ["--cache-dir", str(directory / "cache")]
    command += ["--python", sys.executable, "--python-version=3.12"]
    command += ["--python-platform=x86_64-manylinux_2_28"]
    compiled = subprocess.run(command, check=False, capture_output=True, text=True, cwd=directory)
    assert compiled.returncode == 0, compiled.stderr
    return compiled.stdout.split()


@pytest.mark.parametrize("sidecars", [True, False], ids=["sidecars", "wheel-metadata"])
def test_uv_compiles_against_configured_indexes(
    uv: Path, snapshot: Path, tmp_path: Path, *, sidecars: bool
) -> None:
    configuration = tmp_path / "indexes.toml"
    with serve(snapshot, sidecars=sidecars) as base_url:
        configuration.write_text(UV_CONFIGURATION.format(base_url=base_url), encoding="utf-8")
        pins = compile_with_uv(uv, tmp_path, "torch", "--config-file", str(configuration))
    assert pins == ["filelock==3.16.0", "idna==3.7", "torch==2.11.0+cu130"]


def test_uv_compiles_against_indexes_named_by_options(
    uv: Path, snapshot: Path, tmp_path: Path
) -> None:
    with serve(snapshot) as base_url:
        indexes = ("--default-index", f"{base_url}/simple/", "--index", f"{base_url}/whl/cu130/")
        assert compile_with_uv(uv, tmp_path, "filelock", "--no-config", *indexes) == [
            "filelock==3.16.0"
        ]
