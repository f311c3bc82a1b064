"""Needs, candidates and their identifiers."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName
from packaging.version import Version

from lockforge.model.release import DistributionFile
from lockforge.resolve.need import Candidate, Need, identify, split_extras
from tests.unit.fakes import PYPI


def test_identify() -> None:
    """A package and each extra of it are told apart."""
    assert (identify("foo", ""), identify("foo", "bar")) == ("foo", "foo[bar]")


@pytest.mark.parametrize(
    ("specifier", "exact"),
    [
        ("", False),
        (">=1.0", False),
        ("~=1.0", False),
        ("!=1.0", False),
        ("==1.*", False),
        ("==1.0", True),
        ("==1.0+cu130", True),
        ("===1.0", True),
        (">=1.0,==1.5", True),
    ],
)
def test_is_exact(specifier: str, exact: bool) -> None:  # noqa: FBT001
    """PEP 592: a pin is `==` without a range, or `===`."""
    need = Need(name=NormalizedName("foo"), specifier=SpecifierSet(specifier), text="foo")
    assert need.is_exact is exact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Foo_Bar>=1", [("foo-bar", "Foo_Bar>=1")]),
        (
            "foo[B_b,a]>=1",
            [("foo", "foo[B_b,a]>=1"), ("foo[a,b-b]", "foo[B_b,a]>=1")],
        ),
    ],
)
def test_split_extras(text: str, expected: list[tuple[str, str]]) -> None:
    """A requirement with extras needs the package and what the extras bring in."""
    needs = list(split_extras(Requirement(text), condition="os_name == 'nt'"))
    assert sorted((need.identifier, need.text) for need in needs) == sorted(expected)
    assert {(str(need.specifier), need.condition) for need in needs} == {(">=1", "os_name == 'nt'")}


def test_candidate() -> None:
    """A candidate reads as its name and version, with the extra it stands for."""
    file = DistributionFile(filename="foo-1.0-py3-none-any.whl", url="https://x/foo", sha256=None)
    candidate = Candidate(name=NormalizedName("foo"), version=Version("1.0"), file=file, index=PYPI)
    extra = candidate.with_extra("bar")
    assert (str(candidate), str(extra)) == ("foo 1.0", "foo[bar] 1.0")
    assert extra.with_extra("") == candidate
