"""Which versions and files are wanted, from keys, options and requirements files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from lockforge.errors import Fault
from lockforge.model.project import ALL, Policy
from lockforge.project.faults import Faults
from lockforge.project.options import Options
from lockforge.project.policy import load_policy
from lockforge.project.requirements_file import RequirementsFile, Stated
from tests.unit.project.gathered import gathered

NOW = datetime(2026, 11, 15, 8, 30, tzinfo=UTC)
KEYS = {
    "prerelease": "disallow",
    "resolution": "lowest",
    "align": "common",
    "only-binary": ["Foo_Bar", "baz"],
    "no-binary": ["spam"],
    "exclude-newer": "2026-11-01",
    "exclude-newer-strict": True,
}
CONFIGURED = Policy(
    prereleases="disallow",
    strategy="lowest",
    alignment="common",
    only_binary=frozenset({"foo-bar", "baz"}),
    no_binary=frozenset({"spam"}),
    exclude_newer="2026-11-01T23:59:59Z",
    exclude_newer_strict=True,
)


def read(
    config: dict[str, Any], options: Options | None = None, *files: RequirementsFile
) -> tuple[Policy, tuple[Fault, ...]]:
    faults = Faults()
    policy = load_policy(options or Options(), config, files, NOW, faults)
    return policy, gathered(faults)


def test_keys() -> None:
    assert read(KEYS) == (CONFIGURED, ())


def test_nothing_stated() -> None:
    assert read({}) == (Policy(), ())


def test_options_win() -> None:
    """Over every key, one by one."""
    options = Options(
        prerelease="allow",
        resolution="lowest-direct",
        align="row",
        only_binary=("other",),
        no_binary=(ALL,),
        exclude_newer="2026-01-01",
    )
    assert read(KEYS, options) == (
        Policy(
            prereleases="allow",
            strategy="lowest-direct",
            alignment="row",
            only_binary=frozenset({"other"}),
            no_binary=frozenset({ALL}),
            exclude_newer="2026-01-01T23:59:59Z",
            exclude_newer_strict=True,
        ),
        (),
    )


def test_strict_by_option() -> None:
    newer = "2026-11-01T00:00:00Z"
    assert read({"exclude-newer": newer}, Options(exclude_newer_strict=True)) == (
        Policy(exclude_newer=newer, exclude_newer_strict=True),
        (),
    )


@pytest.mark.parametrize(
    ("config", "option", "where"),
    [
        ({}, True, "--exclude-newer-strict"),
        ({"exclude-newer-strict": True}, False, "tool.lockforge.exclude-newer-strict"),
    ],
)
def test_strict_about_nothing(config: dict[str, Any], where: str, *, option: bool) -> None:
    """What would change nothing is likely to miss the other key."""
    _, faults = read(config, Options(exclude_newer_strict=option))
    assert faults == (
        Fault(
            where=where,
            message="there is no exclude-newer for it to hold strictly",
            hint='set exclude-newer = "2026-11-01" or the like, or leave it out',
        ),
    )
    assert read({"exclude-newer-strict": False})[1] == ()


def test_files() -> None:
    """A file's `--pre` wins over the key and yields to the option; its names are added."""
    file = RequirementsFile(
        prereleases=True,
        only_binary=[Stated("r.txt, line 1", "one,two")],
        no_binary=[Stated("r.txt, line 2", "three")],
    )
    policy, faults = read(KEYS, None, file)
    assert faults == ()
    assert policy.prereleases == "allow"
    assert policy.only_binary == {"foo-bar", "baz", "one", "two"}
    assert policy.no_binary == {"spam", "three"}
    assert read(KEYS, Options(prerelease="if-necessary"), file)[0].prereleases == "if-necessary"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("a", "b"), {"a", "b"}),
        (("a,B.c",), {"a", "b-c"}),
        ((":all:",), {ALL}),
        (("a", ":all:"), {ALL}),
        (("a", ":none:"), set()),
        (("a,:none:,b",), {"b"}),
        ((":all:", ":none:"), set()),
    ],
)
def test_names(values: tuple[str, ...], expected: set[str]) -> None:
    """`:all:` stands for every package, `:none:` starts anew, as in pip."""
    for option in (Options(only_binary=values), Options(no_binary=values)):
        policy, faults = read({}, option)
        assert faults == ()
        assert expected in (policy.only_binary, policy.no_binary)


def test_starting_anew_on_the_command_line() -> None:
    """Whatever the files say."""
    file = RequirementsFile(only_binary=[Stated("r.txt, line 1", ":all:")])
    options = Options(only_binary=(":none:", "a"))
    assert read({"only-binary": ["b"]}, options, file)[0].only_binary == {"a"}


def test_all_but_one() -> None:
    """A name is no contradiction of `:all:`: it is the exception."""
    policy, faults = read({}, Options(only_binary=(ALL,), no_binary=("a",)))
    assert faults == ()
    assert policy.only_binary == {ALL}
    assert policy.no_binary == {"a"}


def test_a_name_in_both() -> None:
    """Nothing would be left of it; both places are named."""
    file = RequirementsFile(no_binary=[Stated("r.txt, line 3", "A_b")])
    assert read({"only-binary": ["a-B"]}, None, file)[1] == (
        Fault(
            where="r.txt, line 3",
            message="a-b would have neither wheels nor sdists: tool.lockforge.only-binary names "
            "it too",
            hint="leave it in one of the two",
        ),
    )
    (fault,) = read({}, Options(only_binary=(ALL,), no_binary=(ALL,)))[1]
    assert fault.where == "--no-binary"


@pytest.mark.parametrize(
    ("config", "options", "faults"),
    [
        (
            {"prerelease": "alow", "resolution": "newest", "align": "rows"},
            Options(),
            [
                Fault(
                    where="tool.lockforge.prerelease",
                    message="unknown value 'alow'",
                    hint="did you mean 'allow'?",
                ),
                Fault(
                    where="tool.lockforge.resolution",
                    message="unknown value 'newest'",
                    hint="did you mean 'lowest'?",
                ),
                Fault(
                    where="tool.lockforge.align",
                    message="unknown value 'rows'",
                    hint="did you mean 'row'?",
                ),
            ],
        ),
        (
            {},
            Options(
                prerelease="",
                resolution="x",
                align="x",
                exclude_newer="soon",
                only_binary=("a b",),
                no_binary=(":some:",),
            ),
            [
                Fault(
                    where="--prerelease",
                    message="unknown value ''",
                    hint="expected one of: allow, disallow, if-necessary",
                ),
                Fault(
                    where="--resolution",
                    message="unknown value 'x'",
                    hint="expected one of: highest, lowest, lowest-direct",
                ),
                Fault(
                    where="--align",
                    message="unknown value 'x'",
                    hint="expected one of: row, common",
                ),
                Fault(
                    where="--exclude-newer",
                    message="not a date or duration: 'soon'",
                    hint='expected "2026-11-01", "2026-11-01T12:00:00Z" or "7 days"',
                ),
                Fault(
                    where="--only-binary",
                    message="not a package name: 'a b'",
                    hint=":all: stands for every one",
                ),
                Fault(
                    where="--no-binary",
                    message="not a package name: ':some:'",
                    hint=":all: stands for every one",
                ),
            ],
        ),
        (
            {
                "prerelease": True,
                "only-binary": "foo",
                "no-binary": [1],
                "exclude-newer-strict": "yes",
            },
            Options(),
            [
                Fault(where="tool.lockforge.prerelease", message="expected a string, found true"),
                Fault(where="tool.lockforge.only-binary", message='expected a list, found "foo"'),
                Fault(where="tool.lockforge.no-binary[0]", message="expected a string, found 1"),
                Fault(
                    where="tool.lockforge.exclude-newer-strict",
                    message='expected true or false, found "yes"',
                ),
            ],
        ),
    ],
)
def test_faults(config: dict[str, Any], options: Options, faults: list[Fault]) -> None:
    """All at once, each where it was said, with the words there are."""
    assert sorted(read(config, options)[1], key=str) == sorted(faults, key=str)
