"""The README's first code block is the two commands, and CI runs them from there."""

from __future__ import annotations

from tests.conftest import ROOT


def test_the_first_code_block_is_two_commands_that_set_up_all_they_need() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")

    block = readme.partition("```sh\n")[2].partition("```")[0].splitlines()

    assert len(block) == 2
    assert all(line.startswith("python3 -m venv .venv && ") for line in block)
    assert "lockforge lock --project fixtures/projects/vision" in block[0]
    assert "--snapshot fixtures/snapshot" in block[0]
    assert block[1].endswith("-m pytest")
