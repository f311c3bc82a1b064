"""Machines by what they said of themselves: facts, rows and cautions of the real command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml
from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.detect.builds import catalog_builds
from lockforge.model.platforms import PLATFORMS
from tests.support.command import Ended, lockforge
from tests.support.machines import ENTRIES, LABELS, Machine, missing_from, read_machines

MACHINES = read_machines()
GIVEN = Path(__file__).parents[3] / "shared" / "hosts"
WIDTH = 100

Captured: TypeAlias = Callable[[Machine], Path]


@pytest.fixture
def captured(tmp_path: Path) -> Captured:
    """Write the captured folder of a machine."""

    def write(machine: Machine) -> Path:
        return machine.write(tmp_path / "machines" / machine.name)

    return write


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> Machine:
    return MACHINES[request.param]


def judge(path: Path, *arguments: str | Path) -> Ended:
    return lockforge("detect", "--facts", path, "--accelerators", ",".join(LABELS), *arguments)


def judged(path: Path) -> dict[str, Any]:
    ended = judge(path, "--json")
    assert ended.status == 0, ended.err
    data: dict[str, Any] = json.loads(ended.out)
    return data


def with_status(data: dict[str, Any], status: str) -> list[str]:
    return [row["name"] for row in data["rows"] if row["status"] == status]


def test_facts_and_rows_are_right(machine: Machine, captured: Captured) -> None:
    """Every fact stated, the usable rows in their order, and no caution but those foreseen."""
    data = judged(captured(machine))

    right = machine.right
    assert missing_from(right.facts, data["facts"]) == []
    assert data["usable_rows"] == with_status(data, "usable") == right.usable
    assert with_status(data, "partial") == right.partial
    assert data["best_row"] == right.best
    assert sorted(one["code"] for one in data["warnings"]) == sorted(right.cautions)


def test_every_row_has_a_reason(machine: Machine, captured: Captured) -> None:
    """One sentence, on one line and without a full stop."""
    data = judged(captured(machine))

    reasons = [row["reason"] for row in data["rows"]]
    assert all(reasons)
    assert not [one for one in reasons if "\n" in one or one.endswith(".")]


def test_the_text_names_the_best_row(machine: Machine, captured: Captured) -> None:
    """And what a person has to know, in lines that fit a terminal."""
    ended = judge(captured(machine))

    assert (ended.status, ended.err) == (0, "")
    assert [line for line in ended.out.splitlines() if len(line) > WIDTH] == []
    assert machine.right.best is None or machine.right.best in ended.out
    said = " ".join(ended.out.split())
    assert [text for text in machine.right.says if text not in said] == []
    assert [text for text in machine.right.never if text in said] == []


def test_saved_facts_give_the_same_choice(
    machine: Machine, captured: Captured, tmp_path: Path
) -> None:
    """What is written by --save is read by --facts as the machine itself."""
    saved = tmp_path / "saved.yaml"

    ended = judge(captured(machine), "--save", saved, "--json")

    assert ended.status == 0, ended.err
    assert judged(saved) == json.loads(ended.out)


def test_the_fixtures_say_where_they_are_from() -> None:
    """Provenance is of texts that there are, and of one of the known kinds."""
    kinds = ("literal", "adapted", "constructed")
    for machine in MACHINES.values():
        assert set(machine.provenance) <= {"all", *machine.answers}, machine.name
        assert all(one.startswith(kinds) for one in machine.provenance.values()), machine.name
        assert set(machine.answers) <= set(ENTRIES), machine.name


@pytest.fixture(params=sorted(path.name for path in GIVEN.glob("*/")) if GIVEN.is_dir() else ["-"])
def given(request: pytest.FixtureRequest, shared: Path) -> Path:
    """A machine of those given beside the checkout."""
    return shared / "hosts" / str(request.param)


def test_given_machines_are_judged_as_expected(given: Path) -> None:
    """By facts, usable rows, best row and the warnings, these and no others."""
    expected = yaml.safe_load((given / "expected.yaml").read_text("utf-8"))

    data = judged(given)

    assert missing_from(expected["facts"], data["facts"]) == []
    assert data["usable_rows"] == expected["usable_rows"]
    assert data["best_row"] == expected["best_row"]
    assert sorted(one["code"] for one in data["warnings"]) == sorted(expected["must_warn"])


def test_the_given_rules_are_those_of_the_catalogue(shared: Path) -> None:
    """Floors and architectures of the given policy hold at its reference versions of torch."""
    policy = yaml.safe_load((shared / "hosts" / "POLICY.yaml").read_text("utf-8"))
    catalog = load_catalog()
    for machine, name in (("x86_64", "linux"), ("aarch64", "linux-aarch64"), ("x86_64", "win")):
        floors = policy["driver_floor"]["windows" if name == "win" else "linux"]
        for build in catalog_builds(catalog, PLATFORMS[name], LABELS):
            label = build.accelerator.label
            assert build.torch is not None
            assert str(build.torch) == policy["reference_torch"][label]
            lists = policy["cuda_arch"][machine] if "cu" in label else policy["rocm_arch"]
            if name not in {one.name for one in catalog.platforms_of(build.accelerator)}:
                continue
            if label in lists:
                known = catalog.gpu_architectures(build.accelerator, build.torch, build.platform)
                assert known is not None
                assert (label, list(known.architectures)) == (label, lists[label])
            if label in floors:
                floor = catalog.driver_floor(build.accelerator, build.platform)
                assert floor is not None
                assert (label, Version(floor)) == (label, Version(floors[label]))
