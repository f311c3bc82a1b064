"""Reads the pages of the default index, and which of their files the snapshot may keep."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from packaging.specifiers import InvalidSpecifier
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from snapshot_tools.targets import select_by_requires_python, select_by_tag

ACCEPT = "application/vnd.pypi.simple.v1+json"
# Kept although no target takes them, so that a tool has files to refuse.
MUSLLINUX_KEPT = frozenset({"numpy", "pillow"})
FREE_THREADED_KEPT = frozenset({"markupsafe", "numpy", "pyyaml", "torch", "triton"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryFile:
    """One file of a project page; `targets` is 0 for an sdist and for a file kept to be refused."""

    filename: str
    url: str
    sha256: str
    requires_python: str | None
    size: int | None
    upload_time: str
    yanked: bool | str
    version: Version
    is_wheel: bool
    targets: int


def parse_project_page(project: str, body: bytes, *, until: str) -> tuple[RegistryFile, ...]:
    """Parse the files worth keeping that were uploaded until a day, by version and name."""
    files = (
        _parse_file(project, entry)
        for entry in json.loads(body)["files"]
        if entry["upload-time"][:10] <= until
    )
    return tuple(
        sorted((file for file in files if file), key=lambda file: (file.version, file.filename))
    )


def render_project_page(
    project: str, files: Iterable[RegistryFile], metadata_hashes: Mapping[str, str]
) -> str:
    """Render a PEP 691 page with one file a line."""
    listed = tuple(files)
    versions = [str(version) for version in sorted({file.version for file in listed})]
    lines = [_render_file(file, metadata_hashes.get(file.filename)) for file in listed]
    return (
        '{\n"meta":{"api-version":"1.1"},\n'
        f'"name":{json.dumps(project)},\n"versions":{_compact(versions)},\n'
        '"files":[\n' + ",\n".join(lines) + "\n]\n}\n"
    )


def _parse_file(project: str, entry: Mapping[str, Any]) -> RegistryFile | None:
    filename: str = entry["filename"]
    targets = 0
    try:
        if is_wheel := filename.endswith(".whl"):
            _, version, _, tags = parse_wheel_filename(filename)
            targets = reduce(lambda mask, tag: mask | select_by_tag(tag), tags, 0)
            if not targets and not _is_kept_to_be_refused(project, filename):
                return None
            targets &= select_by_requires_python(entry["requires-python"])
        elif filename.endswith((".tar.gz", ".zip")):
            _, version = parse_sdist_filename(filename)
        else:
            return None
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion, InvalidSpecifier):
        return None
    return RegistryFile(
        filename=filename,
        url=entry["url"],
        sha256=entry["hashes"]["sha256"],
        requires_python=entry["requires-python"],
        size=entry["size"],
        upload_time=entry["upload-time"],
        yanked=entry["yanked"],
        version=version,
        is_wheel=is_wheel,
        targets=targets,
    )


def _is_kept_to_be_refused(project: str, filename: str) -> bool:
    _, _, _, tags = parse_wheel_filename(filename)
    for tag in tags:
        is_listed_python = tag.interpreter in {"cp311", "cp312", "cp313", "cp314"}
        is_listed_machine = tag.platform.endswith(("x86_64", "aarch64", "amd64", "arm64"))
        is_listed_system = tag.platform.startswith(("manylinux", "win_", "macosx_"))
        if not is_listed_python or not is_listed_machine:
            continue
        if (
            project in MUSLLINUX_KEPT
            and tag.platform.startswith("musllinux")
            and not tag.abi.endswith("t")
        ):
            return True
        if project in FREE_THREADED_KEPT and tag.abi.endswith("t") and is_listed_system:
            return True
    return False


def _render_file(file: RegistryFile, metadata_hash: str | None) -> str:
    entry: dict[str, object] = {
        "filename": file.filename,
        "url": file.url,
        "hashes": {"sha256": file.sha256},
    }
    if file.requires_python is not None:
        entry["requires-python"] = file.requires_python
    if file.size is not None:
        entry["size"] = file.size
    entry["upload-time"] = file.upload_time
    if file.yanked is not False:
        entry["yanked"] = file.yanked
    if metadata_hash is not None:
        entry["core-metadata"] = {"sha256": metadata_hash}
    return _compact(entry)


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
