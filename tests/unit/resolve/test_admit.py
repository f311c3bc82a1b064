"""Which files exist for a Target, and why the others do not."""

from __future__ import annotations

import pytest
from packaging.utils import NormalizedName
from packaging.version import Version

from lockforge.model.index import Index, Route
from lockforge.model.project import Policy
from lockforge.model.release import DistributionFile, Listing
from lockforge.resolve.admit import Admitted, judge
from lockforge.resolve.labels import parse_label
from tests.unit.fakes import make_target

INDEX = Index(name="files", url="https://files.example/")


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
    verdicts = judge(
        listing,
        make_target(row),
        Route(index=INDEX, family=family),
        Policy(exclude_newer=exclude_newer),
    )
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
        for verdict in judge(listing, make_target("linux-cpu"), Route(index=INDEX), Policy())
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
    reason = f"uploaded {str(upload_time)[:10]}, after exclude-newer" if newer else "admitted"
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
        for one in judge(listing, make_target("linux-cpu"), Route(index=INDEX), Policy())
        if isinstance(one, Admitted)
    ]
    assert max(found, key=lambda one: one.preference).file.filename == best
    assert {one.version for one in found} == {Version("1.0")}


def verdicts(
    *files: DistributionFile,
    project: str = "foo",
    row: str = "linux-cu128",
    route: Route | None = None,
    policy: Policy | None = None,
) -> list[str]:
    """What becomes of each file: ``admitted`` or the reason."""
    listing = Listing(project=NormalizedName(project), index_url=INDEX.url, files=files)
    found = judge(listing, make_target(row), route or Route(index=INDEX), policy or Policy())
    return ["admitted" if isinstance(one, Admitted) else one.reason for one in found]


NO_SDIST, NO_WHEEL = "an sdist, and only wheels are wanted", "a wheel, and only sdists are wanted"
FORMATS = [
    # only-binary, no-binary, what becomes of the wheel, and of the sdist
    ([], [], "admitted", "admitted"),
    (["foo"], [], "admitted", NO_SDIST),
    (["bar"], [], "admitted", "admitted"),
    ([":all:"], [], "admitted", NO_SDIST),
    ([], ["foo"], NO_WHEEL, "admitted"),
    ([], ["bar"], "admitted", "admitted"),
    ([], [":all:"], NO_WHEEL, "admitted"),
    # What names the package wins over what holds for all.
    ([":all:"], ["foo"], NO_WHEEL, "admitted"),
    (["foo"], [":all:"], "admitted", NO_SDIST),
    ([":all:"], ["bar"], "admitted", NO_SDIST),
]


@pytest.mark.parametrize(("only", "none", "wheel", "sdist"), FORMATS)
def test_formats(only: list[str], none: list[str], wheel: str, sdist: str) -> None:
    policy = Policy(only_binary=frozenset(only), no_binary=frozenset(none))

    found = verdicts(file("foo-1.0-py3-none-any.whl"), file("foo-1.0.tar.gz"), policy=policy)
    assert found == [wheel, sdist]


def test_a_directory_is_no_sdist_that_could_be_left_out() -> None:
    """The project names it itself, and it has no wheel."""
    tree = DistributionFile(
        filename="foo-1.0", url="file:///proj/foo", sha256=None, source_tree=True
    )
    direct = Route(index=Index(name="direct reference", url=tree.url, layout="direct"))

    for policy in (Policy(), Policy(only_binary=frozenset({":all:"}))):
        assert verdicts(tree, route=direct, policy=policy) == ["admitted"]


LIMIT = "2026-11-01T00:00:00Z"
UNTIMED = "its page tells no upload time, which exclude-newer needs"
DIRECT = Index(name="direct reference", url="https://files.example/foo.whl", layout="direct")
FOLDER = Index(name="wheels", url="file:///proj/wheels", layout="flat")
PAGE = Index(name="page", url="https://files.example/page.html", layout="flat")
LOCAL = Index(name="mirror", url="file:///mirror/")
WITHOUT_TIMES = [
    # route, whether a file without upload time is there, and where the user is strict
    (Route(index=INDEX), False, False),
    (Route(index=INDEX, family=True), True, False),
    (Route(index=INDEX, labelled=True), False, False),
    (Route(index=PAGE, labelled=True), False, False),
    (Route(index=LOCAL), False, False),
    # What the user names, or has in a folder, needs no date.
    (Route(index=DIRECT), True, True),
    (Route(index=FOLDER, labelled=True), True, True),
]


@pytest.mark.parametrize(("route", "usual", "strict"), WITHOUT_TIMES)
def test_exclude_newer_without_upload_time(route: Route, usual: bool, strict: bool) -> None:  # noqa: FBT001
    one = file("foo-1.0-py3-none-any.whl")

    for is_strict, expected in ((False, usual), (True, strict)):
        policy = Policy(exclude_newer=LIMIT, exclude_newer_strict=is_strict)
        reason = UNTIMED.replace("newer needs", "newer-strict refuses") if route.family else UNTIMED
        assert verdicts(one, route=route, policy=policy) == ["admitted" if expected else reason]
    # Without a limit the word alone excludes nothing.
    assert verdicts(one, route=route, policy=Policy(exclude_newer_strict=True)) == ["admitted"]


@pytest.mark.parametrize("strict", [True, False])
def test_exclude_newer_with_upload_time(strict: bool) -> None:  # noqa: FBT001
    """Where a page tells times, they count, for the family and the user's own indexes too."""
    early = file("foo-1.0-py3-none-any.whl", upload_time="2026-10-31T23:59:59Z")
    late = file("foo-2.0-py3-none-any.whl", upload_time="2026-11-01T00:00:01Z")
    policy = Policy(exclude_newer=LIMIT, exclude_newer_strict=strict)

    for route in (Route(index=INDEX), Route(index=INDEX, family=True), Route(index=FOLDER)):
        assert verdicts(early, late, route=route, policy=policy) == [
            "admitted",
            "uploaded 2026-11-01, after exclude-newer",
        ]


LABELLED = Route(index=INDEX, labelled=True)


def extension(label: str, version: str = "1.0") -> DistributionFile:
    local = f"+{label}" if label else ""
    return file(f"foo-{version}{local}-cp312-cp312-linux_x86_64.whl")


EXTENSIONS = [
    # label, row, verdict
    ("cu128torch2.8cxx11abiTRUE", "linux-cu128", "admitted"),
    ("cu12torch2.8", "linux-cu128", "admitted"),
    ("cu.12.8.torch.2.8", "linux-cu128", "admitted"),
    ("pt28cu128", "linux-cu128", "admitted"),
    ("torch2.8.0.cu128", "linux-cu128", "admitted"),
    ("pt28cpu", "linux-cpu", "admitted"),
    ("rocm6.4torch2.8", "linux-rocm6.4", "admitted"),
    ("torch2.8", "linux-cu128", "admitted"),
    ("", "linux-cu128", "admitted"),
    ("pt28cu126", "linux-cu128", "built for cu126"),
    ("cu12torch2.8", "linux-cu130", "built for cu12"),
    ("pt28cpu", "linux-cu128", "built for cpu"),
    ("pt28cu128", "linux-cpu", "built for cu128"),
    ("rocm6.4torch2.8", "linux-cu128", "built for rocm6.4"),
    ("weird.cu128", "linux-cu128", "its label 'weird.cu128' cannot be read"),
    ("cu128torch2.8rc1", "linux-cu128", "its label 'cu128torch2.8rc1' cannot be read"),
]


@pytest.mark.parametrize(("label", "row", "verdict"), EXTENSIONS)
def test_labels_of_extensions(label: str, row: str, verdict: str) -> None:
    """On an index that the user routes to, a file is for the accelerator its label names."""
    assert verdicts(extension(label), row=row, route=LABELLED) == [verdict]


def test_labels_that_cannot_be_read_are_told_apart() -> None:
    """They alone are worth a warning."""
    listing = Listing(
        project=NormalizedName("foo"),
        index_url="",
        files=(extension("weird.cu128"), extension("cu126"), extension("cu128")),
    )
    found = list(judge(listing, make_target("linux-cu128"), LABELLED, Policy()))

    assert [getattr(one, "unreadable", None) for one in found] == [True, False, None]


def test_a_file_for_another_platform_is_refused_before_its_label_is_read() -> None:
    """So that no warning is about files that the row could not use anyway."""
    one = file("foo-1.0+weird.cu128-cp312-cp312-win_amd64.whl")

    assert verdicts(one, route=LABELLED) == ["made for other Pythons or platforms"]


@pytest.mark.parametrize("label", ["e437e35", "acme.1", "d20260101"])
def test_marks_of_a_vendor(label: str) -> None:
    """Where no file of a page names a build, local versions are a private index's own affair."""
    assert verdicts(extension(label), route=LABELLED) == ["admitted"]
    # Beside builds they are builds that say nothing.
    beside = verdicts(extension(label), extension("cu128"), route=LABELLED)
    assert beside == [f"its label {label!r} cannot be read", "admitted"]


def test_labels_elsewhere() -> None:
    """On the default index a local version means nothing, whatever it looks like."""
    files = [extension("cu126"), extension("weird.cu128")]

    assert verdicts(*files, route=Route(index=INDEX)) == ["admitted", "admitted"]


def test_labels_of_the_family_on_an_index_of_the_users() -> None:
    """A mirror has PyTorch's own forms too, which are no labels of extensions."""
    route = Route(index=INDEX, family=True, labelled=True)
    labels = ["cu128", "cu126", "cu128.with.pypi.cudnn", "cu.12.8", "cu.12.6", "e437e35"]

    assert verdicts(*map(extension, labels), route=route) == [
        "admitted",
        "built for cu126",
        "admitted",
        "admitted",
        "built for cu126",
        "admitted",
    ]


def test_labels_of_a_direct_reference() -> None:
    """The user chose the file: a label that cannot be read is no reason to refuse it."""
    route = Route(index=DIRECT)

    assert verdicts(extension("weird.cu128"), route=route) == ["admitted"]


def test_what_was_read_of_a_label_is_told() -> None:
    listing = Listing(project=NormalizedName("foo"), index_url="", files=(extension("pt28cu128"),))
    (one,) = judge(listing, make_target("linux-cu128"), LABELLED, Policy())

    assert isinstance(one, Admitted)
    assert one.label == parse_label("pt28cu128")
