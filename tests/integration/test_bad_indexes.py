"""What an index can do wrong: the lock fails with its address, or goes on where that is safe."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.integration.conftest import Project
from tests.support.wheels import build_wheel, metadata_text
from tests.support.world import Answer, World

TORCH = "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"
OLDER_TORCH = "torch-2.8.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"
COMMON = "common-1.5-py3-none-any.whl"
OLDER_COMMON = "common-1.4-py3-none-any.whl"
JSON = "application/vnd.pypi.simple.v1+json"


@pytest.fixture
def stack(world: World) -> World:
    """Two versions of torch, and of a package it needs."""
    world.add("cpu", TORCH, requires=["common"])
    world.add("cpu", OLDER_TORCH, requires=["common"])
    world.add("pypi", COMMON)
    world.add("pypi", OLDER_COMMON)
    return world


pytestmark = pytest.mark.usefixtures("stack")


def versions(project: Project, *arguments: str | Path) -> dict[str, str]:
    return {one["name"]: one["version"] for one in project.locked("torch", *arguments)["packages"]}


def broken_page(project: Project, answer: Answer, index: str = "pypi", name: str = "common") -> str:
    """Replace a page and give the message of the lock that fails for it."""
    path = project.world.page_path(index, name)
    project.world.answers[path] = answer

    message = project.refused(5, "torch")

    assert f"{project.world.base}{path}" in message
    assert "hint: " in message
    return message


# --- no answer -------------------------------------------------------------------------------


def test_an_index_that_is_down_is_named(project: Project) -> None:
    with contextlib.closing(socket.socket()) as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/simple/"

        message = project.refused(5, "torch", "--index-url", url)

    assert f"{url}common/" in message
    assert "hint: check the address and the network" in message


def test_a_server_error_is_named(project: Project) -> None:
    assert "500" in broken_page(project, Answer(status=500))


def test_a_server_error_is_asked_about_again(project: Project) -> None:
    """One bad answer costs a pause, not the lock."""
    path = project.world.page_path("pypi", "common")
    project.world.answers[path] = lambda count: Answer(status=503) if count == 1 else None

    assert versions(project) == {"common": "1.5", "torch": "2.9.0+cpu"}


@pytest.mark.parametrize("status", [401, 403])
def test_a_default_index_that_forbids_is_an_error(status: int, project: Project) -> None:
    """It is not "no such project": that would let another index, or nothing, stand in for it."""
    message = broken_page(project, Answer(status=status))

    assert str(status) in message
    assert "credentials" in message


def test_a_pytorch_index_that_forbids_has_no_such_project(project: Project) -> None:
    """PyTorch's storage forbids what it does not have."""
    message = project.refused(4, "torch", "torchvision")

    assert "has no project torchvision" in message


def test_a_pytorch_index_that_is_down_is_an_error(project: Project) -> None:
    assert "502" in broken_page(project, Answer(status=502), "cpu", "torch")


def test_not_modified_without_having_asked_is_named(project: Project) -> None:
    """A proxy may answer from a copy of its own that this client has not."""
    broken_page(project, Answer(status=304))


def test_a_redirect_that_never_ends_is_named(project: Project) -> None:
    path = project.world.page_path("pypi", "common")

    broken_page(project, Answer(status=302, headers={"Location": path}))


def test_a_body_shorter_than_announced_is_named(project: Project) -> None:
    page = b'{"meta": {"api-version": "1.0"}, "files": []}'

    broken_page(project, Answer(body=page, content_type=JSON, length=len(page) + 100))


def test_a_body_that_does_not_decompress_is_named(project: Project) -> None:
    headers = {"Content-Encoding": "gzip"}

    broken_page(project, Answer(body=b"not gzip", content_type=JSON, headers=headers))


# --- pages -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("index", "name"), [("pypi", "common"), ("cpu", "torch")])
def test_a_login_page_is_no_empty_index_page(index: str, name: str, project: Project) -> None:
    """A portal answers 200 to everything."""
    page = b"<html><body><form action='/login'><input name='user'></form></body></html>"

    message = broken_page(project, Answer(body=page), index, name)

    assert "login" in message


@pytest.mark.parametrize(
    "page",
    [
        b'{"meta": {"api-version": "1.1"}, "name": "common", "files": [{"filename": "comm',
        b"",
        b"[]",
        b"{}",
        b'{"meta": {"api-version": "1.1"}, "files": null}',
        b'{"meta": {"api-version": 1}, "files": []}',
        b'{"meta": {"api-version": "1.1"}, "files": [{"filename": "common-1.0-py3-none-any.whl"}]}',
        b'{"meta": {"api-version": "1.1"}, "files": [null]}',
        b'{"meta": {"api-version": "1.1"}, "files": [{"filename": 7, "url": "", "hashes": {}}]}',
        b"\xff\xfe",
    ],
    ids=[
        "truncated",
        "empty",
        "a list",
        "an empty table",
        "no files",
        "a number as version",
        "a file without address",
        "a null",
        "a number as name",
        "not UTF-8",
    ],
)
def test_a_damaged_page_is_named(page: bytes, project: Project) -> None:
    broken_page(project, Answer(body=page, content_type=JSON))


def test_a_page_of_a_later_api_is_refused(project: Project) -> None:
    page = b'{"meta": {"api-version": "2.0"}, "files": []}'

    assert "2.0" in broken_page(project, Answer(body=page, content_type=JSON))


@pytest.mark.parametrize(
    "change",
    [
        {"requires-python": 3},
        {"requires-python": ["3.12"]},
        {"url": "http://["},
        {"url": None},
        {"hashes": None},
        {"hashes": {"sha256": 7}},
        {"hashes": {"sha256": "not a hash"}},
        {"size": "many"},
        {"core-metadata": {"sha256": 7}},
        {"upload-time": 7},
    ],
    ids=repr,
)
def test_a_damaged_file_entry_is_never_locked(change: dict[str, object], project: Project) -> None:
    """The page is refused, or the lock takes nothing of what is wrong from it."""
    path = project.world.page_path("pypi", "common")
    page = json.loads(project.world.answer(path).body)
    for entry in page["files"]:
        entry.update(change)
    project.world.answers[path] = Answer(body=json.dumps(page).encode(), content_type=JSON)

    ended = project.lock("torch")

    assert ended.status in {0, 4, 5}
    assert ended.status == 0 or ended.err.startswith("error[")
    if ended.status == 0:
        common = project.locked("torch")["packages"][0]
        wheel = common["wheels"][0]
        assert common["name"] == "common"
        assert re.fullmatch("[0-9a-f]{64}", wheel["hashes"]["sha256"])
        assert wheel["url"] == f"{project.world.base}{project.world.file_path('pypi', COMMON)}"
        assert isinstance(wheel.get("size", 0), int)


def test_a_link_that_is_no_address_is_not_a_traceback(project: Project) -> None:
    path = project.world.page_path("cpu", "torch")
    page = project.world.answer(path).body.decode()
    bad = '<a href="http://[/torch-3.0-py3-none-any.whl">torch-3.0-py3-none-any.whl</a>'
    project.world.answers[path] = Answer(body=page.replace("<h1>", f"{bad}<h1>").encode())

    ended = project.lock("torch")

    assert ended.status in {0, 5}
    assert ended.status == 0 or ended.err.startswith("error[")


def test_files_whose_names_say_nothing_are_passed_over(project: Project) -> None:
    path = project.world.page_path("cpu", "torch")
    page = project.world.answer(path).body.decode()
    names = ("torch.whl", "torch-x-py3-none-any.whl", "torch-2-3-4-5-6-7-8.whl", "README.txt")
    links = "".join(f'<a href="{name}">{name}</a>' for name in names)
    project.world.answers[path] = Answer(body=page.replace("<h1>", f"{links}<h1>").encode())

    assert versions(project) == {"common": "1.5", "torch": "2.9.0+cpu"}


# --- metadata --------------------------------------------------------------------------------


def test_a_sidecar_that_was_changed_stops_the_lock(project: Project) -> None:
    """Its hash stands on the page; another text is never read, and no older version is taken."""
    path = f"{project.world.file_path('cpu', TORCH)}.metadata"
    text = metadata_text("torch", "2.9.0+cpu", ["evil"])
    project.world.answers[path] = Answer(body=text.encode())

    message = project.refused(5, "torch")

    assert f"{project.world.base}{path}" in message
    assert hashlib.sha256(text.encode()).hexdigest() in message


def test_a_changed_sidecar_is_not_kept(project: Project) -> None:
    path = f"{project.world.file_path('cpu', TORCH)}.metadata"
    project.world.answers[path] = Answer(body=b"Metadata-Version: 2.1\n")
    project.refused(5, "torch")

    del project.world.answers[path]

    assert versions(project) == {"common": "1.5", "torch": "2.9.0+cpu"}


def test_a_sidecar_that_is_not_there_is_read_from_the_wheel(project: Project) -> None:
    project.world.answers[f"{project.world.file_path('cpu', TORCH)}.metadata"] = Answer(status=404)

    assert versions(project) == {"common": "1.5", "torch": "2.9.0+cpu"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Name: torch\n",
        "Metadata-Version: 2.1\nName: torch\nVersion: latest\n",
        "Metadata-Version: 2.1\nName: torch\nVersion: 2.9.0+cpu\nRequires-Dist: common>>1\n",
        "Metadata-Version: 2.1\nName: torch\nVersion: 2.9.0+cpu\nRequires-Dist: ; ?\n",
        "Metadata-Version: 2.1\nName: torch\nVersion: 1.0\n",
        "<html>404</html>",
        "\x00\x01\x02",
    ],
    ids=[
        "empty",
        "no version",
        "a bad version",
        "a bad specifier",
        "a bad requirement",
        "another version",
        "a page",
        "bytes",
    ],
)
def test_a_version_whose_metadata_is_garbage_gives_way_to_an_older_one(
    text: str, project: Project
) -> None:
    """The announced hash is right, so it is the project's fault and not the index's."""
    project.world.entry("cpu", TORCH).metadata = text

    assert versions(project) == {"common": "1.5", "torch": "2.8.0+cpu"}


def test_where_all_metadata_is_garbage_the_files_are_told(project: Project) -> None:
    for name in (TORCH, OLDER_TORCH):
        project.world.entry("cpu", name).metadata = "garbage"

    message = project.refused(4, "torch")

    assert TORCH in message
    assert OLDER_TORCH in message
    assert "metadata" in message


def without_sidecar(world: World, content: bytes, *, hashed: bool = True) -> str:
    """Give the newest torch no sidecar and other bytes; returns its address."""
    entry = world.entry("cpu", TORCH)
    entry.sidecar, entry.content, entry.hashed = False, content, hashed
    return world.file_path("cpu", TORCH)


def broken_deflate(content: bytes) -> bytes:
    """Damage the compressed bytes of METADATA and leave the ZIP's directory whole."""
    with zipfile.ZipFile(io.BytesIO(content)) as wheel:
        member = wheel.getinfo("torch-2.9.0+cpu.dist-info/METADATA")
    start = member.header_offset + 30 + len(member.filename)
    damaged = bytearray(content)
    damaged[start : start + member.compress_size] = b"\xff" * member.compress_size
    return bytes(damaged)


def without_metadata() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        wheel.writestr("torch/__init__.py", "")
    return content.getvalue()


WHEEL = build_wheel(TORCH, metadata_text("torch", "2.9.0+cpu", ["common"]))


@pytest.mark.parametrize("served", ["in ranges", "whole"])
@pytest.mark.parametrize(
    "content",
    [
        b"<html><body>Service temporarily unavailable</body></html>",
        b"not a ZIP file",
        WHEEL[: len(WHEEL) // 2],
        WHEEL[:-40],
        broken_deflate(WHEEL),
        without_metadata(),
    ],
    ids=["a page", "a word", "half", "no end", "damaged member", "no METADATA"],
)
def test_a_version_whose_wheel_cannot_be_read_gives_way_to_an_older_one(
    content: bytes, served: str, project: Project
) -> None:
    path = without_sidecar(project.world, content)
    if served == "whole":
        project.world.answers[path] = whole_only(content)

    assert versions(project) == {"common": "1.5", "torch": "2.8.0+cpu"}


def whole_only(content: bytes) -> Answer:
    """Answer with the whole file, whatever range is asked for."""
    return Answer(
        body=content, content_type="application/octet-stream", headers={"Accept-Ranges": "none"}
    )


def test_a_wheel_without_sidecar_and_without_ranges_is_downloaded(project: Project) -> None:
    path = without_sidecar(project.world, WHEEL)
    project.world.answers[path] = whole_only(WHEEL)

    assert versions(project) == {"common": "1.5", "torch": "2.9.0+cpu"}


def test_a_download_can_be_forbidden(project: Project) -> None:
    """Then a version known only by a download does not exist; where it must, it is named."""
    path = without_sidecar(project.world, WHEEL)
    project.world.answers[path] = whole_only(WHEEL)

    assert versions(project, "--no-download")["torch"] == "2.8.0+cpu"
    message = project.refused(4, "torch==2.9.0", "--no-download")

    assert TORCH in message
    assert "--no-download" in message


def test_a_download_that_is_not_the_announced_file_stops_the_lock(project: Project) -> None:
    """The page says another hash than the bytes have."""
    path = without_sidecar(project.world, WHEEL)
    other = build_wheel(TORCH, metadata_text("torch", "2.9.0+cpu"), "changed")
    project.world.answers[path] = whole_only(other)

    message = project.refused(5, "torch")

    assert f"{project.world.base}{path}" in message
    assert hashlib.sha256(other).hexdigest() in message


@pytest.mark.parametrize("announced", ["with a sidecar", "alone"])
def test_a_listed_file_that_is_not_there_is_named(announced: str, project: Project) -> None:
    project.world.entry("cpu", TORCH).sidecar = announced == "with a sidecar"
    path = project.world.file_path("cpu", TORCH)
    project.world.answers[path] = Answer(status=403)
    project.world.answers[f"{path}.metadata"] = Answer(status=403)

    message = project.refused(5, "torch")

    assert f"{project.world.base}{path}" in message


# --- hashes ----------------------------------------------------------------------------------


def test_a_file_nobody_states_a_hash_for_is_refused_by_name_without_downloads(
    project: Project,
) -> None:
    project.world.entry("cpu", TORCH).hashed = False

    message = project.refused(5, "torch", "--no-download")

    assert f"{TORCH} has no sha256" in message
    assert "linux-cpu" in message


def test_all_files_without_a_hash_are_refused_together(project: Project) -> None:
    project.world.entry("cpu", TORCH).hashed = False
    project.world.entry("pypi", COMMON).hashed = False

    message = project.refused(5, "torch", "--no-download")

    assert TORCH in message
    assert COMMON in message


def test_a_hash_of_another_kind_is_no_sha256(project: Project) -> None:
    """A page with md5 alone leaves the file without a hash, which is then that of its bytes."""
    path = project.world.page_path("cpu", "torch")
    page = project.world.answer(path).body.decode()
    page = re.sub("#sha256=[0-9a-f]{64}", "#md5=d41d8cd98f00b204e9800998ecf8427e", page)
    project.world.answers[path] = Answer(body=page.encode())

    torch = project.locked("torch")["packages"][1]

    assert torch["wheels"][0]["hashes"] == {"sha256": project.world.entry("cpu", TORCH).sha256}


# --- the cache -------------------------------------------------------------------------------


def flip_all(folder: Path) -> int:
    """Damage one byte in the middle of every file."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0xFF
        path.write_bytes(content)
    return len(files)


def test_a_damaged_cache_costs_requests_and_nothing_else(project: Project, tmp_path: Path) -> None:
    """Whatever was damaged is fetched again: pages, metadata and hashes."""
    entry = project.world.entry("cpu", TORCH)
    entry.hashed = False
    without_sidecar(project.world, entry.content, hashed=False)
    project.locked("torch")
    first = project.path.read_bytes()
    assert flip_all(tmp_path / "cache") >= 3

    project.path.unlink()
    project.locked("torch")

    assert project.path.read_bytes() == first


@pytest.mark.parametrize("at", ["first", "middle", "last"])
def test_what_is_said_when_there_is_nothing_to_do_survives_a_damaged_cache(
    at: str, project: Project, tmp_path: Path
) -> None:
    """A process of its own, because only the console script takes the shortest way."""
    world = project.world
    command = [sys.executable, "-m", "lockforge", "lock", "torch", "--matrix", "linux-cpu"]
    command += ["--python", "3.12", "--index-url", world.default_url]
    command += ["--torch-index", world.torch_url, "--project", str(project.root)]

    def run() -> tuple[int, str]:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.stderr == ""
        return ended.returncode, ended.stdout

    assert run()[0] == 0
    current = run()
    lock = project.path.read_bytes()
    for path in (tmp_path / "cache").rglob("*"):
        if path.is_file():
            content = bytearray(path.read_bytes())
            place = {"first": 0, "middle": len(content) // 2, "last": len(content) - 1}[at]
            content[place] ^= 0x01
            path.write_bytes(content)

    assert run() == current
    assert project.path.read_bytes() == lock


def test_an_empty_or_cut_cache_file_is_a_miss(project: Project, tmp_path: Path) -> None:
    project.locked("torch")
    first = project.path.read_bytes()
    for number, path in enumerate(sorted((tmp_path / "cache").rglob("*"))):
        if path.is_file():
            path.write_bytes(path.read_bytes()[: 40 * (number % 2)])

    project.path.unlink()
    project.locked("torch")

    assert project.path.read_bytes() == first


def test_a_cache_that_cannot_be_written_is_as_good_as_none(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file lies where its directory should be."""
    place = tmp_path / "no-cache"
    place.write_text("a file")
    monkeypatch.setenv("LOCKFORGE_CACHE_DIR", str(place))

    assert versions(project) == {"common": "1.5", "torch": "2.9.0+cpu"}
    assert place.read_text() == "a file"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user"
)
def test_a_cache_directory_without_permission_is_as_good_as_none(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "locked-cache"
    place.mkdir(mode=0o555)
    monkeypatch.setenv("LOCKFORGE_CACHE_DIR", str(place))

    assert versions(project) == {"common": "1.5", "torch": "2.9.0+cpu"}


def test_offline_with_an_empty_cache_says_so(project: Project) -> None:
    message = project.refused(5, "torch", "--offline")

    assert f"{project.world.torch_url}/cpu/torch/" in message
    assert "--offline" in message
    assert project.world.requests == []


def test_offline_with_a_full_cache_gives_the_same_lock(project: Project) -> None:
    project.locked("torch")
    first = project.path.read_bytes()
    project.path.unlink()
    project.world.requests.clear()

    project.locked("torch", "--offline")

    assert project.path.read_bytes() == first
    assert project.world.requests == []
