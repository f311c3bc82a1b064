"""Hosts made by hand, for tests of what is chosen for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lockforge.model.machine import Amd, AmdGpu, Apple, Facts, Interpreter, Libc, Nvidia, NvidiaGpu


def python(platform: str, *, version: str = "3.12.11", machine: str = "x86_64", **more: Any) -> Any:
    """Give an interpreter, CPython of 64 bits if nothing else is said."""
    return Interpreter(
        **{
            "version": version,
            "implementation": "CPython",
            "bits": 64,
            "machine": machine,
            "platform": platform,
            **more,
        }
    )


def linux(machine: str = "x86_64", **more: Any) -> Facts:
    """Give a Linux host with glibc 2.39 and Python 3.12, and no GPU unless *more* has one."""
    facts = Facts(
        os="linux",
        os_version="Ubuntu 24.04",
        arch=machine,
        python=python(f"linux-{machine}", machine=machine),
        libc=Libc(family="glibc", version="2.39", source="ldd"),
    )
    return replace(facts, **more)


def windows(**more: Any) -> Facts:
    facts = Facts(
        os="windows",
        os_version="10.0.26100",
        arch="AMD64",
        python=python("win-amd64", machine="AMD64"),
    )
    return replace(facts, **more)


def mac(version: str = "15.4", **more: Any) -> Facts:
    facts = Facts(
        os="macos",
        os_version=version,
        arch="arm64",
        python=python("macosx-11.0-arm64", machine="arm64"),
        apple=Apple(chip="Apple M3", translated=False, hardware_arch="arm64", mps_usable=True),
    )
    return replace(facts, **more)


def nvidia(driver: str | None, *gpus: NvidiaGpu | str, **more: Any) -> Nvidia:
    """Give NVIDIA's side of a host; a GPU may be given by its capability alone."""
    found = Nvidia(
        kernel_driver_version=driver,
        driver_source="sys_module" if driver else "none",
        state="ok",
        gpus=tuple(gpu if isinstance(gpu, NvidiaGpu) else _gpu(gpu) for gpu in gpus),
    )
    return found._replace(**more)


def _gpu(capability: str) -> NvidiaGpu:
    return NvidiaGpu(name=f"GPU of {capability}", compute_cap=capability)


def amd(*gfx: str | None, **more: Any) -> Amd:
    gpus = tuple(AmdGpu(gfx=one, integrated=None, pci_id="1002:164e") for one in gfx)
    return Amd(gpus=gpus, source="rocm_agent_enumerator")._replace(**more)
