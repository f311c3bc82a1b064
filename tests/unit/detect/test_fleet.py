"""Many hosts, and the rows that they need."""

from __future__ import annotations

from dataclasses import replace

from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.detect.choose import would_serve
from lockforge.detect.fleet import plan_fleet
from lockforge.model.accelerator import Accelerator
from lockforge.model.choice import Build
from lockforge.model.machine import Facts, Libc
from lockforge.model.platforms import PLATFORMS
from tests.support.hosts import amd, linux, mac, nvidia, python, windows

CATALOG = load_catalog()
AMPERE = linux(nvidia=nvidia("580.1", "8.6"))
AMPERE_OLD_DRIVER = linux(nvidia=nvidia("535.1", "8.6"))
PASCAL = linux(nvidia=nvidia("580.1", "6.1"))
BLACKWELL = linux(nvidia=nvidia("580.1", "12.0"))


def row(label: str, platform: str = "linux", size: int = 100) -> Build:
    return Build(
        name=f"{platform}-{label}",
        accelerator=Accelerator(label),
        platform=PLATFORMS[platform],
        pythons=((3, 12),),
        torch=Version("2.11.0"),
        size=size,
        locked=True,
    )


def cheapest(hosts: list[Facts], *builds: Build) -> tuple[str, ...]:
    named = [(f"host{number}", facts) for number, facts in enumerate(hosts)]
    return plan_fleet(named, builds, CATALOG).cheapest


def test_every_host_gets_its_best_row() -> None:
    """Rows that no host gets are told, in the order of the lock."""
    hosts = [("a", AMPERE), ("b", PASCAL), ("c", linux()), ("d", mac())]
    builds = [row("cpu"), row("cu128"), row("cu130"), row("cu126"), row("cpu", "mac"), row("xpu")]
    fleet = plan_fleet(hosts, builds, CATALOG)
    assert [(plan.host, plan.row) for plan in fleet.hosts] == [
        ("a", "linux-cu130"),
        ("b", "linux-cu126"),
        ("c", "linux-cpu"),
        ("d", "mac-cpu"),
    ]
    assert (fleet.unserved, fleet.unused_rows) == ((), ("linux-cu128", "linux-xpu"))
    assert not any(plan.fallback for plan in fleet.hosts)
    assert all(plan.reason and plan.would_serve is None for plan in fleet.hosts)


def test_hosts_that_no_row_serves() -> None:
    """Each has the reason, and the accelerator of the catalogue that would serve it."""
    old = linux(libc=Libc(family="glibc", version="2.17", source="ldd"))
    hosts = [("pascal", PASCAL), ("windows", windows()), ("old", old), ("power", linux("ppc64le"))]
    fleet = plan_fleet(hosts, [row("cu130")], CATALOG)
    assert {plan.host: (plan.row, plan.would_serve) for plan in fleet.unserved} == {
        "pascal": (None, "cu126"),
        "windows": (None, "cpu"),
        "old": (None, None),
        "power": (None, None),
    }
    reasons = {plan.host: plan.reason for plan in fleet.unserved}
    assert "no kernels for GPU of 6.1 (6.1)" in reasons["pascal"]
    assert reasons["windows"] == "no row is for win"
    assert reasons["old"] == "glibc 2.28 is needed, and this host has 2.17"
    assert reasons["power"] == "torch has no wheels for linux-ppc64le"
    assert fleet.cheapest == ()


def test_a_fallback_is_named() -> None:
    """A host whose GPU goes unused is served, and it is said what would use it."""
    hosts = [("nvidia", PASCAL), ("amd", linux(amd=amd("gfx1036"))), ("none", linux())]
    fleet = plan_fleet(hosts, [row("cu130"), row("cpu")], CATALOG)
    assert [(plan.row, plan.fallback) for plan in fleet.hosts] == [
        ("linux-cpu", True),
        ("linux-cpu", True),
        ("linux-cpu", False),
    ]
    assert fleet.hosts[0].reason.startswith("cu130 has no kernels for ")
    assert fleet.hosts[0].reason.endswith("; a row for cu126 would use the GPU")
    assert "would use" not in fleet.hosts[1].reason


def test_the_row_to_lock() -> None:
    """It is named in full, and with the Python that nothing is locked for."""
    newer = replace(linux(), python=python("linux-x86_64", version="3.13.1"))
    hosts = [("mac", mac()), ("newer", newer)]
    fleet = plan_fleet(hosts, [row("cu130")], CATALOG)
    assert [plan.to_lock for plan in fleet.hosts] == ["mac-cpu", "linux-cpu with Python 3.13"]


def test_the_accelerator_that_would_serve() -> None:
    """It is that of the newest torch that has one for the host's GPU and driver."""
    assert would_serve(AMPERE, CATALOG) == "cu132"
    assert would_serve(linux(amd=amd("gfx1151")), CATALOG) == "rocm7.2"
    assert would_serve(mac(), CATALOG) == "cpu"
    assert would_serve(linux("riscv64"), CATALOG) is None


def test_one_row_may_serve_all() -> None:
    """The fewest rows come before the best row of each."""
    builds = (row("cu130"), row("cu128"), row("cu126"), row("cpu"))
    assert cheapest([AMPERE, AMPERE_OLD_DRIVER], *builds) == ("linux-cu128",)
    assert cheapest([AMPERE, PASCAL], *builds) == ("linux-cu126",)
    assert cheapest([BLACKWELL, PASCAL], *builds) == ("linux-cu130", "linux-cu126")
    assert cheapest([AMPERE, linux()], *builds) == ("linux-cu130", "linux-cpu")


def test_the_cpu_does_not_stand_in_for_a_gpu() -> None:
    """A host whose GPU is used is not put on the CPU to save a row."""
    assert cheapest([AMPERE, linux()], row("cu130", size=9999), row("cpu")) == (
        "linux-cu130",
        "linux-cpu",
    )


def test_of_as_many_rows_the_smallest_download() -> None:
    """Sizes decide among equals, and preference where they are the same too."""
    assert cheapest([AMPERE], row("cu130", size=300), row("cu126", size=200)) == ("linux-cu126",)
    assert cheapest([AMPERE], row("cu126"), row("cu130")) == ("linux-cu130",)


def test_the_set_is_exact_where_greed_is_not() -> None:
    """Two rows that part the hosts are found beside one that serves most of them."""
    hosts = [
        replace(AMPERE, python=python("linux-x86_64", version=f"3.{minor}.1"))
        for minor in (9, 10, 11, 12, 13, 14)
    ]

    def serving(label: str, *minors: int) -> Build:
        return replace(row(label), pythons=tuple((3, minor) for minor in minors))

    found = cheapest(
        hosts,
        serving("cu130", 10, 11, 12, 13),
        serving("cu128", 9, 10, 11),
        serving("cu126", 12, 13, 14),
    )
    assert found == ("linux-cu128", "linux-cu126")


def test_nothing_to_plan() -> None:
    """Without hosts every row is unused."""
    fleet = plan_fleet([], [row("cpu")], CATALOG)
    assert (fleet.hosts, fleet.unused_rows, fleet.cheapest) == ((), ("linux-cpu",), ())
