"""A Mac's processor, and whether this Python was built for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lockforge.model.machine import Apple

if TYPE_CHECKING:
    from lockforge.detect.answers import Answers
    from lockforge.detect.host import Host

_VALUE = re.compile(r"^([a-z_0-9.]{1,60}): (\S[^\n]{0,100})$", re.ASCII | re.MULTILINE)


def read_apple(answers: Answers, host: Host) -> Apple | None:
    """Give None for any other machine, and for a Mac of which nothing was told."""
    if host.os != "macos":
        return None
    # It ends with an error when it does not know one of the names, and tells the others.
    values = dict(_VALUE.findall(answers.text("sysctl")))
    hardware = _hardware(answers, values, host.arch)
    if hardware is None:
        return None
    told = values.get("sysctl.proc_translated") == "1"
    # The tool may run as built for the processor while this Python does not.
    translated = host.arch != "arm64" and (told or (hardware, host.arch) == ("arm64", "x86_64"))
    return Apple(
        chip=values.get("machdep.cpu.brand_string", "").strip() or None,
        translated=translated,
        hardware_arch=hardware,
        mps_usable=hardware == "arm64" and not translated,
    )


def _hardware(answers: Answers, values: dict[str, str], arch: str | None) -> str | None:
    arm = "RELEASE_ARM64" in answers.said("kernel") or arch == "arm64"
    return "arm64" if arm or values.get("hw.optional.arm64") == "1" else arch
