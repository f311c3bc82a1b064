"""The matrix and the lock of the example projects, byte for byte.

`pytest tests/golden --update-golden` writes them anew; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import lockforge

_GOLDEN = Path(__file__).parent
_THREE = "linux-cu130,win-cpu,mac-cpu"
_TWELVE = (
    "linux-cpu,linux-cu126,linux-cu129,linux-cu130,linux-rocm7.2,linux-xpu,linux-aarch64-cpu,"
    "linux-aarch64-cu130,win-cpu,win-cu130,win-xpu,mac-cpu"
)


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


def _compare(name: str, text: str, *, update: bool) -> None:
    path = _GOLDEN / name
    if update:
        path.write_text(text, "utf-8", newline="\n")
    assert text == path.read_text("utf-8")


@pytest.mark.parametrize("project", ["vision", "llm", "audio"])
def test_report_of_a_project(
    project: str, projects: Path, snapshot: Path, tmp_path: Path, *, update: bool
) -> None:
    path = tmp_path / "pylock.toml"
    ended = lockforge(
        "lock", "--project", projects / project, "--matrix", _THREE,
        "--snapshot", snapshot, "-o", path, "-q",
    )  # fmt: skip
    assert ended.status == 0, ended.err

    _compare(f"{project}.report.txt", lockforge("report", path).out, update=update)
    if project == "vision":
        _compare("vision.pylock.toml", path.read_text("utf-8"), update=update)


def test_report_of_twelve_rows(snapshot: Path, tmp_path: Path, *, update: bool) -> None:
    path = tmp_path / "pylock.toml"
    ended = lockforge(
        "lock", "torch==2.12.1", "--project", tmp_path, "--matrix", _TWELVE,
        "--python", "3.12", "--snapshot", snapshot, "-q",
    )  # fmt: skip
    assert ended.status == 0, ended.err

    report = lockforge("report", path).out

    _compare("twelve-rows.report.txt", report, update=update)
    assert max(map(len, report.splitlines())) <= 100


def test_failures_of_several_rows(snapshot: Path, tmp_path: Path, *, update: bool) -> None:
    ended = lockforge(
        "lock", "torch==2.12.1", "torchvision==0.26", "nosuchpackage", "--project", tmp_path,
        "--matrix", "linux-cu130,win-arm64-cpu", "--python", "3.12", "--snapshot", snapshot,
    )  # fmt: skip

    assert ended.status == 4
    _compare("failures.txt", ended.err, update=update)


def test_faults_of_a_configuration(tmp_path: Path, *, update: bool) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.11"\n'
        'dependencies = ["torch>>2"]\n'
        "[tool.lockforge]\n"
        'matrix = ["linux-cu13", "lnux-cpu", "mac-cu130", "linux-cpu", "linux-x86_64-cpu"]\n'
        'pythn = ["3.12"]\npython = ["3.10", "three"]\nexclude-newer = "yesterday"\n'
        "[tool.lockforge.rows.linux-cpu]\n"
        'glib = "2.34"\nglibc = "new"\n'
        "[tool.lockforge.rows.win-cpu]\n"
        '[[tool.lockforge.index]]\nurl = "https://pypi.example.com/simple"\n'
    )

    ended = lockforge("lock", "--project", tmp_path)

    assert ended.status == 2
    text = ended.err.replace(str(tmp_path), "PROJECT")
    _compare("faults.txt", text, update=update)
