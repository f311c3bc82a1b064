"""Lock -> pylock.toml text (PEP 751), and back to what the text itself tells.

Validation of the format is `packaging.pylock`'s.
"""

from __future__ import annotations

import logging
from typing import Any

from packaging.pylock import Pylock, PylockUnsupportedVersionError, PylockValidationError
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name

from lockforge.errors import LockSyntaxError
from lockforge.model.lock import (
    FORMAT,
    Dependency,
    Lock,
    LockedFile,
    LockedPackage,
    LockedRow,
)
from lockforge.standards import toml
from lockforge.standards.locked_rows import RESTORE, damaged, parse_toml

# What `packaging` logs of a newer minor version is ours to say.
logging.getLogger("packaging.pylock").addHandler(logging.NullHandler())


def render_pylock(lock: Lock) -> str:
    """Write the lock; the same Lock gives the same bytes."""
    text = toml.assignment("lock-version", "1.0")
    text += toml.lines("environments", lock.environments)
    text += toml.assignment("requires-python", lock.requires_python)
    if lock.extras:
        text += toml.lines("extras", lock.extras)
    if lock.dependency_groups:
        text += toml.lines("dependency-groups", lock.dependency_groups)
        text += toml.lines("default-groups", lock.default_groups)
    text += toml.assignment("created-by", "lockforge")
    if not lock.packages:
        # PEP 751: the key is required.
        text += toml.lines("packages", [])
    for package in lock.packages:
        text += "\n[[packages]]\n" + _render_package(package)
    text += "\n[tool.lockforge]\n" + toml.assignment("format", FORMAT)
    text += toml.lines("requirements", lock.requirements)
    text += toml.lines("settings", lock.settings)
    if lock.additions:
        text += toml.lines("additions", lock.additions)
    if lock.notes:
        text += toml.lines("notes", lock.notes)
    for row in lock.rows:
        text += f"\n[tool.lockforge.rows.{toml.key(row.name)}]\n" + _render_row(row)
    return text


def _render_package(package: LockedPackage) -> str:
    text = toml.assignment("name", package.name)
    if package.version is not None:
        text += toml.assignment("version", package.version)
    if package.marker:
        text += toml.assignment("marker", package.marker)
    if package.requires_python:
        text += toml.assignment("requires-python", package.requires_python)
    if package.dependencies:
        text += toml.lines("dependencies", [_dependency(one) for one in package.dependencies])
    if package.index:
        text += toml.assignment("index", package.index)
    if package.directory:
        text += toml.assignment("directory", _directory(package.directory, package.editable))
    if package.archive:
        text += toml.assignment("archive", _archive(package.archive))
    if package.sdist:
        text += toml.assignment("sdist", _file(package.sdist))
    if package.wheels:
        text += toml.lines("wheels", [_file(wheel) for wheel in package.wheels])
    return text


def _dependency(dependency: Dependency) -> dict[str, toml.Value]:
    keys = {
        "name": dependency.name,
        "version": dependency.version,
        "marker": dependency.marker,
        "index": dependency.index,
    }
    return {key: value for key, value in keys.items() if value is not None}


def _file(file: LockedFile) -> dict[str, toml.Value]:
    entry: dict[str, toml.Value] = {"name": file.name}
    if file.url is not None:
        entry["url"] = file.url
    if file.path is not None:
        entry["path"] = file.path
    if file.size is not None:
        entry["size"] = file.size
    if file.sha256 is not None:
        entry["hashes"] = {"sha256": file.sha256}
    return entry


def _archive(file: LockedFile) -> dict[str, toml.Value]:
    entry = _file(file)
    # PEP 751: an archive's name is told by its address.
    del entry["name"]
    return entry


def _directory(file: LockedFile, editable: bool) -> dict[str, toml.Value]:  # noqa: FBT001
    assert file.path is not None
    entry: dict[str, toml.Value] = {"path": file.path}
    return entry | {"editable": True} if editable else entry


def _render_row(row: LockedRow) -> str:
    text = toml.assignment("platform", row.platform)
    text += toml.assignment("accelerator", row.accelerator)
    text += toml.assignment("python", row.pythons)
    if row.left_out:
        text += toml.assignment("python-left-out", row.left_out)
    if row.floor:
        text += toml.assignment("floor", row.floor)
    if row.extra:
        text += toml.assignment("extra", row.extra)
    if row.torch:
        text += toml.assignment("torch", row.torch)
    text += toml.assignment("index", row.index)
    if row.min_driver:
        text += toml.assignment("min-driver", row.min_driver)
    if row.gpu_architectures:
        text += toml.assignment("gpu-architectures", row.gpu_architectures)
    if row.gpu_ptx:
        text += toml.assignment("gpu-ptx", row.gpu_ptx)
    if row.judged_by:
        text += toml.assignment("gpu-architectures-of-torch", row.judged_by)
    text += toml.assignment("packages", row.packages)
    text += toml.assignment("size", row.size)
    if row.unsized:
        text += toml.assignment("files-without-size", row.unsized)
    return text + toml.assignment("digest", row.digest)


def parse_pylock(text: str, *, where: str) -> tuple[Pylock, dict[str, Any]]:
    """Read a pylock file as (its validated form, its plain data).

    Raises LockSyntaxError with the line of merge conflict markers, of a TOML fault, or the address
    of what PEP 751 does not allow.
    """
    data = parse_toml(text, where=where)
    try:
        lock = Pylock.from_dict(data)
    except PylockUnsupportedVersionError as error:
        raise LockSyntaxError(str(error), where=where, hint="update lockforge") from error
    except PylockValidationError as error:
        raise LockSyntaxError(
            f"the lock is not what PEP 751 says: {error}",
            where=where,
            hint=RESTORE,
        ) from error
    _check_requirements(data, where=where)
    return lock, data


def _check_requirements(data: dict[str, Any], *, where: str) -> None:
    """Raise LockSyntaxError unless the requirements that our table records can be read."""
    recorded = data.get("tool", {}).get("lockforge")
    texts = recorded.get("requirements", []) if isinstance(recorded, dict) else []
    for text in texts if isinstance(texts, list) else []:
        try:
            required_name(str(text))
        except InvalidRequirement as error:
            raise damaged(f"{text!r} is not a requirement", where=where) from error


def required_name(text: str) -> NormalizedName | None:
    """Give the package that a line of ``requirements`` names; None for one of a single row.

    Raises InvalidRequirement.
    """
    # A line is `<row>: <requirement>`, or a requirement with its extra or group in brackets.
    if ": " in text:
        return None
    return canonicalize_name(Requirement(text.partition(" [")[0]).name)
