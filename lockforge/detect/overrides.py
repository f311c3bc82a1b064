"""What the user states by variables in place of what would be detected.

lockforge's own come before those that people set for uv, and these before conda's.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from lockforge import devices
from lockforge.detect import visibility
from lockforge.detect.builds import driver_platform
from lockforge.errors import UsageError
from lockforge.model.accelerator import Accelerator, is_label
from lockforge.model.choice import Wanted
from lockforge.model.machine import Amd, AmdGpu, Nvidia, NvidiaGpu, Override
from lockforge.model.platforms import PLATFORMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lockforge.catalog import Catalog
    from lockforge.model.machine import Facts

DRIVERS = ("LOCKFORGE_CUDA_DRIVER_VERSION", "UV_CUDA_DRIVER_VERSION")
CAPABILITIES = "LOCKFORGE_CUDA_ARCH"
AMD_ARCHITECTURES = ("LOCKFORGE_AMD_GPU_ARCHITECTURE", "UV_AMD_GPU_ARCHITECTURE")
CONDA = "CONDA_OVERRIDE_CUDA"
ROW = "LOCKFORGE_ROW"
BACKEND = "UV_TORCH_BACKEND"
VARIABLES = (*DRIVERS, CAPABILITIES, *AMD_ARCHITECTURES, CONDA, ROW, BACKEND)

_VERSION = re.compile(r"\d{1,4}(?:\.\d{1,6}){0,3}", re.ASCII)
_CUDA = re.compile(r"(?P<major>\d{1,2})(?:\.(?P<minor>\d{1,2})(?:\.\d{1,4})?)?", re.ASCII)
_CAPABILITY = re.compile(r"[1-9]\d?\.\d", re.ASCII)
# What hides NVIDIA's GPUs counts no more where it is stated which there are, or that none counts.
_HIDING = frozenset({visibility.CUDA, visibility.CONTAINER})
_OLDEST = 8
"""The first CUDA that an accelerator's label is known for."""
_GFX = re.compile(r"gfx(?!000)[0-9a-f]{3,5}", re.ASCII)


class Overrides(NamedTuple):
    """The variables that are set, read and checked; of several for one fact the first."""

    driver: Override | None = None
    capabilities: Override | None = None
    amd: Override | None = None
    conda: Override | None = None
    """The newest CUDA to reckon with; the empty text for none at all."""


def read_overrides(variables: Mapping[str, str]) -> Overrides:
    """Read the overrides; raises UsageError for a malformed one."""
    return Overrides(
        driver=_first(variables, DRIVERS, _VERSION, "one driver version such as 580.95.05"),
        capabilities=_first(
            variables,
            (CAPABILITIES,),
            _CAPABILITY,
            "compute capabilities such as 8.6 or 8.6,9.0",
            several=True,
        ),
        amd=_first(
            variables,
            AMD_ARCHITECTURES,
            _GFX,
            "architectures such as gfx1100 or gfx1100,gfx1201",
            several=True,
        ),
        conda=_read_conda(variables),
    )


def wanted_from(variables: Mapping[str, str]) -> Wanted | None:
    """Give the row or accelerator asked for by a variable; raises UsageError for none such."""
    if row := variables.get(ROW, "").strip():
        return Wanted(by=ROW, row=row)
    label = variables.get(BACKEND, "").strip()
    if label in {"", "auto"}:
        return None
    if not is_label(label):
        raise _malformed(BACKEND, label, "auto, or an accelerator such as cu130 or cpu")
    return Wanted(by=BACKEND, accelerator=label)


def apply_overrides(facts: Facts, overrides: Overrides, catalog: Catalog) -> Facts:
    """Put what the user stated in the place of what was detected, and record it.

    *catalog* tells the driver that the CUDA of conda's variable needs.
    """
    used: list[Override] = []
    nvidia, hidden = facts.nvidia, list(facts.hidden_by)
    if driver := overrides.driver:
        nvidia = _with_driver(nvidia, driver.value, driver.variable)
        used.append(driver)
    elif (conda := overrides.conda) and conda.value:
        nvidia = _with_driver(nvidia, _floor(conda.value, facts, catalog), conda.variable)
        used.append(conda)
    elif conda and not overrides.capabilities:
        used.append(conda)
        if nvidia:
            gpus = tuple(gpu._replace(visible=False) for gpu in nvidia.gpus)
            nvidia = nvidia._replace(state="hidden", gpus=gpus)
            hidden = [*(name for name in hidden if name not in _HIDING), CONDA]
    if nvidia and any(one.variable == nvidia.driver_source for one in used):
        # Who states a driver means a GPU, though this container was started without.
        hidden = [name for name in hidden if name != visibility.CONTAINER]
    if capabilities := overrides.capabilities:
        nvidia = _with_capabilities(nvidia, capabilities)
        used.append(capabilities)
        hidden = [name for name in hidden if name not in _HIDING]
    amd = facts.amd
    if overrides.amd:
        amd = _amd(overrides.amd)
        used.append(overrides.amd)
    return replace(facts, nvidia=nvidia, amd=amd, hidden_by=tuple(hidden), overrides=tuple(used))


def _first(
    variables: Mapping[str, str],
    names: tuple[str, ...],
    pattern: re.Pattern[str],
    expected: str,
    *,
    several: bool = False,
) -> Override | None:
    """Check all that are set, and give the first; an empty one counts as not set."""
    found = None
    for name in names:
        value = variables.get(name, "").strip()
        if not value:
            continue
        parts = [part.strip() for part in value.split(",")] if several else [value]
        if not all(map(pattern.fullmatch, parts)):
            raise _malformed(name, value, expected)
        found = found or Override(variable=name, value=",".join(parts))
    return found


def _read_conda(variables: Mapping[str, str]) -> Override | None:
    value = variables.get(CONDA)
    if value is None:
        return None
    if value.strip() and not _CUDA.fullmatch(value.strip()):
        raise _malformed(CONDA, value, "a CUDA version such as 12.4, or nothing for no CUDA")
    return Override(variable=CONDA, value=value.strip())


def _malformed(name: str, value: str, expected: str) -> UsageError:
    return UsageError(
        f"not understood: {value[:80]!r}", where=name, hint=f"give {expected}, or unset {name}"
    )


def _with_driver(nvidia: Nvidia | None, version: str | None, source: str) -> Nvidia:
    """Trust the user that there is a driver, whatever keeps it from answering here."""
    if nvidia is None:
        nvidia = Nvidia(kernel_driver_version=None, driver_source="none", state="ok", gpus=())
    # That a reboot is due stays worth saying.
    state = nvidia.state if nvidia.state == "driver_library_mismatch" else "ok"
    return nvidia._replace(kernel_driver_version=version, driver_source=source, state=state)


def _floor(cuda: str, facts: Facts, catalog: Catalog) -> str | None:
    """Give the lowest driver that serves a version of CUDA, which is all that conda's tells."""
    match = _CUDA.fullmatch(cuda)
    assert match is not None
    platform = driver_platform(facts, PLATFORMS["win" if facts.os == "windows" else "linux"])
    # A major that is newer than the catalogue needs at least the driver of the one before.
    for major in range(int(match["major"]), _OLDEST - 1, -1):
        exact = f"cu{major}{match['minor']}"
        label = exact if is_label(exact) else f"cu{major}0"
        if is_label(label) and (floor := catalog.driver_floor(Accelerator(label), platform)):
            return floor
    return None


def _with_capabilities(nvidia: Nvidia | None, override: Override) -> Nvidia:
    gpus = tuple(
        NvidiaGpu(name=None, compute_cap=capability, compute_cap_source=override.variable)
        for capability in override.value.split(",")
    )
    if nvidia is None:
        return Nvidia(
            kernel_driver_version=None, driver_source="none", state="gpu_without_driver", gpus=gpus
        )
    keep = nvidia.kernel_driver_version is None or nvidia.state == "driver_library_mismatch"
    state = nvidia.state if keep else "ok"
    return nvidia._replace(state=state, gpus=gpus, order_unstated=False)


def _amd(override: Override) -> Amd:
    gpus = tuple(
        AmdGpu(gfx=gfx, integrated=devices.is_integrated(gfx)) for gfx in override.value.split(",")
    )
    return Amd(gpus=gpus, source=override.variable)
