"""A captured machine is judged as the machine itself is."""

from __future__ import annotations

from pathlib import Path

from lockforge.adapters.capture import CapturingSystem
from lockforge.adapters.captured import CapturedSystem
from lockforge.adapters.private import Owner
from lockforge.adapters.system import LiveSystem
from lockforge.catalog import load_catalog
from lockforge.detect.facts import read_facts
from lockforge.detect.gather import gather
from lockforge.model.machine import Facts
from lockforge.ports import System

CATALOG = load_catalog()
OWNER = Owner(hosts=("workhorse.example",), users=("alice",), home="/home/alice")


def captured_facts(system: System, folder: Path) -> tuple[Facts, Facts]:
    """Give the facts of a machine, and those of what was captured of it."""
    capturing = CapturingSystem(system, owner=OWNER)
    facts = read_facts(gather(capturing), CATALOG)
    capturing.write(folder, source="a test")
    return facts, read_facts(gather(CapturedSystem.open(folder)), CATALOG)


def test_given_machines(shared: Path, tmp_path: Path) -> None:
    """No stand-in changes what is known of any given machine."""
    for manifest in sorted((shared / "hosts").glob("*/manifest.yaml")):
        name = manifest.parent.name
        facts, again = captured_facts(CapturedSystem.open(manifest.parent), tmp_path / name)
        assert again == facts, name


def test_this_machine(tmp_path: Path) -> None:
    """What was gathered here for real is gathered from the folder too."""
    facts, again = captured_facts(LiveSystem(environment={}), tmp_path / "here")

    assert again == facts
