"""What a person should know of the facts and the choice, under short stable codes.

A machine where nothing is odd has none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.detect import visibility
from lockforge.detect.cautions_host import host_cautions
from lockforge.detect.cautions_nvidia import nvidia_cautions
from lockforge.detect.cautions_others import amd_cautions, intel_cautions
from lockforge.detect.judge_cuda import has_driver
from lockforge.detect.judge_host import why_not_host
from lockforge.detect.judge_others import lists_amd
from lockforge.detect.words import listed
from lockforge.model.machine import Caution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockforge.catalog import Catalog
    from lockforge.model.choice import Build, Choice
    from lockforge.model.machine import Facts

_UNREACHED = frozenset({"driver_visible_no_device_nodes", "no_devices"})


def cautions_of(facts: Facts, choice: Choice, catalog: Catalog) -> tuple[Caution, ...]:
    """Give the cautions: of the host, of each vendor's GPUs, and of the choice."""
    return (
        *host_cautions(facts, choice, catalog),
        *_hidden_cautions(facts, choice),
        *nvidia_cautions(facts, choice, catalog),
        *amd_cautions(facts, choice, catalog),
        *intel_cautions(facts, choice),
        *_choice_cautions(facts, choice, catalog),
    )


def _hidden_cautions(facts: Facts, choice: Choice) -> Iterator[Caution]:
    for variable in facts.hidden_by:
        text = (
            f"{variable} hides GPUs of this host, and no row for them is taken; unset it to choose "
            "by what is there"
        )
        if variable == visibility.CONTAINER:
            text = (
                f"{variable} says that this container was started without GPUs, and no row for "
                "them is taken; start it with --gpus all or its like"
            )
        rocm = choice.best is not None and choice.best.build.accelerator.kind == "rocm"
        if variable == visibility.CUDA and rocm:
            text += f"; HIP heeds it as well, unless {visibility.HIP} is set"
        yield Caution(code=f"hidden_by_{variable}", text=text)


def _choice_cautions(facts: Facts, choice: Choice, catalog: Catalog) -> Iterator[Caution]:
    if choice.best is not None and choice.best.build.accelerator.kind != "cpu":
        return
    if partial := [one.build.name for one in choice.verdicts if one.status == "partial"]:
        yield Caution(
            code="rows_cover_some_gpus",
            text=f"{listed(partial)} would serve some of the GPUs and not all, so none of them is "
            "taken by itself; hide the other GPUs, or force a row",
        )
    if name := _can_be_forced(facts, choice, catalog):
        yield Caution(
            code="row_can_be_forced",
            text="no GPU is reached here, where the row may be meant for a machine with one, as on "
            f"a login node or in the making of an image: --force-row {name} takes it all the same",
        )


def _can_be_forced(facts: Facts, choice: Choice, catalog: Catalog) -> str | None:
    """Name the row that lacks nothing but a device, where there are traces of one."""
    kinds = set()
    if facts.nvidia is not None and facts.nvidia.state in _UNREACHED:
        kinds.add("cuda")
    if facts.amd is not None and facts.amd.device_node is False:
        kinds.add("rocm")
    intel = facts.intel
    if intel and intel.device_node is False and any(gpu.xpu_supported for gpu in intel.gpus):
        kinds.add("xpu")
    fitting = (
        one.build
        for one in choice.verdicts
        if one.build.accelerator.kind in kinds and why_not_host(one.build, facts) is None
    )
    return next((one.name for one in fitting if _is_for_devices(one, facts, catalog)), None)


def _is_for_devices(build: Build, facts: Facts, catalog: Catalog) -> bool:
    """Whether all that is known of driver and GPUs speaks for *build*."""
    if build.accelerator.kind == "rocm":
        return lists_amd(build, facts, catalog)
    return build.accelerator.kind != "cuda" or has_driver(build, facts, catalog)
