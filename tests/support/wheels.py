"""Real wheels and sdists, small and the same bytes every time."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Sequence

_DATE = (2026, 1, 1, 0, 0, 0)


def metadata_text(
    name: str,
    version: str,
    requires: Sequence[str] = (),
    requires_python: str | None = None,
    extras: Sequence[str] = (),
) -> str:
    lines = ["Metadata-Version: 2.2", f"Name: {name}", f"Version: {version}"]
    if requires_python:
        lines.append(f"Requires-Python: {requires_python}")
    lines += [f"Provides-Extra: {extra}" for extra in extras]
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    return "\n".join(lines) + "\n"


def build_wheel(filename: str, metadata: str, marker: str = "") -> bytes:
    """Build an installable wheel whose one module says its version; *marker* changes its bytes."""
    project, version, *_, python, abi, platform = filename.removesuffix(".whl").split("-")
    tags = [
        f"{p}-{a}-{m}"
        for p in python.split(".")
        for a in abi.split(".")
        for m in platform.split(".")
    ]
    info = f"{project}-{version}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\n"
    files = {
        f"{project}/__init__.py": f"__version__ = {version!r}\nmarker = {marker!r}\n",
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": wheel + "".join(f"Tag: {tag}\n" for tag in tags),
    }
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record += f"{path},sha256={digest.decode()},{len(text.encode())}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path, _DATE), text)
    return content.getvalue()


def build_sdist(filename: str, pkg_info: str | None) -> bytes:
    """Build an sdist whose build would fail: nothing may ever run it."""
    folder = filename.removesuffix(".tar.gz")
    files = {
        "setup.py": "raise SystemExit('a build was started')\n",
        "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'no_such_backend'\n",
    }
    if pkg_info is not None:
        files["PKG-INFO"] = pkg_info
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()
