"""File names of wheels and sdists, as `packaging.utils` reads them."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)

from lockforge.standards.filenames import WheelName, parse_sdist_name, parse_wheel_name

WHEELS = [
    "torch-2.11.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
    "torch-2.10.0-1-cp312-none-macosx_11_0_arm64.whl",
    "torch-2.10.0-2-cp312-none-macosx_11_0_arm64.whl",
    "torchvision-0.24.0+e437e35-cp312-cp312-win_arm64.whl",
    "xformers-0.0.33+5d4b92a5.d20251029-cp39-abi3-manylinux_2_28_x86_64.whl",
    "triton-3.5.0-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
    "pytorch_triton_rocm-3.5.1-cp313-cp313t-linux_x86_64.whl",
    "MarkupSafe-2.1.5-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "typing_extensions-4.15.0-py3-none-any.whl",
    "six-1.17.0-py2.py3-none-any.whl",
    "foo.bar-1.0-py3-none-any.whl",
    "foo-1.0-10_extra-py3-none-any.whl",
    "foo-1!2.0rc1.post2.dev3-py3-none-any.whl",
    "foo-01.0-py3-none-any.whl",
    # Not wheels:
    "foo-1.0-py3-none.whl",
    "foo-1.0-build-py3-none-any.whl",
    "foo-1.0-1-2-py3-none-any.whl",
    "foo-latest-py3-none-any.whl",
    "foo.whl",
    ".whl",
]
SDISTS = [
    "torch-2.11.0.tar.gz",
    "MarkupSafe-2.1.5.tar.gz",
    "typing_extensions-4.15.0.tar.gz",
    "my-long-name-1.0.tar.gz",
    "foo-1.0.zip",
    "foo-1.0+local.1.tar.gz",
    # Not sdists:
    "foo.tar.gz",
    "foo-latest.tar.gz",
    "foo-1.0.tar.bz2",
    "foo-1.0.exe",
    "foo-1.0-py3-none-any.whl",
]


def _wheel_by_packaging(filename: str) -> WheelName | None:
    with contextlib.suppress(InvalidWheelFilename):
        project, version, build, _ = parse_wheel_filename(filename)
        triple = "-".join(filename.removesuffix(".whl").split("-")[-3:])
        return WheelName(project=project, version=version, build=build or (0, ""), triple=triple)
    return None


@pytest.mark.parametrize("filename", WHEELS)
def test_wheels(filename: str) -> None:
    """A wheel's name is read as `packaging` reads it, local versions and build tags too."""
    assert parse_wheel_name(filename) == _wheel_by_packaging(filename)


@pytest.mark.parametrize("filename", SDISTS)
def test_sdists(filename: str) -> None:
    """An sdist's name is read as `packaging` reads it."""
    expected = None
    with contextlib.suppress(InvalidSdistFilename):
        expected = parse_sdist_filename(filename)
    assert parse_sdist_name(filename) == expected


NAMES = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._]{0,8}[A-Za-z0-9])?", fullmatch=True).filter(
    lambda name: "__" not in name
)
VERSIONS = st.from_regex(
    r"([0-9]!)?[0-9]{1,3}(\.[0-9]{1,3}){0,3}((a|b|rc)[0-9])?(\.post[0-9])?(\.dev[0-9])?"
    r"(\+[a-z0-9]{1,5}(\.[a-z0-9]{1,3})?)?",
    fullmatch=True,
)
BUILDS = st.from_regex(r"([0-9]{1,3}[a-z_]{0,3}-)?", fullmatch=True)
TRIPLES = st.sampled_from(
    ["py3-none-any", "cp312-cp312-win_amd64", "cp39.cp310-abi3-manylinux_2_28_x86_64"]
)


@given(NAMES, VERSIONS, BUILDS, TRIPLES)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_any_wheel(name: str, version: str, build: str, triple: str) -> None:
    """Every name the specification allows is read as `packaging` reads it."""
    filename = f"{name}-{version}-{build}{triple}.whl"
    assert parse_wheel_name(filename) == _wheel_by_packaging(filename)


@given(NAMES, VERSIONS)
@settings(max_examples=50, deadline=None, derandomize=True)
def test_any_sdist(name: str, version: str) -> None:
    """Every name the specification allows is read as `packaging` reads it."""
    filename = f"{name}-{version}.tar.gz"
    assert parse_sdist_name(filename) == parse_sdist_filename(filename)


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("foo-1.0-py3-none-any.whl", "foo-1.0-1-py3-none-any.whl"),
        ("foo-1.0-2-py3-none-any.whl", "foo-1.0-10-py3-none-any.whl"),
        ("foo-1.0-1a-py3-none-any.whl", "foo-1.0-1b-py3-none-any.whl"),
    ],
)
def test_build_order(lower: str, higher: str) -> None:
    """Builds are compared by number, then text; no build is the lowest."""
    first, second = parse_wheel_name(lower), parse_wheel_name(higher)
    assert first is not None
    assert second is not None
    assert first.build < second.build
