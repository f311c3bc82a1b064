"""What a direct reference of the project names."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from packaging.utils import NormalizedName

from lockforge.adapters.direct import direct_listing
from lockforge.errors import ConfigError, Fault, NeedsBuildError
from lockforge.model.index import Index
from lockforge.model.release import DistributionFile, Listing

DIGEST = "a" * 64


def listed(url: str, name: str = "acme") -> DistributionFile:
    """The one file of a direct reference, which is all of its listing."""
    index = Index(name="direct reference", url=url, layout="direct")
    listing = direct_listing(index, NormalizedName(name))
    (file,) = listing.files
    assert listing == Listing(project=NormalizedName(name), index_url=url, files=(file,))
    return file


def fault(url: str, name: str = "acme") -> Fault:
    with pytest.raises(ConfigError) as caught:
        listed(url, name)
    (found,) = caught.value.faults
    return found


@pytest.mark.parametrize(
    ("url", "name", "filename"),
    [
        ("https://h.example/acme-1.0-py3-none-any.whl", "acme", "acme-1.0-py3-none-any.whl"),
        ("https://h.example/a/b/acme-1.0.tar.gz", "acme", "acme-1.0.tar.gz"),
        ("http://h.example/acme-1.0.zip", "acme", "acme-1.0.zip"),
        # The name is normalized on either side.
        ("https://h.example/Acme_Core-1.0.tar.gz", "acme-core", "Acme_Core-1.0.tar.gz"),
        # The file name is what the address says once it is unquoted, without query or fragment.
        (
            "https://h.example/acme-1.0%2Bcu128-py3-none-any.whl",
            "acme",
            "acme-1.0+cu128-py3-none-any.whl",
        ),
        (
            "https://h.example/acme-1.0-py3-none-any.whl?download=1",
            "acme",
            "acme-1.0-py3-none-any.whl",
        ),
    ],
)
def test_archives(url: str, name: str, filename: str) -> None:
    assert listed(url, name) == DistributionFile(filename=filename, url=url, sha256=None)


def test_a_file_of_this_machine(tmp_path: Path) -> None:
    """It is here to be hashed and measured, and its hash to be compared."""
    path = tmp_path / "acme-1.0-py3-none-any.whl"
    path.write_bytes(b"some bytes")
    digest = hashlib.sha256(b"some bytes").hexdigest()
    url = path.as_uri()

    expected = DistributionFile(filename=path.name, url=url, sha256=digest, size=10)
    assert listed(url, "acme") == listed(f"{url}#sha256={digest}", "acme") == expected
    assert digest in fault(f"{url}#sha256={DIGEST}").message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    url = (tmp_path / "acme-1.0-py3-none-any.whl").as_uri()

    assert fault(url).where == url


@pytest.mark.parametrize(
    "fragment", [f"sha256={DIGEST}", f"sha256={DIGEST.upper()}", f"egg=acme&sha256={DIGEST}"]
)
def test_a_hash_in_the_fragment(fragment: str) -> None:
    """It is the file's; the address itself has no fragment."""
    url = "https://h.example/acme-1.0-py3-none-any.whl"
    file = listed(f"{url}#{fragment}")

    assert (file.url, file.sha256) == (url, DIGEST)


@pytest.mark.parametrize("fragment", ["md5=abc", "egg=acme", "sha512=abc"])
def test_other_fragments(fragment: str) -> None:
    url = "https://h.example/acme-1.0-py3-none-any.whl"
    file = listed(f"{url}#{fragment}")

    assert (file.url, file.sha256) == (url, None)


@pytest.mark.parametrize("digest", ["abc", "z" * 64])
def test_a_hash_that_cannot_be_one(digest: str) -> None:
    """It would be written to the lock, where no installer could ever meet it."""
    found = fault(f"https://h.example/acme-1.0-py3-none-any.whl#sha256={digest}")

    assert "sha256" in found.message


@pytest.mark.parametrize(
    "url",
    [
        "https://h.example/download",
        "https://h.example/acme.whl",
        "https://h.example/acme-1.0.exe",
        "https://h.example/",
        "https://github.example/acme/archive/refs/heads/main.zip",
    ],
)
def test_an_address_that_names_no_file_of_a_project(url: str) -> None:
    found = fault(url)

    assert found.where == url
    assert "no file name of a wheel or sdist" in found.message
    assert "acme-1.0.tar.gz" in (found.hint or "")


def test_a_file_of_another_project() -> None:
    found = fault("https://h.example/other-1.0-py3-none-any.whl")

    assert "other" in found.message
    assert "acme" in found.message


def test_a_subdirectory() -> None:
    found = fault("https://h.example/acme-1.0.tar.gz#subdirectory=python")

    assert "subdirectory" in found.message


def tree(folder: Path, text: str) -> str:
    folder.mkdir()
    (folder / "pyproject.toml").write_text(text, "utf-8")
    return folder.as_uri()


def test_a_directory(tmp_path: Path) -> None:
    """It is one candidate, named by what its pyproject.toml says, and has no bytes to hash."""
    url = tree(tmp_path / "acme dir", '[project]\nname = "Acme"\nversion = "1.0"\n')

    assert listed(url) == DistributionFile(
        filename="acme-1.0", url=url, sha256=None, source_tree=True
    )


def test_a_directory_of_another_project(tmp_path: Path) -> None:
    url = tree(tmp_path / "acme", '[project]\nname = "other"\nversion = "1.0"\n')

    assert "other" in fault(url).message


def test_a_directory_that_only_a_build_could_read(tmp_path: Path) -> None:
    url = tree(tmp_path / "acme", '[project]\nname = "acme"\ndynamic = ["dependencies"]\n')

    with pytest.raises(NeedsBuildError):
        listed(url)
