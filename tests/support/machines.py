"""The machines of ``fixtures/machines``, each with its texts and what is right of it.

A machine is turned into a captured folder, which is what `lockforge detect --facts` reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent.parent.parent / "fixtures" / "machines"
LABELS = ("cu132", "cu130", "cu128", "cu126", "cu118", "rocm7.2", "rocm6.4", "xpu", "cpu")
"""The accelerators that the answers of the machines are about."""
PYTHON = "3.12.11"

_CIM = (
    "Get-CimInstance Win32_VideoController | Select-Object Name,DriverVersion,PNPDeviceID "
    "| ConvertTo-Json"
)
_SYSCTL = ("sysctl.proc_translated", "hw.optional.arm64", "machdep.cpu.brand_string")
ENTRIES: dict[str, dict[str, Any]] = {
    "kernel": {"argv": ["uname", "-a"]},
    "os-release": {"path": "/etc/os-release"},
    "dev": {"argv": ["ls", "/dev"]},
    "dockerenv": {"path": "/.dockerenv"},
    "ldd": {"argv": ["ldd", "--version"]},
    "tegra-release": {"path": "/etc/nv_tegra_release"},
    "tegra-model": {"path": "/proc/device-tree/model"},
    "sys_module": {"path": "/sys/module/nvidia/version"},
    "proc": {"path": "/proc/driver/nvidia/version"},
    "pci": {"path": "/sys/bus/pci/devices/*/{class,vendor,device,driver}"},
    "lspci": {"argv": ["lspci", "-nn"]},
    "cim": {"argv": ["powershell", "-NoProfile", "-Command", _CIM]},
    "nvidia-smi": {
        "argv": [
            "nvidia-smi",
            "--query-gpu=driver_version,compute_cap,name",
            "--format=csv,noheader",
        ]
    },
    "nvidia-smi-no-capability": {
        "argv": ["nvidia-smi", "--query-gpu=driver_version,name", "--format=csv,noheader"]
    },
    "nvidia-smi-list": {"argv": ["nvidia-smi", "-L"]},
    "nvidia-smi-banner": {"argv": ["nvidia-smi"]},
    "nvidia-libraries": {"argv": ["python", "nvidia_libraries.py"]},
    "kfd": {"path": "/sys/class/kfd/kfd/topology/nodes/*/properties"},
    "rocm_agent_enumerator": {"argv": ["rocm_agent_enumerator"]},
    "rocminfo": {"argv": ["rocminfo"]},
    "rocminfo-dxg": {"argv": ["rocminfo"], "env": {"HSA_ENABLE_DXG_DETECTION": "1"}},
    "sw-vers": {"argv": ["sw_vers"]},
    "sysctl": {"argv": ["sysctl", *_SYSCTL]},
    "python": {"note": "the interpreter, by itself"},
    "env": {"env": True},
}
"""What each text of a fixture is the answer to, in the words of a manifest."""


@dataclass(frozen=True, kw_only=True)
class Right:
    """What is right of a machine."""

    facts: dict[str, Any]
    """Those that matter; others are free, but no vendor is there that is not named."""
    usable: list[str]
    partial: list[str]
    best: str | None
    cautions: list[str]
    says: list[str]
    """What the text for people has to say."""
    never: list[str]
    """What it must not."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One fixture."""

    name: str
    provenance: dict[str, str]
    answers: dict[str, dict[str, Any]]
    """The text, status, outcome and place of what was said, by probe."""
    right: Right

    def write(self, folder: Path) -> Path:
        """Write the captured folder."""
        folder.mkdir(parents=True)
        files, absent = {}, []
        for probe, answer in self.answers.items():
            text = answer.get("text", "")
            (folder / f"{probe}.txt").write_bytes(text.encode("utf-8"))
            entry = {**ENTRIES[probe]}
            if "argv" in entry:
                entry["rc"] = answer.get("status", 0)
            if "outcome" in answer:
                entry = {**ENTRIES[probe], "outcome": answer["outcome"]}
            if "place" in answer:
                absent.append(f"{entry['argv'][0]} on PATH (only {answer['place']})")
            entry["provenance"] = self.provenance.get(probe) or self.provenance.get(
                "all", "constructed"
            )
            files[f"{probe}.txt"] = entry
        manifest = {"files": files, "absent": absent}
        (folder / "manifest.yaml").write_text(yaml.safe_dump(manifest), "utf-8")
        return folder


@cache
def read_machines() -> dict[str, Machine]:
    """Read all of them, by name."""
    systems = _load("systems.yaml")
    found = [
        _machine(data, systems[data["system"]])
        for path in sorted(FOLDER.glob("*.yaml"))
        if path.name != "systems.yaml"
        for data in _load(path.name)["machines"]
    ]
    return {machine.name: machine for machine in found}


def missing_from(expected: Any, found: Any, at: str = "facts") -> list[str]:
    """Name each value of *expected*, however deep, that *found* does not have."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            fault
            for key, value in expected.items()
            for fault in missing_from(value, found.get(key), f"{at}.{key}")
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [
            fault
            for number, value in enumerate(expected)
            for fault in missing_from(value, found[number], f"{at}[{number}]")
        ]
    return [] if expected == found else [f"{at}: expected {expected!r}, found {found!r}"]


def _load(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))


def _machine(data: dict[str, Any], system: dict[str, Any]) -> Machine:
    python = {
        "machine": system["machine"],
        "sys_platform": system["sys_platform"],
        "sysconfig_platform": system["sysconfig_platform"],
        "bits": 64,
        "version": PYTHON,
        "implementation": "CPython",
        **data.get("python", {}),
    }
    texts: dict[str, Any] = {"python": _pairs(python)}
    texts |= {key: system[key] for key in ("kernel", "sw-vers") if key in system}
    if "os-release" in system:
        texts["os-release"] = _pairs(system["os-release"])
    if "dev" in data:
        texts["dev"] = "".join(f"{name}\n" for name in data["dev"].split())
    if "env" in data:
        texts["env"] = _pairs(data["env"])
    texts |= data.get("texts", {})
    return Machine(
        name=data["name"],
        provenance=data.get("provenance", {}),
        answers={
            key: one if isinstance(one, dict) else {"text": one} for key, one in texts.items()
        },
        right=_right(dict(data["right"]), system["facts"], python),
    )


def _pairs(values: dict[str, Any]) -> str:
    return "".join(f"{key}={value}\n" for key, value in values.items())


def _right(data: dict[str, Any], facts: dict[str, Any], python: dict[str, Any]) -> Right:
    usable, best = data.pop("usable").split(), data.pop("best")
    partial, cautions = data.pop("partial", "").split(), data.pop("cautions", [])
    says, never = data.pop("says", []), data.pop("never", [])
    own = {
        "version": ".".join(python["version"].split(".")[:2]),
        "bits": python["bits"],
        "arch": python["machine"],
    }
    vendors = dict.fromkeys(("nvidia", "amd", "intel", "apple"))
    return Right(
        facts={**vendors, **facts, "python": own, **data},
        usable=usable,
        partial=partial,
        best=best,
        cautions=cautions,
        says=says,
        never=never,
    )
