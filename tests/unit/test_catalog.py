"""The catalogue: what it is asked, and how a user's own file changes the answers."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from lockforge.catalog import GpuArchitectures, Source, SupportEnd, load_catalog
from lockforge.errors import ConfigError, Fault
from lockforge.model.accelerator import Accelerator, is_label
from lockforge.model.platforms import PLATFORMS
from lockforge.standards.filenames import parse_version
from tests.unit.fakes import make_row

TEXT = resources.files("lockforge").joinpath("data/catalog.yaml").read_text("utf-8")
DATA: dict[str, Any] = yaml.safe_load(TEXT)
LINUX_WHEEL = "any-1.0-cp39-abi3-manylinux_2_28_x86_64.whl"
CATALOG = load_catalog()


def test_what_is_read_is_what_is_edited() -> None:
    """The JSON that is read at each start says what the YAML with its comments says.

    After a change of the latter `scripts/update_catalog` writes the former anew.
    """
    text = resources.files("lockforge").joinpath("data/catalog.json").read_text("utf-8")
    assert json.loads(text) == DATA


def _sources(value: Any) -> set[str]:
    """Every ``source`` and ``...-source`` below *value*."""
    found: set[str] = set()
    if isinstance(value, dict):
        for key, member in value.items():
            if isinstance(member, str) and key.rpartition("-")[2] == "source":
                found.add(member)
            found |= _sources(member)
    elif isinstance(value, list):
        for member in value:
            found |= _sources(member)
    return found


def test_every_source_is_listed() -> None:
    """Every fact's source is one of `sources`, each of which is used and has an address."""
    sources = DATA["sources"]
    assert _sources({key: DATA[key] for key in DATA if key != "sources"}) == set(sources)
    assert {name for name, one in sources.items() if not one["url"].startswith("https://")} == set()


def _facts() -> dict[str, Any]:
    """The facts that must name a source, by their place."""
    lists = ("rules", "gpu-architectures")
    maps = ("kinds", "accelerators", "amd-architectures", "newest-torch", "support-ends")
    return {
        **{f"{key}[{place}]": one for key in lists for place, one in enumerate(DATA[key])},
        **{f"{key}.{name}": one for key in maps for name, one in DATA[key].items()},
        **{key: DATA[key] for key in ("torch-index", "python", "family", "cxx11-abi")},
    }


def test_every_fact_has_a_source() -> None:
    """No fact stands without saying where it is from."""
    assert {place for place, fact in _facts().items() if not fact.get("source")} == set()


def test_labels() -> None:
    """Every label is one, and the newest CUDA comes first, CPU last."""
    assert [label for label in CATALOG.labels if not is_label(label)] == []
    assert CATALOG.labels[0] == max(
        (label for label in CATALOG.labels if label.startswith("cu")),
        key=lambda label: Accelerator(label).version,
    )
    assert CATALOG.labels[-2:] == ("xpu", "cpu")


@pytest.mark.parametrize(
    ("name", "family", "fallback"),
    [
        ("torch", True, False),
        ("torchvision", True, False),
        ("torchaudio", True, False),
        ("pytorch-triton-rocm", True, False),
        ("triton-xpu", True, False),
        ("triton", True, True),
        # Ordinary packages that a PyTorch index also carries never come from it.
        ("numpy", False, False),
        ("filelock", False, False),
        ("markupsafe", False, False),
        ("nvidia-cublas-cu12", False, False),
        ("torchmetrics", False, False),
    ],
)
def test_family(name: str, family: bool, fallback: bool) -> None:  # noqa: FBT001
    """The family comes from the row's index, plain triton else from the default one."""
    assert (CATALOG.is_family(name), CATALOG.falls_back(name)) == (family, fallback)


@pytest.mark.parametrize(
    ("label", "platforms"),
    [
        ("cpu", ["linux", "linux-aarch64", "win", "win-arm64", "mac", "mac-x86_64"]),
        ("cu130", ["linux", "linux-aarch64", "win"]),
        ("cu118", ["linux", "win"]),
        ("rocm7.2", ["linux"]),
        ("xpu", ["linux", "win"]),
        ("cu199", ["linux", "linux-aarch64", "win"]),
        ("rocm9.9", ["linux"]),
    ],
)
def test_platforms(label: str, platforms: list[str]) -> None:
    """An accelerator has wheels on the platforms of its kind, unless it says otherwise."""
    assert [one.name for one in CATALOG.platforms_of(Accelerator(label))] == platforms


# NVIDIA: minor version compatibility, by operating system.
FLOORS = [
    ("cu130", "580", "580"),
    ("cu132", "580", "580"),
    ("cu129", "525.60.13", "528.33"),
    ("cu126", "525.60.13", "528.33"),
    ("cu120", "525.60.13", "528.33"),
    ("cu118", "450.80.2", "452.39"),
    # Not listed: by the major version.
    ("cu139", "580", "580"),
    ("cu127", "525.60.13", "528.33"),
    ("cu119", "450.80.2", "452.39"),
    ("cu199", None, None),
    ("cpu", None, None),
    ("rocm7.2", None, None),
    ("xpu", None, None),
]


@pytest.mark.parametrize(("label", "linux", "windows"), FLOORS)
def test_driver_floors(label: str, linux: str | None, windows: str | None) -> None:
    """The lowest driver depends on the operating system; only CUDA asks for one."""
    found = {
        name: CATALOG.driver_floor(Accelerator(label), PLATFORMS[name])
        for name in ("linux", "linux-aarch64", "win", "mac")
    }
    assert found == {"linux": linux, "linux-aarch64": linux, "win": windows, "mac": None}


X86_CU130 = ("7.5", "8.0", "8.6", "9.0", "10.0", "12.0")
ARM_CU130 = ("8.0", "9.0", "10.0", "11.0", "12.0")
MAXWELL_TO_HOPPER = ("5.0", "6.0", "7.0", "7.5", "8.0", "8.6", "9.0")
WINDOWS_CU128 = ("5.0", "6.0", "6.1", *MAXWELL_TO_HOPPER[2:], "10.0", "12.0")
ARCHITECTURES = [
    # label, torch, platform, architectures, ptx, source, judged by
    ("cu130", "2.11.0+cu130", "linux", X86_CU130, ("12.0",), "pytorch-175253", None),
    ("cu130", "2.11.1", "linux", X86_CU130, ("12.0",), "pytorch-175253", None),
    # PTX is in Linux wheels only.
    ("cu130", "2.11.0+cu130", "win", X86_CU130, (), "pytorch-175253", None),
    ("cu130", "2.11.0", "linux-aarch64", ARM_CU130, ("12.0",), "pytorch-175253", None),
    # A torch that the catalogue does not know is judged by the newest rule before it.
    ("cu130", "3.0.0", "linux", X86_CU130, ("12.0",), "pytorch-182849", "2.12"),
    ("cu128", "2.12.0", "linux", X86_CU130, (), "pytorch-175253", "2.11"),
    (
        "cu128",
        "2.10.0",
        "linux-aarch64",
        ("8.0", "9.0", "10.0", "12.0"),
        (),
        "openral-167",
        "2.9",
    ),
    # Kepler is in builds of CUDA 11 as long as their cuDNN has it.
    ("cu117", "2.0.1", "linux", ("3.7", *MAXWELL_TO_HOPPER[:-1]), (), "builder-2.0", None),
    ("cu118", "2.3.1", "win", ("3.7", *MAXWELL_TO_HOPPER), (), "builder-2.1", None),
    ("cu118", "2.5.1", "linux", MAXWELL_TO_HOPPER, (), "builder-2.4", None),
    ("cu118", "2.7.1", "linux", MAXWELL_TO_HOPPER, (), "build-cuda-2.7", None),
    ("cu121", "2.2.2", "linux", MAXWELL_TO_HOPPER, (), "builder-2.1", None),
    ("cu124", "2.6.0", "win", MAXWELL_TO_HOPPER, (), "build-cuda-2.6", None),
    ("cu124", "2.5.1", "linux-aarch64", ("9.0",), (), "builder-2.4", None),
    ("cu126", "2.7.1", "linux", MAXWELL_TO_HOPPER, (), "build-cuda-2.7", None),
    # Volta is not in the first builds with Blackwell, comes back in 2.8, and leaves in 2.11.
    ("cu128", "2.7.1", "linux", X86_CU130, ("12.0",), "build-cuda-2.7", None),
    ("cu128", "2.8.0", "linux", ("7.0", *X86_CU130), (), "build-cuda-2.8", None),
    # Windows builds have lists of their own: 2.7.1 prints what is older as well, 2.8 begins at 6.1
    # (pytorch/pytorch pull requests 160586 and 164470), and what follows is as on Linux.
    ("cu128", "2.7.1", "win", WINDOWS_CU128, (), "printed-2.7", None),
    ("cu128", "2.8.0", "win", WINDOWS_CU128[2:], (), "pytorch-164470", None),
    ("cu128", "2.9.1", "win", ("7.0", *X86_CU130), (), "pytorch-164471", None),
    ("cu126", "2.7.1", "win", MAXWELL_TO_HOPPER, (), "build-cuda-2.7", None),
    ("cu126", "2.8.0", "linux", MAXWELL_TO_HOPPER, (), "build-cuda-2.8", None),
    ("cu126", "2.8.0", "win", ("6.1", *MAXWELL_TO_HOPPER[2:]), (), "pytorch-160586", None),
    ("cu126", "2.9.1", "win", MAXWELL_TO_HOPPER, (), "pytorch-164471", None),
    # Windows has no wheels of CUDA 12.9 after 2.9.
    ("cu129", "2.9.0", "win", ("7.0", *X86_CU130), (), "build-cuda-2.8", "2.8"),
    ("cu126", "2.9.1", "linux-aarch64", ("8.0", "9.0"), (), "pytorch-163764", None),
    ("cu130", "2.9.1", "linux-aarch64", ARM_CU130, (), "pytorch-163764", None),
    ("cu129", "2.10.0", "linux", ("7.0", *X86_CU130), ("12.0",), "build-cuda-2.10", None),
    ("cu129", "2.13.0", "linux", X86_CU130, ("12.0",), "pytorch-172598", "2.11"),
]


@pytest.mark.parametrize(
    ("label", "torch", "platform", "architectures", "ptx", "source", "judged_by"), ARCHITECTURES
)
def test_gpu_architectures(
    label: str,
    torch: str,
    platform: str,
    architectures: tuple[str, ...],
    ptx: tuple[str, ...],
    source: str,
    judged_by: str | None,
) -> None:
    """The GPUs a build has kernels for are known by torch minor, accelerator and machine."""
    found = CATALOG.gpu_architectures(Accelerator(label), parse_version(torch), PLATFORMS[platform])
    assert found == GpuArchitectures(
        architectures=architectures, ptx=ptx, source=source, judged_by=judged_by
    )


NAVI_31 = ("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100")


@pytest.mark.parametrize(
    ("label", "torch", "architectures", "source"),
    [
        # pytorch/builder manywheel/build_docker.sh at release/2.4.
        ("rocm6.0", "2.4.1", NAVI_31, "uv"),
        ("rocm6.1", "2.4.1", NAVI_31, "builder-rocm"),
        ("rocm6.1", "2.5.1", NAVI_31, "builder-rocm"),
        ("rocm6.1", "2.6.0+rocm6.1", (*NAVI_31, "gfx1101"), "uv"),
        # The Radeon RX 7600 (gfx1102) and 9000 (gfx12) came in February and March 2025, after 2.6.
        ("rocm6.2.4", "2.6.0+rocm6.2.4", (*NAVI_31, "gfx1101"), "pytorch-147761"),
        (
            "rocm6.2.4",
            "2.7.1",
            (*NAVI_31, "gfx1101", "gfx1102", "gfx1200", "gfx1201"),
            "uv",
        ),
    ],
)
def test_amd_architectures_by_torch(
    label: str, torch: str, architectures: tuple[str, ...], source: str
) -> None:
    """Builds of older torches for one ROCm have fewer architectures."""
    found = CATALOG.gpu_architectures(Accelerator(label), Version(torch), PLATFORMS["linux"])
    assert found == GpuArchitectures(
        architectures=architectures, ptx=(), source=source, judged_by=None
    )


def test_given_architectures(shared: Path) -> None:
    """The newest torch of each accelerator has kernels for what the given policy lists."""
    policy = yaml.safe_load((shared / "hosts/POLICY.yaml").read_text("utf-8"))
    machines = {"x86_64": ("linux", "win"), "aarch64": ("linux-aarch64",)}
    told = {
        (label, platform): tuple(architectures)
        for machine, lists in policy["cuda_arch"].items()
        for label, architectures in lists.items()
        for platform in machines[machine]
    }
    found = {
        (label, platform): CATALOG.gpu_architectures(
            Accelerator(label), Version(policy["reference_torch"][label]), PLATFORMS[platform]
        )
        for label, platform in told
    }
    assert {place: one and one.architectures for place, one in found.items()} == told


def test_newest_rule_judges() -> None:
    """A torch newer than all rules of an accelerator is judged by the last of them."""
    minors = [
        tuple(map(int, fact["torch"].split(".")))
        for fact in DATA["gpu-architectures"]
        if fact["accelerator"] == "cu126" and fact["machine"] == "x86_64"
    ]
    found = CATALOG.gpu_architectures(Accelerator("cu126"), Version("9.9"), PLATFORMS["linux"])
    assert found is not None
    assert found.judged_by == "{}.{}".format(*max(minors))


@pytest.mark.parametrize(
    ("label", "torch"), [("cpu", "2.11.0"), ("xpu", "2.11.0"), ("cu130", "1.0"), ("cu199", "2.11")]
)
def test_unknown_architectures(label: str, torch: str) -> None:
    """Where nothing is known nothing is said."""
    found = CATALOG.gpu_architectures(Accelerator(label), Version(torch), PLATFORMS["linux"])
    assert found is None


def test_amd_architectures() -> None:
    """ROCm builds are known by their own version, whatever the torch."""
    for torch in ("2.9", "9.9"):
        found = CATALOG.gpu_architectures(
            Accelerator("rocm7.2"), Version(torch), PLATFORMS["linux"]
        )
        fact = DATA["amd-architectures"]["rocm7.2"]
        assert found == GpuArchitectures(
            architectures=tuple(fact["gfx"]), ptx=(), source=fact["source"], judged_by=None
        )


# The files of the indexes. Version of torch, oldest and newest Python.
NEWEST = [
    ("cpu", "linux", "2.13.0", (3, 10), (3, 14)),
    ("cpu", "linux-aarch64", "2.13.0", (3, 10), (3, 14)),
    ("cpu", "mac", "2.13.0", (3, 10), (3, 14)),
    ("cpu", "win-arm64", "2.13.0", (3, 11), (3, 13)),
    ("cpu", "mac-x86_64", "2.2.2", (3, 8), (3, 12)),
    ("cu132", "win", "2.13.0", (3, 10), (3, 14)),
    ("cu129", "linux-aarch64", "2.13.0", (3, 10), (3, 14)),
    ("cu129", "win", "2.9.0", (3, 10), (3, 14)),
    ("cu128", "linux", "2.11.0", (3, 10), (3, 14)),
    ("cu124", "linux", "2.6.0", (3, 9), (3, 13)),
    ("cu121", "win", "2.5.1", (3, 9), (3, 12)),
    ("cu118", "linux", "2.7.1", (3, 9), (3, 13)),
    ("rocm7.0", "linux", "2.10.0", (3, 10), (3, 14)),
    ("xpu", "win", "2.13.0", (3, 10), (3, 14)),
]


@pytest.mark.parametrize(("label", "platform", "torch", "oldest", "newest"), NEWEST)
def test_newest_torch(
    label: str, platform: str, torch: str, oldest: tuple[int, int], newest: tuple[int, int]
) -> None:
    """The newest torch of an accelerator depends on the platform, and its Pythons on both."""
    accelerator, one = Accelerator(label), PLATFORMS[platform]
    pythons = CATALOG.pythons_of(accelerator, one)
    assert CATALOG.newest_torch(accelerator, one) == Version(torch)
    assert pythons == tuple((3, minor) for minor in range(oldest[1], newest[1] + 1))


@pytest.mark.parametrize(
    ("label", "platform"),
    [
        ("cu117", "linux"),
        ("cu199", "linux"),
        ("cu130", "mac"),
        ("cu118", "linux-aarch64"),
        ("rocm7.2", "win"),
        ("xpu", "linux-aarch64"),
    ],
)
def test_no_newest_torch(label: str, platform: str) -> None:
    """There is none where no wheels are, and none is made up for a label nobody looked at."""
    accelerator, one = Accelerator(label), PLATFORMS[platform]
    assert CATALOG.newest_torch(accelerator, one) is None
    assert CATALOG.pythons_of(accelerator, one) == ()


def test_given_newest_torch(shared: Path) -> None:
    """The newest torch is the one that the given machines were judged by."""
    policy = yaml.safe_load((shared / "hosts/POLICY.yaml").read_text("utf-8"))
    found = {
        label: CATALOG.newest_torch(Accelerator(label), PLATFORMS["linux"])
        for label in policy["reference_torch"]
    }
    assert found == {label: Version(text) for label, text in policy["reference_torch"].items()}


def test_indexed_newest_torch(shared: Path) -> None:
    """No newest torch is older than a file of its index, before 2.14, which few indexes have."""
    older: dict[str, tuple[Version, Version]] = {}
    for label in CATALOG.labels:
        path = shared / f"index-facts/{label}.json"
        newest = CATALOG.newest_torch(Accelerator(label), PLATFORMS["linux"])
        if newest is None or not path.is_file():
            continue
        records = json.loads(path.read_text("utf-8"))["packages"]["torch"]
        names = [record["filename"].replace("%2B", "+") for record in records]
        versions = {
            Version(parse_version(name.split("-")[1]).public)
            for name in names
            if name.endswith("_x86_64.whl") and "macosx" not in name
        }
        seen = max(version for version in versions if version < Version("2.14"))
        older |= {label: (newest, seen)} if newest != seen else {}
    assert older == {}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("cu126", SupportEnd(last="2.14", ends="2.15", source="pytorch-190385")),
        ("cu128", SupportEnd(last="2.11", ends="2.12", source="pytorch-178665")),
        ("cu118", SupportEnd(last="2.7", ends="2.8", source="build-cuda-2.8")),
        ("rocm6.4", SupportEnd(last="2.9", ends="2.10", source="pytorch-index")),
        ("cu130", None),
        ("cpu", None),
    ],
)
def test_support_end(label: str, expected: SupportEnd | None) -> None:
    """PyTorch stops to build for an accelerator with some release."""
    assert CATALOG.support_end(Accelerator(label)) == expected


def test_source() -> None:
    """A fact's source has a title and an address; a user's may be a word alone."""
    found = CATALOG.source("pytorch-190385")
    assert found.url == "https://github.com/pytorch/pytorch/issues/190385"
    assert found.title == DATA["sources"]["pytorch-190385"]["title"]
    assert CATALOG.source("me") == Source(title="me", url=None)


# As the sources that the rules name have it.
RULES = [
    # package, version, the requirements that lockforge adds
    ("torchaudio", "2.0.2", ["torch==2.0.*"]),
    ("torchaudio", "2.9.1", ["torch==2.9.*"]),
    ("torchaudio", "2.10.0+cu130", ["torch==2.10.*"]),
    ("torchaudio", "2.11.0+cu130", ["torch>=2.11"]),
    ("torchaudio", "2.12.0", []),
    # It goes with torch 1.13, as its metadata says.
    ("torchaudio", "0.13.1", []),
    ("torchcodec", "0.0.3", ["torch==2.4.*"]),
    ("torchcodec", "0.0.2", ["torch==2.4.*"]),
    ("torchcodec", "0.1.1", ["torch==2.5.*"]),
    ("torchcodec", "0.2.1", ["torch==2.6.*"]),
    ("torchcodec", "0.5", ["torch==2.7.*"]),
    ("torchcodec", "0.7.0", ["torch==2.8.*"]),
    ("torchcodec", "0.8.1", ["torch==2.9.*"]),
    ("torchcodec", "0.10.0+cu128", ["torch==2.10.*"]),
    ("torchcodec", "0.11.1", ["torch==2.11.*"]),
    ("torchcodec", "0.12.0", ["torch>=2.11"]),
    ("torchcodec", "0.16.0+cpu", ["torch>=2.11"]),
    ("torchao", "0.12.0", ["torch<2.9"]),
    ("torchao", "0.13.0", []),
    ("torchao", "0.17.0", []),
    ("torchao", "0.18.0", ["torch>=2.11"]),
    ("torchtext", "0.18.0+cpu", ["torch==2.3.*"]),
    ("torchtext", "0.17.2", []),
    ("fbgemm-gpu", "0.4.1", ["torch==2.0.*"]),
    ("fbgemm-gpu", "0.8.0", ["torch==2.4.*"]),
    ("fbgemm-gpu", "1.0.0+cu124", ["torch==2.5.*"]),
    ("fbgemm-gpu", "1.6.0+cpu", ["torch==2.11.*"]),
    ("fbgemm-gpu", "1.7.0", []),
    ("fbgemm-gpu-genai", "1.5.0", ["torch==2.10.*"]),
    ("torchrec", "1.0.0", ["fbgemm-gpu==1.0.*"]),
    ("torch", "2.2.2+cpu", ["numpy<2"]),
    ("torch", "2.3.0", []),
    # Their metadata names the torch they are built for.
    ("torchvision", "0.24.1", []),
    ("xformers", "0.0.33.post2", []),
]


@pytest.mark.parametrize(("package", "version", "expected"), RULES)
def test_rules(package: str, version: str, expected: list[str]) -> None:
    """Corrections hold for the versions they are made for, with the version put in."""
    found = [
        rule.parsed(Version(version))
        for rule in CATALOG.rules
        if rule.applies(package, Version(version), LINUX_WHEEL)
    ]
    assert found == list(map(Requirement, expected))


def test_compiled_only() -> None:
    """A rule about kernels says nothing of a wheel that has none."""
    rules = [rule for rule in CATALOG.rules if rule.package == "torchao"]
    pure, version = "torchao-0.8.0+cpu-py3-none-any.whl", Version("0.8.0+cpu")
    assert not any(rule.applies("torchao", version, pure) for rule in rules)
    linux = "torchao-0.8.0+cu126-cp39-abi3-linux_x86_64.whl"
    assert any(rule.applies("torchao", version, linux) for rule in rules)


def test_only_limits() -> None:
    """Torch does without numpy, and these leave it to the user to install torch."""
    found = {str(rule.package) for rule in CATALOG.rules if rule.when_present}
    assert found == {"torch", "torchcodec", "torchao", "fbgemm-gpu", "fbgemm-gpu-genai"}


@pytest.mark.parametrize(
    ("row", "torch", "old", "new"),
    [
        ("linux-cu124", "2.5.1+cu124", True, False),
        # 2.6 has builds of both kinds.
        ("linux-cu124", "2.6.0+cu124", True, False),
        ("linux-cpu", "2.6.0+cpu", True, False),
        ("linux-cu126", "2.6.0+cu126", False, True),
        ("linux-cu126", "2.5.1+cu126", True, False),
        ("linux-aarch64-cpu", "2.6.0", False, True),
        ("linux-cu128", "2.7.0+cu128", False, True),
        ("linux-cpu", "2.11.0", False, True),
        # Other systems have one ABI, whatever a label says.
        ("win-cu126", "2.5.1+cu126", True, True),
        ("mac-cpu", "2.11.0", True, True),
    ],
)
def test_abi_limits(row: str, torch: str, old: bool, new: bool) -> None:  # noqa: FBT001
    """The C++ ABI of Linux wheels changed in some builds of torch 2.6 and in all of 2.7."""
    one = make_row(row)
    found = [
        CATALOG.abi_limits(one.accelerator, one.platform, cxx11=cxx11).contains(torch)
        for cxx11 in (False, True)
    ]
    assert found == [old, new]


def test_user_file_extends_and_overrides() -> None:
    """Mappings are merged key by key, lists and values are replaced."""
    catalog = load_catalog(
        """
accelerators:
  cu140: {driver: {linux: "600", windows: "601"}, source: me}
  cu130: {platforms: [linux], source: me}
torch-index: {url: https://mirror.example/whl}
python: {minors: ["3.12"]}
rules:
  - package: Torch_Codec
    versions: ">=0.1"
    requires: "torch>={minor}"
    reason: mine
    source: me
"""
    )
    linux, win = PLATFORMS["linux"], PLATFORMS["win"]
    assert catalog.driver_floor(Accelerator("cu140"), linux) == "600"
    assert catalog.driver_floor(Accelerator("cu130"), win) == "580"
    assert catalog.platforms_of(Accelerator("cu130")) == (linux,)
    assert catalog.labels[0] == "cu140"
    assert set(catalog.labels) == {*CATALOG.labels, "cu140"}
    assert catalog.torch_index == "https://mirror.example/whl"
    assert catalog.pythons == ((3, 12),)
    assert [rule.package for rule in catalog.rules] == ["torch-codec"]
    assert catalog.rules[0].parsed(Version("0.9.1")) == Requirement("torch>=0.9")
    assert catalog.is_family("torch")


def test_user_newest_torch() -> None:
    """A user may tell of a torch that the catalogue does not know, for one platform or for all."""
    catalog = load_catalog(
        """
newest-torch:
  cu130: {torch: "2.15.0"}
  win-cu130: {torch: "2.14.1", pythons: ["3.14"]}
  cu140: {torch: "3.0", pythons: ["3.15"]}
support-ends:
  cu126: {last: "2.15", ends: "2.16"}
  cu132: {last: "2.20", ends: "2.21", source: me}
"""
    )
    cu130, linux, win = Accelerator("cu130"), PLATFORMS["linux"], PLATFORMS["win"]
    assert catalog.newest_torch(cu130, linux) == Version("2.15.0")
    assert catalog.pythons_of(cu130, linux) == CATALOG.pythons_of(cu130, linux)
    assert catalog.newest_torch(cu130, win) == Version("2.14.1")
    assert catalog.pythons_of(cu130, win) == ((3, 14),)
    assert catalog.newest_torch(Accelerator("cu140"), win) == Version("3.0")
    assert catalog.support_end(Accelerator("cu126")) == SupportEnd(
        last="2.15", ends="2.16", source="pytorch-190385"
    )
    assert catalog.support_end(Accelerator("cu132")) == SupportEnd(
        last="2.20", ends="2.21", source="me"
    )


def test_user_pairs() -> None:
    """A list of pairs is one rule for each release series; the user's rules replace all others."""
    catalog = load_catalog(
        """
cxx11-abi: {first: "2.5"}
rules:
  - package: ext
    pairs: {"1.9": "2.8", "1.10": "2.9"}
    requires: "torch=={pair}.*"
    reason: mine
    source: me
"""
    )
    found = {
        version: [
            str(rule.parsed(Version(version)))
            for rule in catalog.rules
            if rule.applies("ext", Version(version), LINUX_WHEEL)
        ]
        for version in ("1.1", "1.9.2", "1.10.0+cu130")
    }
    assert found == {"1.1": [], "1.9.2": ["torch==2.8.*"], "1.10.0+cu130": ["torch==2.9.*"]}
    assert len(catalog.rules) == 2
    early, late = make_row("linux-cu126"), make_row("linux-cu128")
    assert catalog.abi_limits(early.accelerator, early.platform, cxx11=True) == SpecifierSet(
        ">=2.5"
    )
    assert catalog.abi_limits(late.accelerator, late.platform, cxx11=False) == SpecifierSet("<2.7")


@pytest.mark.parametrize("text", [None, "", "# nothing\n", "{}"])
def test_user_file_of_nothing(text: str | None) -> None:
    """A file without content changes nothing, and a user's file leaves the packaged one alone."""
    catalog = load_catalog(text)
    assert (catalog.labels, catalog.rules) == (CATALOG.labels, CATALOG.rules)


KEYS = ", ".join(DATA)
NO_PLACE = "not an accelerator label, nor one behind a platform"
FAULTS = [
    ("- a\n", [Fault(where="user.yaml", message="expected a mapping at the top")]),
    (
        "accelerator: {}\nkinds: []\nrules: {}\n",
        [
            Fault(where="accelerator", message="unknown key", hint=f"expected one of {KEYS}"),
            Fault(where="kinds", message="expected a mapping, found []"),
            Fault(where="rules", message="expected a list, found {}"),
        ],
    ),
    ("format: one\n", [Fault(where="format", message="expected a number, found 'one'")]),
    (
        "accelerators:\n  cuda: {}\n  cu140: {platforms: [amiga, linux]}\nrules: [{package: a}]\n",
        [
            Fault(where="accelerators.cuda", message="not an accelerator label"),
            Fault(where="accelerators.cu140.platforms", message="unknown platform 'amiga'"),
            Fault(where="rules[0]", message="missing reason, requires, source, versions"),
        ],
    ),
    (
        "rules: [{package: a, versions: new, requires: '=={minor}', reason: c, source: d}]\n",
        [
            Fault(where="rules[0].versions", message="Invalid specifier: 'new'"),
            Fault(
                where="rules[0].requires",
                message="not a requirement: Expected package name at the start of dependency "
                "specifier",
            ),
        ],
    ),
    (
        """
rules:
  - {package: a, pairs: {0.10: "2.9"}, versions: "", requires: b, source: d, why: c, reason: 3}
""",
        [
            Fault(
                where="rules[0].why",
                message="unknown key",
                hint="expected one of package, versions, pairs, requires, when-present, compiled, "
                "reason, source",
            ),
            Fault(where="rules[0].reason", message="expected a string, found 3"),
            Fault(where="rules[0].pairs", message="stands in place of versions, not beside it"),
            Fault(
                where="rules[0].pairs",
                message="expected two strings in quotes, found 0.1: '2.9'",
            ),
        ],
    ),
    (
        """
rules: [{package: a, pairs: {new: "2.9"}, requires: b, reason: c, source: d}]
cxx11-abi: {first: new}
""",
        [
            Fault(where="rules[0].pairs", message="Invalid specifier: '==new.*'"),
            Fault(where="cxx11-abi.first", message="Invalid version: 'new'"),
        ],
    ),
    (
        """
newest-torch:
  cu140: {torch: new}
  linux-cuda: {torch: "3.0", pythons: [three]}
  amiga-cu130: {torch: "3.0", pythons: ["3.14"]}
support-ends: {cu140: {last: "3.0"}, gpu: {last: "3.0", ends: "3.1", source: me}}
""",
        [
            Fault(where="newest-torch.cu140", message="missing pythons"),
            Fault(where="newest-torch.cu140.torch", message="Invalid version: 'new'"),
            Fault(where="newest-torch.linux-cuda", message=NO_PLACE),
            Fault(where="newest-torch.linux-cuda.pythons", message="not a Python minor: 'three'"),
            Fault(where="newest-torch.amiga-cu130", message=NO_PLACE),
            Fault(where="support-ends.cu140", message="missing ends, source"),
            Fault(where="support-ends.gpu", message="not an accelerator label"),
        ],
    ),
    (
        """
gpu-architectures:
  - {torch: "3.0", accelerator: cu140, sm: ["9.0"]}
  - {torch: 3.1, accelerator: cu140, machine: x86_64, gfx: [], sm: ["9.0"], source: me}
  - {torch: new, accelerator: cu140, machine: arm, system: amiga, sm: [9.0], ptx: [], source: me}
""",
        [
            Fault(where="gpu-architectures[0]", message="missing machine, source"),
            Fault(where="gpu-architectures[1].torch", message="expected a string, found 3.1"),
            Fault(
                where="gpu-architectures[1].gfx",
                message="unknown key",
                hint="expected one of torch, accelerator, machine, system, sm, ptx, source",
            ),
            Fault(
                where="gpu-architectures[2].torch",
                message="not the first two numbers of a version: 'new'",
            ),
            Fault(
                where="gpu-architectures[2].machine",
                message="unknown machine 'arm'",
                hint="expected one of x86_64, aarch64",
            ),
            Fault(
                where="gpu-architectures[2].system",
                message="unknown system 'amiga'",
                hint="expected one of linux, windows",
            ),
            Fault(
                where="gpu-architectures[2].sm",
                message="expected a string in quotes, found 9.0",
            ),
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), FAULTS)
def test_faults(text: str, expected: list[Fault]) -> None:
    """All faults of a user's file come at once, each with its key."""
    with pytest.raises(ConfigError) as caught:
        load_catalog(text, where="user.yaml")
    assert (caught.value.faults, caught.value.where) == (tuple(expected), "user.yaml")


@pytest.mark.parametrize("text", ["a: [\n", "a: !!timestamp b\n", "a: 2026-13-45\n", "[" * 20_000])
def test_not_yaml(text: str) -> None:
    """What is no YAML is a fault with the place the reader stopped at, on one line."""
    with pytest.raises(ConfigError) as caught:
        load_catalog(text, where="user.yaml")
    (fault,) = caught.value.faults
    assert fault.where == "user.yaml"
    assert fault.message.startswith("not YAML: ")
    assert "\n" not in fault.message


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("accelerators: {cu140: 3}\n", "accelerators.cu140"),
        ("accelerators: {cu140: {driver: 600}}\n", "accelerators.cu140"),
        ("accelerators: {140: {}}\n", "accelerators.140"),
        ("rules: [3]\n", "rules[0]"),
        (
            "rules: [{package: a, versions: '>1', requires: '!', reason: c, source: d}]\n",
            "rules[0].requires",
        ),
        (
            "rules: [{package: a, versions: '>1', requires: 'b=={pair}', reason: c, source: d}]\n",
            "rules[0].requires",
        ),
        ("rules: [{package: a, pairs: , requires: b, reason: c, source: d}]\n", "rules[0].pairs"),
        ("cxx11-abi: {first: 2.6}\n", "cxx11-abi.first"),
        ("python: {minors: [3.12]}\n", "python.minors"),
        ("python: {minors: [three]}\n", "python.minors"),
        ("newest-torch: {cu130: 2.13}\n", "newest-torch.cu130"),
        ("newest-torch: {cu130: {torch: 2.13}}\n", "newest-torch.cu130.torch"),
        ("newest-torch: {cu130: {wheels: a}}\n", "newest-torch.cu130.wheels"),
        ("newest-torch: {130: {torch: '2', pythons: []}}\n", "newest-torch.130"),
        ("support-ends: {cu126: {last: 2.14}}\n", "support-ends.cu126.last"),
        ("gpu-architectures: [3]\n", "gpu-architectures[0]"),
        ("amd-architectures: {rocm8.0: {gfx: [gfx950]}}\n", "amd-architectures.rocm8.0"),
        ("amd-architectures: {rocm7.2: {since: '2.12'}}\n", "amd-architectures.rocm7.2"),
        ("amd-architectures: {rocm6.1: {since: new}}\n", "amd-architectures.rocm6.1.since"),
        ("amd-architectures: {rocm6.1: {since: 2.6}}\n", "amd-architectures.rocm6.1.since"),
        ("family: {packages: torch}\n", "family.packages"),
        ("family: {packages: 3}\n", "family.packages"),
    ],
)
def test_faults_below_the_top(text: str, where: str) -> None:
    """A value of the wrong kind further down is a fault as well, never a traceback."""
    with pytest.raises(ConfigError) as caught:
        load_catalog(text, where="user.yaml")
    assert [fault.where[: len(where)] for fault in caught.value.faults] == [where]
