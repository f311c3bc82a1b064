"""Wheels built for one CUDA and one torch, on indexes as their publishers make them."""

from __future__ import annotations

import html
import tomllib
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import pytest

from tests.integration.conftest import Project
from tests.support.locks import Lock
from tests.support.wheels import build_wheel, metadata_text
from tests.support.world import Answer, World

LINUX = "cp312-cp312-manylinux_2_28_x86_64"
PLAIN = "cp312-cp312-linux_x86_64"


@pytest.fixture(autouse=True)
def torches(world: World) -> None:
    """Torch for several accelerators; the newest is on one index alone."""
    for label, versions in {
        "cu126": ["2.7.1", "2.8.0"],
        "cu128": ["2.7.1", "2.8.0", "2.9.1"],
        "cu130": ["2.9.1", "2.10.0"],
        "cpu": ["2.8.0", "2.9.1"],
    }.items():
        for version in versions:
            world.add(label, f"torch-{version}+{label}-{LINUX}.whl")
    for version in ("2.8.0", "2.9.1"):
        world.add("cpu", f"torch-{version}-cp312-none-macosx_11_0_arm64.whl")
    world.add("pypi", "einops-0.8.1-py3-none-any.whl")


def flat_page(world: World, path: str, filenames: Sequence[str]) -> None:
    """Serve a find-links page: links relative to it, without hashes, in no order."""
    anchors = ""
    for filename in filenames:
        name, version = filename.split("-")[:2]
        folder = path.rpartition("/")[0]
        href = f"files/{quote(filename)}"
        content = build_wheel(filename, metadata_text(name, version), path)
        world.answers[f"{folder}/{href}"] = Answer(
            body=content, content_type="application/octet-stream"
        )
        anchors += f'<a href="{html.escape(href)}">{html.escape(filename)}</a><br/>\n'
    page = Answer(body=f"<!DOCTYPE html>\n<html><body>\n{anchors}</body></html>\n".encode())
    # A `+` in a path may be written either way.
    world.answers[path] = page
    world.answers[path.replace("+", "%2B")] = page


def write_project(
    project: Project, *requirements: str, packages: str = "flash-attn", url: str | None = None
) -> None:
    """A project that routes *packages* to the index ``ext``, and scatter to pages as PyG's."""
    world = project.world
    project.write(
        f"""
        [project]
        name = "demo"
        version = "1"
        dependencies = {[*requirements]}

        [[tool.lockforge.index]]
        name = "ext"
        url = "{url or f"{world.base}/whl/ext/"}"
        packages = ["{packages}"]

        [[tool.lockforge.index]]
        name = "pyg"
        url = "{world.base}/pyg/torch-{{torch}}+{{accelerator}}.html"
        format = "flat"
        packages = ["torch-scatter"]
        """
    )


def versions(project: Project, platform: str = "linux", **options: Any) -> dict[str, str]:
    return Lock(project.path).versions(platform, **options)


SPELLINGS = [
    # the label in the file's name, the torch that it is built for
    ("cu128torch2.8cxx11abiTRUE", "2.8.0"),
    ("cu12torch2.8cxx11abiTRUE", "2.8.0"),
    ("cu.12.8.torch.2.8", "2.8.0"),
    ("pt28cu128", "2.8.0"),
    ("pt2.8.0cu128", "2.8.0"),
    ("torch2.8.0.cu128", "2.8.0"),
    ("cu128torch2.7", "2.7.1"),
    ("torch280cu128", "2.8.0"),
    ("cu128.torch29", "2.9.1"),
]


@pytest.mark.parametrize("encoded", [True, False], ids=["%2B", "+"])
@pytest.mark.parametrize(("label", "torch"), SPELLINGS)
def test_spellings(label: str, torch: str, encoded: bool, project: Project) -> None:  # noqa: FBT001
    """Each publisher has one of its own; torch is the one that the wheel is built for."""
    world = project.world
    filename = f"flash_attn-2.8.3+{label}-{PLAIN}.whl"
    href = None if encoded else f"{world.base}/whl/ext/{filename}"
    entry = world.add("ext", filename, requires=["einops", "torch"], href=href)
    write_project(project, "torch", "flash-attn")

    project.locked(matrix="linux-cu128")

    chosen = Lock(project.path).select("linux")
    assert {name: one.version for name, one in chosen.items()} == {
        "torch": f"{torch}+cu128",
        "flash-attn": f"2.8.3+{label.lower()}",
        "einops": "0.8.1",
    }
    assert (chosen["flash-attn"].filename, chosen["flash-attn"].sha256) == (
        filename,
        entry.sha256,
    )
    assert chosen["flash-attn"].index == world.index_url("ext")


def test_all_spellings_at_once(project: Project) -> None:
    """The newest torch that has a wheel wins, whatever the order of the page."""
    for label, _ in SPELLINGS:
        project.world.add("ext", f"flash_attn-2.8.3+{label}-{PLAIN}.whl")
    write_project(project, "torch", "flash-attn")

    project.locked(matrix="linux-cu128")

    assert versions(project) == {
        "torch": "2.9.1+cu128",
        "flash-attn": "2.8.3+cu128.torch29",
    }


def test_an_unreadable_label_is_one_warning(project: Project) -> None:
    """It is refused in every row and version, and said once, on the error stream."""
    for version in ("2.8.3", "2.8.4"):
        project.world.add("ext", f"flash_attn-{version}+weird.cu128-{PLAIN}.whl")
    for label in ("cu128torch2.8", "cu126torch2.8"):
        project.world.add("ext", f"flash_attn-2.8.3+{label}-{PLAIN}.whl")
    write_project(project, "torch", "flash-attn")

    ended = project.lock(matrix="linux-cu128,linux-cu126")

    assert ended.status == 0, ended.err
    (line,) = [one for one in ended.err.splitlines() if "warning" in one]
    for told in ("index ext", "flash-attn", "weird.cu128"):
        assert told in line
    assert "weird" not in ended.out + project.path.read_text("utf-8")
    assert versions(project, extras=["cu128"])["flash-attn"] == "2.8.3+cu128torch2.8"
    assert versions(project, extras=["cu126"])["flash-attn"] == "2.8.3+cu126torch2.8"


def test_nothing_but_unreadable_labels(project: Project) -> None:
    project.world.add("ext", f"flash_attn-2.8.3+weird.cu128-{PLAIN}.whl")
    write_project(project, "torch", "flash-attn")

    message = project.refused(4, matrix="linux-cu128")

    assert "flash-attn" in message
    assert "'weird.cu128' cannot be read" in message


def test_torch_goes_back_for_the_extension(project: Project) -> None:
    """The newest torch has no wheel of it; what lockforge added is in the report."""
    project.world.add("ext", f"flash_attn-2.8.3+cu128torch2.7cxx11abiTRUE-{PLAIN}.whl")
    write_project(project, "torch", "flash-attn")

    ended = project.lock(matrix="linux-cu128")

    assert ended.status == 0, ended.err
    assert versions(project)["torch"] == "2.7.1+cu128"
    added = ended.out.partition("added by lockforge:\n")[2].partition("\n\n")[0]
    text = " ".join(added.split())
    assert "flash-attn: torch==2.7.*" in text
    assert "2.8.3+cu128torch2.7cxx11abitrue on index ext" in text


def test_an_older_extension_for_a_pinned_torch(project: Project) -> None:
    project.world.add("ext", f"flash_attn-2.8.3+cu128torch2.8-{PLAIN}.whl")
    project.world.add("ext", f"flash_attn-2.7.4+cu128torch2.7-{PLAIN}.whl")
    write_project(project, "torch==2.7.1", "flash-attn")

    project.locked(matrix="linux-cu128")

    assert versions(project) == {
        "torch": "2.7.1+cu128",
        "flash-attn": "2.7.4+cu128torch2.7",
    }


def test_a_pin_of_torch_that_no_extension_is_built_for(project: Project) -> None:
    """The message names both, so that either can be changed."""
    project.world.add("ext", f"flash_attn-2.8.3+cu128torch2.8-{PLAIN}.whl")
    write_project(project, "torch==2.9.1", "flash-attn")

    message = project.refused(4, matrix="linux-cu128")

    assert "torch==2.9.1" in message
    assert "flash-attn" in message
    assert "torch==2.8.*" in message
    assert "linux-cu128" in message


@pytest.mark.parametrize(("torch", "twin"), [("2.8", "TRUE"), ("2.5", "FALSE")])
def test_twins_that_differ_in_the_abi(torch: str, twin: str, project: Project) -> None:
    """Torch has had the new C++ ABI on Linux since 2.7, and no other before 2.6."""
    project.world.add("cu121", f"torch-2.5.1+cu121-{PLAIN}.whl")
    label = "cu121" if torch == "2.5" else "cu128"
    for abi in ("TRUE", "FALSE"):
        project.world.add("ext", f"flash_attn-2.8.3+cu12torch{torch}cxx11abi{abi}-{PLAIN}.whl")
    write_project(project, "torch", "flash-attn")

    project.locked(matrix=f"linux-{label}")

    assert Lock(project.path).select("linux")["flash-attn"].filename == (
        f"flash_attn-2.8.3+cu12torch{torch}cxx11abi{twin}-{PLAIN}.whl"
    )


def test_two_cuda_rows_are_told_apart_by_their_extras(project: Project) -> None:
    """Each has the build of its own CUDA; together they are an error to any installer."""
    for label in ("cu128torch2.8", "cu126torch2.8", "cu130torch2.10"):
        project.world.add("ext", f"flash_attn-2.8.3+{label}-{PLAIN}.whl")
    write_project(project, "torch", "flash-attn")

    lock = project.locked(matrix="linux-cu126,linux-cu128,linux-cu130")

    assert versions(project, extras=["cu126"]) == {
        "torch": "2.8.0+cu126",
        "flash-attn": "2.8.3+cu126torch2.8",
    }
    assert versions(project, extras=["cu128"]) == {
        "torch": "2.8.0+cu128",
        "flash-attn": "2.8.3+cu128torch2.8",
    }
    assert versions(project, extras=["cu130"]) == {
        "torch": "2.10.0+cu130",
        "flash-attn": "2.8.3+cu130torch2.10",
    }
    markers = {
        package["version"]: package["marker"]
        for package in lock["packages"]
        if package["name"] == "flash-attn"
    }
    assert markers == {
        "2.8.3+cu126torch2.8": "'cu126' in extras",
        "2.8.3+cu128torch2.8": "'cu128' in extras",
        "2.8.3+cu130torch2.10": "'cu130' in extras",
    }


def test_one_wheel_for_all_of_a_cuda_major(project: Project) -> None:
    """`cu12` serves both rows, which then share one entry but not their torch."""
    project.world.add("ext", f"flash_attn-2.8.3+cu12torch2.8-{PLAIN}.whl")
    write_project(project, "torch", "flash-attn")

    lock = project.locked(matrix="linux-cu126,linux-cu128")

    entries = [one for one in lock["packages"] if one["name"] == "flash-attn"]
    assert [one.get("marker") for one in entries] == [None]
    assert {one["version"] for one in lock["packages"] if one["name"] == "torch"} == {
        "2.8.0+cu126",
        "2.8.0+cu128",
    }


def test_rows_without_cuda(project: Project) -> None:
    """A row takes the build for its CPU where there is one, and macOS the one without label."""
    project.world.add("ext", f"flash_attn-2.8.3+cu128torch2.8-{PLAIN}.whl")
    project.world.add("ext", f"flash_attn-2.8.3+cpu.torch2.9-{PLAIN}.whl")
    project.world.add("ext", "flash_attn-2.8.3-cp312-cp312-macosx_11_0_arm64.whl")
    write_project(project, "torch", "flash-attn")

    project.locked(matrix="linux-cu128,linux-cpu,mac-cpu")

    assert versions(project, extras=["cpu"]) == {
        "torch": "2.9.1+cpu",
        "flash-attn": "2.8.3+cpu.torch2.9",
    }
    assert versions(project, "mac") == {"torch": "2.9.1", "flash-attn": "2.8.3"}


def test_a_row_without_a_build_fails_alone(project: Project) -> None:
    project.world.add("ext", f"flash_attn-2.8.3+cu128torch2.8-{PLAIN}.whl")
    write_project(project, "torch", "flash-attn")

    message = project.refused(4, matrix="linux-cu128,linux-cpu")

    assert "linux-cpu (Python 3.12)" in message
    assert "linux-cu128 (" not in message
    assert "cu128" in message


def test_an_index_of_some_accelerators(project: Project) -> None:
    """In other rows the name comes from where all others do."""
    world = project.world
    world.add("ext", f"flash_attn-2.8.3+cu128torch2.8-{PLAIN}.whl")
    world.add("pypi", "flash_attn-2.0-py3-none-any.whl")
    project.write(
        f"""
        [project]
        name = "demo"
        version = "1"
        dependencies = ["torch", "flash-attn"]
        [[tool.lockforge.index]]
        name = "ext"
        url = "{world.base}/whl/ext/"
        packages = ["flash-attn"]
        accelerators = ["cu128"]
        """
    )

    project.locked(matrix="linux-cu128,linux-cpu")

    assert versions(project, extras=["cu128"])["flash-attn"] == "2.8.3+cu128torch2.8"
    assert versions(project, extras=["cpu"])["flash-attn"] == "2.0"


def test_an_index_per_accelerator(project: Project) -> None:
    """`{accelerator}` in the address of a simple index; labels are not needed there."""
    world = project.world
    for label in ("cu126", "cu128"):
        world.add(f"kernels-{label}", f"flash_attn-2.8.3-{PLAIN}.whl", marker=label)
    write_project(project, "torch", "flash-attn", url=f"{world.base}/whl/kernels-{{accelerator}}/")

    project.locked(matrix="linux-cu126,linux-cu128")

    lock = Lock(project.path)
    for label in ("cu126", "cu128"):
        chosen = lock.select("linux", extras=[label])["flash-attn"]
        assert chosen.index == world.index_url(f"kernels-{label}")
        assert chosen.sha256 == world.indexes[f"kernels-{label}"]["flash-attn"][0].sha256


class TestPages:
    """Flat pages per torch and CUDA, as PyG publishes them."""

    @pytest.fixture(autouse=True)
    def pyg(self, world: World) -> None:
        for torch, label, digits in (
            ("2.8.0", "cu126", "pt28cu126"),
            ("2.8.0", "cu128", "pt28cu128"),
            ("2.7.0", "cu128", "pt27cu128"),
            ("2.8.0", "cpu", "pt28cpu"),
        ):
            names = [f"torch_scatter-2.1.2+{digits}-{PLAIN}.whl"]
            if label == "cpu":
                names.append("torch_scatter-2.1.2-cp312-cp312-macosx_11_0_universal2.whl")
            flat_page(world, f"/pyg/torch-{torch}+{label}.html", names)

    def test_the_page_of_the_torch_that_is_resolved(self, project: Project) -> None:
        """Torch 2.9 has no page, so it is 2.8; each row takes the page of its accelerator."""
        write_project(project, "torch", "torch-scatter")

        project.locked(matrix="linux-cu126,linux-cu128,linux-cpu,mac-cpu")

        found = {extra: versions(project, extras=[extra]) for extra in ("cu126", "cu128", "cpu")}
        assert found == {
            label: {"torch": f"2.8.0+{label}", "torch-scatter": f"2.1.2+pt28{label}"}
            for label in ("cu126", "cu128", "cpu")
        }
        assert versions(project, "mac") == {"torch": "2.8.0", "torch-scatter": "2.1.2"}

    def test_an_older_torch_has_its_own_page(self, project: Project) -> None:
        project.world.add("cu128", f"torch-2.7.0+cu128-{LINUX}.whl")
        write_project(project, "torch<2.8", "torch-scatter")

        project.locked(matrix="linux-cu128")

        # The label says 2.7, so the newest patch release will do.
        assert versions(project) == {
            "torch": "2.7.1+cu128",
            "torch-scatter": "2.1.2+pt27cu128",
        }

    def test_only_pages_of_admitted_torches_are_asked_for(self, project: Project) -> None:
        write_project(project, "torch==2.8.0", "torch-scatter")

        project.locked(matrix="linux-cu128")

        asked = {path for _, path, _ in project.world.requests if path.endswith(".html")}
        assert {path.replace("%2B", "+") for path in asked} == {"/pyg/torch-2.8.0+cu128.html"}

    def test_a_torch_without_any_page(self, project: Project) -> None:
        write_project(project, "torch==2.9.1", "torch-scatter")

        message = project.refused(4, matrix="linux-cu128")

        assert "torch-scatter" in message
        assert "2.9.1" in message

    @pytest.mark.parametrize("status", [403, 404])
    def test_a_page_that_is_not_there(self, status: int, project: Project) -> None:
        """PyG's host forbids a page that it does not have (pyg-team/pytorch_geometric#10048)."""
        for torch in ("2.7.1", "2.9.1"):
            for plus in ("+", "%2B"):
                path = f"/pyg/torch-{torch}{plus}cu128.html"
                project.world.answers[path] = Answer(status=status, body=b"AccessDenied")
        write_project(project, "torch", "torch-scatter")

        project.locked(matrix="linux-cu128")

        assert versions(project)["torch"] == "2.8.0+cu128"

    def test_no_page_at_all(self, project: Project) -> None:
        """It is told which pages were looked for; none was with the placeholder in it."""
        for plus in ("+", "%2B"):
            path = f"/pyg/torch-2.9.1{plus}cu128.html"
            project.world.answers[path] = Answer(status=403, body=b"AccessDenied")
        write_project(project, "torch==2.9.1", "torch-scatter")

        message = project.refused(4, matrix="linux-cu128")

        assert "torch-scatter" in message
        asked = [path for _, path, _ in project.world.requests]
        assert [path for path in asked if "{" in path or "%7B" in path.upper()] == []

    def test_the_hash_is_that_of_the_bytes(self, project: Project) -> None:
        """These pages tell none, so the file is downloaded once."""
        write_project(project, "torch", "torch-scatter")

        lock = project.locked(matrix="linux-cu128")

        (entry,) = [one for one in lock["packages"] if one["name"] == "torch-scatter"]
        (wheel,) = entry["wheels"]
        assert wheel["url"].startswith(f"{project.world.base}/pyg/files/torch_scatter-2.1.2%2B")
        assert len(wheel["hashes"]["sha256"]) == 64

    def test_a_second_run_is_current(self, project: Project) -> None:
        """Pages, labels and added limits come to the same bytes again, and ask nothing."""
        world = project.world
        world.add("ext", f"flash_attn-2.8.3+cu12torch2.8cxx11abiTRUE-{PLAIN}.whl")
        write_project(project, "torch", "torch-scatter", "flash-attn")
        matrix = "linux-cu126,linux-cu128"
        project.locked(matrix=matrix)
        before = project.path.read_bytes()
        world.requests.clear()

        assert project.lock("--check", matrix=matrix).status == 0
        assert project.lock(matrix=matrix).status == 0
        assert world.requests == []
        assert project.lock("--upgrade", matrix=matrix).status == 0
        assert project.path.read_bytes() == before

    def test_a_torch_that_gains_a_page_moves_nothing(self, project: Project) -> None:
        """Re-locking keeps both until one of them is asked to move."""
        write_project(project, "torch", "torch-scatter")
        project.locked(matrix="linux-cu128")
        kept = versions(project)
        flat_page(
            project.world,
            "/pyg/torch-2.9.1+cu128.html",
            [f"torch_scatter-2.1.2+pt29cu128-{PLAIN}.whl"],
        )
        write_project(project, "torch", "torch-scatter", "einops")

        project.locked("--refresh", matrix="linux-cu128")
        assert versions(project) == {**kept, "einops": "0.8.1"}

        project.locked("--refresh", "--upgrade", matrix="linux-cu128")
        assert versions(project) == {
            "torch": "2.9.1+cu128",
            "torch-scatter": "2.1.2+pt29cu128",
            "einops": "0.8.1",
        }


def test_upgrading_torch_alone_keeps_what_fits(project: Project) -> None:
    """The extension is kept if a build of the same version fits the torch that moves."""
    world = project.world
    world.add("ext", f"flash_attn-2.8.2+cu128torch2.8-{PLAIN}.whl")
    write_project(project, "torch", "flash-attn")
    project.locked(matrix="linux-cu128")
    world.add("ext", f"flash_attn-2.8.2+cu128torch2.9-{PLAIN}.whl")
    world.add("ext", f"flash_attn-2.8.3+cu128torch2.9-{PLAIN}.whl")

    project.locked("--refresh", "--upgrade-package", "torch", matrix="linux-cu128")

    found = versions(project)
    assert found["torch"] in {"2.8.0+cu128", "2.9.1+cu128"}
    assert found["flash-attn"].startswith("2.8.2+")


def test_the_lock_is_plain_toml(project: Project) -> None:
    """Local versions with capitals and dots keep their file names."""
    project.world.add("ext", f"flash_attn-2.8.3+CU128Torch2.8-{PLAIN}.whl")
    write_project(project, "torch", "flash-attn")

    project.locked(matrix="linux-cu128")

    data = tomllib.loads(project.path.read_text("utf-8"))
    (entry,) = [one for one in data["packages"] if one["name"] == "flash-attn"]
    assert entry["version"] == "2.8.3+cu128torch2.8"
    assert entry["wheels"][0]["name"] == f"flash_attn-2.8.3+CU128Torch2.8-{PLAIN}.whl"
