"""Reads the gathered facts about the PyTorch indexes: file records and core metadata entries."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

INDEXES = (
    "cpu",
    "cu118",
    "cu126",
    "cu128",
    "cu129",
    "cu130",
    "cu132",
    "rocm6.4",
    "rocm7.1",
    "rocm7.2",
    "xpu",
)
TRITON_RELEASES = SpecifierSet(">=3.2,<3.8")
# The projects that belong to the PyTorch indexes, with the releases that torch 2.6 to 2.13 use.
FAMILY = {
    "pytorch-triton": TRITON_RELEASES,
    "pytorch-triton-rocm": TRITON_RELEASES,
    "pytorch-triton-xpu": TRITON_RELEASES,
    "torch": SpecifierSet(">=2.6,<=2.13.0"),
    "torchao": SpecifierSet(">=0.8,<0.19"),
    "torchaudio": SpecifierSet(">=2.6,<=2.11.0"),
    "torchcodec": SpecifierSet(">=0.9,<0.17"),
    "torchvision": SpecifierSet(">=0.21,<0.29"),
    "triton": TRITON_RELEASES,
    "triton-rocm": TRITON_RELEASES,
    "triton-xpu": TRITON_RELEASES,
    "xformers": SpecifierSet(">=0.0.29.post2,<0.0.36"),
}
_SLASHES_OF_ROOT = 4
_PUBLIC_ROOT = "https://download.pytorch.org/whl"
_ENTRY_KEY = re.compile(
    r"^(?P<project>[\w-]+)==(?P<version>\S+) (?:\[index (?P<index>[^\]]+)\]|(?P<platform>[^\[(]+?))"
    r"(?: \[(?P<place>root|PyPI)\])?(?: \((?P<source>[^)]+)\))?$"
)
_MATRIX_KEY = re.compile(r"^PYTORCH_EXTRA_INSTALL_REQUIREMENTS (?P<version>\S+) (?P<index>\S+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsFile:
    """One file of a PyTorch index; `folder` is empty for a file directly in the channel root."""

    project: str
    filename: str
    folder: str
    url: str
    is_url_known: bool
    sha256: str | None
    other_sha256_seen: tuple[str, ...]
    upload_time: str | None
    version: Version
    platform: str
    python: str

    @property
    def place(self) -> str:
        """The file's path below the snapshot, by which the manifest names it."""
        return "/".join(filter(None, ("whl", self.folder, self.filename)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsEntry:
    """One core metadata entry; `filename` is there when the entry is of one known file."""

    key: str
    kind: str
    project: str
    version: str
    index: str | None
    platform: str | None
    filename: str | None
    requires_python: str | None
    requirements: tuple[str, ...]


def load_files(folder: Path, *, until: str) -> tuple[FactsFile, ...]:
    """Load the records of all kept indexes; a hash seen on any page counts for the file."""
    files: dict[str, FactsFile] = {}
    for index in ("root", *INDEXES):
        for file in _load_index(folder, index, until=until):
            known = files.setdefault(file.place, file)
            if file.sha256 and known.sha256 not in {None, file.sha256}:
                raise ValueError(f"{file.place}: two hashes, {known.sha256} and {file.sha256}")
            if file.sha256 and known.sha256 is None:
                files[file.place] = replace(known, sha256=file.sha256)
    return tuple(files[place] for place in sorted(files))


def load_entries(folder: Path) -> tuple[FactsEntry, ...]:
    """Load the core metadata entries of stable builds on these indexes."""
    entries = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    return tuple(entry for key, value in entries.items() if (entry := _parse_entry(key, value)))


def find_platform(filename: str) -> str:
    """Find the operating system and machine of a wheel, in the names of `targets`."""
    tag = filename.removesuffix(".whl").rpartition("-")[2]
    if tag.startswith("macosx_"):
        return "mac-arm64"
    for word, platform in (
        ("win_amd64", "win-amd64"),
        ("win_arm64", "win-arm64"),
        ("aarch64", "linux-aarch64"),
        ("s390x", "linux-s390x"),
        ("x86_64", "linux-x86_64"),
    ):
        if tag.endswith(word):
            return platform
    return "any"


def _load_index(folder: Path, index: str, *, until: str) -> Iterable[FactsFile]:
    for project, record in _iter_records(folder, index):
        if record["evidence"] == "mention" or (record["upload_time"] or "")[:10] > until:
            continue
        file = _parse_record(project, record, "" if index == "root" else index)
        if file and (
            project not in FAMILY or FAMILY[project].contains(Version(file.version.public))
        ):
            yield file


def _iter_records(folder: Path, index: str) -> Iterable[tuple[str, dict[str, Any]]]:
    packages = json.loads((folder / f"{index}.json").read_text(encoding="utf-8"))["packages"]
    return ((project, record) for project in sorted(packages) for record in packages[project])


def _parse_record(project: str, record: dict[str, Any], folder: str) -> FactsFile | None:
    filename: str = record["filename"]
    python = ""
    try:
        if filename.endswith(".whl"):
            version = parse_wheel_filename(filename)[1]
            python = filename.split("-")[-3]
        else:
            version = parse_sdist_filename(filename)[1]
    except (InvalidWheelFilename, ValueError):
        return None
    url: str | None = record["url"]
    # The page of a root file is the same on every index, whichever index's lock showed it.
    if url and url.count("/") == _SLASHES_OF_ROOT:
        folder = ""
    return FactsFile(
        project=project,
        filename=filename,
        folder=folder,
        url=url or "/".join(filter(None, (_PUBLIC_ROOT, folder, quote(filename)))),
        is_url_known=url is not None,
        sha256=record["sha256"],
        other_sha256_seen=tuple(record.get("other_sha256_seen", ())),
        upload_time=record["upload_time"],
        version=version,
        platform=find_platform(filename),
        python=python,
    )


def _parse_entry(key: str, value: dict[str, Any]) -> FactsEntry | None:
    if matrix := _MATRIX_KEY.match(key):
        return FactsEntry(
            key=key,
            kind="build-matrix",
            project="torch",
            version=f"{matrix['version'].replace('.x', '.0')}+{matrix['index']}",
            index=matrix["index"],
            platform=None,
            filename=None,
            requires_python=None,
            requirements=tuple(value["requires_dist"]),
        )
    match = _ENTRY_KEY.match(key)
    if match is None:
        raise ValueError(f"metadata.json: unknown form of key: {key}")
    if match["place"] == "PyPI":
        return None
    index, _, wheel = (match["index"] or "").partition("/")
    if index in {"nightly", "test", "variant"}:
        return None
    filename: str | None = value.get("filename") or unquote(wheel) or None
    kinds = {
        None: "exact",
        "poetry.lock": "poetry-lock",
        "uv.lock": "uv-lock",
        "partial": "partial",
    }
    kind = kinds[match["source"]]
    if kind == "exact" and not value["exact"]:
        kind = "partial"
    return FactsEntry(
        key=key,
        kind=kind,
        project=match["project"],
        version=match["version"],
        index=index or match["version"].partition("+")[2] or None,
        platform=find_platform(filename) if filename else None,
        filename=filename,
        requires_python=value.get("requires_python"),
        requirements=tuple(value["requires_dist"]),
    )
