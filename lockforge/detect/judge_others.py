"""Whether the AMD GPUs of a host run a ROCm build, or its Intel GPUs an XPU build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.detect import visibility
from lockforge.detect.kernels import torches_of
from lockforge.detect.words import name_amd, name_intel, tell_kernels

if TYPE_CHECKING:
    from lockforge.catalog import Catalog
    from lockforge.model.choice import Build, Status
    from lockforge.model.machine import AmdGpu, Facts

# One of them did, and CUDA's is meant for NVIDIA's GPUs where another is named.
_HIDING = (visibility.ROCR, visibility.HIP, visibility.CUDA)


def judge_rocm(build: Build, facts: Facts, catalog: Catalog) -> tuple[Status, str]:
    """Judge *build* by its list of architectures: one GPU on it is enough.

    A GPU that is not on it, such as that of the processor, is left alone by ROCm.
    """
    label = build.accelerator.label
    if facts.amd is None or not facts.amd.gpus:
        return "refused", "no AMD GPU was found"
    gpus = visible_amd(facts)
    if not gpus:
        hiding = next((name for name in _HIDING if name in facts.hidden_by), "a variable")
        return "refused", f"{hiding} hides {name_amd(facts.amd.gpus)}"
    if facts.amd.device_node is False:
        return "refused", f"there is no /dev/kfd, by which alone ROCm reaches {name_amd(gpus)}"
    known, told_by = _architectures(build, catalog)
    if not known:
        return "refused", f"which GPUs {label} has kernels for is not known"
    served = [gpu for gpu in gpus if gpu.gfx in known]
    others = [gpu for gpu in gpus if gpu.gfx not in known]
    text = tell_kernels(
        label,
        served=name_amd(served),
        lost=name_amd(gpu for gpu in others if gpu.gfx is not None),
        unknown=name_amd(gpu for gpu in others if gpu.gfx is None),
        code="" if served else f"{' '.join(known)}{told_by}",
    )
    return "usable" if served else "refused", text


def lists_amd(build: Build, facts: Facts, catalog: Catalog) -> bool:
    """Whether *build* has kernels for one of the visible GPUs at least."""
    known, _ = _architectures(build, catalog)
    return any(gpu.gfx in known for gpu in visible_amd(facts))


def visible_amd(facts: Facts) -> tuple[AmdGpu, ...]:
    """Give the AMD GPUs that a program would see."""
    return tuple(gpu for gpu in facts.amd.gpus if gpu.visible) if facts.amd is not None else ()


def _architectures(build: Build, catalog: Catalog) -> tuple[tuple[str, ...], str]:
    """Give the gfx names that a build has kernels for, none if unknown, and whose list to name."""
    for torch in torches_of(build, catalog):
        if known := catalog.gpu_architectures(build.accelerator, torch, build.platform):
            return known.architectures, ""
    return build.gpu_architectures, " (the list in the lock)"


def judge_xpu(facts: Facts) -> tuple[Status, str]:
    """Judge by the families of Intel's GPUs that PyTorch supports."""
    gpus = facts.intel.gpus if facts.intel is not None else ()
    if not gpus:
        return "refused", "no Intel GPU was found"
    served = [gpu for gpu in gpus if gpu.xpu_supported]
    if served and facts.intel is not None and facts.intel.device_node is False:
        return "refused", f"there is no /dev/dri, by which alone XPU reaches {name_intel(served)}"
    if served:
        return "usable", f"PyTorch supports {name_intel(served)}"
    return "refused", (
        "xpu needs an Intel Arc, a Core Ultra with Arc graphics or a Data Center GPU Max; this "
        f"host has {name_intel(gpus)}"
    )
