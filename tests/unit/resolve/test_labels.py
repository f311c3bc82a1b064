"""What the local version of an extension's wheel says it was built for."""

from __future__ import annotations

import pytest
from packaging.version import Version

from lockforge.model.accelerator import Accelerator
from lockforge.resolve.labels import Label, mentions_build, parse_label


def local(text: str) -> str:
    """The label as it reaches the resolver: the normalized local part of a version (PEP 440)."""
    found = Version(f"1.0+{text}").local
    assert found is not None
    return found


READ = [
    # label as a file name has it, accelerator, torch, C++ ABI
    # flash-attn's releases on GitHub
    ("cu12torch2.8cxx11abiTRUE", "cu12", "==2.8.*", True),
    ("cu12torch2.8cxx11abiFALSE", "cu12", "==2.8.*", False),
    ("cu13torch2.9cxx11abiTRUE", "cu13", "==2.9.*", True),
    ("cu122torch2.3cxx11abiFALSE", "cu122", "==2.3.*", False),
    ("cu118torch2.0cxx11abiFALSE", "cu118", "==2.0.*", False),
    ("cu128torch2.8cxx11abiTRUE", "cu128", "==2.8.*", True),
    ("rocm6.3torch2.7cxx11abiTRUE", "rocm6.3", "==2.7.*", True),
    # those that others build of it
    ("cu128torch2.9", "cu128", "==2.9.*", None),
    ("cu130torch2.10", "cu130", "==2.10.*", None),
    ("cu124torch2.6.0cxx11abiFALSE", "cu124", "==2.6.0", False),
    ("cu.12.8.torch.2.11", "cu128", "==2.11.*", None),
    ("cu.13.0.torch.2.9", "cu130", "==2.9.*", None),
    ("cu12.8.torch2.8", "cu128", "==2.8.*", None),
    # PyG
    ("pt28cu128", "cu128", "==2.8.*", None),
    ("pt210cu130", "cu130", "==2.10.*", None),
    ("pt20cu117", "cu117", "==2.0.*", None),
    ("pt113cu117", "cu117", "==1.13.*", None),
    ("pt25cpu", "cpu", "==2.5.*", None),
    ("pt210cpu", "cpu", "==2.10.*", None),
    # torch first, in all its digits
    ("torch2.8.0.cu128", "cu128", "==2.8.0", None),
    ("torch2.8.0cu128", "cu128", "==2.8.0", None),
    ("pt2.8.0cu128", "cu128", "==2.8.0", None),
    ("cu121.torch2.5.0", "cu121", "==2.5.0", None),
    ("cu128torch2.8.0", "cu128", "==2.8.0", None),
    ("torch.2.8.0.cu.12.8", "cu128", "==2.8.0", None),
    ("pytorch2.8cu128", "cu128", "==2.8.*", None),
    ("torch29.cu130", "cu130", "==2.9.*", None),
    ("cu128.torch29", "cu128", "==2.9.*", None),
    ("cuda12.8torch2.8", "cu128", "==2.8.*", None),
    # the accelerator alone, or torch alone
    ("cpu", "cpu", None, None),
    ("xpu", "xpu", None, None),
    ("cu128", "cu128", None, None),
    ("cu92", "cu92", None, None),
    ("cu12", "cu12", None, None),
    ("rocm7.2", "rocm7.2", None, None),
    ("rocm6.2.4", "rocm6.2.4", None, None),
    ("torch2.8", "any", "==2.8.*", None),
    # ROCm
    ("rocm64torch2.9", "rocm6.4", "==2.9.*", None),
    ("torch2.8.0.rocm6.4", "rocm6.4", "==2.8.0", None),
    ("pt28rocm6.4", "rocm6.4", "==2.8.*", None),
    ("rocm.6.4.torch.2.8", "rocm6.4", "==2.8.*", None),
    ("rocm7torch2.9", "rocm7", "==2.9.*", None),
    ("torch2.8xpu", "xpu", "==2.8.*", None),
    # other ways to write the ABI
    ("cu126torch2.7cxx11abi1", "cu126", "==2.7.*", True),
    ("cu126torch2.5cxx11abi0", "cu126", "==2.5.*", False),
    # said twice, and the same
    ("cu128.torch2.8.cu128", "cu128", "==2.8.*", None),
    # capitals and other separators
    ("CU128-Torch2.8_CXX11abiTrue", "cu128", "==2.8.*", True),
]


@pytest.mark.parametrize(("text", "accelerator", "torch", "abi"), READ)
def test_spellings(text: str, accelerator: str, torch: str | None, abi: bool | None) -> None:  # noqa: FBT001
    label = parse_label(local(text))

    assert label is not None
    limits = None if label.torch_limits is None else str(label.torch_limits)
    assert (label.accelerator, limits, label.cxx11_abi) == (accelerator, torch, abi)
    assert mentions_build(local(text))


DIGITS = [
    # NATTEN: all three numbers of torch run together.
    ("torch280cu128", "cu128", "==2.8.0"),
    ("torch251cu124", "cu124", "==2.5.1"),
    ("torch200cu118", "cu118", "==2.0.0"),
    ("torch210cu121", "cu121", "==2.1.0"),
    ("torch210cu118", "cu118", "==2.1.0"),
    ("torch220cpu", "cpu", "==2.2.0"),
    ("torch2100cu130", "cu130", "==2.10.0"),
    ("torch2120cu132", "cu132", "==2.12.0"),
    # NVIDIA's builds for Cosmos: two numbers. Torch 2.1 was never built for these.
    ("cu128.torch210", "cu128", "==2.10.*"),
    ("cu130.torch210", "cu130", "==2.10.*"),
]


@pytest.mark.parametrize(("text", "accelerator", "torch"), DIGITS)
def test_digits_that_run_together(text: str, accelerator: str, torch: str) -> None:
    """No torch 2.80 or 2.51 is meant where the numbers of a release are run together."""
    label = parse_label(local(text))

    assert label is not None
    assert (label.accelerator, str(label.torch_limits)) == (accelerator, torch)


UNREADABLE = [
    "weird.cu128",
    "cu128torch2.8.dirty",
    "cu129torch2.9rc1",
    "cu12torch2.9nv25.12",
    "cu128torch2.9.0andhigher",
    "18f6958pt2.8.0cu128",
    "1.gabcdef.cu128",
    "linux.cu128",
    "v2.8cu128",
    "cpu.cxx11.abi",
    "cu118.with.pypi.cudnn",
    # too many digits, or too few
    "cu1288",
    "cu12.8.1",
    "cu8",
    # two answers
    "cu128.cu126",
    "cu128cpu",
    "pt2.8cu128torch2.9",
    "torch2.8torch2.8.0",
    "cxx11abitruecxx11abifalse",
]


@pytest.mark.parametrize("text", UNREADABLE)
def test_unreadable(text: str) -> None:
    """A label that is understood in part only is not understood, but is known for one."""
    assert parse_label(local(text)) is None
    assert mentions_build(local(text))


@pytest.mark.parametrize(
    "text", ["e437e35", "d20250101", "5d4b92a5.d20251029", "ubuntu1", "computer", "script2", "acme"]
)
def test_other_local_versions(text: str) -> None:
    """A commit, a date or a vendor's mark says nothing of a build."""
    assert parse_label(local(text)) is None
    assert not mentions_build(local(text))


SUITS = [
    # label, rows that take it, rows that do not
    ("cu128torch2.8", ["cu128"], ["cu126", "cu129", "cu130", "cpu", "rocm6.4", "xpu"]),
    ("cu12torch2.8", ["cu121", "cu126", "cu128", "cu129"], ["cu118", "cu130", "cpu", "xpu"]),
    ("cu13torch2.9", ["cu130", "cu132"], ["cu128", "cpu"]),
    ("cu12.8", ["cu128"], ["cu126"]),
    ("pt28cpu", ["cpu"], ["cu128", "rocm6.4", "xpu"]),
    ("xpu", ["xpu"], ["cpu", "cu128"]),
    ("rocm6.4", ["rocm6.4"], ["rocm6.3", "rocm7.2", "cpu", "cu128"]),
    ("rocm6", ["rocm6.3", "rocm6.4", "rocm6.2.4"], ["rocm7.2"]),
    ("rocm6.2", ["rocm6.2"], ["rocm6.2.4"]),
    ("torch2.8", ["cpu", "cu128", "rocm6.4", "xpu"], []),
]


@pytest.mark.parametrize(("text", "rows", "others"), SUITS)
def test_suits(text: str, rows: list[str], others: list[str]) -> None:
    """A label is for its own accelerator alone; a major version is for all its minors."""
    label = parse_label(local(text))

    assert label is not None
    found = {name: label.suits(Accelerator(name)) for name in [*rows, *others]}
    assert found == dict.fromkeys(rows, True) | dict.fromkeys(others, False)


def test_whole_label() -> None:
    assert parse_label(local("cu128torch2.8cxx11abiTRUE")) == Label(
        kind="cuda", version=(12, 8), torch=(2, 8), cxx11_abi=True
    )
    assert parse_label(local("pt2.8.0cpu")) == Label(kind="cpu", torch=(2, 8, 0))
