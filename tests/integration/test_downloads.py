"""Whole files are downloaded where nothing else tells, and never for a guess."""

from __future__ import annotations

from pathlib import Path

from tests.support.command import lockforge
from tests.support.locks import Lock
from tests.support.world import Answer, World


def _without_ranges(world: World, filename: str) -> None:
    entry = world.entry("pypi", filename)
    path = world.file_path("pypi", filename)
    world.answers[path] = Answer(body=entry.content, headers={"Accept-Ranges": "none"})


def test_a_file_that_only_the_guess_wants_is_not_downloaded(world: World, tmp_path: Path) -> None:
    """The newest `b` looks right until `a` limits it; its metadata is only in the whole file."""
    for version in ("1.0", "2.0"):
        world.add("pypi", f"b-{version}-py3-none-any.whl", sidecar=False)
        _without_ranges(world, f"b-{version}-py3-none-any.whl")
    world.add("pypi", "a-1.0-py3-none-any.whl", requires=["b<2"])

    ended = lockforge(
        "lock", "a", "b", "--project", tmp_path, "--matrix", "linux-cpu", "--python", "3.12",
        "--index-url", world.default_url, "--torch-index", world.torch_url,
    )  # fmt: skip

    assert ended.status == 0, ended.err
    assert Lock(tmp_path / "pylock.toml").versions("linux") == {"a": "1.0", "b": "1.0"}
    asked = {
        headers.get("Range", "all")
        for _, path, headers in world.requests
        if path == world.file_path("pypi", "b-2.0-py3-none-any.whl")
    }
    assert "all" not in asked
