"""Stand-in wheels, since a snapshot holds none: made from a file's name and its recorded METADATA.

A stand-in is a valid wheel of that name, version and tags, with one empty importable package. It is
NOT the published file: its size and sha256 are not those the page states, so an installer that
checks hashes rejects it, rightly. It is there for clients that read METADATA out of a wheel by
range requests. The bytes are the same on every run.
"""

import base64
import hashlib
import io
import itertools
import zipfile


def make_stand_in(filename: str, metadata: bytes) -> bytes:
    """Return the bytes of a stand-in for the wheel of that file name (PEP 427)."""
    name, version, *build, pythons, abis, platforms = filename.removesuffix(".whl").split("-")
    dist_info = f"{name}-{version}.dist-info"
    header = [
        "Wheel-Version: 1.0",
        "Generator: stand-in",
        "Root-Is-Purelib: true",
        *(f"Build: {tag}" for tag in build),
    ]
    tags = itertools.product(pythons.split("."), abis.split("."), platforms.split("."))
    wheel = "\n".join([*header, *(f"Tag: {'-'.join(tag)}" for tag in tags), ""])
    members = {
        f"{name.replace('.', '_').lower()}/__init__.py": b"",
        f"{dist_info}/METADATA": metadata,
        f"{dist_info}/WHEEL": wheel.encode(),
    }
    record = "".join(
        f"{path},{_encode_digest(content)},{len(content)}\n" for path, content in members.items()
    )
    members[f"{dist_info}/RECORD"] = f"{record}{dist_info}/RECORD,,\n".encode()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
        for path, content in members.items():
            file.writestr(zipfile.ZipInfo(path), content)
    return archive.getvalue()


def _encode_digest(content: bytes) -> str:
    return (
        "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    )
