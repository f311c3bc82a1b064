"""METADATA and PKG-INFO, with the quirks of real ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.metadata import parse_email
from packaging.requirements import Requirement
from packaging.version import Version

from lockforge.errors import MetadataError
from lockforge.model.release import Metadata
from lockforge.standards.core_metadata import (
    parse_metadata,
    parse_requirement,
    parse_sdist_metadata,
)

HEAD = "Metadata-Version: 2.1\nName: foo\nVersion: 1.0\n"


def metadata(*requires: str, requires_python: str | None = None) -> Metadata:
    return Metadata(
        version=Version("1.0"),
        requires_python=requires_python,
        requires_dist=tuple(map(Requirement, requires)),
    )


TEXTS = [
    (HEAD, metadata()),
    (HEAD + "Requires-Python: >=3.10\n", metadata(requires_python=">=3.10")),
    (HEAD + "Requires-Python:\n", metadata()),
    (HEAD + "Requires-Dist: numpy\nRequires-Dist: torch>=2.9\n", metadata("numpy", "torch>=2.9")),
    # Metadata 2.1 of torch 2.6 and older.
    (
        HEAD
        + "Requires-Dist: nvidia-cudnn-cu12 (==9.1.0.70) ; platform_system == "
        + '"Linux" and platform_machine == "x86_64"\n',
        metadata(
            "nvidia-cudnn-cu12==9.1.0.70; "
            "platform_system == 'Linux' and platform_machine == 'x86_64'"
        ),
    ),
    # torch 2.13 for macOS repeats a line.
    (HEAD + "Requires-Dist: triton>=3\n" * 2, metadata("triton>=3")),
    (HEAD + "Requires-Dist: b\nRequires-Dist: a\nRequires-Dist: b\n", metadata("b", "a")),
    (HEAD + "Requires-Dist: numpy\n  >=1.0,\n\t<2\n", metadata("numpy>=1.0,<2")),
    (HEAD + "Summary: one\n  two: three\nRequires-Dist: numpy\n", metadata("numpy")),
    (
        HEAD + "requires-dist: numpy\nREQUIRES-PYTHON: >=3\n",
        metadata("numpy", requires_python=">=3"),
    ),
    (HEAD.replace("\n", "\r\n") + "Requires-Dist: numpy\r\n", metadata("numpy")),
    (HEAD + "Requires-Dist: numpy", metadata("numpy")),
    (HEAD + "Summary: a: b\nHome-page: https://example.org\n", metadata()),
    # The description follows the first empty line and is no header, whatever it says.
    (HEAD + "\nRequires-Dist: numpy\nRequires-Python: <3\n", metadata()),
    (HEAD + "\r\nRequires-Dist: numpy\n", metadata()),
    # Old tools fold the description into a header, with its empty lines indented.
    (
        HEAD + "Description: Title\n        \n        text\nRequires-Dist: numpy\n",
        metadata("numpy"),
    ),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_metadata(text: str, expected: Metadata) -> None:
    """The fields that resolving needs are read out of the headers."""
    assert parse_metadata(text, where="foo.whl") == expected


HEADERS = st.sampled_from(
    [
        "Requires-Dist: numpy>=1",
        "Requires-Dist: torch ; python_version < '3.12'",
        "Requires-Dist: pillow\n  >=1,\n\t<2",
        "Requires-Python: >=3.9",
        "Provides-Extra: train",
        "Summary: a summary: of two parts",
        "Description: folded\n  text: more\n\tRequires-Dist: not-this",
        "Description: folded\n        \n        after an empty line",
        "Author-email: someone@example.org",
    ]
)


@given(st.lists(HEADERS, max_size=8))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_headers_as_packaging_reads_them(headers: list[str]) -> None:
    """Folded lines and their ends are those of the email format, as `packaging` reads it."""
    text = HEAD + "".join(f"{line}\n" for line in headers) + "\nbody\n"
    raw, _ = parse_email(text)
    found = parse_metadata(text, where="foo.whl")
    expected = dict.fromkeys(map(Requirement, map(_unfold, raw.get("requires_dist", []))))
    assert found.requires_dist == tuple(expected)


def _unfold(value: str) -> str:
    return " ".join(value.split())


BAD = [
    (
        "Metadata-Version: 2.1\nName: foo\n",
        "core metadata without Version",
        "exclude this version, or report it to the project",
    ),
    (
        "",
        "core metadata without Version",
        "exclude this version, or report it to the project",
    ),
    (
        HEAD.replace("1.0", "latest"),
        "core metadata is invalid: Invalid version: 'latest'",
        "exclude this version, or state its metadata in [tool.lockforge.metadata]",
    ),
]


@pytest.mark.parametrize(("text", "message", "hint"), BAD)
def test_unreadable(text: str, message: str, hint: str) -> None:
    """Metadata that cannot be used names the file, the fault and the way out."""
    with pytest.raises(MetadataError) as caught:
        parse_metadata(text, where="foo.whl")
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        message,
        "foo.whl",
        hint,
    )


def test_invalid_requirement() -> None:
    """One requirement that is none makes the whole file unusable, for who knows what it meant."""
    with pytest.raises(MetadataError, match=r"(?s)^core metadata is invalid: .*numpy >=> 3"):
        parse_metadata(HEAD + "Requires-Dist: numpy >=> 3\n", where="foo.whl")


STATIC = "Metadata-Version: 2.2\nName: foo\nVersion: 1.0\nRequires-Dist: numpy\n"
SDISTS = [
    # PEP 643: from 2.2 on, what is not Dynamic is what a wheel would say.
    (STATIC, metadata("numpy")),
    (STATIC.replace("2.2", "2.4"), metadata("numpy")),
    (STATIC.replace("2.2", "2.10"), metadata("numpy")),
    (STATIC.replace("2.2", "3.0"), metadata("numpy")),
    (STATIC + "Dynamic: License\nDynamic: Description\n", metadata("numpy")),
    (STATIC.replace("2.2", "2.1"), None),
    (STATIC.replace("2.2", "1.2"), None),
    (STATIC.replace("Metadata-Version: 2.2\n", ""), None),
    (STATIC + "Dynamic: Requires-Dist\n", None),
    (STATIC + "Dynamic: requires-python\n", None),
    (STATIC + "Dynamic: License\nDynamic: Provides-Extra\n", None),
]


@pytest.mark.parametrize(("text", "expected"), SDISTS)
def test_sdists(text: str, expected: Metadata | None) -> None:
    """An sdist's PKG-INFO counts where it is static, and a build is never the answer."""
    if expected is not None:
        assert parse_sdist_metadata(text, where="foo-1.0.tar.gz") == expected
        return
    with pytest.raises(MetadataError) as caught:
        parse_sdist_metadata(text, where="foo-1.0.tar.gz")
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        "the requirements of this sdist are known only after a build, which a lock never runs",
        "foo-1.0.tar.gz",
        "state them in [tool.lockforge.metadata], or exclude the package from the row",
    )


def test_unreadable_metadata_version() -> None:
    """A Metadata-Version that is no version is refused as metadata, not with a traceback."""
    with pytest.raises(MetadataError):
        parse_sdist_metadata(STATIC.replace("2.2", "two"), where="foo-1.0.tar.gz")


def test_requirements_are_shared() -> None:
    """The same text gives the same object, which makes comparing cheap."""
    assert parse_requirement("numpy>=1") is parse_requirement("numpy>=1")
