"""Requirements files, line by line."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement

from lockforge.errors import Fault
from lockforge.model.project import ProjectRequirement
from lockforge.project.faults import Faults
from lockforge.project.requirements_file import (
    RequirementsFile,
    Stated,
    beside,
    parse_requirements_file,
)
from tests.unit.project.disk import Disk
from tests.unit.project.gathered import gathered
from tests.unit.project.reading import make_reader

NAME = "requirements.txt"
WHEEL = "acme-1.0-py3-none-any.whl"


def entry(text: str, where: str) -> ProjectRequirement:
    return ProjectRequirement(requirement=Requirement(text), where=where)


def read_files(
    files: dict[str, str], *, constraining: bool = False
) -> tuple[RequirementsFile, tuple[Fault, ...]]:
    """Read requirements.txt of a project in /project that has these files."""
    faults = Faults()
    disk = Disk({f"/project/{name}": text for name, text in files.items()})
    reader = make_reader(disk, faults, bare=True)
    found = parse_requirements_file(
        NAME,
        lambda path: disk.read(f"file://{beside('/project/x', path)}"),
        reader,
        constraining=constraining,
    )
    return found, gathered(faults)


HASH = "--hash=sha256:" + "0" * 64
LINES = [
    # text, requirements with their line numbers
    ("torch\nnumpy>=2\n", [("torch", 1), ("numpy>=2", 2)]),
    ("\ufefftorch\n", [("torch", 1)]),
    ("torch\r\n\r\nnumpy\r\n", [("torch", 1), ("numpy", 3)]),
    ("# comment\n\n  torch  # why\n", [("torch", 3)]),
    ("torch#no-comment\n", None),
    ("torch>=2.9 \\\n  ,<3\nnumpy\n", [("torch>=2.9,<3", 1), ("numpy", 3)]),
    (
        f"torch==2.9 \\\n    {HASH} \\\n    {HASH}\n# via x\nnumpy==2 {HASH}\n",
        [("torch==2.9", 1), ("numpy==2", 5)],
    ),
    (f"torch==2.9 {HASH.replace('=', ' ', 1)}\n", [("torch==2.9", 1)]),
    (
        "torch; sys_platform == 'linux'  # only there\n",
        [("torch; sys_platform == 'linux'", 1)],
    ),
    ("torch \\\r\n>=2\r\nnumpy", [("torch>=2", 1), ("numpy", 3)]),
    ("\n\n\\\n\ntorch\n", [("torch", 5)]),
    # pip: a comment is not continued, and ends a line that is.
    ("torch\n# needs numpy \\\nnumpy\n", [("torch", 1), ("numpy", 3)]),
    ("torch \\\n# needs numpy \\\nnumpy\n", [("torch", 1), ("numpy", 3)]),
    ("torch  # why \\\n>=2\n", [("torch", 1)]),
    ("torch\nnumpy \\", [("torch", 1), ("numpy", 2)]),
    ("torch\nnumpy \\\n>=2 \\", [("torch", 1), ("numpy>=2", 2)]),
    ("torch\rnumpy\x0cscipy\n", [("torch", 1), ("numpy", 2), ("scipy", 3)]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), LINES)
def test_lines(text: str, expected: list[tuple[str, int]] | None) -> None:
    """Comments, hashes and continuations are read, and every line keeps its number."""
    found, faults = read_files({NAME: text})
    if expected is None:
        assert [fault.where for fault in faults] == [f"{NAME}, line 1"]
        return
    assert faults == ()
    assert found.requirements == [
        entry(requirement, f"{NAME}, line {line}") for requirement, line in expected
    ]


def test_nested_files() -> None:
    """A file is read once, relative to the one that names it, with its own line numbers."""
    found, faults = read_files(
        {
            NAME: "-r base/more.txt\n--requirement=base/more.txt\nnumpy\n",
            "base/more.txt": "-r other.txt\n-rmore.txt\ntorch\n",
            "base/other.txt": "\n\ntqdm\n",
        }
    )
    assert faults == ()
    assert found.requirements == [
        entry("tqdm", "base/other.txt, line 3"),
        entry("torch", "base/more.txt, line 3"),
        entry("numpy", f"{NAME}, line 3"),
    ]


def test_files_in_a_circle() -> None:
    """Files that name each other across folders are read once."""
    found, faults = read_files(
        {NAME: "-r base/more.txt\nnumpy\n", "base/more.txt": f"-r ../{NAME}\ntorch\n"}
    )
    assert faults == ()
    assert [str(one.requirement) for one in found.requirements] == ["torch", "numpy"]


def test_constraints() -> None:
    """What stands in a file after -c limits, and so does what that file names."""
    found, faults = read_files(
        {
            NAME: "torch\n-c limits/main.txt\n--constraint=limits/more.txt\n",
            "limits/main.txt": "# why\nnumpy<2\n-r more.txt\n-c main.txt\n",
            "limits/more.txt": "scipy<1.15\n",
        }
    )
    assert faults == ()
    assert found.requirements == [entry("torch", f"{NAME}, line 1")]
    assert found.constraints == [
        entry("numpy<2", "limits/main.txt, line 2"),
        entry("scipy<1.15", "limits/more.txt, line 1"),
    ]


def test_one_file_as_both() -> None:
    """A file may be required and constrain."""
    found, faults = read_files({NAME: "-r pins.txt\n-c pins.txt\n", "pins.txt": "numpy==2\n"})
    assert faults == ()
    assert found.requirements == found.constraints == [entry("numpy==2", "pins.txt, line 1")]


def test_a_file_of_constraints() -> None:
    found, faults = read_files({NAME: "numpy<2\n"}, constraining=True)
    assert faults == ()
    assert found.requirements == []
    assert found.constraints == [entry("numpy<2", f"{NAME}, line 1")]


def test_references_are_relative_to_their_file() -> None:
    """Paths without a name and -e included, in quotes too."""
    found, faults = read_files(
        {
            NAME: "-r deploy/more.txt\n",
            "deploy/more.txt": (
                f"./wheels/{WHEEL}\nother @ ../other-2.0.tar.gz\n-e libs/zed[fast]\n"
                '--editable "libs/with blank"\n'
            ),
            f"deploy/wheels/{WHEEL}": "",
            "other-2.0.tar.gz": "",
            "deploy/libs/zed/pyproject.toml": "[project]\nname = 'zed'\n",
            "deploy/libs/with blank/pyproject.toml": "[project]\nname = 'blank'\n",
        }
    )
    assert faults == ()
    assert [
        (str(one.requirement), one.where.rpartition(" ")[2], one.editable)
        for one in found.requirements
    ] == [
        (f"acme @ file:///project/deploy/wheels/{WHEEL}", "1", False),
        ("other @ file:///project/other-2.0.tar.gz", "2", False),
        ("zed[fast] @ file:///project/deploy/libs/zed", "3", True),
        ("blank @ file:///project/deploy/libs/with%20blank", "4", True),
    ]


def test_a_missing_reference_is_told_with_its_directory() -> None:
    _, faults = read_files({NAME: "-r deploy/more.txt\n", "deploy/more.txt": f"\n./{WHEEL}\n"})
    assert faults == (
        Fault(
            where="deploy/more.txt, line 2",
            message=f"there is no file or directory ./{WHEEL}",
            hint="correct the path; one that is relative starts at the directory of "
            "deploy/more.txt",
        ),
    )


URL = "https://acme.example/simple"
OPTIONS: list[tuple[str, RequirementsFile]] = [
    (f"-i {URL}", RequirementsFile(index_url=Stated("", URL))),
    (f"-i{URL}", RequirementsFile(index_url=Stated("", URL))),
    (f"--index-url {URL}", RequirementsFile(index_url=Stated("", URL))),
    (f"--index-url={URL}", RequirementsFile(index_url=Stated("", URL))),
    (f"-i {URL}?a=b", RequirementsFile(index_url=Stated("", f"{URL}?a=b"))),
    (
        f"-i https://pypi.example/simple --extra-index-url {URL}",
        RequirementsFile(
            index_url=Stated("", "https://pypi.example/simple"),
            extra_index_urls=[Stated("", URL)],
        ),
    ),
    ("-f wheels", RequirementsFile(find_links=[Stated("", "wheels")])),
    ("--find-links=./wheels/", RequirementsFile(find_links=[Stated("", "wheels")])),
    ("--find-links wheels/v=1", RequirementsFile(find_links=[Stated("", "wheels/v=1")])),
    (
        "--find-links https://acme.example/links.html",
        RequirementsFile(find_links=[Stated("", "https://acme.example/links.html")]),
    ),
    ("--only-binary :all:", RequirementsFile(only_binary=[Stated("", ":all:")])),
    ("--no-binary=a,b", RequirementsFile(no_binary=[Stated("", "a,b")])),
    ("--pre", RequirementsFile(prereleases=True)),
    ("--prefer-binary", RequirementsFile()),
    ("--trusted-host acme.example", RequirementsFile()),
    ("--use-feature=fast-deps", RequirementsFile()),
]


@pytest.mark.parametrize(("line", "expected"), OPTIONS)
def test_options(line: str, expected: RequirementsFile) -> None:
    """The options that pip reads in a file are understood in each spelling."""
    found, faults = read_files({NAME: f"{line}\n"})
    assert faults == ()
    where = f"{NAME}, line 1"
    if expected.index_url:
        expected.index_url = Stated(where, expected.index_url.text)
    for values in (
        expected.extra_index_urls,
        expected.find_links,
        expected.only_binary,
        expected.no_binary,
    ):
        values[:] = [Stated(where, text) for _, text in values]
    assert found == expected


UNUSED = "not used: the lock states the hash of every file it installs"


@pytest.mark.parametrize(
    ("files", "notes"),
    [
        ({NAME: "torch\n"}, []),
        ({NAME: f"torch==2 {HASH}\n"}, [f"{NAME}: hashes of 1 requirement are {UNUSED}"]),
        (
            {NAME: f"--require-hashes\ntorch==2 \\\n {HASH} \\\n {HASH}\nnumpy==2 {HASH}\ntqdm\n"},
            [f"{NAME}: hashes of 2 requirements are {UNUSED}"],
        ),
        ({NAME: "--require-hashes\ntorch\n"}, [f"{NAME}: --require-hashes is {UNUSED}"]),
        (
            {NAME: f"-c more.txt\ntorch==2 {HASH}\n", "more.txt": f"numpy==2 {HASH}\n"},
            [
                f"more.txt: hashes of 1 requirement are {UNUSED}",
                f"{NAME}: hashes of 1 requirement are {UNUSED}",
            ],
        ),
    ],
)
def test_hashes_are_noted(files: dict[str, str], notes: list[str]) -> None:
    """One line for each file says what is not done with them."""
    found, faults = read_files(files)
    assert faults == ()
    assert found.notes == notes


def test_faults() -> None:
    """Every faulty line of every file is told with its number."""
    lines = (
        "torch >=> 2",
        "--no-index",
        "--frobnicate yes",
        "numpy",
        "-r missing.txt",
        "-c missing.txt",
        "torch --global-option=x",
        "--index-url",
        "-f 'wheels",
        "--pre=yes",
    )
    found, faults = read_files({NAME: "\n".join(lines) + "\n"})
    assert found.requirements == [entry("numpy", f"{NAME}, line 4")]
    hint = "move it to [tool.lockforge], or delete the line"
    assert faults[0].where == f"{NAME}, line 1"
    assert faults[1:] == (
        Fault(
            where=f"{NAME}, line 2",
            message="--no-index leaves no index, and PyTorch's own are what a row is made of",
            hint=(
                "delete the line; what a directory of --find-links holds comes from nowhere else"
            ),
        ),
        Fault(
            where=f"{NAME}, line 3",
            message="the option --frobnicate is not understood here",
            hint=hint,
        ),
        Fault(
            where=f"{NAME}, line 5",
            message="missing.txt: no such requirements file",
            hint="correct the path, which is relative to this file",
        ),
        Fault(
            where=f"{NAME}, line 6",
            message="missing.txt: no such constraints file",
            hint="correct the path, which is relative to this file",
        ),
        Fault(
            where=f"{NAME}, line 7",
            message="the option --global-option is not understood here",
            hint=hint,
        ),
        Fault(where=f"{NAME}, line 8", message="the option --index-url has no value"),
        Fault(
            where=f"{NAME}, line 9",
            message="not a line of options: -f 'wheels: No closing quotation",
        ),
        Fault(
            where=f"{NAME}, line 10",
            message="the option --pre is not understood here",
            hint=hint,
        ),
    )
