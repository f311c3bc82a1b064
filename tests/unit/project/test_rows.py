"""Rows, floors and Pythons as users write them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lockforge.catalog import load_catalog
from lockforge.errors import Fault
from lockforge.model.accelerator import Accelerator
from lockforge.model.matrix import Row
from lockforge.model.platforms import PLATFORMS
from lockforge.model.python import PythonMinor
from lockforge.project.faults import Faults
from lockforge.project.rows import (
    build_matrix,
    choose_pythons,
    parse_floor,
    parse_pythons,
    parse_row,
    parse_rows,
)
from tests.unit.fakes import make_row, make_target
from tests.unit.project.gathered import gathered

CATALOG = load_catalog()

NAMES = [
    ("linux-cu130", "linux", "cu130"),
    ("linux-x86_64-cu130", "linux", "cu130"),
    ("linux-cpu", "linux", "cpu"),
    ("linux-xpu", "linux", "xpu"),
    ("linux-rocm7.2", "linux", "rocm7.2"),
    ("linux-aarch64-cu130", "linux-aarch64", "cu130"),
    ("linux-arm64-cu130", "linux-aarch64", "cu130"),
    ("win-cu126", "win", "cu126"),
    ("win-amd64-cpu", "win", "cpu"),
    ("win-arm64-cpu", "win-arm64", "cpu"),
    ("mac-cpu", "mac", "cpu"),
    ("mac-arm64-cpu", "mac", "cpu"),
    ("mac-x86_64-cpu", "mac-x86_64", "cpu"),
    # MPS is in the macOS wheels, which lie on the cpu index.
    ("mac-mps", "mac", "cpu"),
    # No release of ours is needed for a new CUDA or ROCm.
    ("linux-cu199", "linux", "cu199"),
    ("linux-rocm9.0.1", "linux", "rocm9.0.1"),
]


@pytest.mark.parametrize(("name", "platform", "label"), NAMES)
def test_row(name: str, platform: str, label: str) -> None:
    """A row is a platform by any of its names, and an accelerator; it keeps its spelling."""
    faults = Faults()
    expected = Row(name=name, platform=PLATFORMS[platform], accelerator=Accelerator(label))
    assert parse_row(name, CATALOG, faults, "here") == expected
    assert gathered(faults) == ()


# The newest of each kind that the catalogue has.
NEWEST = [
    max(
        (label for label in CATALOG.labels if Accelerator(label).kind == kind),
        key=lambda label: Accelerator(label).version,
    )
    for kind in ("cuda", "rocm", "xpu", "cpu")
]
FAULTY = [
    ("linux", "row 'linux' names no accelerator", "write linux-cpu, for example"),
    ("win-amd64", "row 'win-amd64' names no accelerator", "write win-amd64-cpu, for example"),
    (
        "linx-cu130",
        "unknown platform 'linx' in row 'linx-cu130'",
        "did you mean 'linux'?",
    ),
    (
        "amiga-cpu",
        "unknown platform 'amiga' in row 'amiga-cpu'",
        (
            "expected one of: linux, linux-aarch64, win, win-arm64, mac, mac-x86_64, "
            "linux-x86_64, linux-arm64, win-amd64, mac-arm64"
        ),
    ),
    (
        "linux-cu13.0",
        "unknown accelerator 'cu13.0' in row 'linux-cu13.0'",
        "did you mean 'cu130'?",
    ),
    (
        "linux-rocm",
        "unknown accelerator 'rocm' in row 'linux-rocm'",
        None,
    ),
    (
        "linux-gaudi",
        "unknown accelerator 'gaudi' in row 'linux-gaudi'",
        f"expected one such as {', '.join(NEWEST)}",
    ),
    (
        "cpu",
        "not a row: 'cpu': a row is a platform and an accelerator, joined by -",
        "write linux-cu130, win-cpu, mac-cpu or the like",
    ),
    (
        "linux_cpu",
        "not a row: 'linux_cpu': a row is a platform and an accelerator, joined by -",
        "write linux-cu130, win-cpu, mac-cpu or the like",
    ),
    ("LINUX-CPU", "unknown platform 'LINUX' in row 'LINUX-CPU'", "did you mean 'linux'?"),
    ("linux-mps", "row 'linux-mps': mps is on a Mac only", "write mac-mps"),
    (
        "win-rocm7.2",
        "row 'win-rocm7.2': PyTorch has no rocm7.2 builds for win",
        "rows that exist: linux-rocm7.2",
    ),
    (
        "mac-cu130",
        "row 'mac-cu130': PyTorch has no cu130 builds for mac",
        "rows that exist: linux-cu130, linux-aarch64-cu130, win-cu130",
    ),
    (
        "win-arm64-xpu",
        "row 'win-arm64-xpu': PyTorch has no xpu builds for win-arm64",
        "rows that exist: linux-xpu, win-xpu",
    ),
]


@pytest.mark.parametrize(("name", "message", "hint"), FAULTY)
def test_faulty_row(name: str, message: str, hint: str | None) -> None:
    """What is wrong with a row is said with the rows or words that do exist."""
    faults = Faults()
    assert parse_row(name, CATALOG, faults, "tool.lockforge.matrix[0]") is None
    (found,) = gathered(faults)
    expected = Fault(where="tool.lockforge.matrix[0]", message=message, hint=hint or found.hint)
    assert found == expected


def test_rows() -> None:
    """Rows keep their order; a row given twice, in whatever spelling, is a fault; all are told."""
    faults = Faults()
    names = ["mac-cpu", "linux-cpu", "mac-mps", "linux-cpu", "linux-x86_64-cpu", "x-cpu"]
    rows = parse_rows(names, CATALOG, faults, "--matrix")
    assert rows == [make_row("mac-cpu"), make_row("linux-cpu")]
    found = gathered(faults)
    assert [(fault.where, fault.message) for fault in found] == [
        ("--matrix[2]", "row 'mac-mps' is the same as 'mac-cpu'"),
        ("--matrix[3]", "row 'linux-cpu' is given twice"),
        ("--matrix[4]", "row 'linux-x86_64-cpu' is the same as 'linux-cpu'"),
        ("--matrix[5]", "unknown platform 'x' in row 'x-cpu'"),
    ]
    assert {fault.hint for fault in found[:3]} == {"leave one of them out"}


@pytest.mark.parametrize(
    ("platform", "text", "expected"),
    [
        ("linux", "2.28", (2, 28)),
        ("linux", "2.5", (2, 5)),
        ("linux", "2.99", (2, 99)),
        ("linux-aarch64", "2.17", (2, 17)),
        ("mac", "15.0", (15, 0)),
        ("mac", "15", (15, 0)),
        ("mac", "26.1", (26, 1)),
        ("mac-x86_64", "10.15", (10, 15)),
        ("linux", "x", None),
        ("linux", "2.28.1", None),
        ("linux", "", None),
        ("linux", "2", None),
        ("linux", "2.4", None),
        ("linux-aarch64", "2.16", None),
        ("linux", "3.5", None),
        ("linux", "1.0", None),
        ("linux", "2.999999999", None),
        ("mac", "10.15", None),
        ("mac", "999999999.0", None),
        ("mac", "٢٥.٠", None),  # noqa: RUF001
    ],
)
def test_floor(platform: str, text: str, expected: tuple[int, int] | None) -> None:
    """A floor is a version of one or two numbers, within what wheels can be for."""
    faults = Faults()
    assert parse_floor(text, PLATFORMS[platform], faults, "here") == expected
    assert [fault.where for fault in gathered(faults)] == ([] if expected else ["here"])


def test_the_words_for_a_floor() -> None:
    faults = Faults()
    parse_floor("3.5", PLATFORMS["linux"], faults, "here")
    assert gathered(faults) == (
        Fault(
            where="here",
            message="not a version of glibc that linux can start from: '3.5'",
            hint='expected "2.5" to "2.99"',
        ),
    )


def test_pythons() -> None:
    """A patch release is kept, the first too; what is no Python 3 is a fault."""
    faults = Faults()
    texts = ["3.12", "3.11.4", " 3.13.0 ", "3.12", "2.7", "3", "three", "4.0", "3.12.100", "3.100"]
    assert parse_pythons(texts, faults, "--python") == [(3, 12), (3, 11, 4), (3, 13, 0)]
    assert gathered(faults) == tuple(
        Fault(
            where=f"--python[{place}]",
            message=f"not a Python version: {texts[place]!r}",
            hint='expected "3.12" or "3.12.3"',
        )
        for place in (4, 5, 6, 7, 8, 9)
    )


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["3.12", "3.12.3"], "Python 3.12 is given twice, from 3.12 on and from 3.12.3 on"),
        (["3.12.5", "3.12.3"], "Python 3.12 is given twice, from 3.12.5 on and from 3.12.3 on"),
    ],
)
def test_a_minor_given_twice(texts: list[str], message: str) -> None:
    """Two patch releases of one minor cannot both be where it begins."""
    faults = Faults()
    parse_pythons(texts, faults, "tool.lockforge.python")
    assert gathered(faults) == (
        Fault(where="tool.lockforge.python[1]", message=message, hint="leave the lower of the two"),
    )


CHOICES: list[tuple[list[str], str | None, str | None, list[PythonMinor]]] = [
    # stated, .python-version, requires-python, the Pythons
    (["3.12"], "3.11", ">=3.10", [(3, 12)]),
    (["3.13", "3.12"], None, None, [(3, 13), (3, 12)]),
    (["3.12.3"], None, ">=3.12.3", [(3, 12, 3)]),
    (["3.12"], None, ">=3.12.4", [(3, 12)]),
    ([], "3.11\n", ">=3.10", [(3, 11)]),
    # It names one interpreter, which is no floor.
    ([], "3.11.9\n3.12\n", None, [(3, 11)]),
    # What pyenv and uv write; an editor may put a mark before it.
    ([], "\ufeff3.12\n", None, [(3, 12)]),
    ([], "# the servers have it\n\n3.12.3  # why\n", None, [(3, 12)]),
    ([], "pypy3.10-7.3.12\n3.12.3 3.11.9\n", None, [(3, 12)]),
    ([], "cpython-3.12.3\n", None, [(3, 12)]),
    ([], "cpython-3.12.3-linux-x86_64-gnu\n", None, [(3, 12)]),
    ([], "cpython@3.12\n", None, [(3, 12)]),
    ([], "python3.12\n", None, [(3, 12)]),
    ([], "\n", ">=3.13", [(3, 13), (3, 14)]),
    ([], "# none\n", ">=3.13", [(3, 13), (3, 14)]),
    ([], None, ">=3.12", [(3, 12), (3, 13), (3, 14)]),
    ([], None, ">=3.11,<3.13", [(3, 11), (3, 12)]),
    ([], None, ">=3.12.4,<3.14", [(3, 12), (3, 13)]),
    ([], None, "~=3.11.2", [(3, 11)]),
    ([], None, "==3.11.5", [(3, 11)]),
    ([], None, ">3.11,<=3.12", [(3, 11), (3, 12)]),
    ([], None, ">=3.11,!=3.12.*,<3.14", [(3, 11), (3, 13)]),
    ([], None, None, [(3, 10), (3, 11), (3, 12), (3, 13), (3, 14)]),
]


@pytest.mark.parametrize(("stated", "file", "requires_python", "expected"), CHOICES)
def test_choice_of_pythons(
    stated: list[str],
    file: str | None,
    requires_python: str | None,
    expected: list[PythonMinor],
) -> None:
    """What is stated, else .python-version, else what requires-python and the catalogue allow."""
    faults = Faults()
    pythons = choose_pythons(
        stated,
        "tool.lockforge.python",
        python_version_file=file,
        requires_python=requires_python,
        catalog=CATALOG,
        faults=faults,
    )
    assert pythons.chosen == expected
    assert pythons.derived is not bool(stated or (file and "3." in file))
    assert str(pythons.limits or "") == ",".join(sorted((requires_python or "").split(",")))
    assert gathered(faults) == ()


@pytest.mark.parametrize(
    ("stated", "file", "requires_python", "expected"),
    [
        (
            ["3.11", "3.13"],
            None,
            ">=3.12",
            Fault(
                where="tool.lockforge.python",
                message="Python 3.11 is outside of requires-python '>=3.12'",
                hint="change one of the two",
            ),
        ),
        (
            ["3.12.3"],
            None,
            ">=3.12.4",
            Fault(
                where="tool.lockforge.python",
                message="Python 3.12.3 is outside of requires-python '>=3.12.4'",
                hint="change one of the two",
            ),
        ),
        (
            [],
            "3.11",
            ">=3.12",
            Fault(
                where=".python-version",
                message="Python 3.11 is outside of requires-python '>=3.12'",
                hint="change one of the two",
            ),
        ),
        (
            [],
            "# what CI has\npypy3.10-7.3.12\nsystem 3.13t\n",
            None,
            Fault(
                where=".python-version",
                message="it names no CPython: pypy3.10-7.3.12, system, 3.13t",
                hint='write "3.12" or the like, or state the Pythons in tool.lockforge.python',
            ),
        ),
        (
            [],
            None,
            ">=3.99",
            Fault(
                where="project.requires-python",
                message=(
                    "no Python that PyTorch has wheels for (3.10, 3.11, 3.12, 3.13, 3.14) is in "
                    "'>=3.99'"
                ),
                hint="widen it, or state the Pythons in tool.lockforge.python",
            ),
        ),
        (
            ["3.12"],
            None,
            "three",
            Fault(where="project.requires-python", message="not a version specifier: 'three'"),
        ),
    ],
)
def test_faulty_choice(
    stated: list[str], file: str | None, requires_python: str, expected: Fault
) -> None:
    """A Python that the project itself excludes is a fault that names where it was said."""
    faults = Faults()
    choose_pythons(
        stated,
        "tool.lockforge.python",
        python_version_file=file,
        requires_python=requires_python,
        catalog=CATALOG,
        faults=faults,
    )
    assert gathered(faults) == (expected,)


def test_matrix() -> None:
    """Every row is crossed with every Python, with the floor that is set for it."""
    rows = [make_row("mac-cpu"), make_row("linux-cpu")]
    matrix = build_matrix(rows, [(3, 13), (3, 12)], {"mac-cpu": (15, 0)})
    mac = replace(make_row("mac-cpu"), platform=replace(PLATFORMS["mac"], floor=(15, 0)))
    assert matrix.rows == (make_row("linux-cpu"), mac)
    assert matrix.targets == (
        make_target("linux-cpu", "3.12"),
        make_target("linux-cpu", "3.13"),
        make_target("mac-cpu", "3.12", (15, 0)),
        make_target("mac-cpu", "3.13", (15, 0)),
    )
