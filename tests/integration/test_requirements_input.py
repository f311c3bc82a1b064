"""What a user may hand in: extras and groups, restrictions, references, requirements files.

Faults, notes, and what the lock records of it all; what is resolved from it is told elsewhere.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.integration.conftest import Project
from tests.support.command import lockforge
from tests.support.wheels import build_wheel, metadata_text

ACME = "acme-1.0-py3-none-any.whl"
HASH = f"--hash=sha256:{'0' * 64}"


@pytest.fixture
def one(project: Project) -> Project:
    """A project beside an index that has one package in two versions."""
    for version in ("1.0", "2.0"):
        project.world.add(
            "pypi", f"one-{version}-py3-none-any.whl", upload_time="2026-01-01T00:00:00Z"
        )
    return project


def put_wheel(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ACME
    path.write_bytes(build_wheel(ACME, metadata_text("acme", "1.0")))
    return path


def settings(project: Project, *arguments: str | Path) -> set[str]:
    """What the lock says beside what it says of the bare project."""
    recorded = project.locked("one", *arguments)["tool"]["lockforge"]["settings"]
    return {
        text for text in recorded if not re.match(r"default index|torch index|linux-cpu: g", text)
    }


# --- extras and groups -----------------------------------------------------------------------

PARTS = """
    [project]
    name = "demo"
    dependencies = ["one"]
    [project.optional-dependencies]
    train = ["demo[base]"]
    base = ["one>=1"]
    [dependency-groups]
    test = ["one<3"]
    Dev_Tools = [{ include-group = "test" }]
    [tool.lockforge]
    extras = ["base"]
    groups = ["test"]
    """


@pytest.mark.parametrize(
    ("options", "extras", "groups"),
    [
        ((), ["base"], ["test"]),
        (("--extra", "Train", "--group", "dev-tools"), ["base", "train"], ["dev-tools", "test"]),
        (("--all-extras",), ["base", "train"], ["test"]),
        (("--all-groups",), ["base"], ["dev-tools", "test"]),
        (("--no-default-groups", "--group", "dev-tools"), ["base"], ["dev-tools"]),
    ],
)
def test_options_add_extras_and_groups_to_those_configured(
    options: tuple[str, ...], extras: list[str], groups: list[str], one: Project
) -> None:
    one.write(PARTS)

    data = one.locked(*options)

    assert (data["extras"], data["dependency-groups"]) == (extras, groups)


@pytest.mark.parametrize(
    "option",
    [
        ("--extra", "train"),
        ("--all-extras",),
        ("--group", "test"),
        ("--all-groups",),
        ("--no-default-groups",),
    ],
)
@pytest.mark.parametrize("requirements", [("one",), ("-r", "requirements.txt"), ("-e", ".")])
def test_requirements_from_elsewhere_have_no_extras_and_no_groups(
    option: tuple[str, ...],
    requirements: tuple[str, ...],
    one: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(one.root)
    one.write(PARTS)
    one.write("one\n", "requirements.txt")

    message = one.refused(2, *requirements, *option)

    assert f"{option[0]}: extras and groups belong to pyproject.toml" in message


@pytest.mark.parametrize("option", [("--all-extras",), ("--extra", "rocm7.2")])
def test_an_extra_that_would_select_a_row_is_refused(option: tuple[str, ...], one: Project) -> None:
    one.write('[project]\nname = "demo"\n[project.optional-dependencies]\n"rocm7.2" = ["one"]\n')

    message = one.refused(2, *option)

    assert "project.optional-dependencies.rocm7.2: " in message
    assert "has the name of an accelerator" in message
    assert "hint: rename the extra" in message


def test_groups_in_a_circle_are_refused(one: Project) -> None:
    one.write(
        """
        [dependency-groups]
        a = [{ include-group = "b" }]
        b = ["one", { include-group = "a" }]
        """
    )

    message = one.refused(2, "--all-groups")

    assert "dependency-groups.b[1]: the group includes itself: a -> b -> a" in message
    assert "dependency-groups.a[0]: the group includes itself: b -> a -> b" in message


# --- what decides which versions are wanted --------------------------------------------------


def test_what_decides_the_result_is_recorded(one: Project) -> None:
    one.write(
        """
        [tool.lockforge]
        constraints = ["one<3", "other<2"]
        overrides = ["third==1"]
        prerelease = "allow"
        only-binary = ["Fourth_Package"]
        [tool.lockforge.rows.linux-cpu]
        constraints = ["fifth<5"]
        """
    )

    assert settings(one) == {
        "constraint one<3",
        "constraint other<2",
        "override third==1",
        "prerelease allow",
        "only-binary fourth-package",
        "linux-cpu: constraint fifth<5",
    }


def test_what_options_decide_is_recorded(one: Project) -> None:
    limits = one.write("# why\none<3\n", "limits.txt")
    overrides = one.write("other==1\n", "overrides.txt")

    assert settings(
        one, "-c", limits, "--override", overrides, "--prerelease", "disallow",
        "--resolution", "lowest-direct", "--align", "common", "--only-binary", ":all:",
        "--no-binary", "fourth", "--exclude-newer", "2026-11-01", "--exclude-newer-strict",
    ) == {
        "constraint one<3",
        "override other==1",
        "prerelease disallow",
        "resolution lowest-direct",
        "align common",
        "only-binary :all:",
        "no-binary fourth",
        "exclude newer 2026-11-01",
        "exclude newer strict",
    }  # fmt: skip


def test_defaults_written_out_change_no_lock(one: Project) -> None:
    one.locked("one")
    before = one.path.read_bytes()

    one.locked(
        "one", "--prerelease", "if-necessary", "--resolution", "highest", "--align", "row",
        "--only-binary", ":none:",
    )  # fmt: skip

    assert one.path.read_bytes() == before


def test_all_faults_of_restrictions_are_reported_at_once(one: Project) -> None:
    limits = one.write("one<3\none[fast]<2\n", "limits.txt")
    one.write(
        """
        [tool.lockforge]
        constraints = ["acme @ https://host.example/acme-1.0-py3-none-any.whl"]
        overrides = ["one==1", "One==2", "two>>1"]
        prerelease = "alow"
        only-binary = ["one"]
        no-binary = ["one"]
        """
    )

    message = one.refused(2, "one", "-c", limits, "--resolution", "newest", "--align", "rows")

    for place in (
        f"{limits}, line 2",
        "tool.lockforge.constraints[0]",
        "tool.lockforge.overrides[1]",
        "tool.lockforge.overrides[2]",
        "tool.lockforge.prerelease",
        "tool.lockforge.no-binary",
        "--resolution",
        "--align",
    ):
        assert f"\n  {place}: " in message, place
    assert "One==2 and one==1 (tool.lockforge.overrides[0]) override one package" in message
    assert "did you mean 'allow'?" in message


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ("3.12,3.12.3", "Python 3.12 is given twice, from 3.12 on and from 3.12.3 on"),
        ("3.12.3", "Python 3.12.3 is outside of requires-python '>=3.12.4'"),
    ],
)
def test_a_patch_release_must_agree_with_what_else_is_said(
    python: str, message: str, one: Project
) -> None:
    one.write('[project]\nname = "demo"\nrequires-python = ">=3.12.4"\n')

    assert message in one.refused(2, "one", python=python)


# --- references ------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["-r", "-e", "argument", "pyproject"])
def test_version_control_is_refused_with_the_way_out(option: str, one: Project) -> None:
    """And what opens the repository is not repeated."""
    url = "git+https://token@host.example/acme.git"
    if option == "pyproject":
        one.write(f'[project]\nname = "demo"\ndependencies = ["acme @ {url}"]\n')
        message = one.refused(2)
    elif option == "-r":
        message = one.refused(2, "-r", one.write(f"one\n{url}\n", "requirements.txt"))
    else:
        message = one.refused(2, *(["-e"] if option == "-e" else []), url)

    assert "host.example/acme.git is in version control" in message
    assert "put the built wheel into a directory" in message
    assert "token" not in message


def test_references_that_lead_nowhere_are_reported_at_once(
    one: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(one.root)
    put_wheel(one.root / "wheels")
    one.write(
        f"""\
        ./missing/{ACME}
        other @ ./wheels/{ACME}
        -e ./wheels/{ACME}
        ./wheels
        """,
        "requirements.txt",
    )

    message = one.refused(2, "-r", "requirements.txt")

    assert f"line 1: there is no file or directory ./missing/{ACME}" in message
    assert f"line 2: other @ ./wheels/{ACME} is of acme" in message
    assert f"line 3: only a directory can be editable: ./wheels/{ACME}" in message
    assert "line 4: the directory " in message
    assert "does not say its name" in message


# --- requirements files ----------------------------------------------------------------------


def test_hashes_of_a_file_are_noted_and_not_used(one: Project) -> None:
    """Each file once, on standard error; with --quiet not at all."""
    limits = one.write(f"one<3 {HASH}\n", "limits.txt")
    path = one.write(
        f"--require-hashes\n-c limits.txt\none==1.0 \\\n    {HASH} \\\n    {HASH}\n",
        "requirements.txt",
    )

    ended = one.lock("-r", path)
    quiet = one.lock("-r", path, "--quiet", "--upgrade")

    why = "not used: the lock states the hash of every file it installs"
    assert ended.status == 0, ended.err
    assert ended.err == (
        f"note: {limits}: hashes of 1 requirement are {why}\n"
        f"note: {path}: hashes of 1 requirement are {why}\n"
    )
    assert (quiet.status, quiet.err) == (0, "")
    assert f"sha256:{'0' * 64}" not in one.path.read_text("utf-8")


def test_options_of_a_file_decide_as_those_of_the_command_line(one: Project) -> None:
    one.write("one<2\n", "limits.txt")
    path = one.write(
        "--pre\n--prefer-binary\n--trusted-host host.example\n--only-binary=:all:\n"
        "-c limits.txt\none\n",
        "requirements.txt",
    )
    by_file = one.locked("-r", path)["tool"]["lockforge"]

    by_option = one.locked(
        "one", "--prerelease", "allow", "--only-binary", ":all:",
        "-c", one.root / "limits.txt",
    )["tool"]["lockforge"]  # fmt: skip

    assert by_file == by_option
    assert "constraint one<2" in by_file["settings"]


def test_an_index_of_pytorch_in_a_file_is_noted(one: Project) -> None:
    """pip needs one to find a build; a row has its own."""
    url = f"{one.world.torch_url}/cpu"
    path = one.write(f"--extra-index-url {url}\none\n", "requirements.txt")

    ended = one.lock("-r", path)

    assert ended.status == 0, ended.err
    assert ended.err.startswith(f"note: {path}, line 1: {url} is not used: ")
    assert ended.err.count("\n") == 1


def test_bad_options_of_a_file_are_named_by_line(one: Project) -> None:
    path = one.write(
        "one\n--no-index\none==1.0 \\\n  --global-option=x\n--frobnicate\n", "requirements.txt"
    )

    message = one.refused(2, "-r", path)

    assert f"{path}, line 2: --no-index leaves no index" in message
    assert f"{path}, line 3: the option --global-option is not understood here" in message
    assert f"{path}, line 5: the option --frobnicate is not understood here" in message


def test_every_option_is_explained() -> None:
    """In the help, in one place each."""
    text = lockforge("lock", "--help").out

    for option in (
        "--editable", "--constraint", "--override", "--all-extras", "--all-groups",
        "--no-default-groups", "--prerelease", "--resolution", "--align", "--only-binary",
        "--no-binary", "--exclude-newer-strict",
    ):  # fmt: skip
        assert len(re.findall(rf"^  .*{option}(?![\w-]).*$", text, re.MULTILINE)) == 1, option
