"""What `--verbose` and `--quiet` print."""

from __future__ import annotations

from pathlib import Path

from tests.support.command import lockforge
from tests.support.world import World


def test_verbose_says_what_goes_on_and_why_and_quiet_nothing(world: World, tmp_path: Path) -> None:
    """On standard error, so that standard output is the matrix alone."""
    world.add("pypi", "one-1.0-py3-none-any.whl")
    options = (
        "--project", tmp_path, "--matrix", "linux-cpu", "--python", "3.12",
        "--index-url", world.default_url, "--torch-index", world.torch_url,
    )  # fmt: skip

    first = lockforge("lock", "one", *options, "--verbose")
    second = lockforge("lock", "one>=1", *options, "--verbose")
    third = lockforge("lock", "one", *options, "--quiet")
    both = lockforge("lock", "one", *options, "--quiet", "--verbose")

    assert first.err.splitlines() == [
        "reading the indexes",
        "solving linux-cpu-py312",
        # `one`, and the round that finds nothing left to do.
        "solved linux-cpu-py312, rounds: 2",
        "metadata files read: 1",
        "locked anew: there is no lock yet",
    ]
    assert "locked anew: requirement 'one>=1' is not in the lock" in second.err.splitlines()
    assert (third.status, third.out, third.err) == (0, "", "")
    assert both.status == 2
    assert "exclude each other" in both.err
