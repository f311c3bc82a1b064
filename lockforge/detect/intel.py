"""Intel's display devices, by family: most of them are no XPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge import devices
from lockforge.detect.host import has_node
from lockforge.detect.pci import INTEL, of_vendor, read_devices
from lockforge.model.machine import Intel, IntelGpu

if TYPE_CHECKING:
    from lockforge.detect.answers import Answers
    from lockforge.detect.host import Host


def read_intel(answers: Answers, host: Host) -> Intel | None:
    """Give every adapter, for the first is often the one in the processor."""
    found = of_vendor(read_devices(answers), INTEL)
    if not found:
        return None
    return Intel(
        gpus=tuple(_gpu(one.device) for one in found),
        device_node=has_node(answers, host, "dri"),
    )


def _gpu(device: str) -> IntelGpu:
    known = devices.intel_gpu(device)
    return IntelGpu(
        pci_id=f"{INTEL}:{device}",
        family=known.family if known else None,
        xpu_supported=known is not None and known.xpu == "supported",
        unvalidated=known is not None and known.xpu == "unvalidated",
    )
