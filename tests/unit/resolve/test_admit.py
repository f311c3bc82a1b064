"""Which files exist for a Target, and why the others do not."""

from __future__ import annotations

import pytest
from packaging.utils import NormalizedName
from packaging.version import Version

from lockforge.model.release import DistributionFile, Listing
from lockforge.resolve.admit import Admitted, judge
from tests.unit.fakes import make_target


def file(
    filename: str, requires_python: str | None = None, upload_time: str | None = None
) -> DistributionFile:
    return DistributionFile(
        filename=filename,
        url=f"https://files.example/{filename}",
        sha256=None,
        requires_python=requires_python,
        upload_time=upload_time,
    )


def judged(
    *files: DistributionFile,
    project: str = "torch",
    row: str = "linux-cu130",
    family: bool = True,
    exclude_newer: str | None = None,
) -> list[tuple[str, str]]:
    """Each file that was judged with its verdict: ``admitted`` or the reason."""
    listing = Listing(
        project=NormalizedName(project), index_url="https://files.example/", files=files
    )
    verdicts = judge(listing, make_target(row), family=family, exclude_newer=exclude_newer)
    return [
        (one.file.filename, "admitted" if isinstance(one, Admitted) else one.reason)
        for one in verdicts
    ]


TAGS = [
    ("torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl", None),
    ("torch-2.9.0-cp39-abi3-manylinux_2_17_x86_64.whl", None),
    ("torch-2.9.0-py3-none-any.whl", None),
    ("torch-2.9.0.tar.gz", None),
    (
        "torch-2.9.0-cp311-cp311-manylinux_2_28_x86_64.whl",
        "cp311-cp311-manylinux_2_28_x86_64",
    ),
    (
        "torch-2.9.0-cp312-cp312-manylinux_2_34_x86_64.whl",
        "cp312-cp312-manylinux_2_34_x86_64",
    ),
    ("torch-2.9.0-cp312-none-macosx_11_0_arm64.whl", "cp312-none-macosx_11_0_arm64"),
    (
        "torch-2.9.0-cp313-cp313t-manylinux_2_28_x86_64.whl",
        "cp313-cp313t-manylinux_2_28_x86_64",
    ),
]


@pytest.mark.parametrize(("filename", "foreign"), TAGS)
def test_tags(filename: str, foreign: str | None) -> None:
    """A wheel for another machine or Python does not exist, and is refused for that."""
    reason = "admitted" if foreign is None else "made for other Pythons or platforms"
    assert judged(file(filename)) == [(filename, reason)]


LABELS = [
    # version, row, the accelerator that makes it foreign
    ("2.11.0", "linux-cu130", None),
    ("2.11.0+cu130", "linux-cu130", None),
    ("2.11.0+cpu", "linux-cu130", "cpu"),
    ("2.11.0+cu128", "linux-cu130", "cu128"),
    ("2.11.0+rocm7.2", "linux-cu130", "rocm7.2"),
    ("2.11.0+xpu", "linux-cu130", "xpu"),
    ("2.11.0+cu130", "linux-cpu", "cu130"),
    ("2.11.0+cpu", "linux-cpu", None),
    ("2.11.0+rocm7.2", "linux-rocm7.2", None),
    ("2.11.0+rocm7.14", "linux-rocm7.2", "rocm7.14"),
    ("2.11.0+rocm6.2.4", "linux-rocm6.2", "rocm6.2.4"),
    ("2.11.0+cu118.with.pypi.cudnn", "linux-cu118", None),
    ("2.11.0+cpu.cxx11.abi", "linux-cu130", "cpu"),
    # A commit or date names no accelerator.
    ("0.24.0+e437e35", "linux-cu130", None),
    ("0.0.33+5d4b92a5.d20251029", "linux-cu130", None),
]


@pytest.mark.parametrize(("version", "row", "foreign"), LABELS)
def test_foreign_labels(version: str, row: str, foreign: str | None) -> None:
    """In the family a local version of another accelerator is refused; a bare one is fine."""
    filename = f"torch-{version}-py3-none-any.whl"
    reason = "admitted" if foreign is None else f"built for {foreign}"
    assert judged(file(filename), row=row) == [(filename, reason)]
    assert judged(file(filename), row=row, family=False) == [(filename, "admitted")]


@pytest.mark.parametrize(
    ("requires_python", "verdict", "kept"),
    [
        (None, "admitted", None),
        (">=3.8", "admitted", None),
        (">=3.12.4", "admitted", ">=3.12.4"),
        (">=3.13", "needs Python >=3.13", None),
    ],
)
def test_requires_python(requires_python: str | None, verdict: str, kept: str | None) -> None:
    """A Requires-Python refuses, and is kept where it excludes some patch releases."""
    one = file("torch-2.9.0-py3-none-any.whl", requires_python=requires_python)
    assert judged(one) == [(one.filename, verdict)]
    listing = Listing(project=NormalizedName("torch"), index_url="", files=(one,))
    found = [
        verdict.requires_python
        for verdict in judge(listing, make_target("linux-cpu"), family=False, exclude_newer=None)
        if isinstance(verdict, Admitted)
    ]
    assert found == ([kept] if verdict == "admitted" else [])


TIMES = [
    # upload time, whether it is after 2026-11-01T23:59:59Z
    ("2026-11-01T00:00:00Z", False),
    ("2026-11-01T23:59:59Z", False),
    ("2026-11-01T23:59:59.999999Z", False),
    ("2026-11-02T00:00:00Z", True),
    ("2026-11-02T00:00:00.000001Z", True),
    ("2027-01-01T00:00:00Z", True),
    # Older pages of PyTorch tell no time: such files cannot be judged.
    (None, False),
]


@pytest.mark.parametrize(("upload_time", "newer"), TIMES)
def test_exclude_newer(upload_time: str | None, newer: bool) -> None:  # noqa: FBT001
    """A file uploaded after the limit does not exist."""
    one = file("torch-2.9.0-py3-none-any.whl", upload_time=upload_time)
    reason = f"uploaded {upload_time}, after exclude-newer" if newer else "admitted"
    assert judged(one, exclude_newer="2026-11-01T23:59:59Z") == [(one.filename, reason)]
    assert judged(one) == [(one.filename, "admitted")]


def test_other_files() -> None:
    """Files of another project, or of none, are not judged at all."""
    names = [
        "torchvision-0.24-py3-none-any.whl",
        "torch.whl",
        "torch-latest-py3-none-any.whl",
        "torch-2.9.0.exe",
        "Torch-2.9.0-py3-none-any.whl",
        "torch-2.8.0.zip",
    ]
    assert judged(*map(file, names)) == [(names[4], "admitted"), (names[5], "admitted")]


@pytest.mark.parametrize(
    ("best", "other"),
    [
        ("torch-1.0-py3-none-any.whl", "torch-1.0.tar.gz"),
        ("torch-1.0-cp312-cp312-manylinux_2_28_x86_64.whl", "torch-1.0-py3-none-any.whl"),
        (
            "torch-1.0-cp312-cp312-manylinux_2_17_x86_64.whl",
            "torch-1.0-5-cp39-abi3-manylinux_2_17_x86_64.whl",
        ),
        ("torch-1.0-1-py3-none-any.whl", "torch-1.0-py3-none-any.whl"),
        ("torch-1.0-10-py3-none-any.whl", "torch-1.0-9-py3-none-any.whl"),
        # The build tag is (number, text), and the highest wins.
        ("torch-1.0-1b-py3-none-any.whl", "torch-1.0-1a-py3-none-any.whl"),
        ("torch-1.0-1a-py3-none-any.whl", "torch-1.0-1-py3-none-any.whl"),
    ],
)
def test_preference(best: str, other: str) -> None:
    """Wheels before sdists, the best tag, then the highest build."""
    listing = Listing(
        project=NormalizedName("torch"), index_url="", files=(file(other), file(best))
    )
    found = [
        one
        for one in judge(listing, make_target("linux-cpu"), family=False, exclude_newer=None)
        if isinstance(one, Admitted)
    ]
    assert max(found, key=lambda one: one.preference).file.filename == best
    assert {one.version for one in found} == {Version("1.0")}
