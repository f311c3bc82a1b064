"""What a user can get wrong: each fault has its message, its status, and harms no lock."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integration.conftest import OLD_LOCK, Project

ONE_ROW = ("--matrix", "linux-cpu", "--python", "3.12")


# --- rows ------------------------------------------------------------------------------------


def test_an_unknown_platform_is_named_with_the_nearest(project: Project) -> None:
    message = project.refused(2, "torch", matrix="linus-cu130")

    assert "unknown platform 'linus' in row 'linus-cu130'" in message
    assert "did you mean 'linux'?" in message


def test_a_platform_without_an_accelerator_is_no_row(project: Project) -> None:
    message = project.refused(2, "torch", matrix="linux")

    assert "'linux'" in message
    assert "linux-cpu" in message


def test_an_unknown_accelerator_is_named_with_the_nearest(project: Project) -> None:
    message = project.refused(2, "torch", matrix="linux-cuda130")

    assert "unknown accelerator 'cuda130' in row 'linux-cuda130'" in message
    assert "did you mean 'cu130'?" in message


@pytest.mark.parametrize(
    ("row", "existing"),
    [
        ("mac-cu130", ("linux-cu130", "linux-aarch64-cu130", "win-cu130")),
        ("win-rocm7.2", ("linux-rocm7.2",)),
        ("mac-xpu", ("linux-xpu", "win-xpu")),
        ("win-arm64-cu130", ("linux-cu130", "linux-aarch64-cu130", "win-cu130")),
    ],
)
def test_an_accelerator_that_a_platform_lacks_is_refused_with_those_that_have_it(
    row: str, existing: tuple[str, ...], project: Project
) -> None:
    message = project.refused(2, "torch", matrix=row)

    assert f"row '{row}'" in message
    assert f"rows that exist: {', '.join(existing)}\n" in message


@pytest.mark.parametrize(
    ("matrix", "first", "second"),
    [
        ("linux-cpu,win-cpu,linux-cpu", "linux-cpu", "linux-cpu"),
        ("linux-cpu,linux-x86_64-cpu", "linux-cpu", "linux-x86_64-cpu"),
        ("mac-arm64-cpu,mac-cpu", "mac-arm64-cpu", "mac-cpu"),
        ("mac-cpu,mac-mps", "mac-cpu", "mac-mps"),
        ("linux-arm64-cu130,linux-aarch64-cu130", "linux-arm64-cu130", "linux-aarch64-cu130"),
    ],
)
def test_a_row_given_twice_is_refused_in_whatever_spelling(
    matrix: str, first: str, second: str, project: Project
) -> None:
    message = project.refused(2, "torch", matrix=matrix)

    assert f"'{first}'" in message
    assert f"'{second}'" in message


def test_there_must_be_a_matrix(project: Project) -> None:
    message = project.run_refused(2, "torch", "--python", "3.12")

    assert "no matrix" in message
    assert "--matrix" in message
    assert "tool.lockforge.matrix" in message


@pytest.mark.parametrize("python", ["3", "python3.12", "2.7", "3.x"])
def test_a_python_must_be_a_minor(python: str, project: Project) -> None:
    message = project.refused(2, "torch", python=python)

    assert f"not a Python version: '{python}'" in message


# --- pyproject.toml --------------------------------------------------------------------------


def test_a_misspelt_key_is_named_with_the_nearest(project: Project) -> None:
    project.write('[tool.lockforge]\nmatrx = ["linux-cpu"]\n')

    message = project.run_refused(2, "torch")

    assert "tool.lockforge.matrx: unknown key" in message
    assert "did you mean 'matrix'?" in message


def test_all_faults_of_a_file_are_reported_at_once(project: Project) -> None:
    """Each with its key path, whatever comes first."""
    project.write(
        """
        [project]
        name = "demo"
        requires-python = "about 3.12"
        dependencies = ["torch", "numpy>>2", 7]

        [tool.lockforge]
        matrix = ["linux-cu130", "lnux-cpu", "mac-rocm7.2"]
        python = [3.12]
        algin = "row"
        channel = "nightlies"
        exclude-newer = "last week"
        extras = ["train"]

        [tool.lockforge.rows.linux-cu130]
        glibc = 2.34
        exlude = ["torchaudio"]

        [tool.lockforge.rows.linux-cu13]
        glibc = "2.34"

        [[tool.lockforge.index]]
        packages = ["acme-*"]

        [[tool.lockforge.index]]
        url = "https://example.com/simple"
        packages = []

        [tool.lockforge.metadata."flash-attn"]
        requires-dist = ["torch"]
        """
    )

    message = project.run_refused(2)

    for place in (
        "project.requires-python",
        "project.dependencies[1]",
        "project.dependencies[2]",
        "tool.lockforge.matrix[1]",
        "tool.lockforge.matrix[2]",
        "tool.lockforge.python[0]",
        "tool.lockforge.algin",
        "tool.lockforge.channel",
        "tool.lockforge.exclude-newer",
        "tool.lockforge.extras",
        "tool.lockforge.rows.linux-cu130.glibc",
        "tool.lockforge.rows.linux-cu130.exlude",
        "tool.lockforge.rows.linux-cu13",
        "tool.lockforge.index[0].url",
        "tool.lockforge.index[1].packages",
        'tool.lockforge.metadata."flash-attn"',
    ):
        assert f"\n  {place}: " in message, place
    assert str(project.root / "pyproject.toml") in message
    assert "did you mean 'align'?" in message
    assert "did you mean 'linux-cu130'?" in message


def test_a_bad_specifier_is_named_with_its_place(project: Project) -> None:
    project.write('[project]\nname = "demo"\ndependencies = ["numpy", "torch=>2"]\n')

    message = project.run_refused(2, *ONE_ROW)

    assert "project.dependencies[1]: not a requirement: 'torch=>2'" in message


def test_a_bad_requirement_of_the_command_line_is_named(project: Project) -> None:
    assert "not a requirement: 'torch=='" in project.refused(2, "torch==")


def test_a_file_that_is_not_toml_is_named_with_the_line(project: Project) -> None:
    path = project.write('[project]\nname = "demo\n')

    message = project.run_refused(2, *ONE_ROW)

    assert str(path) in message
    assert "not TOML" in message
    assert "line 2" in message


def test_a_file_that_is_not_text_is_named(project: Project) -> None:
    path = project.root / "pyproject.toml"
    path.write_bytes(b'[project]\nname = "caf\xe9"\n')

    message = project.run_refused(2, *ONE_ROW)

    assert str(path) in message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("tool = 3\n", "tool"),
        ("[tool]\nlockforge = []\n", "tool.lockforge"),
        ("[project]\nrequires-python = 3.12\n", "project.requires-python"),
        ("[tool.lockforge]\nmatrix = 'linux-cpu'\n", "tool.lockforge.matrix"),
        ("[tool.lockforge]\nrows = ['linux-cpu']\n", "tool.lockforge.rows"),
        ("[tool.lockforge.rows]\nlinux-cpu = 'none'\n", "tool.lockforge.rows.linux-cpu"),
        ("[tool.lockforge]\nindex = 'https://example.com'\n", "tool.lockforge.index"),
        ("[tool.lockforge]\nindex = ['https://example.com']\n", "tool.lockforge.index[0]"),
        ("[tool.lockforge]\nmetadata = 1\n", "tool.lockforge.metadata"),
        ("[tool.lockforge]\ntorch-index = 1\n", "tool.lockforge.torch-index"),
        ("[tool.lockforge]\nalign = 'sideways'\n", "tool.lockforge.align"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_by_its_key(
    text: str, place: str, project: Project
) -> None:
    project.write(text)

    message = project.run_refused(2, "torch", *ONE_ROW)

    assert f"\n  {place}: " in message or f"\n  pyproject.{place}: " in message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("project = 'demo'\n", "project"),
        ("[project]\ndependencies = 'torch'\n", "project.dependencies"),
        ("[project]\ndependencies = ['torch', 1]\n", "project.dependencies[1]"),
    ],
)
def test_requirements_of_the_wrong_kind_are_named_by_their_key(
    text: str, place: str, project: Project
) -> None:
    project.write(text)

    assert f"\n  {place}: " in project.run_refused(2, *ONE_ROW)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("torch-index = 'http://['\n", "tool.lockforge.torch-index"),
        (
            "[[tool.lockforge.index]]\nurl = 'http://['\ndefault = true\n",
            "tool.lockforge.index[0].url",
        ),
        (
            "[[tool.lockforge.index]]\nurl = 'http://['\npackages = ['a']\n",
            "tool.lockforge.index[0].url",
        ),
    ],
    ids=["torch", "default", "another"],
)
def test_an_address_that_is_none_is_named_by_its_key(
    text: str, place: str, project: Project
) -> None:
    project.write(text if text.startswith("[[") else f"[tool.lockforge]\n{text}")

    assert f"\n  {place}: " in project.run_refused(2, "torch", *ONE_ROW)


@pytest.mark.parametrize("option", ["--index-url", "--torch-index"])
def test_an_address_that_is_none_is_named_by_its_option(option: str, project: Project) -> None:
    message = project.run_refused(2, "torch", *ONE_ROW, option, "http://[")

    assert option in message
    assert "'http://['" in message


def test_a_floor_of_another_platform_is_an_unknown_key(project: Project) -> None:
    project.write(
        """
        [tool.lockforge]
        matrix = ["mac-cpu", "win-cpu"]
        python = ["3.12"]
        [tool.lockforge.rows.mac-cpu]
        glibc = "2.34"
        [tool.lockforge.rows.win-cpu]
        macos = "15.0"
        """
    )

    message = project.run_refused(2, "torch")

    assert "tool.lockforge.rows.mac-cpu.glibc: unknown key" in message
    assert "tool.lockforge.rows.win-cpu.macos: unknown key" in message


def test_a_python_outside_of_requires_python_is_refused(project: Project) -> None:
    project.write('[project]\nname = "demo"\nrequires-python = ">=3.13"\n')

    message = project.refused(2, "torch", python="3.12")

    assert "3.12" in message
    assert ">=3.13" in message


def test_an_unknown_extra_or_group_is_named_with_the_nearest(project: Project) -> None:
    project.write(
        """
        [project]
        name = "demo"
        dependencies = ["torch"]
        [project.optional-dependencies]
        train = ["peft"]
        [dependency-groups]
        dev = ["pytest"]
        """
    )

    message = project.refused(2, "--extra", "trian", "--group", "devel")

    assert "'trian'" in message
    assert "did you mean 'train'?" in message
    assert "'devel'" in message
    assert "did you mean 'dev'?" in message


def test_an_extra_named_like_an_accelerator_is_refused(project: Project) -> None:
    """It would select a row."""
    project.write(
        """
        [project]
        name = "demo"
        dependencies = ["torch"]
        [project.optional-dependencies]
        cu130 = ["peft"]
        """
    )

    message = project.refused(2, "--extra", "cu130")

    assert "project.optional-dependencies.cu130" in message


def test_there_must_be_something_to_lock(project: Project) -> None:
    message = project.refused(2)

    assert "nothing to lock" in message
    assert "project.dependencies" in message


def test_a_python_version_file_that_is_none_is_named(project: Project) -> None:
    project.write("system\n", ".python-version")

    message = project.run_refused(2, "torch", "--matrix", "linux-cpu")

    assert ".python-version" in message
    assert "it names no CPython: system" in message


# --- requirements files and options ----------------------------------------------------------


def test_a_missing_requirements_file_is_named(project: Project) -> None:
    path = project.root / "requirements.txt"

    message = project.refused(2, "-r", path)

    assert f"{path}: no such requirements file" in message


def test_a_requirements_file_that_names_a_missing_one_is_refused(project: Project) -> None:
    path = project.write("torch\n-r more.txt\n", "requirements.txt")

    message = project.refused(2, "-r", path)

    assert f"{path}, line 2: {project.root / 'more.txt'}: no such requirements file" in message


def test_bad_lines_of_a_requirements_file_are_named_by_number(project: Project) -> None:
    """Comments and continued lines count as they do in an editor."""
    path = project.write(
        """\
        # what it needs
        torch>=2.9  # the newest
        numpy \\
            >=2
        pillow>>10
        --no-deps
        scipy @
        """,
        "requirements.txt",
    )

    message = project.refused(2, "-r", path)

    assert f"{path}, line 5: not a requirement: 'pillow>>10'" in message
    assert f"{path}, line 6: the option --no-deps is not understood here" in message
    assert f"{path}, line 7: not a requirement: 'scipy @'" in message
    assert message.count(f"{path}, line") == 3


def test_a_date_that_is_none_is_named(project: Project) -> None:
    message = project.refused(2, "torch", "--exclude-newer", "2026-13-01")

    assert "'2026-13-01'" in message
    assert "7 days" in message


def test_a_directory_of_wheels_must_exist(project: Project) -> None:
    message = project.refused(2, "torch", "--find-links", "no-such-wheels")

    assert "not a directory: no-such-wheels" in message


def test_a_snapshot_must_be_one(project: Project, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    message = project.refused(2, "torch", "--snapshot", empty)

    assert "not a snapshot" in message
    assert str(empty / "MANIFEST.json") in message


def test_an_unknown_option_is_a_usage_fault(project: Project) -> None:
    assert "--matricks" in project.run_refused(2, "torch", "--matricks", "linux-cpu")


def test_checking_and_upgrading_at_once_is_a_usage_fault(project: Project) -> None:
    assert "--check" in project.refused(2, "torch", "--check", "--upgrade")


def test_a_catalogue_that_is_not_there_is_named(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKFORGE_CATALOG", "no-such.yaml")

    message = project.refused(2, "torch")

    assert "no-such.yaml" in message
    assert "LOCKFORGE_CATALOG" in message


def test_a_broken_catalogue_is_named_with_its_faults(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project.write("accelerators: [cu130]\nacelerators: {}\n", "catalog.yaml")
    monkeypatch.setenv("LOCKFORGE_CATALOG", str(path))

    message = project.refused(2, "torch")

    assert str(path) in message
    assert "accelerators: expected a mapping" in message
    assert "acelerators: unknown key" in message


# --- no solution -----------------------------------------------------------------------------


def test_a_requirement_nobody_has_is_told_per_row(project: Project) -> None:
    """Row, requirement and the index that was asked; both rows in one report."""
    project.world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")
    project.world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-win_amd64.whl")

    message = project.refused(4, "torch", "no-such-thing>=1", matrix="linux-cpu,win-cpu")

    assert "linux-cpu" in message
    assert "win-cpu" in message
    assert "no-such-thing>=1" in message
    assert f"{project.world.default_url}" in message
    assert "hint: " in message


def test_a_version_nobody_has_is_told_with_what_there_is(project: Project) -> None:
    project.world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")

    message = project.refused(4, "torch>=3")

    assert "torch>=3" in message
    assert "2.9.0+cpu" in message
    assert f"{project.world.torch_url}/cpu/" in message


def test_a_row_without_a_wheel_for_its_python_is_told_which_there_are(project: Project) -> None:
    for python in ("cp311", "cp312"):
        name = f"torch-2.9.0+cpu-{python}-{python}-manylinux_2_28_x86_64.whl"
        project.world.add("cpu", name)

    message = project.refused(4, "torch", python="3.14")

    assert "linux-cpu (Python 3.14)" in message
    assert "cp311" in message
    assert "cp312" in message


def test_a_row_without_a_wheel_for_its_platform_is_told_which_there_are(project: Project) -> None:
    project.world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")

    message = project.refused(4, "torch", matrix="linux-cpu,mac-cpu")

    assert "mac-cpu" in message
    assert "manylinux_2_28_x86_64" in message
    assert "row linux-cpu" not in message


def test_requirements_that_conflict_are_both_told(project: Project) -> None:
    project.world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")
    project.world.add("pypi", "needy-1.0-py3-none-any.whl", requires=["torch<2.9"])

    message = project.refused(4, "torch>=2.9", "needy")

    assert "the project requires torch>=2.9" in message
    assert "requires torch<2.9" in message
    assert "needy 1.0" in message


def test_a_direct_url_of_a_dependency_is_refused_and_both_are_named(project: Project) -> None:
    """Only the project itself may go around its indexes."""
    project.world.add(
        "pypi",
        "sneaky-1.0-py3-none-any.whl",
        requires=["payload @ https://example.com/payload-1.0-py3-none-any.whl"],
    )

    message = project.refused(4, "sneaky")

    assert "sneaky" in message
    assert "payload" in message
    assert "direct URL" in message


def test_an_older_version_without_a_direct_url_is_taken(project: Project) -> None:
    url = "payload @ https://example.com/payload-1.0-py3-none-any.whl"
    project.world.add("pypi", "sneaky-2.0-py3-none-any.whl", requires=[url])
    project.world.add("pypi", "sneaky-1.0-py3-none-any.whl")

    packages = project.locked("sneaky")["packages"]

    assert [(one["name"], one["version"]) for one in packages] == [("sneaky", "1.0")]


# --- the lock that is there, and where the new one goes --------------------------------------


def conflicted(text: str) -> str:
    lines = text.splitlines(keepends=True)
    lines[3:3] = ["<<<<<<< HEAD\n", "# ours\n", "=======\n", "# theirs\n", ">>>>>>> branch\n"]
    return "".join(lines)


@pytest.mark.parametrize(
    "options", [(), ("--upgrade-package", "torch"), ("--check",)], ids=" ".join
)
def test_a_lock_with_conflict_markers_is_left_alone(
    options: tuple[str, ...], project: Project
) -> None:
    """The file and the line of the first marker are named."""
    project.world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")
    project.locked("torch")
    project.path.write_text(conflicted(project.path.read_text("utf-8")), "utf-8")

    message = project.refused(5, "torch", *options)

    assert f"{project.path}, line 4" in message
    assert "conflict" in message
    assert "hint: " in message


@pytest.mark.parametrize(
    "text",
    [
        "lock-version = \n",
        'created-by = "someone"\n',
        'lock-version = "9.0"\ncreated-by = "the future"\npackages = []\n',
        'lock-version = "1.0"\ncreated-by = "someone"\n[[packages]]\nversion = "1"\n',
        'lock-version = "1.0"\ncreated-by = "lockforge"\npackages = []\n[tool.lockforge]\n',
    ],
    ids=["not TOML", "no version", "a later version", "no name", "a damaged table"],
)
def test_a_lock_that_is_none_is_left_alone(text: str, project: Project) -> None:
    project.write(text, "pylock.toml")

    message = project.refused(5, "torch")

    assert str(project.path) in message
    assert "hint: " in message


def test_a_lock_that_is_not_text_is_left_alone(project: Project) -> None:
    project.path.write_bytes(b"\xff\xfe\x00")

    assert str(project.path) in project.refused(5, "torch")


def test_a_lock_of_another_tool_is_replaced(project: Project) -> None:
    project.path.write_bytes(OLD_LOCK)
    project.world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")

    assert project.locked("torch")["created-by"] == "lockforge"


def test_an_output_directory_must_exist(project: Project) -> None:
    project.world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")
    place = project.root / "no" / "such" / "pylock.toml"

    message = project.refused(5, "torch", "-o", place)

    assert str(place) in message
    assert "cannot be written" in message
    assert "hint: " in message


def test_an_output_that_is_a_directory_is_a_usage_fault(project: Project) -> None:
    place = project.root / "locks"
    place.mkdir()

    assert str(place) in project.refused(2, "torch", "-o", place)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user"
)
def test_an_output_directory_must_be_writable(project: Project) -> None:
    project.world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")
    project.path.write_bytes(OLD_LOCK)
    project.root.chmod(0o555)
    try:
        message = project.refused(5, "torch")
    finally:
        project.root.chmod(0o755)

    assert str(project.path) in message


def test_checking_tells_by_status_and_changes_nothing(project: Project) -> None:
    """No lock and a stale one are 1, a current one is 0; no index is asked."""
    project.world.add("cpu", "torch-2.9.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl")

    missing = project.lock("torch", "--check")
    assert not project.path.exists()
    project.locked("torch")
    before = project.path.read_bytes()
    project.world.requests.clear()
    current = project.lock("torch", "--check")
    stale = project.lock("torch>=2", "--check")

    assert [missing.status, current.status, stale.status] == [1, 0, 1]
    assert "torch>=2" in stale.out
    assert project.path.read_bytes() == before
    assert project.world.requests == []
