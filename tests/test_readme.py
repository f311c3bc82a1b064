"""The README's first code block is the two commands, and CI runs them from there."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import ROOT
from tests.support.command import lockforge
from tests.support.machines import read_machines


def test_the_first_code_block_is_two_commands_that_set_up_all_they_need() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")

    block = readme.partition("```sh\n")[2].partition("```")[0].splitlines()

    assert len(block) == 2
    assert all(line.startswith("python3 -m venv .venv && ") for line in block)
    assert "lockforge lock --project fixtures/projects/vision" in block[0]
    assert "--snapshot fixtures/snapshot" in block[0]
    assert block[1].endswith("-m pytest")


def test_the_configuration_shown_has_no_fault(tmp_path: Path) -> None:
    """Every key of it is known; that the offline cache is empty comes only after that."""
    readme = (ROOT / "README.md").read_text("utf-8")
    block = readme.partition("```toml\n")[2].partition("```")[0]
    project = '[project]\nname = "demo"\ndependencies = ["torch"]\n'
    extras = "[project.optional-dependencies]\ntrain = []\n"
    (tmp_path / "pyproject.toml").write_text(f"{project}{extras}{block}", "utf-8")
    (tmp_path / "wheels").mkdir()

    ended = lockforge("lock", "--project", tmp_path, "--offline")

    assert ended.status == 5
    assert "not in the cache, and --offline forbids to ask for it" in ended.err


def test_the_facts_shown_are_those_of_a_host(tmp_path: Path) -> None:
    """They are read without a fault, and are enough to choose by."""
    readme = (ROOT / "README.md").read_text("utf-8")
    blocks = [part.partition("```")[0] for part in readme.split("```yaml\n")[1:]]
    (facts,) = (block for block in blocks if block.startswith("version: 1\nfacts:"))
    path = tmp_path / "host.yaml"
    path.write_text(facts, "utf-8")

    ended = lockforge("detect", "--facts", path, "--accelerators", "cu130,cpu")

    assert (ended.status, ended.err) == (0, "")
    assert "cu130 is the accelerator for this host" in ended.out


def test_the_machine_shown_is_a_real_answer(tmp_path: Path) -> None:
    """What is shown of `detect` is what it prints of one of the machines."""
    folder = read_machines()["rtx-4090-beside-raphael"].write(tmp_path / "machine")
    ended = lockforge("detect", "--facts", folder, "--accelerators", "cu130,cu128,cpu")
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"```\n{ended.out}```" in readme
