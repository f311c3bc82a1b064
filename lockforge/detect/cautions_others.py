"""What a person should know of AMD's and Intel's GPUs, where nothing else serves the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.detect.judge_others import visible_amd
from lockforge.detect.words import name_amd, name_intel
from lockforge.model.accelerator import Accelerator
from lockforge.model.machine import Caution
from lockforge.model.platforms import PLATFORMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockforge.catalog import Catalog
    from lockforge.model.choice import Choice
    from lockforge.model.machine import AmdGpu, Facts


def amd_cautions(facts: Facts, choice: Choice, catalog: Catalog) -> Iterator[Caution]:
    """Say why AMD's GPUs are not used, where there is no other to be used."""
    gpus = visible_amd(facts)
    if not gpus or _has_gpu_row(choice) or facts.os not in {"linux", "windows"}:
        return
    if unknown := [gpu for gpu in gpus if gpu.gfx is None]:
        yield Caution(
            code="gpu_architecture_unknown",
            text=f"the architecture of {name_amd(unknown)} is not known; state it, such as "
            "LOCKFORGE_AMD_GPU_ARCHITECTURE=gfx1100",
        )
    listed = _listed(gpus, choice, catalog)
    if facts.os == "windows" and listed:
        yield Caution(
            code="no_rocm_wheels_on_windows",
            text=f"PyTorch's ROCm wheels are for Linux alone, also in WSL2, where there are some "
            f"for {name_amd(listed)}",
        )
    elif facts.amd is not None and facts.amd.device_node is False and listed:
        yield Caution(
            code="amd_gpu_without_device_node",
            text=f"there is no /dev/kfd, by which ROCm reaches {name_amd(listed)}; a container "
            "gets it by --device /dev/kfd --device /dev/dri",
        )
    elif not listed and len(unknown) < len(gpus):
        others = [gpu for gpu in gpus if gpu.gfx is not None]
        yield Caution(
            code="amd_gpu_not_in_any_rocm_row",
            text=f"no ROCm build of PyTorch's has kernels for {name_amd(others)}; "
            "HSA_OVERRIDE_GFX_VERSION is no way out, it can hang the machine",
        )


def _has_gpu_row(choice: Choice) -> bool:
    best = choice.best
    return best is not None and best.build.accelerator.kind != "cpu"


def _listed(gpus: tuple[AmdGpu, ...], choice: Choice, catalog: Catalog) -> list[AmdGpu]:
    """Give those GPUs that some ROCm build has kernels for, of the catalogue or of the lock."""
    known = {gfx for one in choice.verdicts for gfx in one.build.gpu_architectures}
    for accelerator in map(Accelerator, catalog.labels):
        torch = catalog.newest_torch(accelerator, PLATFORMS["linux"])
        if accelerator.kind == "rocm" and torch is not None:
            fact = catalog.gpu_architectures(accelerator, torch, PLATFORMS["linux"])
            known.update(fact.architectures if fact else ())
    return [gpu for gpu in gpus if gpu.gfx in known]


def intel_cautions(facts: Facts, choice: Choice) -> Iterator[Caution]:
    """Say which of Intel's GPUs are left alone though they might do, or are not known."""
    gpus = facts.intel.gpus if facts.intel is not None else ()
    if _has_gpu_row(choice):
        return
    if served := [gpu for gpu in gpus if gpu.xpu_supported]:
        if facts.intel is not None and facts.intel.device_node is False:
            yield Caution(
                code="intel_gpu_without_device_node",
                text=f"there is no /dev/dri, by which XPU reaches {name_intel(served)}; a "
                "container gets it by --device /dev/dri",
            )
        return
    if unvalidated := [gpu for gpu in gpus if gpu.unvalidated]:
        yield Caution(
            code="intel_gpu_not_validated_for_xpu",
            text=f"PyTorch may start on {name_intel(unvalidated)}, which nobody validated for XPU; "
            "a row for xpu is taken when it is forced",
        )
    for pci_id in dict.fromkeys(gpu.pci_id for gpu in gpus if gpu.family is None):
        yield Caution(
            code=f"intel_gpu_unknown:{pci_id}",
            text=f"the Intel GPU {pci_id} is not known, and so not taken for one that XPU supports",
        )
