"""What must hold in the recorded snapshot, checked on its files alone."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version
from snapshot_tools.targets import (
    PLATFORMS,
    PYTHONS,
    TARGETS,
    describe_targets,
    make_environment,
    select_by_requires_python,
    select_by_tag,
)

SNAPSHOT = Path(__file__).parents[2] / "fixtures" / "snapshot"
MANIFEST: Mapping[str, Any] = json.loads((SNAPSHOT / "MANIFEST.json").read_text(encoding="utf-8"))
DATE: str = MANIFEST["date"]
INDEXES = tuple(
    sorted(path.name for path in (SNAPSHOT / "whl").iterdir() if path.name != "metadata")
)
FAMILY = (
    "pytorch-triton",
    "pytorch-triton-rocm",
    "pytorch-triton-xpu",
    "torch",
    "torchao",
    "torchaudio",
    "torchcodec",
    "torchvision",
    "triton",
    "triton-rocm",
    "triton-xpu",
    "xformers",
)
MAX_BYTES = 15 * 1024 * 1024
CHECKED_PYTHONS = ("3.11", "3.12", "3.13")
ANCHOR = re.compile(
    r'^    <a href="(?P<href>[^"#]+)(?:#sha256=(?P<sha256>[0-9a-f]{64}))?"'
    r'(?: data-dist-info-metadata="sha256=(?P<metadata>[0-9a-f]{64})"'
    r' data-core-metadata="sha256=(?P=metadata)")?'
    r'(?: data-upload-time="(?P<upload_time>[^"]+)")?>(?P<filename>[^<]+)</a><br/>$'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A file as some page lists it."""

    page: str
    project: str
    filename: str
    url: str
    sha256: str | None
    metadata: str | None
    upload_time: str | None
    targets: int


@cache
def read_index(index: str) -> tuple[Listed, ...]:
    """Every file of a PyTorch index."""
    return tuple(
        file
        for path in sorted((SNAPSHOT / "whl" / index).glob("*/index.html"))
        for file in iter_html(path)
    )


@cache
def read_registry() -> tuple[Listed, ...]:
    """Every file of the default index."""
    files: list[Listed] = []
    for path in sorted((SNAPSHOT / "simple").glob("*/index.json")):
        page = json.loads(path.read_text(encoding="utf-8"))
        files += [
            Listed(
                page=path.relative_to(SNAPSHOT).as_posix(),
                project=page["name"],
                filename=entry["filename"],
                url=entry["url"],
                sha256=entry["hashes"]["sha256"],
                metadata=entry.get("core-metadata", {}).get("sha256"),
                upload_time=entry["upload-time"],
                targets=find_targets(entry["filename"], entry.get("requires-python")),
            )
            for entry in page["files"]
        ]
    return tuple(files)


def iter_html(path: Path) -> Iterator[Listed]:
    """The files of a page, which has to be in the generator's form to the letter."""
    project = path.parent.name
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:4] == [
        "<!DOCTYPE html>",
        "<html>",
        "  <body>",
        f"    <h1>Links for {project}</h1>",
    ]
    assert lines[-3:] == ["  </body>", "</html>", "<!--TIMESTAMP 1787356800-->"]
    for line in lines[4:-3]:
        match = ANCHOR.match(line)
        assert match is not None, line
        yield Listed(
            page=path.relative_to(SNAPSHOT).as_posix(),
            project=project,
            filename=match["filename"],
            url=match["href"],
            sha256=match["sha256"],
            metadata=match["metadata"],
            upload_time=match["upload_time"],
            targets=find_targets(match["filename"], None),
        )


def find_targets(filename: str, requires_python: str | None) -> int:
    """The targets that can install a file; none for an sdist."""
    if not filename.endswith(".whl"):
        return 0
    tags = parse_wheel_filename(filename)[3]
    mask = reduce(lambda found, tag: found | select_by_tag(tag), tags, 0)
    return mask & select_by_requires_python(requires_python)


@cache
def read_texts(path: str) -> Mapping[str, str]:
    """The metadata texts of a project, by hash."""
    texts: dict[str, str] = json.loads((SNAPSHOT / path).read_text(encoding="utf-8"))
    return texts


def find_text(file: Listed) -> str:
    """The metadata text that a page announces for a file."""
    is_registry = file.page.startswith("simple/")
    place = (
        f"simple/{file.project}/metadata.json"
        if is_registry
        else f"whl/metadata/{file.project}.json"
    )
    return read_texts(place)[file.metadata or ""]


def get_version(file: Listed) -> Version:
    parse = parse_wheel_filename if file.filename.endswith(".whl") else parse_sdist_filename
    return parse(file.filename)[1]


def read_all() -> tuple[Listed, ...]:
    """Every file of every page."""
    return (*read_registry(), *(file for index in INDEXES for file in read_index(index)))


def test_every_data_file_is_in_the_manifest_with_its_hash() -> None:
    found = {
        path.relative_to(SNAPSHOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in SNAPSHOT.rglob("*")
        if path.is_file() and path.name != "MANIFEST.json"
    }
    assert found == {path: part["sha256"] for path, part in MANIFEST["parts"].items()}


def test_the_snapshot_is_small() -> None:
    assert sum(path.stat().st_size for path in SNAPSHOT.rglob("*") if path.is_file()) < MAX_BYTES


def test_the_manifest_says_what_it_has_to() -> None:
    assert MANIFEST["format"] == 1
    assert {index["path"] for index in MANIFEST["indexes"].values()} == {"simple", "whl"}
    assert {entry["rule"] for entry in MANIFEST["metadata"].values()} == set(MANIFEST["rules"])


def test_no_file_is_newer_than_the_date() -> None:
    assert [file for file in read_all() if (file.upload_time or "")[:10] > DATE] == []


def test_every_announced_text_has_its_hash_and_agrees_with_the_file_name() -> None:
    for file in read_all():
        if file.metadata is None:
            continue
        text = find_text(file)
        assert hashlib.sha256(text.encode()).hexdigest() == file.metadata, file.filename
        parsed = parse_text(text)
        assert canonicalize_name(parsed.name) == canonicalize_name(file.project)
        assert parsed.version == get_version(file), file.filename


@cache
def parse_text(text: str) -> Metadata:
    # PyPI holds metadata of every age; what matters is that the kept fields can be read.
    return Metadata.from_email(text, validate=False)


def test_no_text_is_kept_that_no_page_announces() -> None:
    announced = {(file.page.split("/")[0], file.project, file.metadata) for file in read_all()}
    for path in [*SNAPSHOT.glob("simple/*/metadata.json"), *SNAPSHOT.glob("whl/metadata/*.json")]:
        part = path.relative_to(SNAPSHOT).parts
        project = part[1] if part[0] == "simple" else path.stem
        kept = read_texts(path.relative_to(SNAPSHOT).as_posix())
        assert {(part[0], project, digest) for digest in kept} <= announced


def test_every_wheel_of_the_default_index_announces_its_metadata() -> None:
    assert [
        f.filename for f in read_registry() if f.filename.endswith(".whl") and not f.metadata
    ] == []


def test_every_family_wheel_announces_metadata_with_an_origin() -> None:
    for index in INDEXES:
        for file in read_index(index):
            if file.project in FAMILY:
                assert file.metadata, file.filename
                places = (f"whl/{index}/{file.filename}", f"whl/{file.filename}")
                assert any(place in MANIFEST["metadata"] for place in places), file.filename


@pytest.mark.parametrize("index", INDEXES)
def test_pages_are_sorted_by_escaped_key_and_escape_the_plus(index: str) -> None:
    for path in sorted((SNAPSHOT / "whl" / index).glob("*/index.html")):
        files = list(iter_html(path))
        own = [file.url for file in files if urlsplit(file.url).path.startswith("/whl/")]
        paths = [urlsplit(url).path for url in own]
        assert paths == sorted(paths)
        assert all("+" not in url for url in own)
        for file in files:
            assert unquote(file.url).rpartition("/")[2] == file.filename
            assert quote(file.filename) == file.url.rpartition("/")[2]


@pytest.mark.parametrize("index", INDEXES)
def test_the_project_list_names_every_folder(index: str) -> None:
    folder = SNAPSHOT / "whl" / index
    listed = re.findall(
        r'^    <a href="([^"]+)/">\1</a><br/>$', (folder / "index.html").read_text(), re.MULTILINE
    )
    assert listed == sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_root_wheels_are_on_every_index() -> None:
    def read_root(index: str) -> set[str]:
        paths = (urlsplit(file.url).path for file in read_index(index))
        return {path for path in paths if path.startswith("/whl/") and path.count("/") == 2}

    assert {frozenset(read_root(index)) for index in INDEXES} == {frozenset(read_root("cpu"))}
    assert any("/triton-" in path for path in read_root("cpu"))


@pytest.mark.parametrize(
    ("index", "filename"),
    [
        ("cpu", "torch-2.12.1+cpu-cp312-cp312-manylinux_2_28_x86_64.whl"),
        ("cpu", "torch-2.12.1+cpu-cp312-cp312-manylinux_2_28_aarch64.whl"),
        ("cpu", "torch-2.12.1+cpu-cp312-cp312-win_amd64.whl"),
        ("cpu", "torch-2.12.1-cp312-cp312-macosx_14_0_arm64.whl"),
        ("cu126", "torch-2.12.1+cu126-cp312-cp312-manylinux_2_28_x86_64.whl"),
        ("cu129", "torch-2.12.1+cu129-cp312-cp312-manylinux_2_28_x86_64.whl"),
        ("cu130", "torch-2.12.1+cu130-cp312-cp312-manylinux_2_28_x86_64.whl"),
        ("cu130", "torch-2.12.1+cu130-cp312-cp312-manylinux_2_28_aarch64.whl"),
        ("cu130", "torch-2.12.1+cu130-cp312-cp312-win_amd64.whl"),
        ("rocm7.2", "torch-2.12.1+rocm7.2-cp312-cp312-manylinux_2_28_x86_64.whl"),
        ("xpu", "torch-2.12.1+xpu-cp312-cp312-linux_x86_64.whl"),
        ("xpu", "torch-2.12.1+xpu-cp312-cp312-win_amd64.whl"),
    ],
)
def test_torch_2_12_1_has_a_hashed_wheel(index: str, filename: str) -> None:
    assert [bool(file.sha256) for file in read_index(index) if file.filename == filename] == [True]


def test_a_known_hash_is_the_known_one() -> None:
    filename = "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"
    hashes = [file.sha256 for file in read_index("cpu") if file.filename == filename]
    assert [(sha256 or "")[:8] for sha256 in hashes] == ["6746dbcb"]


def test_some_builds_have_no_hash() -> None:
    """As on the real page: a tool has to cope."""
    hashes = {
        file.sha256
        for file in read_index("cu126")
        if file.project == "torch" and str(get_version(file)) == "2.11.0+cu126"
    }
    assert None in hashes


def test_the_default_index_carries_the_family_too() -> None:
    """So that a tool can be caught taking it from there."""
    assert {"torch", "torchaudio", "torchvision", "triton"} <= {
        file.project for file in read_registry()
    }


def test_the_default_index_carries_files_to_refuse() -> None:
    refused = [
        file for file in read_registry() if file.filename.endswith(".whl") and not file.targets
    ]
    assert any("musllinux" in file.filename for file in refused)
    assert any("t-" in file.filename for file in refused)
    assert any(not file.filename.endswith(".whl") for file in read_registry())
    assert any(page_has_yanked(path) for path in (SNAPSHOT / "simple").glob("*/index.json"))


def page_has_yanked(path: Path) -> bool:
    return any("yanked" in entry for entry in json.loads(path.read_text(encoding="utf-8"))["files"])


@cache
def find_versions(place: str, project: str) -> Mapping[Version, int]:
    """The versions of a project in one place, with the targets that some file of each serves."""
    files = read_registry() if place == "simple" else read_index(place)
    found: dict[Version, int] = {}
    for file in files:
        if file.project == project:
            version = get_version(file)
            found[version] = found.get(version, 0) | file.targets
    return found


@cache
def find_served(index: str, project: str, specifier: str) -> int:
    """The targets where some file of the default index or of this index satisfies a requirement."""
    specifiers = SpecifierSet(specifier)
    served = 0
    for place in ("simple", index):
        for version, targets in find_versions(place, project).items():
            if specifiers.contains(version, prereleases=True):
                served |= targets
    return served


@cache
def find_unsatisfied(index: str, text: str) -> Mapping[str, int]:
    """The requirements of a text that nothing satisfies, with the targets where that is so."""
    found: dict[str, int] = {}
    for requirement in map(str, parse_text(text).requires_dist or ()):
        parsed = Requirement(requirement)
        served = find_served(index, canonicalize_name(parsed.name), str(parsed.specifier))
        wanted = sum(
            1 << place
            for place, (platform, python) in enumerate(TARGETS)
            if parsed.marker is None
            or parsed.marker.evaluate(dict(make_environment(platform, python)))
        )
        if wanted & ~served:
            found[requirement] = wanted & ~served
    return found


@pytest.mark.parametrize("index", INDEXES)
def test_every_requirement_of_a_family_wheel_can_be_satisfied(index: str) -> None:
    """By the default index or by its own one, unless the notes name the hole in the facts."""
    checked = sum(1 << bit for bit, (_, python) in enumerate(TARGETS) if python in CHECKED_PYTHONS)
    unsatisfied: set[str] = set()
    for file in read_index(index):
        if file.project not in FAMILY or file.metadata is None:
            continue
        for requirement, missing in find_unsatisfied(index, find_text(file)).items():
            where = describe_targets(missing & file.targets & checked)
            if where and not is_noted(Requirement(requirement), where):
                unsatisfied.add(f"{file.filename}: {requirement}: {where}")
    assert sorted(unsatisfied) == []


def is_noted(requirement: Requirement, where: str) -> bool:
    pin = f"{requirement.name}{requirement.specifier} was not gathered"
    notes: list[str] = MANIFEST["notes"]
    return any(note.startswith(pin) and where in note for note in notes)


def test_the_targets_are_those_of_the_notes() -> None:
    assert (len(PLATFORMS), PYTHONS) == (6, ("3.11", "3.12", "3.13", "3.14"))
