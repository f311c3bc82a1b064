"""AMD's GPUs, by architecture; agents that are CPUs and instruction sets are none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lockforge import devices
from lockforge.detect import visibility
from lockforge.detect.host import has_node, read_variables
from lockforge.detect.pci import AMD, of_vendor, read_devices
from lockforge.model.machine import Amd, AmdGpu

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockforge.detect.answers import Answers
    from lockforge.detect.host import Host
    from lockforge.detect.pci import Device

# The features after a colon, as in gfx90a:sramecc+:xnack-, are settings of one GPU.
_GFX = re.compile(r"(gfx[0-9a-f]{3,5})(?::[\w+:-]{1,80})?", re.ASCII)
_CPU = "gfx000"
# `name value` a line in the kernel's files, `name: value` in a list of many nodes.
_PROPERTY = re.compile(
    r"(?<!\w)(?P<name>gfx_target_version|device_id)['\"]?(?::[ ]*|[ \t]+)['\"]?"
    r"(?P<value>\d{1,7})(?!\w)",
    re.ASCII,
)
_AGENT = re.compile(r"^Agent \d{1,4}\b.*$", re.ASCII | re.MULTILINE)
_FIELD = re.compile(r"^ {1,8}([A-Z][A-Za-z ]{0,40}):[ \t]+(\S[^\n]{0,200})$", re.MULTILINE)


def read_amd(
    answers: Answers, host: Host, *, beside_nvidia: bool = False
) -> tuple[Amd | None, tuple[str, ...]]:
    """Give AMD's GPUs with their source, and the variable that hides all of them.

    Beside GPUs of NVIDIA's, CUDA_VISIBLE_DEVICES is taken to be meant for those.
    """
    found = read_agents(answers)
    gpus, source = found or (_of_bus(answers), "PCI id table")
    if not gpus:
        return None, ()
    variables = read_variables(answers)
    if beside_nvidia:
        variables.pop(visibility.CUDA, None)
    if source.startswith("rocminfo"):
        # It lists what this variable leaves.
        variables.pop(visibility.ROCR, None)
    visible = visibility.visible_to_hip(variables, len(gpus))
    amd = Amd(
        gpus=tuple(gpu._replace(visible=number in visible) for number, gpu in enumerate(gpus)),
        source=source,
        device_node=has_node(answers, host, "kfd"),
    )
    return amd, () if visible else (visibility.hides_from_hip(variables, len(gpus)),)


def read_agents(answers: Answers) -> tuple[tuple[AmdGpu, ...], str] | None:
    """Give the GPUs that the kernel or ROCm lists, with who did; None where neither lists any."""
    sources = (
        (read_topology(answers.said("kfd")), "kfd"),
        (read_enumerator(answers.text("rocm_agent_enumerator")), "rocm_agent_enumerator"),
        (read_rocminfo(answers.text("rocminfo")), "rocminfo"),
        (
            read_rocminfo(answers.text("rocminfo-dxg")),
            "rocminfo with HSA_ENABLE_DXG_DETECTION=1",
        ),
    )
    return next(((gpus, source) for gpus, source in sources if gpus), None)


def read_topology(text: str) -> tuple[AmdGpu, ...]:
    """Read the properties of the nodes that the kernel's compute driver knows."""
    found: list[AmdGpu] = []
    for match in _PROPERTY.finditer(text):
        if match["name"] == "gfx_target_version":
            found.append(_agent(_decode(int(match["value"]))))
        elif found and found[-1].pci_id is None:
            device = f"{int(match['value']):04x}"
            known = devices.amd_gpu(device)
            found[-1] = found[-1]._replace(
                pci_id=f"{AMD}:{device}", name=known.name if known else None
            )
    return tuple(gpu for gpu in found if gpu.gfx != _CPU)


def _decode(version: int) -> str:
    """Spell a target version as the compiler does: 90010 is gfx90a."""
    major, minor, stepping = version // 10_000, version // 100 % 100, version % 100
    return f"gfx{major}{minor:x}{stepping:x}"


def read_enumerator(text: str) -> tuple[AmdGpu, ...]:
    """Read ``rocm_agent_enumerator``: one agent a line."""
    return tuple(_agent(gfx) for line in text.splitlines() if (gfx := read_gfx(line)))


def read_rocminfo(text: str) -> tuple[AmdGpu, ...]:
    """Read the agents of ``rocminfo`` that are GPUs."""
    return tuple(_rocminfo_gpus(text))


def _rocminfo_gpus(text: str) -> Iterator[AmdGpu]:
    for block in _AGENT.split(text)[1:]:
        fields: dict[str, str] = {}
        for key, value in _FIELD.findall(block):
            # The instruction sets below the agent have names of their own.
            fields.setdefault(key, value.strip())
        gfx = read_gfx(fields.get("Name", ""))
        if gfx and fields.get("Device Type") == "GPU":
            yield _agent(gfx)._replace(name=fields.get("Marketing Name"))


def read_gfx(text: str) -> str | None:
    """Read the architecture of a GPU; ``gfx000`` and ``gfx11-generic`` are none."""
    match = _GFX.fullmatch(text.strip())
    return match[1] if match and match[1] != _CPU else None


def _agent(gfx: str) -> AmdGpu:
    return AmdGpu(gfx=gfx, integrated=devices.is_integrated(gfx))


def _of_bus(answers: Answers) -> tuple[AmdGpu, ...]:
    return tuple(map(_of_device, of_vendor(read_devices(answers), AMD)))


def _of_device(device: Device) -> AmdGpu:
    known = devices.amd_gpu(device.device)
    return AmdGpu(
        gfx=known.gfx if known else None,
        integrated=known.integrated if known else None,
        name=device.name or (known.name if known else None),
        pci_id=f"{AMD}:{device.device}",
    )
