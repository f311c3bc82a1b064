"""One requirement as the user writes it, and the direct references among them."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement

from lockforge.errors import Fault
from lockforge.model.access import IndexAccess
from lockforge.model.project import ProjectRequirement
from lockforge.project.faults import Faults
from tests.unit.project.disk import Disk
from tests.unit.project.gathered import gathered
from tests.unit.project.reading import make_reader

WHEEL = "acme-1.0-py3-none-any.whl"
DISK = Disk(
    {
        f"/project/wheels/{WHEEL}": "",
        "/project/my wheels/acme-2.0.tar.gz": "",
        "/project/odd.whl": "",
        "/project/libs/zed/pyproject.toml": "[project]\nname = 'Zed.Lib'\n",
        "/project/libs/nameless/pyproject.toml": "[build-system]\nrequires = []\n",
        "/project/libs/broken/pyproject.toml": "[project",
        "/project/libs/old/setup.py": "",
        "/project/pyproject.toml": "[project]\nname = 'app'\n",
        f"/elsewhere/{WHEEL}": "",
    }
)
WEB = f"https://host.example/{WHEEL}"
SHA256 = "0" * 64


def entry(text: str, where: str = "here", condition: str = "") -> ProjectRequirement:
    return ProjectRequirement(requirement=Requirement(text), where=where, condition=condition)


@pytest.mark.parametrize(
    "text", ["torch", "torch>=2.9", "torch[opt-einsum] >=2.9,<3; sys_platform == 'linux'"]
)
def test_requirement(text: str) -> None:
    """One requirement keeps where it was said and when it holds."""
    reader = make_reader(DISK)
    assert reader.read(text, "here", condition="'x' in extras") == entry(
        text, "here", "'x' in extras"
    )
    assert gathered(reader.faults) == ()


def test_not_a_requirement() -> None:
    """What is no requirement is a fault with the reason and an example."""
    faults = Faults()
    assert make_reader(DISK, faults).read("torch >=> 2", "here") is None
    (fault,) = gathered(faults)
    assert (fault.where, fault.hint) == ("here", 'write "torch>=2.9" or so')
    assert fault.message.startswith("not a requirement: 'torch >=> 2': ")
    assert "\n" not in fault.message


def test_marker_without_meaning() -> None:
    """A comparison that PEP 508 does not define is a fault where it stands."""
    faults = Faults()
    reader = make_reader(DISK, faults)
    assert reader.read("torch; sys_platform ~= 'linux'", "here") is None
    assert reader.read("torch; 'train' in extras", "there") is None
    assert reader.read("torch; 'dev' in dependency_groups", "beyond") is None
    assert [fault.where for fault in gathered(faults)] == ["here", "there", "beyond"]


REFERENCES = [
    # text, the requirement, what a lock shows of it
    (f"acme @ {WEB}", f"acme @ {WEB}", f"acme @ {WEB}"),
    (
        f"acme @ {WEB}#sha256={SHA256}",
        f"acme @ {WEB}#sha256={SHA256}",
        f"acme @ {WEB}#sha256={SHA256}",
    ),
    (f"acme @ {WEB}?signature=s3cret", f"acme @ {WEB}?signature=s3cret", f"acme @ {WEB}"),
    (
        f"acme @ ./wheels/{WHEEL}",
        f"acme @ file:///project/wheels/{WHEEL}",
        f"acme @ wheels/{WHEEL}",
    ),
    (
        f"acme @ wheels/../wheels/{WHEEL}#sha256={SHA256}",
        f"acme @ file:///project/wheels/{WHEEL}#sha256={SHA256}",
        f"acme @ wheels/{WHEEL}#sha256={SHA256}",
    ),
    (
        f"Acme[fast,big] @ ./wheels/{WHEEL} ; sys_platform == 'linux'",
        f"Acme[big,fast] @ file:///project/wheels/{WHEEL} ; sys_platform == 'linux'",
        f'Acme[big,fast] @ wheels/{WHEEL} ; sys_platform == "linux"',
    ),
    (
        f"acme @ file:///project/wheels/{WHEEL}",
        f"acme @ file:///project/wheels/{WHEEL}",
        f"acme @ wheels/{WHEEL}",
    ),
    (
        f"acme @ file:wheels/{WHEEL}",
        f"acme @ file:///project/wheels/{WHEEL}",
        f"acme @ wheels/{WHEEL}",
    ),
    (
        "acme @ file:///project/my%20wheels/acme-2.0.tar.gz",
        "acme @ file:///project/my%20wheels/acme-2.0.tar.gz",
        "acme @ my%20wheels/acme-2.0.tar.gz",
    ),
    # What is not below the project stays as the user wrote it, but for the `file:`.
    (
        f"acme @ ../elsewhere/{WHEEL}",
        f"acme @ file:///elsewhere/{WHEEL}",
        f"acme @ ../elsewhere/{WHEEL}",
    ),
    (
        f"acme @ file:///elsewhere/{WHEEL}",
        f"acme @ file:///elsewhere/{WHEEL}",
        f"acme @ /elsewhere/{WHEEL}",
    ),
    (
        f"acme @ file://localhost/elsewhere/{WHEEL}",
        f"acme @ file:///elsewhere/{WHEEL}",
        f"acme @ /elsewhere/{WHEEL}",
    ),
    ("zed-lib @ libs/zed", "zed-lib @ file:///project/libs/zed", "zed-lib @ libs/zed"),
    ("app @ .", "app @ file:///project", "app @ ."),
    # Whose name is stated need not have it in a file.
    ("old @ libs/old", "old @ file:///project/libs/old", "old @ libs/old"),
    (
        "nameless @ ./libs/nameless/",
        "nameless @ file:///project/libs/nameless",
        "nameless @ libs/nameless",
    ),
]


@pytest.mark.parametrize(("text", "expected", "shown"), REFERENCES)
def test_direct_reference(text: str, expected: str, shown: str) -> None:
    """A reference becomes an absolute address; a lock shows a path below the project."""
    reader = make_reader(DISK)
    found = reader.read(text, "here")
    assert gathered(reader.faults) == ()
    assert found == entry(expected)
    assert found.requirement.url is not None
    requirement = Requirement(str(found.requirement))
    requirement.url = reader.references.shown(found.requirement.url)
    assert str(requirement) == shown
    # A lock's reader must be able to take the line for a requirement again.
    assert Requirement(shown).name == found.requirement.name


BARE = [
    (WEB, f"acme @ {WEB}"),
    (f"{WEB} ; sys_platform == 'linux'", f"acme @ {WEB} ; sys_platform == 'linux'"),
    (f"./wheels/{WHEEL}", f"acme @ file:///project/wheels/{WHEEL}"),
    (f"wheels/{WHEEL}[fast]", f"acme[fast] @ file:///project/wheels/{WHEEL}"),
    (
        f"./wheels/{WHEEL}; sys_platform == 'linux'",
        f"acme @ file:///project/wheels/{WHEEL} ; sys_platform == 'linux'",
    ),
    (
        f"./wheels/{WHEEL};sys_platform=='linux'",
        f"acme @ file:///project/wheels/{WHEEL} ; sys_platform == 'linux'",
    ),
    ("./my wheels/acme-2.0.tar.gz", "acme @ file:///project/my%20wheels/acme-2.0.tar.gz"),
    (f"/elsewhere/{WHEEL}", f"acme @ file:///elsewhere/{WHEEL}"),
    (f"file:///elsewhere/{WHEEL}", f"acme @ file:///elsewhere/{WHEEL}"),
    ("./libs/zed", "zed-lib @ file:///project/libs/zed"),
    ("libs/zed[a, b]", "zed-lib[a,b] @ file:///project/libs/zed"),
    (".", "app @ file:///project"),
    (".[train]", "app[train] @ file:///project"),
    (f"acme @ ./wheels/{WHEEL}", f"acme @ file:///project/wheels/{WHEEL}"),
    ("torch>=2; sys_platform == 'linux'", "torch>=2; sys_platform == 'linux'"),
]


@pytest.mark.parametrize(("text", "expected"), BARE)
def test_reference_without_a_name(text: str, expected: str) -> None:
    """Where pip takes a path or an address alone, the name comes from what it refers to."""
    reader = make_reader(DISK, bare=True)
    assert reader.read(text, "here") == entry(expected)
    assert gathered(reader.faults) == ()


def test_a_reference_in_pyproject_needs_a_name() -> None:
    faults = Faults()
    assert make_reader(DISK, faults).read(f"./wheels/{WHEEL}", "here") is None
    (fault,) = gathered(faults)
    assert fault.hint == f'write "NAME @ ./wheels/{WHEEL}"'


def test_editable() -> None:
    """Only a directory can be installed in place."""
    faults = Faults()
    reader = make_reader(DISK, faults, bare=True)
    found = reader.read("./libs/zed", "here", editable=True)
    assert found is not None
    assert found.editable
    for text in (f"./wheels/{WHEEL}", "torch", WEB):
        assert reader.read(text, "there", editable=True) is None
    assert gathered(faults) == tuple(
        Fault(
            where="there", message=f"only a directory can be editable: {text}", hint="leave out -e"
        )
        for text in (f"./wheels/{WHEEL}", "torch", WEB)
    )


ONLY_A_BUILD = "is in version control: only a build tells what it installs"
VERSION_CONTROL = (
    "name a wheel or an sdist by its URL, or put the built wheel into a directory and name its path"
)
FAULTY = [
    (
        "acme @ git+https://token@host.example/acme.git@main",
        f"git+https://***@host.example/acme.git@main {ONLY_A_BUILD}",
        VERSION_CONTROL,
    ),
    (
        "git+ssh://git@host.example/acme.git",
        f"git+ssh://***@host.example/acme.git {ONLY_A_BUILD}",
        VERSION_CONTROL,
    ),
    (
        f"acme @ ftp://host.example/{WHEEL}",
        f"not an address of a file: ftp://host.example/{WHEEL}",
        "write https://, or a path",
    ),
    (
        f"acme @ ./missing/{WHEEL}",
        f"there is no file or directory ./missing/{WHEEL}",
        "correct the path; one that is relative starts at the project's directory",
    ),
    (
        f"other @ ./wheels/{WHEEL}",
        f"other @ ./wheels/{WHEEL} is of acme",
        "correct one of the two",
    ),
    (
        f"other @ https://u:p@host.example/{WHEEL}?key=k",
        f"other @ https://***@host.example/{WHEEL} is of acme",
        "correct one of the two",
    ),
    ("other @ ./libs/zed", "other @ ./libs/zed is of zed-lib", "correct one of the two"),
    (
        "acme @ ./odd.whl",
        "odd.whl is the name of neither a wheel nor an sdist",
        "name acme-1.0-py3-none-any.whl or acme-1.0.tar.gz, for example",
    ),
    (
        "acme @ https://host.example/archive/v1.0.tar.gz",
        "v1.0.tar.gz is the name of neither a wheel nor an sdist",
        "name acme-1.0-py3-none-any.whl or acme-1.0.tar.gz, for example",
    ),
    (
        "./libs/nameless",
        "the directory /project/libs/nameless does not say its name",
        'write "acme @ PATH", or set project.name in its pyproject.toml',
    ),
    (
        "./libs/old",
        "the directory /project/libs/old does not say its name",
        'write "acme @ PATH", or set project.name in its pyproject.toml',
    ),
]


@pytest.mark.parametrize(("text", "message", "hint"), FAULTY)
def test_faulty_reference(text: str, message: str, hint: str) -> None:
    """What cannot be locked is told with what can, and with no secret of the address."""
    faults = Faults()
    assert make_reader(DISK, faults, bare=True).read(text, "here") is None
    assert gathered(faults) == (Fault(where="here", message=message, hint=hint),)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("broken @ ./libs/broken", "/project/libs/broken/pyproject.toml is not TOML: "),
        ("acme @ https://", "not an address: "),
        ("./wheels/acme-1.0-py3-none-any.whl ; nonsense", "not a requirement: "),
    ],
)
def test_unreadable_reference(text: str, start: str) -> None:
    """Damage is a fault and never a traceback."""
    faults = Faults()
    assert make_reader(DISK, faults, bare=True).read(text, "here") is None
    (fault,) = gathered(faults)
    assert fault.message.startswith(start)


def test_credentials_of_a_reference() -> None:
    """They are kept apart from the address, for the host that they are for."""
    reader = make_reader(DISK)
    found = reader.read(f"acme @ https://user:p%40ss@host.example/{WHEEL}", "here")
    assert found == entry(f"acme @ {WEB}")
    assert reader.references.credentials.found == [
        IndexAccess(url=WEB, user="user", password="p@ss")
    ]


@pytest.mark.parametrize(
    ("fragment", "kept"),
    [
        ("#egg=acme", ""),
        ("#anything", ""),
        ("#md5=0&egg=acme", ""),
        (f"#sha256={SHA256}&egg=acme", f"#sha256={SHA256}"),
        (f"#egg=acme&subdirectory=a&sha256={'A' * 64}", f"#sha256={'a' * 64}&subdirectory=a"),
    ],
)
def test_fragments(fragment: str, kept: str) -> None:
    """Only what says which bytes are meant is left, in one order, so that equals are equal."""
    found = make_reader(DISK).read(f"acme @ {WEB}{fragment}", "here")
    assert found is not None
    assert found.requirement.url == f"{WEB}{kept}"


def test_fragments_of_a_path() -> None:
    found = make_reader(DISK).read(f"acme @ wheels/{WHEEL}#egg=acme&sha256={SHA256}", "here")
    assert found is not None
    assert found.requirement.url == f"file:///project/wheels/{WHEEL}#sha256={SHA256}"


def test_a_subdirectory_of_a_directory() -> None:
    faults = Faults()
    assert make_reader(DISK, faults).read("zed @ libs#subdirectory=zed", "here") is None
    assert gathered(faults) == (
        Fault(
            where="here",
            message="a directory has no sha256 and no subdirectory: libs#subdirectory=zed",
            hint="name the directory with the project in it, and nothing after it",
        ),
    )


def test_a_query_is_told_of() -> None:
    """The lock leaves it out, for it may be a secret: the user has to know what that means."""
    reader = make_reader(DISK)
    found = reader.read(f"acme @ {WEB}?token=s3cret", "here")
    assert found is not None
    assert found.requirement.url == f"{WEB}?token=s3cret"
    assert reader.references.shown(f"{WEB}?token=s3cret") == WEB
    assert reader.references.notes == (
        (
            f"here: the lock holds {WEB} without its query, which may be a secret: an installer "
            "has to get the file without it"
        ),
    )


@pytest.mark.parametrize("other", [f"{WEB}?v=2", WEB, f"{WEB}?v=2#sha256={SHA256}"])
def test_addresses_that_only_a_query_tells_apart(other: str) -> None:
    """In a lock they would be one, with the hash of either."""
    reader = make_reader(DISK)
    reader.read(f"acme @ {WEB}?v=1#sha256={SHA256}", "here")
    reader.read(f"acme @ {WEB}?v=1", "again")
    reader.read(f"acme @ {other}", "there")
    assert [(fault.where, fault.message) for fault in gathered(reader.faults)] == [
        (
            "there",
            f"{WEB} has another query than in here, and a lock holds it without one",
        )
    ]


def test_contents() -> None:
    """The bytes of a file and the requirements of a directory decide a lock; no secret is told."""
    disk = Disk(
        {
            f"/project/wheels/{WHEEL}": "bytes",
            "/project/zed/pyproject.toml": """
            [project]
            name = "zed"
            version = "1"
            dependencies = ["torch", "acme @ https://u:s3cret@host.example/acme-1.zip?sig=s3cret"]
            dynamic = ["readme", "optional-dependencies"]
            """,
            "/project/tree/pyproject.toml": """
            [project]
            name = "tree"
            dynamic = ["version"]
            dependencies = ["torch"]
            [project.optional-dependencies]
            x = ["acme @ file:///home/someone/acme-1.zip", "not one @ https://u:s3cret@h.example"]
            """,
        }
    )
    reader = make_reader(disk)
    for text in (
        f"acme @ wheels/{WHEEL}",
        f"acme @ wheels/{WHEEL}#sha256={SHA256}",
        "zed @ zed",
        "tree @ ./tree#egg=tree",
    ):
        assert reader.read(text, "here") is not None
    digest = "277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9"
    assert reader.references.content_texts == [
        f"file wheels/{WHEEL}: sha256 {digest}",
        (
            'directory zed: {"dependencies": ["torch", "acme @ https://host.example/acme-1.zip"], '
            '"dynamic": ["optional-dependencies"], "version": "1"}'
        ),
        (
            'directory tree: {"dependencies": ["torch"], "optional-dependencies": '
            '{"x": ["acme @ acme-1.zip", "not one @ https://***@h.example"]}}'
        ),
    ]


def test_two_spellings_of_one_path() -> None:
    """What a lock shows does not depend on which of them comes first."""
    texts = (f"acme @ ../elsewhere/{WHEEL}", f"acme @ /elsewhere/{WHEEL}")
    shown = set()
    for order in (texts, texts[::-1]):
        reader = make_reader(DISK)
        for text in order:
            reader.read(text, "here")
        shown.add(reader.references.shown(f"file:///elsewhere/{WHEEL}"))
    assert shown == {f"../elsewhere/{WHEEL}"}
