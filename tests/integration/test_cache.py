"""The cache and the stamps when several runs use them at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.world import World


def test_runs_at_the_same_time_share_a_cache(world: World, tmp_path: Path) -> None:
    """Every run ends well and writes the same lock, whoever wrote which entry."""
    names = [f"package{number}" for number in range(12)]
    for name in names:
        world.add("pypi", f"{name}-1.0-py3-none-any.whl", requires=["shared"])
    world.add("pypi", "shared-1.0-py3-none-any.whl")
    command = [
        sys.executable, "-m", "lockforge", "lock", *names, "--matrix", "linux-cpu,win-cpu",
        "--python", "3.12", "--index-url", world.default_url, "--torch-index", world.torch_url,
        "--project", str(tmp_path), "-q",
    ]  # fmt: skip

    runs = [
        subprocess.Popen([*command, "-o", str(tmp_path / f"{number}.toml")], env=os.environ)
        for number in range(6)
    ]

    assert [run.wait(timeout=120) for run in runs] == [0] * 6
    assert len({(tmp_path / f"{number}.toml").read_bytes() for number in range(6)}) == 1
    asked = len(world.requests)
    subprocess.run([*command, "-o", str(tmp_path / "offline.toml"), "--offline"], check=True)
    assert (tmp_path / "offline.toml").read_bytes() == (tmp_path / "0.toml").read_bytes()
    assert len(world.requests) == asked


def test_nothing_to_do_asks_nothing_and_a_changed_input_is_seen(
    world: World, tmp_path: Path
) -> None:
    """The second run prints the matrix again without a request; another requirement is resolved."""
    world.add("pypi", "one-1.0-py3-none-any.whl")
    world.add("pypi", "two-1.0-py3-none-any.whl")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\ndependencies = ["one"]\n'
    )
    command = [
        sys.executable, "-m", "lockforge", "lock", "--matrix", "linux-cpu", "--python", "3.12",
        "--index-url", world.default_url, "--torch-index", world.torch_url,
        "--project", str(tmp_path),
    ]  # fmt: skip

    first = subprocess.run(command, check=True, capture_output=True, text=True)
    asked = len(world.requests)
    second = subprocess.run(command, check=True, capture_output=True, text=True)

    assert len(world.requests) == asked
    assert first.stdout.replace("is written", "is current") == second.stdout
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\ndependencies = ["one", "two"]\n'
    )
    third = subprocess.run(command, check=True, capture_output=True, text=True)
    assert third.stdout.endswith("is written\n")
    assert 'name = "two"' in (tmp_path / "pylock.toml").read_text()
