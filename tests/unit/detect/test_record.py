"""Facts as they are saved, and read again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lockforge.detect.facts_data import facts_to_data
from lockforge.detect.record import parse_saved, render_saved
from lockforge.errors import ConfigError
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

# Texts of probes are decoded UTF-8, so they hold no surrogates.
_texts = st.text(st.characters(exclude_categories=["Cs"]))
_numbers = st.integers(min_value=0, max_value=999)
_minors = st.builds("{}.{}".format, _numbers, _numbers)
_drivers = st.lists(_numbers, min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def several(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(strategy, max_size=3).map(tuple)


def whole(noun: type[Any], **strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Build a noun of which no field is left at its default alone."""
    assert strategies.keys() == set(noun.__annotations__)
    return st.builds(noun, **strategies)


_endings = st.sampled_from(["", ".0", ".11", ".0rc1", ".2+", ".", "+"])
_pythons = whole(
    Interpreter,
    version=st.builds("{}{}".format, _minors, _endings),
    implementation=_texts,
    bits=st.sampled_from([32, 64]),
    machine=_texts,
    platform=_texts,
    free_threaded=st.booleans(),
)
_libcs = whole(Libc, family=st.sampled_from(["glibc", "musl"]), version=_minors, source=_texts)
_nvidia_gpus = whole(
    NvidiaGpu,
    name=maybe(_texts),
    compute_cap=maybe(_minors),
    compute_cap_source=maybe(_texts),
    visible=st.booleans(),
    mig=several(_texts),
    vgpu=st.booleans(),
)
_nvidias = whole(
    Nvidia,
    kernel_driver_version=maybe(_drivers),
    driver_source=_texts,
    state=st.sampled_from(get_args(NvidiaState)),
    gpus=several(_nvidia_gpus),
    cuda_umd_version=maybe(_minors),
    user_library_version=maybe(_drivers),
    order_unstated=st.booleans(),
)
_pci_ids = st.builds("{:04x}:{:04x}".format, *[st.integers(0, 0xFFFF)] * 2)
_amd_gpus = whole(
    AmdGpu,
    gfx=maybe(st.from_regex(r"gfx[0-9a-f]{3,4}", fullmatch=True)),
    integrated=maybe(st.booleans()),
    visible=st.booleans(),
    name=maybe(_texts),
    pci_id=maybe(_pci_ids),
)
_amds = whole(Amd, gpus=several(_amd_gpus), source=_texts, device_node=maybe(st.booleans()))
_intel_gpus = whole(
    IntelGpu,
    pci_id=_pci_ids,
    family=maybe(_texts),
    xpu_supported=st.booleans(),
    unvalidated=st.booleans(),
)
_apples = whole(
    Apple,
    chip=maybe(_texts),
    translated=st.booleans(),
    hardware_arch=_texts,
    mps_usable=st.booleans(),
)
_facts = whole(
    Facts,
    os=st.sampled_from([None, "linux", "windows", "macos"]),
    os_version=maybe(_texts),
    arch=maybe(_texts),
    python=maybe(_pythons),
    libc=maybe(_libcs),
    wsl2=st.booleans(),
    container=st.booleans(),
    tegra=maybe(_texts),
    nvidia=maybe(_nvidias),
    amd=maybe(_amds),
    intel=maybe(whole(Intel, gpus=several(_intel_gpus), device_node=maybe(st.booleans()))),
    apple=maybe(_apples),
    overrides=several(whole(Override, variable=_texts, value=_texts)),
    hidden_by=several(_texts),
)

STATED = """\
version: 1
facts:
  os: linux
  arch: x86_64
  python: {version: '3.10', bits: 64, arch: x86_64}
  libc: {family: glibc, version: '2.28'}
  nvidia:
    kernel_driver_version: '550.54.14'
    gpus:
    - {name: NVIDIA L4, compute_cap: '8.9'}
"""


def faults(text: str) -> list[tuple[str, str, str | None]]:
    with pytest.raises(ConfigError) as raised:
        parse_saved(text, where="host.yaml")
    assert raised.value.where == "host.yaml"
    return [(fault.where, fault.message, fault.hint) for fault in raised.value.faults]


def read(data: dict[str, Any]) -> Facts:
    """Read facts out of a document in JSON, as the command prints it."""
    return parse_saved(json.dumps({"version": 1, "facts": data}), where="host.json")


@given(_facts)
def test_facts_are_read_back_as_they_were(facts: Facts) -> None:
    """Nothing that is known of a host is lost or changed by saving it."""
    data = facts_to_data(facts)

    assert read(data) == facts
    assert parse_saved(render_saved(facts), where="host.yaml") == facts


def test_half_a_character_is_no_text() -> None:
    """It could not be printed."""
    text = json.dumps({"version": 1, "facts": {"os": "linux", "tegra": "\ud800"}})

    with pytest.raises(ConfigError):
        parse_saved(text, where="host.json")


def test_layout_of_a_saved_host() -> None:
    """The document has its version, and leaves out what would say nothing of this host."""
    facts = Facts(
        os="linux",
        os_version="Ubuntu 24.04.2 LTS",
        arch="x86_64",
        python=Interpreter(
            version="3.12.11",
            implementation="CPython",
            bits=64,
            machine="x86_64",
            platform="linux-x86_64",
        ),
        libc=Libc(family="glibc", version="2.39", source="interpreter"),
        nvidia=Nvidia(
            kernel_driver_version="580.105.08",
            driver_source="sys_module",
            state="ok",
            gpus=(
                NvidiaGpu(
                    name="NVIDIA H100 80GB HBM3",
                    compute_cap="9.0",
                    mig=("2g.20gb", "1g.10gb"),
                ),
            ),
        ),
    )

    assert render_saved(facts) == (
        "version: 1\n"
        "facts:\n"
        "  os: linux\n"
        "  os_version: Ubuntu 24.04.2 LTS\n"
        "  arch: x86_64\n"
        "  python:\n"
        "    version: '3.12'\n"
        "    bits: 64\n"
        "    arch: x86_64\n"
        "    full_version: 3.12.11\n"
        "    implementation: CPython\n"
        "    platform: linux-x86_64\n"
        "  libc:\n"
        "    family: glibc\n"
        "    version: '2.39'\n"
        "    source: interpreter\n"
        "  wsl2: false\n"
        "  container: false\n"
        "  nvidia:\n"
        "    kernel_driver_version: 580.105.08\n"
        "    driver_source: sys_module\n"
        "    state: ok\n"
        "    gpus:\n"
        "    - name: NVIDIA H100 80GB HBM3\n"
        "      compute_cap: '9.0'\n"
        "      visible: true\n"
        "      mig:\n"
        "      - 2g.20gb\n"
        "      - 1g.10gb\n"
        "  amd: null\n"
        "  intel: null\n"
        "  apple: null\n"
    )


def test_facts_written_by_hand() -> None:
    """A person states what a row is chosen by, and need not say what told it."""
    assert parse_saved(STATED, where="host.yaml") == Facts(
        os="linux",
        os_version=None,
        arch="x86_64",
        python=Interpreter(
            version="3.10",
            implementation="CPython",
            bits=64,
            machine="x86_64",
            platform="linux-x86_64",
        ),
        libc=Libc(family="glibc", version="2.28", source="stated"),
        nvidia=Nvidia(
            kernel_driver_version="550.54.14",
            driver_source="stated",
            state="ok",
            gpus=(NvidiaGpu(name="NVIDIA L4", compute_cap="8.9"),),
        ),
    )


@pytest.mark.parametrize(
    ("system", "machine", "bits", "platform"),
    [
        ("windows", "AMD64", 64, "win-amd64"),
        ("windows", "AMD64", 32, "win32"),
        ("windows", "ARM64", 64, "win-arm64"),
        ("macos", "arm64", 64, "macosx-11.0-arm64"),
    ],
)
def test_platform_of_a_python_written_by_hand(
    system: str, machine: str, bits: int, platform: str
) -> None:
    """Where nobody says what the interpreter was built for, it is what is usual there."""
    data = {"os": system, "python": {"version": "3.12", "bits": bits, "arch": machine}}

    python = read(data).python

    assert python is not None
    assert python.platform == platform


def test_the_output_of_detect_is_saved_facts_too() -> None:
    """What stands beside version and facts is not read."""
    text = json.dumps({"version": 1, "facts": {"os": "linux"}, "rows": [], "best_row": None})

    assert parse_saved(text, where="host.json").os == "linux"


def test_a_number_that_should_be_a_version() -> None:
    """YAML reads 3.10 as 3.1, so an unquoted version is a fault and not a wrong fact."""
    text = STATED.replace("'3.10'", "3.10").replace("'2.28'", "2.28")

    assert faults(text) == [
        ("facts.python.version", "expected a string, found 3.1", "put it in quotes"),
        ("facts.libc.version", "expected a string, found 2.28", "put it in quotes"),
    ]


def test_all_faults_at_once() -> None:
    """Every fault is told, with its key path and what is expected there."""
    found = faults(
        "version: 1\n"
        "facts:\n"
        "  os: beos\n"
        "  os_version: {}\n"
        "  arch: [x86_64]\n"
        "  pyhton: {}\n"
        "  python: {version: '3.12', full_version: 3.11.2, bits: 16, arch: null}\n"
        "  libc: {family: uclibc, version: '2'}\n"
        "  wsl2: 'no'\n"
        "  nvidia:\n"
        "    kernel_driver_version: newest\n"
        "    state: fine\n"
        "    gpus:\n"
        "    - {name: NVIDIA L4, compute_cap: sm_89, visble: true, vgpu: 1}\n"
        "    - NVIDIA L4\n"
        "    - null\n"
        "  amd: {gpus: [{gfx: gfx11-generic, integrated: 0}]}\n"
        "  intel: {}\n"
        "  apple: true\n"
        "  hidden_by: [CUDA_VISIBLE_DEVICES, 7]\n"
    )

    assert found == [
        ("facts.os", "expected one of linux, windows, macos, found 'beos'", None),
        ("facts.os_version", "expected a string, found a table", None),
        ("facts.arch", "expected a string, found a list", None),
        ("facts.python.bits", "expected 32 or 64, found 16", None),
        ("facts.python.arch", "expected a value, found null", None),
        ("facts.python.full_version", "3.11.2 is no 3.12", "correct one of the two"),
        ("facts.libc.family", "expected one of glibc, musl, found 'uclibc'", None),
        ("facts.libc.version", "expected one such as '8.6', found '2'", None),
        ("facts.wsl2", "expected true or false, found 'no'", None),
        (
            "facts.nvidia.kernel_driver_version",
            "expected one such as '580.95.05', found 'newest'",
            None,
        ),
        (
            "facts.nvidia.state",
            f"expected one of {', '.join(get_args(NvidiaState))}, found 'fine'",
            None,
        ),
        (
            "facts.nvidia.gpus[0].compute_cap",
            "expected one such as '8.6', found 'sm_89'",
            None,
        ),
        ("facts.nvidia.gpus[0].vgpu", "expected true or false, found 1", None),
        ("facts.nvidia.gpus[0].visble", "unknown key", "did you mean 'visible'?"),
        ("facts.nvidia.gpus[1]", "expected a table, found 'NVIDIA L4'", None),
        ("facts.nvidia.gpus[2]", "expected a table, found null", None),
        ("facts.amd.gpus[0].gfx", "expected one such as gfx1100, found 'gfx11-generic'", None),
        ("facts.amd.gpus[0].integrated", "expected true or false, found 0", None),
        ("facts.intel.gpus", "is missing", None),
        ("facts.apple", "expected a table, found true", None),
        ("facts.hidden_by[1]", "expected a string, found 7", "put it in quotes"),
        ("facts.pyhton", "unknown key", "did you mean 'python'?"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("host.yaml", "expected a table with `version` and `facts`", None)),
        ("- 1\n", ("host.yaml", "expected a table with `version` and `facts`", None)),
        ("facts: {}\n", ("version", "is missing", None)),
        ("version: 1\n", ("facts", "is missing", None)),
        ("version: 1\nfacts: []\n", ("facts", "expected a table, found a list", None)),
        ("version: 0\nfacts: {}\n", ("version", "expected 1, found 0", None)),
        (
            "version: 2\nfacts: {os: plan9, gpu: []}\n",
            (
                "version",
                "found 2, and this lockforge reads up to 1",
                "use a newer lockforge, or save the facts with this one",
            ),
        ),
    ],
)
def test_what_is_no_saved_host(text: str, expected: tuple[str, str, str | None]) -> None:
    """Another document is told from facts, and a newer version from a fault."""
    assert faults(text)[0] == expected


@pytest.mark.parametrize("text", ["version: [1\n", "a: 2024-13-45\n", "[" * 5000, "a: \x01\n"])
def test_what_is_no_yaml(text: str) -> None:
    """A text that no YAML reader takes is one fault of the file."""
    ((where, message, _),) = faults(text)

    assert where == "host.yaml"
    assert re.match(r"not YAML: \S", message)


def test_facts_of_the_given_machines(shared: Path) -> None:
    """The facts expected of the given machines are read, and written with the same values."""
    for path in sorted((shared / "hosts").glob("*/expected.yaml")):
        expected = yaml.safe_load(path.read_text("utf-8"))["facts"]

        written = facts_to_data(read(expected))

        assert _common(written, expected) == expected, path


def _common(written: Any, expected: Any) -> Any:
    """What is written under the keys that are expected."""
    if isinstance(expected, dict) and isinstance(written, dict):
        return {key: _common(written[key], value) for key, value in expected.items()}
    if isinstance(expected, list) and isinstance(written, list):
        return [_common(one, other) for one, other in zip(written, expected, strict=True)]
    return written
