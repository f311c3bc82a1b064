"""Builders of facts and choices, as they would be detected and made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from packaging.version import Version

from lockforge.model.accelerator import Accelerator
from lockforge.model.choice import Build, Choice, Status, Verdict, Wanted
from lockforge.model.machine import Facts, Interpreter, Libc, Nvidia, NvidiaGpu
from lockforge.model.platforms import PLATFORMS, parse_platform

LINUX = Facts(
    os="linux",
    os_version="Ubuntu 24.04.2 LTS",
    arch="x86_64",
    python=Interpreter(
        version="3.12.11",
        implementation="CPython",
        bits=64,
        machine="x86_64",
        platform="linux-x86_64",
    ),
    libc=Libc(family="glibc", version="2.39", source="interpreter"),
)


def make_facts(**changes: Any) -> Facts:
    """Linux on x86_64 without any GPU, but for the changes."""
    return replace(LINUX, **changes)


def make_nvidia(driver: str | None, *gpus: NvidiaGpu, **others: Any) -> Nvidia:
    source = "none" if driver is None else "sys_module"
    stated = {"driver_source": source, "state": "ok", **others}
    return Nvidia(kernel_driver_version=driver, gpus=gpus, **stated)


def make_build(name: str, **others: Any) -> Build:
    """A build of the catalogue for Linux by its label, or a row of a lock by its name."""
    platform, _, label = name.rpartition("-")
    placed = parse_platform(platform) if platform else PLATFORMS["linux"]
    assert placed is not None
    return Build(
        name=name,
        accelerator=Accelerator(label),
        platform=others.pop("platform", placed),
        pythons=((3, 12),),
        torch=Version("2.13.0"),
        locked=bool(platform),
        **others,
    )


def make_verdict(name: str, status: Status, reason: str, **others: Any) -> Verdict:
    forced, forcible = others.pop("forced", False), others.pop("forcible", True)
    return Verdict(
        build=make_build(name, **others),
        status=status,
        reason=reason,
        forced=forced,
        forcible=forcible,
    )


def make_choice(*verdicts: Verdict, wanted: Wanted | None = None) -> Choice:
    """The choice of the first that is usable, where nothing else is wanted."""
    usable = [one for one in verdicts if one.status == "usable"]
    return Choice(verdicts=verdicts, best=usable[0] if usable else None, wanted=wanted)
