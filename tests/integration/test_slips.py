"""Slips that would otherwise go unseen, and damage to what the lock says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Ended, lockforge
from tests.support.locks import Lock
from tests.support.world import Answer, World


def _lock(world: World, root: Path, *arguments: str) -> Ended:
    return lockforge(
        "lock", *arguments, "--project", root, "--matrix", "linux-cpu", "--python", "3.12",
        "--index-url", world.default_url, "--torch-index", world.torch_url,
    )  # fmt: skip


def test_an_extra_needs_a_project_that_has_it(world: World, tmp_path: Path) -> None:
    """Requirements of the command line have no extras, and none may be listed in the lock."""
    world.add("pypi", "one-1.0-py3-none-any.whl")

    ended = _lock(world, tmp_path, "one", "--extra", "train", "--group", "dev")

    assert ended.status == 2
    assert "--extra: extras and groups belong to pyproject.toml" in ended.err
    assert "--group: extras and groups belong to pyproject.toml" in ended.err
    assert not (tmp_path / "pylock.toml").exists()


def test_configured_extras_are_not_those_of_other_requirements(
    world: World, tmp_path: Path
) -> None:
    world.add("pypi", "one-1.0-py3-none-any.whl")
    (tmp_path / "pyproject.toml").write_text('[tool.lockforge]\nextras = ["train"]\n')

    ended = _lock(world, tmp_path, "one")

    assert ended.status == 0, ended.err
    assert "extras" not in Lock(tmp_path / "pylock.toml").data


def test_upgrading_what_the_lock_does_not_have_is_an_error(world: World, tmp_path: Path) -> None:
    world.add("pypi", "one-1.0-py3-none-any.whl")
    _lock(world, tmp_path, "one")
    before = (tmp_path / "pylock.toml").read_bytes()

    ended = _lock(world, tmp_path, "one", "--upgrade-package", "onne")

    assert ended.status == 2
    assert "the lock has no onne to upgrade" in ended.err
    assert (tmp_path / "pylock.toml").read_bytes() == before


def test_an_upgraded_package_takes_its_file_as_the_page_has_it_now(
    world: World, tmp_path: Path
) -> None:
    """Others keep the hash they were locked with, whatever their page says."""
    for name in ("one", "two"):
        world.add("pypi", f"{name}-1.0-py3-none-any.whl")
    _lock(world, tmp_path, "one", "two")
    before = Lock(tmp_path / "pylock.toml").select("linux")
    for name in ("one", "two"):
        world.indexes["pypi"][name].clear()
        world.add("pypi", f"{name}-1.0-py3-none-any.whl", marker="built again")

    ended = _lock(world, tmp_path, "one", "two", "--upgrade-package", "one")

    assert ended.status == 0, ended.err
    after = Lock(tmp_path / "pylock.toml").select("linux")
    assert after["one"].sha256 == world.entry("pypi", "one-1.0-py3-none-any.whl").sha256
    assert after["one"].sha256 != before["one"].sha256
    assert after["two"].sha256 == before["two"].sha256


@pytest.mark.parametrize("damaged", ["requirements = 3", 'requirements = ["!!!"]'])
@pytest.mark.parametrize("command", ["report", "lock", "check"])
def test_a_damaged_table_is_named(world: World, tmp_path: Path, damaged: str, command: str) -> None:
    world.add("pypi", "one-1.0-py3-none-any.whl")
    _lock(world, tmp_path, "one")
    path = tmp_path / "pylock.toml"
    text = path.read_text().replace('requirements = [\n  "one",\n]', damaged)
    assert damaged in text
    path.write_text(text)

    if command == "report":
        ended = lockforge("report", path)
    else:
        ended = _lock(world, tmp_path, "one", *(["--check"] if command == "check" else []))

    assert ended.status == 5
    assert "[tool.lockforge] is damaged" in ended.err
    assert path.read_text() == text


def test_a_newer_version_is_not_passed_over_in_silence(world: World, tmp_path: Path) -> None:
    """It is named with the reason, on standard error; what no row is older for is not."""
    world.add("pypi", "one-1.0-py3-none-any.whl")
    newer = world.add("pypi", "one-2.0-py3-none-any.whl", sidecar=False)
    world.answers[world.file_path("pypi", newer.filename)] = Answer(
        body=newer.content, headers={"Accept-Ranges": "none"}
    )

    ended = _lock(world, tmp_path, "one", "--no-download")
    whole = _lock(world, tmp_path, "one", "--upgrade")

    assert ended.status == 0
    assert ended.err == (
        "warning: one-2.0-py3-none-any.whl was passed over: its metadata is only in the file "
        "itself, and --no-download forbids to get it\n"
    )
    assert (whole.status, whole.err) == (0, "")
    assert Lock(tmp_path / "pylock.toml").versions("linux") == {"one": "2.0"}
