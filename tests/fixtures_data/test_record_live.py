"""`record_snapshot --live` against a small server that answers like the real ones."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from snapshot_tools.cli import main
from snapshot_tools.live import LIVE_RULES

TORCH_METADATA = """\
Metadata-Version: 2.4
Name: torch
Version: 2.12.1+cpu
Summary: Tensors
Requires-Python: >=3.10
Requires-Dist: filelock>=3

The description.
"""
TORCH_KEPT = """\
Metadata-Version: 2.4
Name: torch
Version: 2.12.1+cpu
Requires-Python: >=3.10
Requires-Dist: filelock>=3
"""
FILELOCK_METADATA = """\
Metadata-Version: 2.4
Name: filelock
Version: 3.29.4
Author: Somebody
"""
FILELOCK_KEPT = "Metadata-Version: 2.4\nName: filelock\nVersion: 3.29.4\n"
NEW_WHEEL = "torch-2.12.1+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"
BARE_WHEEL = "torch-2.12.1+cpu-cp312-cp312-win_amd64.whl"
PROJECT_LIST = """\
<!DOCTYPE html>
<html>
  <body>
    <a href="filelock/">filelock</a><br/>
    <a href="nothing-left/">nothing-left</a><br/>
    <a href="torch/">torch</a><br/>
  </body>
</html>
<!--TIMESTAMP 1787356800-->
"""
FILELOCK_PAGE = """\
<!DOCTYPE html>
<html>
  <body>
    <h1>Links for filelock</h1>
    <a href="/whl/filelock-3.13.1-py3-none-any.whl">filelock-3.13.1-py3-none-any.whl</a><br/>
  </body>
</html>
<!--TIMESTAMP 1787356800-->
"""


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def render_torch_page(announced: str, *, with_dropped: bool) -> str:
    """The page of torch; a release of before and an upload of after the snapshot are dropped."""
    old = "torch-2.5.1+cpu-cp312-cp312-linux_x86_64.whl"
    late = "torch-2.13.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"
    names = ("data-dist-info-metadata", "data-core-metadata")
    metadata = " ".join(f'{name}="sha256={announced}"' for name in names)
    new_href = f"/whl/cpu/{NEW_WHEEL.replace('+', '%2B')}#sha256={'a' * 64}"
    new_time = 'data-upload-time="2026-06-17T15:10:22Z"'
    late_href = f"/whl/cpu/{late.replace('+', '%2B')}"
    late_time = 'data-upload-time="2026-08-23T00:00:00Z"'
    lines = [
        "<!DOCTYPE html>",
        "<html>",
        "  <body>",
        "    <h1>Links for torch</h1>",
        f'    <a href="{new_href}" {metadata} {new_time}>{NEW_WHEEL}</a><br/>',
        f'    <a href="/whl/cpu/{BARE_WHEEL.replace("+", "%2B")}">{BARE_WHEEL}</a><br/>',
    ]
    if with_dropped:
        lines += [
            f'    <a href="{late_href}" {late_time}>{late}</a><br/>',
            f'    <a href="/whl/cpu/{old.replace("+", "%2B")}">{old}</a><br/>',
        ]
    lines += ["  </body>", "</html>", "<!--TIMESTAMP 1787356800-->", ""]
    return "\n".join(lines)


def make_wheel(metadata: str) -> bytes:
    """A wheel whose metadata stands before a member larger than what one range fetches."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr("filelock-3.29.4.dist-info/METADATA", metadata)
        archive.writestr("filelock/big.py", b"#" * 300_000)
    return body.getvalue()


@contextmanager
def serve(answers: Mapping[str, bytes]) -> Iterator[str]:
    """A server of these paths; everything else is forbidden, as on the real host."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = answers.get(self.path)
            if body is None:
                self.send_error(HTTPStatus.FORBIDDEN)
                return
            wanted = self.headers.get("Range")
            part = cut_range(body, wanted) if wanted else body
            self.send_response(HTTPStatus.PARTIAL_CONTENT if wanted else HTTPStatus.OK)
            if wanted:
                self.send_header("Content-Range", f"bytes 0-0/{len(body)}")
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            self.wfile.write(part)

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def cut_range(body: bytes, wanted: str) -> bytes:
    first, _, last = wanted.removeprefix("bytes=").partition("-")
    return body[int(first) : int(last) + 1] if first else body[-int(last) :]


def make_answers() -> dict[str, bytes]:
    """A default index whose only metadata is inside the wheel, and one PyTorch index."""
    uploads = {"3.29.4": "2026-05-01T00:00:00Z", "4.0": "2026-09-01T00:00:00Z"}
    registry_page = {
        "meta": {"api-version": "1.1"},
        "name": "filelock",
        "files": [
            {
                "filename": f"filelock-{version}-py3-none-any.whl",
                "url": f"{{base}}/files/filelock-{version}-py3-none-any.whl",
                "hashes": {"sha256": "b" * 64},
                "requires-python": None,
                "size": 300_000,
                "upload-time": upload_time,
                "yanked": False,
            }
            for version, upload_time in uploads.items()
        ],
    }
    return {
        "/simple/filelock/": json.dumps(registry_page).encode(),
        "/files/filelock-3.29.4-py3-none-any.whl": make_wheel(FILELOCK_METADATA),
        "/whl/cpu/": PROJECT_LIST.encode(),
        "/whl/cpu/torch/": render_torch_page(hash_text(TORCH_METADATA), with_dropped=True).encode(),
        "/whl/cpu/filelock/": FILELOCK_PAGE.encode(),
        f"/whl/cpu/{NEW_WHEEL.replace('+', '%2B')}.metadata": TORCH_METADATA.encode(),
    }


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    projects = tmp_path / "projects" / "demo"
    projects.mkdir(parents=True)
    (projects / "pyproject.toml").write_text('[project]\nname = "demo"\ndependencies = ["torch"]\n')
    answers = make_answers()
    with serve(answers) as base:
        answers["/simple/filelock/"] = answers["/simple/filelock/"].replace(
            b"{base}", base.encode()
        )
        options = ["--live", "--registry", f"{base}/simple/", "--pytorch", f"{base}/whl/"]
        folders = ["--work", str(tmp_path / "work"), "--projects", str(projects.parent)]
        assert main([str(tmp_path / "out"), *options, *folders]) == 0
    return tmp_path / "out"


def test_the_page_keeps_its_form_and_announces_the_cut_text(recorded: Path) -> None:
    page = (recorded / "whl/cpu/torch/index.html").read_text()
    assert page == render_torch_page(hash_text(TORCH_KEPT), with_dropped=False)
    texts = json.loads((recorded / "whl/metadata/torch.json").read_text())
    assert texts == {hash_text(TORCH_KEPT): TORCH_KEPT}


def test_the_project_list_leaves_out_what_has_no_page(recorded: Path) -> None:
    expected = PROJECT_LIST.replace('    <a href="nothing-left/">nothing-left</a><br/>\n', "")
    assert (recorded / "whl/cpu/index.html").read_text() == expected


def test_an_ordinary_page_is_kept_as_it_is(recorded: Path) -> None:
    assert (recorded / "whl/cpu/filelock/index.html").read_text() == FILELOCK_PAGE


def test_the_default_index_is_followed_from_the_sidecars(recorded: Path) -> None:
    """Its metadata is read out of the wheel, as there is no file beside it."""
    page = json.loads((recorded / "simple/filelock/index.json").read_text())
    assert page["versions"] == ["3.29.4"]
    assert [file["core-metadata"] for file in page["files"]] == [
        {"sha256": hash_text(FILELOCK_KEPT)}
    ]
    texts = json.loads((recorded / "simple/filelock/metadata.json").read_text())
    assert texts == {hash_text(FILELOCK_KEPT): FILELOCK_KEPT}


def test_the_manifest_names_the_origin_and_what_is_missing(recorded: Path) -> None:
    manifest = json.loads((recorded / "MANIFEST.json").read_text())
    assert list(manifest["metadata"]) == [f"whl/cpu/{NEW_WHEEL}"]
    assert manifest["rules"] == LIVE_RULES
    assert any(note.startswith("cu130: the address ") for note in manifest["notes"])
