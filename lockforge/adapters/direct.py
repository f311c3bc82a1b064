"""What a direct reference of the project names, as a listing of that one file or directory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urldefrag, urlsplit

from lockforge.adapters.paths import file_sha256, path_of, project_of
from lockforge.adapters.source_tree import read_source_tree
from lockforge.errors import ConfigError, Fault
from lockforge.model.release import DistributionFile, Listing

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

    from lockforge.model.index import Index


_SHA256 = re.compile(r"[0-9a-f]{64}")


def direct_listing(index: Index, project: NormalizedName) -> Listing:
    """Give the listing of a direct reference; its address is the whole of the index.

    Raises ConfigError for an address that names no wheel, sdist or directory of *project*.
    """
    address, fragment = urldefrag(index.url)
    if address.startswith("file:") and path_of(address).is_dir():
        file = _tree(address, project)
    else:
        file = _archive(address, parse_qs(fragment), project)
    return Listing(project=project, index_url=index.url, files=(file,))


def _tree(address: str, project: NormalizedName) -> DistributionFile:
    tree = read_source_tree(path_of(address))
    if tree.name != project:
        raise _fault(address, f"the directory holds {tree.name}, not {project}")
    return DistributionFile(
        filename=f"{tree.name}-{tree.metadata.version}",
        url=address,
        sha256=None,
        source_tree=True,
    )


def _archive(
    address: str, fragment: dict[str, list[str]], project: NormalizedName
) -> DistributionFile:
    filename = unquote(urlsplit(address).path.rpartition("/")[2])
    named = project_of(filename)
    if named is None:
        raise _fault(
            address,
            f"{filename!r} is no file name of a wheel or sdist",
            hint="give the address of one, such as .../acme-1.0.tar.gz",
        )
    if named != project:
        raise _fault(address, f"the file is of {named}, not of {project}")
    if "subdirectory" in fragment:
        raise _fault(
            address,
            "a project in a subdirectory of an archive cannot be locked",
            hint="give the address of its own sdist or wheel",
        )
    digest = fragment["sha256"][0].lower() if "sha256" in fragment else None
    if digest is not None and not _SHA256.fullmatch(digest):
        raise _fault(address, f"not a sha256: {digest}")
    if not address.startswith("file:"):
        return DistributionFile(filename=filename, url=address, sha256=digest)
    path = path_of(address)
    try:
        found = file_sha256(path)
    except OSError as error:
        raise _fault(address, f"the file cannot be read: {error.strerror}") from error
    if digest not in {None, found}:
        raise _fault(address, f"the file has sha256 {found}, the direct reference says {digest}")
    return DistributionFile(filename=filename, url=address, sha256=found, size=path.stat().st_size)


def _fault(address: str, message: str, hint: str = "correct the direct reference") -> ConfigError:
    return ConfigError([Fault(where=address, message=message, hint=hint)])
