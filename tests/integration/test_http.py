"""How indexes are asked: caching, ranges, redirects, addresses, local directories, credentials."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Project
from tests.support.wheels import build_wheel, metadata_text
from tests.support.world import Answer, World, serve

TORCH = "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"
COMMON = "common-1.5-py3-none-any.whl"


@pytest.fixture
def stack(world: World) -> World:
    """A torch and a package it needs."""
    world.add("cpu", TORCH, requires=["common"])
    world.add("pypi", COMMON)
    return world


pytestmark = pytest.mark.usefixtures("stack")


def wheel_of(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Give the one wheel of the one entry of a package."""
    (package,) = (one for one in data["packages"] if one["name"] == name)
    (wheel,) = package["wheels"]
    found: dict[str, Any] = wheel
    return found


def asked(world: World, path: str) -> list[dict[str, str]]:
    """Give the headers of each request for *path*, with names in lower case."""
    return [
        {name.lower(): value for name, value in headers.items()}
        for _, one, headers in world.requests
        if one == path
    ]


def again(project: Project) -> dict[str, Any]:
    """Lock anew in the same cache, as if the lock had never been."""
    project.path.unlink()
    project.world.requests.clear()
    return project.locked("torch")


# --- pages in the cache ----------------------------------------------------------------------


def with_headers(world: World, path: str, headers: dict[str, str]) -> None:
    """Serve a page with headers, and "not modified" to whoever has its ETag."""
    page = world.answer(path)

    def answer(_: int) -> Answer:
        wanted = asked(world, path)[-1].get("if-none-match")
        if wanted is not None and wanted == headers.get("ETag"):
            return Answer(status=304, headers=headers)
        return Answer(body=page.body, content_type=page.content_type, headers=headers)

    world.answers[path] = answer


def test_a_page_is_asked_for_conditionally_once_its_time_is_over(project: Project) -> None:
    """The answer "not modified" has no body; the kept page is as good as new."""
    path = project.world.page_path("cpu", "torch")
    with_headers(project.world, path, {"ETag": '"one"', "Cache-Control": "max-age=0"})
    first = project.locked("torch")

    second = again(project)

    assert second == first
    assert [one.get("if-none-match") for one in asked(project.world, path)] == ['"one"']


def test_a_page_that_changed_is_taken(project: Project) -> None:
    """A condition that no longer holds brings the new page."""
    path = project.world.page_path("cpu", "torch")
    with_headers(project.world, path, {"ETag": '"one"', "Cache-Control": "max-age=0"})
    project.locked("torch")
    newer = "torch-2.10.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"
    del project.world.answers[path]
    project.world.add("cpu", newer, requires=["common"])
    with_headers(project.world, path, {"ETag": '"two"', "Cache-Control": "max-age=0"})

    second = again(project)

    assert wheel_of(second, "torch")["name"] == newer
    assert [one.get("if-none-match") for one in asked(project.world, path)] == ['"one"']


def test_a_page_is_not_asked_for_within_its_time(project: Project) -> None:
    for path in (
        project.world.page_path("cpu", "torch"),
        project.world.page_path("pypi", "common"),
    ):
        with_headers(project.world, path, {"ETag": '"one"', "Cache-Control": "max-age=600"})
    first = project.locked("torch")

    second = again(project)

    assert second == first
    assert project.world.requests == []


def test_a_date_serves_where_there_is_no_tag(project: Project) -> None:
    path = project.world.page_path("cpu", "torch")
    date = "Mon, 01 Jun 2026 00:00:00 GMT"
    with_headers(project.world, path, {"Last-Modified": date})
    project.locked("torch")

    again(project)

    assert [one.get("if-modified-since") for one in asked(project.world, path)] == [date]


def test_a_page_that_may_not_be_stored_is_not(project: Project, tmp_path: Path) -> None:
    path = project.world.page_path("cpu", "torch")
    with_headers(project.world, path, {"ETag": '"one"', "Cache-Control": "no-store"})
    project.locked("torch")

    again(project)

    assert [one.get("if-none-match") for one in asked(project.world, path)] == [None]


def test_pages_of_one_name_on_two_indexes_are_kept_apart(project: Project) -> None:
    """The cache knows a page by its whole address."""
    project.world.add(
        "cu130",
        "torch-2.9.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
        requires=["common"],
    )
    project.locked("torch")
    project.path.unlink()

    data = project.locked("torch", matrix="linux-cu130")

    assert wheel_of(data, "torch")["name"].startswith("torch-2.9.0+cu130-")


def test_each_page_and_sidecar_is_asked_for_once_for_the_whole_matrix(project: Project) -> None:
    project.world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-win_amd64.whl", requires=["common"])
    project.world.add("cpu", "torch-2.9.0-cp312-none-macosx_11_0_arm64.whl", requires=["common"])

    project.locked("torch", matrix="linux-cpu,win-cpu,mac-cpu")

    paths = [path for _, path, _ in project.world.requests]
    assert sorted(set(paths)) == sorted(paths)


def test_the_default_index_is_asked_for_json_first(project: Project) -> None:
    project.locked("torch")

    (headers,) = asked(project.world, project.world.page_path("pypi", "common"))
    assert headers["accept"].startswith("application/vnd.pypi.simple.v1+json")
    assert "text/html" in headers["accept"]


# --- what is fetched of a wheel --------------------------------------------------------------


def large_wheel(*, metadata_first: bool) -> bytes:
    """Build a wheel of a megabyte that does not compress, with METADATA at either end."""
    name, info = "torch/payload.bin", "torch-2.9.0+cpu.dist-info/METADATA"
    payload = b"".join(hashlib.sha256(bytes([n % 256, n // 256])).digest() for n in range(32768))
    members = [(name, payload), (info, metadata_text("torch", "2.9.0+cpu", ["common"]).encode())]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        for path, data in reversed(members) if metadata_first else members:
            wheel.writestr(zipfile.ZipInfo(path), data)
    return content.getvalue()


@pytest.mark.parametrize("place", ["first", "last"])
def test_metadata_of_a_wheel_without_sidecar_is_read_by_ranges(
    place: str, project: Project
) -> None:
    """A few kilobytes of a large wheel are fetched, wherever in it METADATA lies."""
    entry = project.world.entry("cpu", TORCH)
    entry.sidecar, entry.content = False, large_wheel(metadata_first=place == "first")
    path = project.world.file_path("cpu", TORCH)

    data = project.locked("torch")

    ranges = [headers.get("range", "") for headers in asked(project.world, path)]
    assert [one["name"] for one in data["packages"]] == ["common", "torch"]
    assert ranges
    assert sum(map(range_length, ranges)) < len(entry.content) / 4
    assert wheel_of(data, "torch")["hashes"] == {"sha256": entry.sha256}


def range_length(text: str) -> int:
    """Count the bytes a Range header asks for."""
    match = re.fullmatch(r"bytes=(\d*)-(\d+)", text)
    assert match, text
    return int(match[2]) - int(match[1]) + 1 if match[1] else int(match[2])


def test_what_was_read_by_ranges_is_kept(project: Project) -> None:
    entry = project.world.entry("cpu", TORCH)
    entry.sidecar, entry.content = False, large_wheel(metadata_first=False)
    first = project.locked("torch")

    second = again(project)

    assert second == first
    assert asked(project.world, project.world.file_path("cpu", TORCH)) == []


def test_no_wheel_is_fetched_where_its_page_tells_all(project: Project) -> None:
    project.locked("torch")

    assert not [path for _, path, _ in project.world.requests if path.endswith(".whl")]


# --- hashes ----------------------------------------------------------------------------------


def hashless(project: Project) -> str:
    """Take the hash of torch off its page; gives its address."""
    project.world.entry("cpu", TORCH).hashed = False
    return project.world.file_path("cpu", TORCH)


def test_a_file_without_a_hash_is_downloaded_and_hashed(project: Project) -> None:
    path = hashless(project)

    data = project.locked("torch")

    sha256 = project.world.entry("cpu", TORCH).sha256
    assert wheel_of(data, "torch")["hashes"] == {"sha256": sha256}
    assert len(asked(project.world, path)) == 1


def test_the_hash_is_of_the_bytes_that_are_served(project: Project) -> None:
    """Not of the sidecar, nor of what an index meant to serve."""
    path = hashless(project)
    served = build_wheel(TORCH, metadata_text("torch", "2.9.0+cpu", ["common"]), "served")
    project.world.answers[path] = Answer(body=served, content_type="application/octet-stream")

    data = project.locked("torch")

    assert wheel_of(data, "torch")["hashes"] == {"sha256": hashlib.sha256(served).hexdigest()}


def test_a_hash_once_found_is_kept_in_the_cache(project: Project) -> None:
    path = hashless(project)
    first = project.locked("torch")

    second = again(project)

    assert second == first
    assert asked(project.world, path) == []


def test_a_hash_once_locked_is_kept_without_a_cache(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock is on every machine of a team, a cache on one."""
    path = hashless(project)
    first = project.locked("torch")
    monkeypatch.setenv("LOCKFORGE_CACHE_DIR", str(tmp_path / "another-cache"))
    project.world.requests.clear()

    second = project.locked("torch", "common")

    assert wheel_of(second, "torch") == wheel_of(first, "torch")
    assert asked(project.world, path) == []


def test_a_hash_is_of_a_file_of_one_index(project: Project) -> None:
    """The same name is another file on another index; its hash is not taken over."""
    for index in ("cpu", "cu130"):
        project.world.add(
            index,
            "torchcodec-0.9.0-cp312-cp312-manylinux_2_28_x86_64.whl",
            hashed=False,
        )
    cpu = project.locked("torchcodec")
    project.path.unlink()

    cuda = project.locked("torchcodec", matrix="linux-cu130")

    assert wheel_of(cpu, "torchcodec")["name"] == wheel_of(cuda, "torchcodec")["name"]
    assert wheel_of(cpu, "torchcodec")["hashes"] != wheel_of(cuda, "torchcodec")["hashes"]


# --- addresses -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "href",
    [
        lambda world, path: f"{world.base}{path}",
        lambda world, path: path,
        lambda world, path: f"..{path.removeprefix('/whl/cpu')}",
        lambda world, path: f"../../../{path.removeprefix('/')}",
        lambda world, path: f"{world.base.removeprefix('http:')}{path}",
        lambda world, path: path.replace("%2B", "+"),
    ],
    ids=["absolute", "of the host", "relative", "from the root", "of the scheme", "a plus"],
)
def test_a_link_leads_to_the_file_however_it_is_written(
    href: Callable[[World, str], str], project: Project
) -> None:
    path = project.world.file_path("cpu", TORCH)
    project.world.entry("cpu", TORCH).href = href(project.world, path)
    project.world.answers[path.replace("%2B", "+")] = project.world.answer(path)

    wheel = wheel_of(project.locked("torch"), "torch")

    assert wheel["name"] == TORCH
    assert wheel["url"].replace("+", "%2B") == f"{project.world.base}{path}"


def test_a_base_of_the_page_is_respected(project: Project) -> None:
    path = project.world.page_path("cpu", "torch")
    file_path = project.world.file_path("cpu", TORCH)
    project.world.entry("cpu", TORCH).href = file_path.rpartition("/")[2]
    page = project.world.answer(path).body.decode()
    base = f'<head><base href="{project.world.base}/whl/cpu/"></head><body>'
    project.world.answers[path] = Answer(body=page.replace("<body>", base).encode())

    wheel = wheel_of(project.locked("torch"), "torch")

    assert wheel["url"] == f"{project.world.base}{file_path}"


def test_a_page_that_moved_is_followed_and_its_links_are_relative_to_the_new_place(
    project: Project,
) -> None:
    path = project.world.page_path("cpu", "torch")
    project.world.entry("cpu", TORCH).href = f"../../{project.world.file_path('cpu', TORCH)[5:]}"
    page = project.world.answer(path)
    project.world.answers[path] = Answer(status=301, headers={"Location": "/whl/moved/torch/"})
    project.world.answers["/whl/moved/torch/"] = page

    data = project.locked("torch")

    (torch,) = (one for one in data["packages"] if one["name"] == "torch")
    assert torch["index"] == f"{project.world.torch_url}/cpu"
    assert (
        torch["wheels"][0]["url"] == f"{project.world.base}{project.world.file_path('cpu', TORCH)}"
    )


def test_a_file_that_moved_keeps_its_address_of_the_page(project: Project) -> None:
    """Where a server sends a download today may be signed and gone tomorrow."""
    path = hashless(project)
    file = project.world.answer(path)
    project.world.answers[path] = Answer(
        status=302, headers={"Location": "/elsewhere?signature=abc"}
    )
    project.world.answers["/elsewhere?signature=abc"] = file

    wheel = wheel_of(project.locked("torch"), "torch")

    assert wheel["url"] == f"{project.world.base}{path}"
    assert wheel["hashes"] == {"sha256": hashlib.sha256(file.body).hexdigest()}


def test_a_signed_query_is_not_written(project: Project) -> None:
    path = project.world.file_path("cpu", TORCH)
    signed = f"{path}?X-Signature=0123abcd"
    project.world.answers[signed] = project.world.answer(path)
    project.world.answers[f"{signed}.metadata"] = Answer(status=404)
    project.world.entry("cpu", TORCH).href = signed

    data = project.locked("torch")

    assert asked(project.world, signed)
    assert wheel_of(data, "torch")["url"] == f"{project.world.base}{path}"
    assert "0123abcd" not in project.path.read_text("utf-8")


# --- what a page says of its files -----------------------------------------------------------


def test_yanked_files_are_passed_over_unless_pinned(project: Project) -> None:
    newer = "torch-2.9.1+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"
    project.world.add("cpu", newer, yanked="broken kernels")

    free = wheel_of(project.locked("torch"), "torch")["name"]
    project.path.unlink()
    pinned = wheel_of(project.locked("torch==2.9.1"), "torch")["name"]

    assert (free, pinned) == (TORCH, newer)


def test_a_python_that_a_page_or_the_metadata_excludes_is_excluded(project: Project) -> None:
    """PyTorch's pages do not say it; its wheels do."""
    for version, announced in (("2.10.0", True), ("2.11.0", False)):
        project.world.add(
            "cpu",
            f"torch-{version}+cpu-cp312-abi3-manylinux_2_28_x86_64.whl",
            requires_python="<3.13",
            announce_python=announced,
        )
    project.world.add("cpu", "torch-2.8.0+cpu-cp313-cp313-manylinux_2_28_x86_64.whl")

    twelve = wheel_of(project.locked("torch"), "torch")["name"]
    project.path.unlink()
    thirteen = wheel_of(project.locked("torch", python="3.13"), "torch")["name"]

    assert twelve.startswith("torch-2.11.0+cpu")
    assert thirteen.startswith("torch-2.8.0+cpu")


# --- local directories -----------------------------------------------------------------------


def own_wheel(folder: Path, filename: str, *requires: str) -> bytes:
    """Put a wheel into a directory; gives its bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    name, version = filename.split("-")[:2]
    content = build_wheel(filename, metadata_text(name, version, requires))
    (folder / filename).write_bytes(content)
    return content


def test_wheels_of_a_directory_win_over_every_index(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a directory holds is routed to it; its files are named relative to the lock."""
    monkeypatch.chdir(project.root)
    content = own_wheel(project.root / "wheels", "common-0.1-py3-none-any.whl")

    data = project.locked("torch", "--find-links", "wheels")

    wheel = wheel_of(data, "common")
    assert wheel["path"] == "wheels/common-0.1-py3-none-any.whl"
    assert wheel["hashes"] == {"sha256": hashlib.sha256(content).hexdigest()}
    assert "url" not in wheel
    assert asked(project.world, project.world.page_path("pypi", "common")) == []


def test_a_directory_of_a_requirements_file_is_relative_to_that_file(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Wherever the command is run."""
    own_wheel(project.root / "deploy" / "wheels", "own-1.0-py3-none-any.whl")
    project.write("own\n--find-links wheels\n", "deploy/requirements.txt")
    monkeypatch.chdir(tmp_path)

    data = project.locked("-r", Path("project") / "deploy" / "requirements.txt")

    assert wheel_of(data, "own")["path"] == "deploy/wheels/own-1.0-py3-none-any.whl"


def test_a_directory_of_an_option_is_relative_to_where_the_command_is_run(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As every path on a command line is."""
    own_wheel(tmp_path / "elsewhere" / "wheels", "own-1.0-py3-none-any.whl")
    monkeypatch.chdir(tmp_path / "elsewhere")

    ended = project.lock("own", "--find-links", "wheels")

    assert ended.status == 0, ended.err


def test_wheels_outside_of_the_project_are_noted_as_not_portable(
    project: Project, tmp_path: Path
) -> None:
    own_wheel(tmp_path / "wheels", "own-1.0-py3-none-any.whl")

    data = project.locked("own", "--find-links", tmp_path / "wheels")

    assert any("not portable" in note for note in data["tool"]["lockforge"]["notes"])
    assert "file://" not in project.path.read_text("utf-8")


def test_a_directory_named_in_the_configuration_serves_its_packages(project: Project) -> None:
    own_wheel(project.root / "vendor", "own-1.0-py3-none-any.whl", "common")
    project.write('[[tool.lockforge.index]]\nname = "vendor"\nurl = "vendor"\n')

    data = project.locked("own")

    assert wheel_of(data, "own")["path"] == "vendor/own-1.0-py3-none-any.whl"
    assert wheel_of(data, "common")["name"] == COMMON


def test_a_simple_index_on_disk_is_read_like_one_on_the_web(project: Project) -> None:
    content = own_wheel(project.root / "simple" / "own", "own-1.0-py3-none-any.whl")
    digest = hashlib.sha256(content).hexdigest()
    link = f'<a href="own-1.0-py3-none-any.whl#sha256={digest}">own-1.0-py3-none-any.whl</a>'
    project.write(link, "simple/own/index.html")
    project.write(
        """
        [[tool.lockforge.index]]
        name = "vendor"
        url = "simple"
        format = "simple"
        packages = ["own"]
        """
    )

    wheel = wheel_of(project.locked("own"), "own")

    assert wheel["path"] == "simple/own/own-1.0-py3-none-any.whl"
    assert wheel["hashes"] == {"sha256": digest}


def test_a_name_routed_to_an_index_is_asked_for_nowhere_else(project: Project) -> None:
    """Neither where that index lacks it: another's package must not stand in for one's own."""
    project.world.add("pypi", "acme_core-9.9-py3-none-any.whl")
    project.write(
        f"""
        [[tool.lockforge.index]]
        name = "internal"
        url = "{project.world.base}/whl/internal/"
        packages = ["acme-*"]
        """
    )
    project.world.answers["/whl/internal/acme-core/"] = Answer(status=404)

    message = project.refused(4, "acme-core")

    assert "internal" in message
    assert asked(project.world, project.world.page_path("pypi", "acme-core")) == []


# --- credentials -----------------------------------------------------------------------------


def with_credentials(url: str) -> str:
    return url.replace("http://", "http://someone:s%40cret@")


def test_credentials_are_used_and_never_written(project: Project) -> None:
    """They go to the index with each request, and into no lock, message or file of the cache."""
    world = project.world

    ended = project.run(
        *("torch", "--matrix", "linux-cpu", "--python", "3.12"),
        *("--index-url", with_credentials(world.default_url)),
        *("--torch-index", with_credentials(world.torch_url)),
    )

    sent = {headers.get("Authorization") for _, _, headers in world.requests}
    assert ended.status == 0, ended.err
    assert sent == {f"Basic {base64.b64encode(b'someone:s@cret').decode()}"}
    for text in (ended.out, project.path.read_text("utf-8")):
        assert "cret" not in text


def test_credentials_are_in_no_message_and_no_cache(project: Project, tmp_path: Path) -> None:
    project.world.answers[project.world.page_path("pypi", "common")] = Answer(status=403)

    message = project.ends(
        5,
        lambda: project.run(
            *("torch", "--matrix", "linux-cpu", "--python", "3.12"),
            *("--index-url", with_credentials(project.world.default_url)),
            *("--torch-index", with_credentials(project.world.torch_url)),
        ),
    )

    assert "cret" not in message
    for path in (tmp_path / "cache").rglob("*"):
        assert not path.is_file() or b"cret" not in path.read_bytes()


def test_credentials_do_not_follow_a_link_to_another_host(project: Project) -> None:
    """Files often lie elsewhere than their index; what opens the index is not for them."""
    with serve(World()) as other:
        other.add("cpu", TORCH, requires=["common"])
        path = other.file_path("cpu", TORCH)
        project.world.entry("cpu", TORCH).href = f"{other.base}{path}"
        hashless(project)

        ended = project.run(
            *("torch", "--matrix", "linux-cpu", "--python", "3.12"),
            *("--index-url", with_credentials(project.world.default_url)),
            *("--torch-index", with_credentials(project.world.torch_url)),
        )

    assert ended.status == 0, ended.err
    assert other.requests
    assert all("authorization" not in one for one in asked(other, path))
    assert [headers for _, _, headers in other.requests if "Authorization" in headers] == []


def test_credentials_do_not_follow_a_redirect_to_another_host(project: Project) -> None:
    with serve(World()) as other:
        other.add("pypi", COMMON)
        path = other.page_path("pypi", "common")
        project.world.answers[path] = Answer(
            status=302, headers={"Location": f"{other.base}{path}"}
        )

        ended = project.run(
            *("torch", "--matrix", "linux-cpu", "--python", "3.12"),
            *("--index-url", with_credentials(project.world.default_url)),
            *("--torch-index", project.world.torch_url),
        )

    assert ended.status == 0, ended.err
    assert asked(project.world, path)[0]["authorization"].startswith("Basic ")
    assert other.requests
    assert [headers for _, _, headers in other.requests if "Authorization" in headers] == []


def test_a_home_directory_is_in_no_lock(project: Project) -> None:
    project.locked("torch")

    text = project.path.read_text("utf-8")
    assert str(Path.home()) + os.sep not in text
    assert str(project.root) not in text
