"""Indexes of options and of requirements files, beside those configured."""

from __future__ import annotations

from typing import Any

from lockforge.errors import Fault
from lockforge.model.index import Index, UserIndex
from lockforge.project.faults import Faults
from lockforge.project.index_options import Indexes, load_indexes
from lockforge.project.indexes import Credentials
from lockforge.project.options import Options
from lockforge.project.requirements_file import RequirementsFile, Stated
from tests.unit.fakes import PYPI
from tests.unit.project.disk import Disk
from tests.unit.project.gathered import gathered

TORCH = "https://download.pytorch.org/whl"
DISK = Disk({"/here/wheels/acme-1.0-py3-none-any.whl": ""})


def read(
    *files: RequirementsFile, options: Options | None = None, tables: list[Any] | None = None
) -> tuple[Indexes, tuple[Fault, ...], Credentials]:
    faults = Faults()
    credentials = Credentials()
    found = load_indexes(
        options or Options(),
        tables or [],
        files,
        (TORCH, "https://mirror.example/whl"),
        paths=DISK.paths,
        credentials=credentials,
        faults=faults,
    )
    return found, gathered(faults), credentials


def opened(name: str, url: str, layout: Any = "simple") -> UserIndex:
    return UserIndex(index=Index(name=name, url=url, layout=layout), packages=())


def test_nothing_stated() -> None:
    found, faults, _ = read()
    assert faults == ()
    assert found == Indexes(default=PYPI, others=(), notes=(), places={})


def test_default_index() -> None:
    """The option wins over files, the first file over others, and each over the table."""
    tables = [{"url": "https://table.example/simple", "default": True}]
    file = RequirementsFile(index_url=Stated("r.txt, line 1", "https://file.example/simple"))
    later = RequirementsFile(index_url=Stated("s.txt, line 1", "https://later.example/simple"))
    option = Options(index_url="https://option.example/simple")
    defaults = [
        read(file, later, options=option, tables=tables)[0].default,
        read(file, later, tables=tables)[0].default,
        read(tables=tables)[0].default,
    ]
    assert [one.url for one in defaults] == [
        "https://option.example/simple/",
        "https://file.example/simple/",
        "https://table.example/simple/",
    ]


def test_extra_indexes() -> None:
    """They are open, go by the name of their host, and one named twice is one."""
    file = RequirementsFile(
        extra_index_urls=[
            Stated("r.txt, line 1", "https://user:pass@acme.example/simple"),
            Stated("r.txt, line 2", "https://acme.example/simple/"),
            Stated("r.txt, line 3", "https://pypi.org/simple"),
        ]
    )
    found, faults, credentials = read(file)
    assert faults == ()
    assert found.others == (opened("acme.example", "https://acme.example/simple/"),)
    assert [(one.user, one.password) for one in credentials.found if one.user] == [("user", "pass")]


def test_links() -> None:
    """A directory serves what it holds; a page on the web is open."""
    file = RequirementsFile(
        find_links=[
            Stated("r.txt, line 1", "wheels"),
            Stated("r.txt, line 2", "https://acme.example/links.html"),
            Stated("r.txt, line 3", "nowhere"),
        ]
    )
    found, faults, _ = read(file)
    assert found.others == (
        UserIndex(
            index=Index(name="wheels", url="file:///here/wheels", layout="flat"),
            packages=("acme",),
        ),
        opened("acme.example", "https://acme.example/links.html", "flat"),
    )
    assert [(fault.where, fault.message) for fault in faults] == [
        ("r.txt, line 3", "not a directory: nowhere")
    ]


def test_links_named_twice() -> None:
    """A directory or page of several files and options is one, however its address ends."""
    page = "https://acme.example/links"
    one = RequirementsFile(find_links=[Stated("r.txt, line 1", "wheels"), Stated("r.txt", page)])
    two = RequirementsFile(find_links=[Stated("s.txt, line 1", "./wheels/")])
    options = Options(find_links=("/here/wheels", f"{page}/"))
    tables = [{"name": "own", "url": "/here/wheels", "packages": ["acme"]}]

    assert [user.index.name for user in read(one, two, options=options)[0].others] == [
        "wheels",
        "acme.example",
    ]
    assert [user.index.name for user in read(one, two, tables=tables)[0].others] == [
        "own",
        "acme.example",
    ]


def test_links_of_options_come_first() -> None:
    file = RequirementsFile(find_links=[Stated("r.txt, line 1", "https://file.example/a.html")])
    options = Options(find_links=("https://option.example/b.html",))
    found, faults, _ = read(file, options=options)
    assert faults == ()
    assert [user.index.name for user in found.others] == ["option.example", "file.example"]


def test_indexes_of_pytorch_are_noted() -> None:
    """pip needs them in a file; here each row has its own, and takes nothing else from there."""
    file = RequirementsFile(
        index_url=Stated("r.txt, line 1", f"{TORCH}/cpu"),
        extra_index_urls=[
            Stated("r.txt, line 2", f"{TORCH}/cu130/"),
            Stated("r.txt, line 3", "https://user:pass@mirror.example/whl/cu130"),
            Stated("r.txt, line 4", "https://download.pytorch.org/whlx"),
        ],
        find_links=[Stated("r.txt, line 5", f"{TORCH}/torch_stable.html")],
    )
    found, faults, _ = read(file)
    assert faults == ()
    assert found.default == PYPI
    assert found.others == (opened("download.pytorch.org", "https://download.pytorch.org/whlx/"),)
    why = (
        "is not used: each row takes PyTorch's packages from the index of its accelerator, and no "
        "others from there"
    )
    assert found.notes == (
        f"r.txt, line 1: {TORCH}/cpu {why}",
        f"r.txt, line 5: {TORCH}/torch_stable.html {why}",
        f"r.txt, line 2: {TORCH}/cu130 {why}",
        f"r.txt, line 3: https://mirror.example/whl/cu130 {why}",
    )


def test_faults_name_the_line() -> None:
    file = RequirementsFile(
        index_url=Stated("r.txt, line 1", "https://"),
        extra_index_urls=[Stated("r.txt, line 2", "https://")],
        find_links=[Stated("r.txt, line 3", "https://")],
    )
    _, faults, _ = read(file)
    assert sorted(fault.where for fault in faults) == [
        "r.txt, line 1",
        "r.txt, line 2",
        "r.txt, line 3",
    ]
