"""Cases on what a machine is given: the rows that serve it, the one chosen, and the warnings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockforge.adapters.captured import CapturedSystem
from lockforge.catalog import load_catalog
from lockforge.detect.builds import catalog_builds, platform_of
from lockforge.detect.cautions import cautions_of
from lockforge.detect.choose import choose
from lockforge.detect.facts import read_facts
from lockforge.detect.gather import gather
from lockforge.errors import UsageError
from lockforge.model.choice import Choice, Wanted
from lockforge.model.machine import AmdGpu, Facts, Intel, IntelGpu
from lockforge.model.platforms import PLATFORMS

CATALOG = load_catalog()
ROWS = ("cu132", "cu130", "cu128", "cu126", "cu118", "rocm7.2", "rocm6.4", "xpu", "cpu")


@dataclass(frozen=True)
class Judged:
    """One machine with what is chosen for it."""

    facts: Facts
    choice: Choice

    @property
    def usable(self) -> list[str]:
        return [one.build.name for one in self.choice.verdicts if one.status == "usable"]

    @property
    def best(self) -> str | None:
        return None if self.choice.best is None else self.choice.best.build.name

    @property
    def codes(self) -> list[str]:
        return [one.code for one in cautions_of(self.facts, self.choice, CATALOG)]

    def reason(self, name: str) -> str:
        return next(one.reason for one in self.choice.verdicts if one.build.name == name)


def _judge(facts: Facts, wanted: Wanted | None = None) -> Judged:
    builds = catalog_builds(CATALOG, platform_of(facts), ROWS)
    return Judged(facts, choose(facts, builds, CATALOG, wanted))


def _facts(shared: Path, host: str) -> Facts:
    return read_facts(gather(CapturedSystem.open(shared / "hosts" / host)))


def _machines(shared: Path) -> dict[str, dict[str, Any]]:
    return {
        path.parent.name: yaml.safe_load(path.read_text("utf-8"))
        for path in sorted((shared / "hosts").glob("*/expected.yaml"))
    }


def test_every_given_machine_gets_its_rows(shared: Path) -> None:
    """Usable rows in order, the best of them, and the warnings, of all given machines."""
    machines = _machines(shared)
    found = {}
    for host in machines:
        judged = _judge(_facts(shared, host))
        found[host] = (judged.usable, judged.best, sorted(judged.codes))
    assert len(machines) == 36
    assert found == {
        host: (expected["usable_rows"], expected["best_row"], sorted(expected["must_warn"]))
        for host, expected in machines.items()
    }


def test_the_given_rules_are_those_of_the_catalogue(shared: Path) -> None:
    """Floors and architectures of the given policy hold at its reference versions of torch."""
    policy = yaml.safe_load((shared / "hosts" / "POLICY.yaml").read_text("utf-8"))
    for machine, name in (("x86_64", "linux"), ("aarch64", "linux-aarch64")):
        for build in catalog_builds(CATALOG, PLATFORMS[name], ROWS):
            label = build.accelerator.label
            assert build.torch is not None
            assert str(build.torch) == policy["reference_torch"][label]
            lists = policy["cuda_arch"][machine] if "cu" in label else policy["rocm_arch"]
            if label in lists:
                known = CATALOG.gpu_architectures(build.accelerator, build.torch, build.platform)
                assert known is not None
                assert (label, list(known.architectures)) == (label, lists[label])


def test_cpu_is_never_chosen_without_a_reason(shared: Path) -> None:
    """Where the CPU is all there is, it is said why, and what it is a fallback from."""
    reasons = {
        host: judged.reason("cpu")
        for host in _machines(shared)
        if (judged := _judge(_facts(shared, host))).best == "cpu"
    }
    assert reasons["cpu_only_container"] == "no GPU was found"
    assert reasons["nv_cuda_visible_devices_empty"].startswith(
        "a fallback: CUDA_VISIBLE_DEVICES hides NVIDIA H100 80GB HBM3"
    )
    assert "they find no device" in reasons["nv_login_node_no_devices"]
    assert "no device nodes" in reasons["container_proc_but_no_dev"]
    assert "not for gfx1010" in reasons["amd_5700xt_gfx1010"]
    assert all(reasons.values())


# LF-019
def test_wsl2_goes_by_the_floors_of_windows(shared: Path) -> None:
    """On WSL2 driver 572.60 is one of Windows, and too old for CUDA 13."""
    judged = _judge(_facts(shared, "wsl2_two_gpus_572"))
    assert judged.best == "cu128"
    assert judged.reason("cu130") == (
        "cu130 needs driver 580 or newer on Windows; this machine has 572.60 "
        "(2 x NVIDIA GeForce RTX 4090 (8.9))"
    )


# LF-022
def test_an_explicit_request_wins_where_it_is_usable(shared: Path) -> None:
    """On a machine with GPUs of two vendors the second's row is taken on request."""
    facts = _facts(shared, "hybrid_nvidia_plus_supported_amd")
    judged = _judge(facts, Wanted(by="--row", row="rocm7.2"))
    assert judged.best == "rocm7.2"
    assert judged.usable.index("rocm7.2") > judged.usable.index("cu118")


def test_a_request_that_is_not_usable_is_refused_with_the_reason(shared: Path) -> None:
    """Nothing else is put in its place, and force takes it and is recorded."""
    facts = _facts(shared, "hybrid_rtx4090_raphael")
    refused = _judge(facts, Wanted(by="--row", row="rocm7.2"))
    assert refused.choice.best is None
    assert "not for gfx1036" in refused.reason("rocm7.2")
    forced = _judge(facts, Wanted(by="--force-row", row="rocm7.2", force=True))
    assert forced.choice.best is not None
    assert (forced.best, forced.choice.best.forced) == ("rocm7.2", True)
    with pytest.raises(UsageError, match="no row is named cu999"):
        _judge(facts, Wanted(by="--row", row="cu999"))


# LF-023
@pytest.mark.parametrize(
    ("gfx", "usable"),
    [
        (["gfx1100", "gfx1036"], ["rocm7.2", "rocm6.4", "cpu"]),
        (["gfx1103"], ["cpu"]),
        (["gfx1010"], ["cpu"]),
        (["gfx1151"], ["rocm7.2", "cpu"]),
        (["gfx950"], ["rocm7.2", "cpu"]),
    ],
)
def test_amd_goes_by_the_exact_architecture(
    shared: Path, gfx: list[str], usable: list[str]
) -> None:
    """One GPU that a build lists by its own name is enough, and no prefix of a name is one."""
    facts = _facts(shared, "amd_strix_halo_gfx1151")
    assert facts.amd is not None
    gpus = tuple(AmdGpu(gfx=one, integrated=None) for one in gfx)
    assert _judge(replace(facts, amd=replace(facts.amd, gpus=gpus))).usable == usable


# LF-026
def test_an_unknown_intel_gpu_is_told(shared: Path) -> None:
    """It is no XPU, and its id is said."""
    facts = _facts(shared, "intel_uhd630_only")
    gpu = IntelGpu(pci_id="8086:ffff", family=None, xpu_supported=False)
    judged = _judge(replace(facts, intel=Intel(gpus=(gpu,))))
    assert (judged.best, judged.codes) == ("cpu", ["intel_gpu_unknown:8086:ffff"])
