"""Everything that was said by a machine -> Facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.detect.amd import read_amd
from lockforge.detect.answers import Answers
from lockforge.detect.apple import read_apple
from lockforge.detect.host import read_host, read_variables
from lockforge.detect.intel import read_intel
from lockforge.detect.nvidia import read_nvidia
from lockforge.detect.overrides import apply_overrides, read_overrides
from lockforge.model.machine import Facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.catalog import Catalog
    from lockforge.model.probe import Asked


def read_facts(asked: Sequence[Asked], catalog: Catalog) -> Facts:
    """Read the facts out of the answers; raises UsageError for a malformed override alone.

    *catalog* tells the driver that CONDA_OVERRIDE_CUDA stands for.
    """
    answers = Answers(asked)
    overrides = read_overrides(read_variables(answers))
    host = read_host(answers)
    nvidia, hides_nvidia = read_nvidia(answers, host)
    amd, hides_amd = read_amd(answers, host, beside_nvidia=nvidia is not None and bool(nvidia.gpus))
    facts = Facts(
        os=host.os,
        os_version=host.os_version,
        arch=host.arch,
        python=host.python,
        libc=host.libc,
        wsl2=host.wsl2,
        container=host.container,
        tegra=host.tegra,
        nvidia=nvidia,
        amd=amd,
        intel=read_intel(answers, host),
        apple=read_apple(answers, host),
        hidden_by=tuple(dict.fromkeys((*hides_nvidia, *hides_amd))),
    )
    return apply_overrides(facts, overrides, catalog)


def variables_of(asked: Sequence[Asked]) -> dict[str, str]:
    """Give the variables that were looked up and are set."""
    return read_variables(Answers(asked))
