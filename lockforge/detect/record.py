"""Saved facts: YAML or JSON -> Facts, and back.

A document is ``{"version": 1, "facts": {...}}``. What else stands beside the two is not read, so
that the output of ``detect --json`` is such a document as well. Keys are left out where they say
nothing, as `facts_to_data` shows. Who writes facts by hand may leave out more: what told them, and
of Python all but ``version``, ``bits`` and ``arch``.
"""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import yaml

from lockforge.detect.document import Form, Table
from lockforge.detect.facts_data import facts_to_data
from lockforge.errors import ConfigError, Fault
from lockforge.model.machine import (
    Amd,
    AmdGpu,
    Apple,
    Facts,
    Intel,
    IntelGpu,
    Interpreter,
    Libc,
    Nvidia,
    NvidiaGpu,
    NvidiaState,
    Override,
)
from lockforge.model.platforms import System
from lockforge.standards.yaml_documents import NotYamlError, parse_yaml

FORMAT = 1
"""The revision of the document."""
STATED = "stated"
"""What told a fact that a person wrote down without saying."""

_DRIVER = Form(pattern=re.compile(r"\d+(\.\d+)*", re.ASCII), example="'580.95.05'")
_MINOR = Form(pattern=re.compile(r"\d+\.\d+", re.ASCII), example="'8.6'")
_PYTHON = Form(pattern=re.compile(r"\d+\.\d+([^\d\s]\S*)?", re.ASCII), example="'3.12'")
_GFX = Form(pattern=re.compile(r"gfx[0-9a-f]+", re.ASCII), example="gfx1100")
_PCI_ID = Form(pattern=re.compile(r"[0-9a-f]{4}:[0-9a-f]{4,8}"), example="'8086:e20b'")


def render_saved(facts: Facts) -> str:
    """Write the YAML document of *facts*."""
    document = {"version": FORMAT, "facts": facts_to_data(facts)}
    text: str = yaml.safe_dump(document, sort_keys=False)
    return text


def _parse(text: str) -> Any:
    """Read YAML or JSON, which escapes characters beyond 16 bits as YAML does not."""
    if text.lstrip().startswith("{"):
        try:
            document = json.loads(text)
            # One half of such an escape is no character, and could not be written again.
            json.dumps(document, ensure_ascii=False).encode("utf-8")
        except (ValueError, RecursionError):
            return parse_yaml(text)
        return document
    return parse_yaml(text)


def is_other_document(text: str) -> bool:
    """Whether *text* is a document that does not even begin to be a saved one."""
    try:
        document = _parse(text)
    except NotYamlError:
        return False
    return isinstance(document, dict) and not {"version", "facts"} & document.keys()


def parse_saved(text: str, *, where: str) -> Facts:
    """Read a saved document, YAML or JSON; raises ConfigError with all of its faults."""
    try:
        document = _parse(text)
    except NotYamlError as error:
        raise _error(where, where, f"not YAML: {error}") from error
    if not isinstance(document, dict):
        raise _error(where, where, "expected a table with `version` and `facts`")
    version = document.get("version")
    if isinstance(version, int) and version > FORMAT:
        raise _error(
            where,
            "version",
            f"found {version}, and this lockforge reads up to {FORMAT}",
            "use a newer lockforge, or save the facts with this one",
        )
    faults: list[Fault] = []
    root = Table(values=document, at="", faults=faults)
    root.number("version", (FORMAT,))
    facts = root.table("facts", required=True)
    return _checked(facts, faults, where=where)


def _checked(table: Table | None, faults: list[Fault], *, where: str) -> Facts:
    facts = None if table is None else _read_facts(table)
    if faults or facts is None:
        raise ConfigError(faults, where=where)
    return facts


def _error(where: str, at: str, message: str, hint: str | None = None) -> ConfigError:
    return ConfigError([Fault(where=at, message=message, hint=hint)], where=where)


def _read_facts(table: Table) -> Facts:
    system = table.optional_one_of("os", get_args(System))
    facts = Facts(
        os=system,
        os_version=table.optional("os_version"),
        arch=table.optional("arch"),
        python=_read_python(table.table("python"), system),
        libc=_read_libc(table.table("libc")),
        wsl2=table.flag("wsl2", default=False),
        container=table.flag("container", default=False),
        tegra=table.optional("tegra"),
        nvidia=_read_nvidia(table.table("nvidia")),
        amd=_read_amd(table.table("amd")),
        intel=_read_intel(table.table("intel")),
        apple=_read_apple(table.table("apple")),
        overrides=tuple(_read_override(one) for one in table.tables("overrides")),
        hidden_by=table.texts("hidden_by"),
    )
    table.close()
    return facts


def _read_python(table: Table | None, system: str | None) -> Interpreter | None:
    if table is None:
        return None
    stated = table.text("version", _PYTHON)
    version = table.text("full_version", _PYTHON, default=stated)
    bits = table.number("bits", (32, 64))
    machine = table.text("arch")
    python = Interpreter(
        version=version,
        implementation=table.text("implementation", default="CPython"),
        bits=bits,
        machine=machine,
        platform=table.text("platform", default=_usual_platform(system, machine, bits)),
        free_threaded=table.flag("free_threaded", default=False),
    )
    if not f"{version}.".startswith(f"{stated}."):
        table.fault("full_version", f"{version} is no {stated}", "correct one of the two")
    table.close()
    return python


def _usual_platform(system: str | None, machine: str, bits: int) -> str:
    """Give what ``sysconfig.get_platform()`` says there, but for macOS's version."""
    if system == "windows":
        return f"win-{machine.lower()}" if bits == 64 else "win32"  # noqa: PLR2004
    return f"macosx-11.0-{machine}" if system == "macos" else f"linux-{machine}"


def _read_libc(table: Table | None) -> Libc | None:
    if table is None:
        return None
    libc = Libc(
        family=table.one_of("family", ("glibc", "musl")),
        version=table.text("version", _MINOR),
        source=table.text("source", default=STATED),
    )
    table.close()
    return libc


def _read_nvidia(table: Table | None) -> Nvidia | None:
    if table is None:
        return None
    nvidia = Nvidia(
        kernel_driver_version=table.optional("kernel_driver_version", _DRIVER),
        driver_source=table.text("driver_source", default=STATED),
        state=table.one_of("state", get_args(NvidiaState), default="ok"),
        gpus=tuple(_read_nvidia_gpu(one) for one in table.tables("gpus", required=True)),
        cuda_umd_version=table.optional("cuda_umd_version", _MINOR),
        user_library_version=table.optional("user_library_version", _DRIVER),
        order_unstated=table.flag("order_unstated", default=False),
    )
    table.close()
    return nvidia


def _read_nvidia_gpu(table: Table) -> NvidiaGpu:
    gpu = NvidiaGpu(
        name=table.optional("name"),
        compute_cap=table.optional("compute_cap", _MINOR),
        compute_cap_source=table.optional("compute_cap_source"),
        visible=table.flag("visible", default=True),
        mig=table.texts("mig"),
        vgpu=table.flag("vgpu", default=False),
    )
    table.close()
    return gpu


def _read_amd(table: Table | None) -> Amd | None:
    if table is None:
        return None
    gpus = tuple(_read_amd_gpu(one) for one in table.tables("gpus", required=True))
    amd = Amd(
        gpus=gpus,
        source=table.text("source", default=STATED),
        device_node=table.optional_flag("device_node"),
    )
    table.close()
    return amd


def _read_amd_gpu(table: Table) -> AmdGpu:
    gpu = AmdGpu(
        gfx=table.optional("gfx", _GFX),
        integrated=table.optional_flag("integrated"),
        visible=table.flag("visible", default=True),
        name=table.optional("name"),
        pci_id=table.optional("pci_id", _PCI_ID),
    )
    table.close()
    return gpu


def _read_intel(table: Table | None) -> Intel | None:
    if table is None:
        return None
    gpus = tuple(_read_intel_gpu(one) for one in table.tables("gpus", required=True))
    intel = Intel(gpus=gpus, device_node=table.optional_flag("device_node"))
    table.close()
    return intel


def _read_intel_gpu(table: Table) -> IntelGpu:
    gpu = IntelGpu(
        pci_id=table.text("pci_id", _PCI_ID),
        family=table.optional("family"),
        xpu_supported=table.flag("xpu_supported"),
        unvalidated=table.flag("unvalidated", default=False),
    )
    table.close()
    return gpu


def _read_apple(table: Table | None) -> Apple | None:
    if table is None:
        return None
    apple = Apple(
        chip=table.optional("chip"),
        translated=table.flag("translated"),
        hardware_arch=table.text("hardware_arch"),
        mps_usable=table.flag("mps_usable"),
    )
    table.close()
    return apple


def _read_override(table: Table) -> Override:
    override = Override(variable=table.text("variable"), value=table.text("value"))
    table.close()
    return override
