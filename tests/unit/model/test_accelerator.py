"""Accelerators: labels, extras, versions, preference."""

from __future__ import annotations

import pytest
from packaging.utils import canonicalize_name, is_normalized_name

from lockforge.model.accelerator import Accelerator, is_label, names_accelerator

FIELDS = [
    # label, kind, version, extra
    ("cpu", "cpu", (), "cpu"),
    ("xpu", "xpu", (), "xpu"),
    ("cu92", "cuda", (9, 2), "cu92"),
    ("cu118", "cuda", (11, 8), "cu118"),
    ("cu126", "cuda", (12, 6), "cu126"),
    ("cu130", "cuda", (13, 0), "cu130"),
    ("cu999", "cuda", (99, 9), "cu999"),
    ("rocm6.4", "rocm", (6, 4), "rocm6-4"),
    ("rocm6.2.4", "rocm", (6, 2, 4), "rocm6-2-4"),
    ("rocm7.2", "rocm", (7, 2), "rocm7-2"),
    ("rocm7.14", "rocm", (7, 14), "rocm7-14"),
]
NOT_LABELS = [
    "",
    "CPU",
    "cuda",
    "cuda13",
    "cu",
    "cu1",
    "cu13",
    "cu12",
    "cu1300",
    "cu13.0",
    "rocm",
    "rocm7",
    "rocm7.",
    "rocm7-2",
    "rocm7.2.1.0",
    "mps",
    "gpu",
    " cpu",
    "cpu\n",
    "cu130-full",
]


@pytest.mark.parametrize(("label", "kind", "version", "extra"), FIELDS)
def test_fields(label: str, kind: str, version: tuple[int, ...], extra: str) -> None:
    """A label tells the kind, the version, and the extra that selects its rows."""
    accelerator = Accelerator(label)
    found = (accelerator.kind, accelerator.version, accelerator.extra)
    assert found == (kind, version, extra)


@pytest.mark.parametrize("label", [label for label, *_ in FIELDS])
def test_extra_is_normalized(label: str) -> None:
    """PEP 751 allows normalized extras only."""
    extra = Accelerator(label).extra
    assert is_normalized_name(extra)
    assert extra == canonicalize_name(label)
    assert names_accelerator(extra)


@pytest.mark.parametrize("text", NOT_LABELS)
def test_not_a_label(text: str) -> None:
    """What PyTorch would not write is no label."""
    assert not is_label(text)
    with pytest.raises(ValueError, match="not an accelerator label"):
        Accelerator(text)


@pytest.mark.parametrize("extra", ["train", "gpu", "cuda", "cpu-only", "rocm", "dev", "cu-130"])
def test_extras_of_projects(extra: str) -> None:
    """A project's own extra is not taken for a row's."""
    assert not names_accelerator(extra)


def test_preference() -> None:
    """CUDA newest first, then ROCm, XPU, CPU."""
    labels = [
        "cpu",
        "xpu",
        "rocm6.2",
        "rocm6.2.4",
        "rocm7.2",
        "rocm7.14",
        "cu92",
        "cu118",
        "cu126",
        "cu130",
    ]
    ordered = sorted(labels, key=lambda label: Accelerator(label).preference)
    assert ordered == [
        "cu130",
        "cu126",
        "cu118",
        "cu92",
        "rocm7.14",
        "rocm7.2",
        "rocm6.2.4",
        "rocm6.2",
        "xpu",
        "cpu",
    ]
