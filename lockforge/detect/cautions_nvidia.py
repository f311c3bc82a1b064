"""What a person should know of NVIDIA's GPUs and driver, and of the CUDA row chosen for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.detect.builds import catalog_builds, platform_of
from lockforge.detect.judge_cuda import has_kernels, is_stated, needs_jetpack, visible_gpus
from lockforge.detect.words import name_nvidia
from lockforge.model.machine import Caution
from lockforge.model.python import parse_minor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockforge.catalog import Catalog
    from lockforge.model.choice import Build, Choice
    from lockforge.model.machine import Facts, Nvidia, NvidiaState
    from lockforge.model.platforms import Platform
    from lockforge.model.python import PythonMinor

_STATES: dict[NvidiaState, Caution] = {
    "driver_library_mismatch": Caution(
        code="driver_library_mismatch_reboot",
        text="the NVIDIA driver was updated while the old one still runs, and nothing reaches the "
        "GPU until the machine is rebooted",
    ),
    "driver_visible_no_device_nodes": Caution(
        code="driver_visible_no_device_nodes",
        text="the driver of the machine is visible, and there is no /dev/nvidia* to reach a GPU "
        "by; a container gets them by --gpus all or its like",
    ),
    "no_devices": Caution(
        code="nvidia_tools_without_devices",
        text="nvidia-smi runs and finds no device, as on the login node of a cluster",
    ),
    "gpu_without_driver": Caution(
        code="nvidia_gpu_without_driver",
        text="there is an NVIDIA GPU, and its driver is not installed or not loaded",
    ),
    "not_answering": Caution(
        code="nvidia_driver_not_answering",
        text="NVIDIA's tools hang or fail; what is said of the GPUs is from other sources, and "
        "programs may fail to reach them",
    ),
}


def nvidia_cautions(facts: Facts, choice: Choice, catalog: Catalog) -> Iterator[Caution]:
    """Say what is odd about the driver, what is not known of the GPUs, and what ends."""
    if needs_jetpack(facts):
        yield Caution(
            code="jetson_needs_jetpack_wheels",
            text="this is a Jetson older than Thor, and PyTorch's wheels have no kernels for it; "
            "NVIDIA builds torch for its JetPack",
        )
        return
    nvidia = facts.nvidia
    if nvidia is None:
        return
    yield from _state_cautions(facts, choice, nvidia)
    yield from _capability_cautions(facts, nvidia)
    if nvidia.order_unstated:
        yield Caution(
            code="cuda_device_order_unknown",
            text="CUDA_VISIBLE_DEVICES counts GPUs that differ, and CUDA counts them from the "
            "fastest on unless CUDA_DEVICE_ORDER=PCI_BUS_ID is set; set it, for another GPU than "
            f"{name_nvidia(visible_gpus(facts))} may be the one that is visible",
        )
    yield from _kernel_cautions(facts, choice, catalog)
    yield from _end_cautions(facts, choice, catalog)


def _state_cautions(facts: Facts, choice: Choice, nvidia: Nvidia) -> Iterator[Caution]:
    stated = {one.variable for one in facts.overrides}
    if nvidia.state == "gpu_without_driver" and _sources(nvidia) <= stated:
        yield Caution(
            code="nvidia_driver_unknown",
            text="the GPUs are stated and their driver is not known; state it as well, by "
            "LOCKFORGE_CUDA_DRIVER_VERSION",
        )
    elif nvidia.state in _STATES:
        yield _STATES[nvidia.state]
    elif nvidia.state == "tools_without_driver" and _is_cpu(choice):
        # Where another vendor's GPU serves, the tools are but left over.
        yield Caution(
            code="nvidia_tools_without_driver",
            # It may have said so, or rubbish, or nothing at all.
            text="nvidia-smi is here, and nothing tells of a driver; if there is an NVIDIA GPU, "
            "install or load its driver",
        )


def _is_cpu(choice: Choice) -> bool:
    return choice.best is None or choice.best.build.accelerator.kind == "cpu"


def _sources(nvidia: Nvidia) -> set[str | None]:
    return {gpu.compute_cap_source for gpu in nvidia.gpus}


def _capability_cautions(facts: Facts, nvidia: Nvidia) -> Iterator[Caution]:
    gpus = visible_gpus(facts)
    stated = {None, *(one.variable for one in facts.overrides)}
    if looked_up := [gpu for gpu in gpus if gpu.compute_cap_source not in stated]:
        yield Caution(
            code="compute_cap_from_table",
            text="the driver does not tell the compute capability; that of "
            f"{name_nvidia(looked_up)} is from a table",
        )
    unknown = [gpu for gpu in gpus if gpu.compute_cap is None]
    if unknown or (not nvidia.gpus and is_stated(nvidia, facts)):
        yield Caution(
            code="gpu_architecture_unknown",
            text=f"which kernels {name_nvidia(unknown) or 'the GPU'} needs is not known; state its "
            "compute capability, such as LOCKFORGE_CUDA_ARCH=8.6",
        )


def _kernel_cautions(facts: Facts, choice: Choice, catalog: Catalog) -> Iterator[Caution]:
    """Say that no build has kernels for a GPU, whatever the driver: of the rows or catalogue."""
    platform = platform_of(facts)
    known = [gpu for gpu in visible_gpus(facts) if gpu.compute_cap is not None]
    if not _is_cpu(choice) or platform is None or not known:
        return
    builds = [
        *(one.build for one in choice.verdicts),
        *catalog_builds(catalog, platform, None),
    ]
    cuda = [
        one
        for one in builds
        if one.accelerator.kind == "cuda" and one.platform.name == platform.name
    ]
    lost = [
        gpu for gpu in known if not any(has_kernels(build, facts, catalog, [gpu]) for build in cuda)
    ]
    if lost:
        yield Caution(
            code="nvidia_gpu_not_in_any_cuda_row",
            text=f"no CUDA build of PyTorch's that is known has kernels for {name_nvidia(lost)}",
        )


def _end_cautions(facts: Facts, choice: Choice, catalog: Catalog) -> Iterator[Caution]:
    """Say that the row ends, where nothing that goes on serves these GPUs, whatever the driver."""
    build = choice.best.build if choice.best is not None else None
    platform = platform_of(facts)
    if build is None or platform is None or build.accelerator.kind != "cuda":
        return
    end = catalog.support_end(build.accelerator)
    gpus = name_nvidia(visible_gpus(facts))
    if end is None or not gpus or _is_carried_on(facts, platform, catalog):
        return
    yield Caution(
        code=f"row_support_ends:{build.accelerator.label}:{end.ends}",
        text=f"torch {end.last} is the last that is built for {build.accelerator.label}, and of "
        f"the accelerators without such an end none has kernels for all GPUs of this host: {gpus}",
    )


def _is_carried_on(facts: Facts, platform: Platform, catalog: Catalog) -> bool:
    """Whether an accelerator that torch goes on to be built for serves the GPUs."""
    cuda = [
        build
        for build in catalog_builds(catalog, platform, None)
        if build.accelerator.kind == "cuda"
    ]
    newest = max((minor for one in cuda if (minor := _judged_by(one, catalog))), default=None)
    return any(
        _judged_by(build, catalog) == newest
        and catalog.support_end(build.accelerator) is None
        and has_kernels(build, facts, catalog)
        for build in cuda
    )


def _judged_by(build: Build, catalog: Catalog) -> PythonMinor | None:
    """Give the torch minor whose kernels are known for *build*.

    An accelerator whose kernels are known of old torches alone is none that is known to go on.
    """
    assert build.torch is not None
    fact = catalog.gpu_architectures(build.accelerator, build.torch, build.platform)
    if fact is None:
        return None
    return parse_minor(fact.judged_by) if fact.judged_by else (build.torch.major, build.torch.minor)
