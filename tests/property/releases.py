"""Random releases: what the indexes of a small world have."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.property.indexes import EXTENSIONS, PYPI, Release, torch_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMES = ["alpha", "beta", "gamma", "delta"]
VERSIONS = ["1.5", "2.0", "3.0a1"]
SPECIFIERS = ["", "", "", ">=1.5", "<2", "!=1.5", "!=2.0", "==1.0"]
MARKERS = [
    "",
    "sys_platform == 'linux'",
    "sys_platform != 'win32'",
    "platform_machine == 'arm64'",
    "python_version < '3.12'",
    "python_full_version < '3.11.9'",
    "python_full_version < '3.12.9'",
    "python_full_version >= '3.11.2' and sys_platform == 'linux'",
]
LIMITS = [None, None, None, None, ">=3.8", "<3.12", ">=3.12.4", ">=3.8,!=3.11.0"]
PATCHES = (0, 3, 5, 12)
"""Patch releases before, between and after those that limits and markers name."""
_NATIVE = [
    [f"cp3{minor}-cp3{minor}-{platform}" for minor in (11, 12)]
    for platform in (
        "manylinux_2_28_x86_64",
        "manylinux_2_28_aarch64",
        "win_amd64",
        "macosx_11_0_arm64",
        "manylinux_2_17_x86_64",
        "manylinux_2_34_x86_64",
    )
]
LINUX, ARM, WIN, MAC, OLD_LINUX, NEW_LINUX = _NATIVE
TAGS = [
    ["py3-none-any"],
    LINUX,
    MAC,
    [*LINUX, *WIN],
    [*LINUX, *ARM, *MAC],
    [*LINUX, *WIN, *MAC],
    [LINUX[0], WIN[1]],
    [LINUX[1], MAC[1]],
    [LINUX[0], "py3-none-any"],
    [*LINUX, "py3-none-any"],
    [*WIN, MAC[0], "py3-none-any"],
    [*OLD_LINUX, *NEW_LINUX],
    [*NEW_LINUX, "py3-none-any"],
    [OLD_LINUX[0], NEW_LINUX[0], *LINUX, *WIN],
    ["cp311-abi3-manylinux_2_34_x86_64", "py3-none-any"],
]
"""The tags of the wheels of one release."""
TORCH_TAGS = [
    *[["py3-none-any"]] * 6,
    [tags[1] for tags in _NATIVE[:4]],
    [*LINUX, *ARM, WIN[1], *MAC],
]
SPELLINGS = [
    "cu{major}{minor}torch{torch}",
    "cu{major}torch{torch}cxx11abiTRUE",
    "pt{digits}cu{major}{minor}",
    "torch{torch}.0.cu{major}{minor}",
    "cu.{major}.{minor}.torch.{torch}",
    "torch{torch}",
    "cu{major}{minor}mystery",
]
"""How labels of extension wheels are spelt; the last cannot be read."""


def texts(names: Sequence[str], markers: Sequence[str]) -> list[str]:
    """Every requirement that the parts make, the simplest first."""
    return [
        f"{name}{extra}{specifier}" + (f"; {marker}" if marker else "")
        for marker, specifier, extra, name in itertools.product(
            markers, SPECIFIERS, ["", "", "[more]", "[all]"], names
        )
    ]


TORCHES = [f"torch; {marker}" if marker else "torch" for marker in MARKERS]
_required = st.sampled_from(texts(NAMES, [*MARKERS, "extra == 'all'"]) + TORCHES * 16)
_requires = st.lists(_required, max_size=3).map(tuple)
_versions = st.lists(st.sampled_from(VERSIONS), min_size=1, max_size=2, unique=True)
_more = st.sampled_from(["", *NAMES, *[f"{name}>=1.5" for name in NAMES], "torch"])
_publics = st.sampled_from(
    [["2.8.0"], ["2.8.0", "2.9.0"], ["2.8.0", "2.9.0"], ["2.8.0", "2.9.0", "2.9.1"], ["2.9.0"]]
)
_built_for = st.sampled_from([["2.8.0"], ["2.8.0", "2.9.0"], ["2.8.0", "2.9.0", "2.9.1"]])
_seldom = st.sampled_from([False, False, False, False, True])


@st.composite
def ordinary(
    draw: st.DrawFn, tags: Sequence[list[str]], limits: Sequence[str | None]
) -> list[Release]:
    """Releases of the packages on the default index, the first version of each for everyone."""
    found = []
    for name in NAMES:
        first = (f"{name}-1.0-py3-none-any.whl",)
        found.append(Release(index=PYPI, filenames=first))
        for version in draw(_versions):
            files = [f"{name}-{version}-{one}.whl" for one in draw(st.sampled_from(tags))]
            requires = draw(_requires)
            if more := draw(_more):
                extras = (f"{more}; extra == 'more'", f"{name}[more]; extra == 'all'")
                requires = (*requires, *extras)
            sdist = draw(st.sampled_from(["", "", "", "beside", "alone", "unreadable"]))
            if sdist:
                source = f"{name}-{version}.tar.gz"
                files = [source] if sdist == "alone" else [*files, source]
            found.append(
                Release(
                    index=PYPI,
                    filenames=tuple(files),
                    requires=requires,
                    requires_python=draw(st.sampled_from(limits)),
                    announced=not draw(_seldom),
                    yanked=draw(_seldom),
                    readable=sdist != "unreadable",
                )
            )
    return found


@st.composite
def family(draw: st.DrawFn, labels: Sequence[str]) -> list[Release]:
    """Torch, and what is built against it, on the index of each label."""
    found = []
    for label in labels:
        publics = draw(_publics)
        for public in publics:
            requires = draw(_requires)
            limit = draw(st.sampled_from([None, None, None, ">=3.8", ">=3.11.4", ">=3.12"]))
            found += [
                Release(
                    index=torch_index(label),
                    filenames=tuple(files),
                    requires=requires,
                    requires_python=limit,
                    announced=False,
                    accelerator=label,
                )
                for files in _built("torch", public, label, draw(st.sampled_from(TORCH_TAGS)))
            ]
        for public in draw(
            st.sampled_from([["2.8.0"], ["2.8.0", "2.9.0"], ["2.8.0", "2.9.0", "2.9.1"]])
        ):
            minor = public.rpartition(".")[0]
            found += [
                Release(
                    index=torch_index(label),
                    filenames=tuple(files),
                    untold=(f"torch=={minor}.*",),
                    accelerator=label,
                )
                for files in _built("torchaudio", public, label, ["py3-none-any"])
            ]
        for public in draw(st.sampled_from([["0.7.0"], ["0.7.0", "0.8.0"], ["0.7.0", "0.9.0"]])):
            torch = "2.8" if public == "0.7.0" else "2.9"
            found += [
                Release(
                    index=torch_index(label),
                    filenames=tuple(files),
                    limits=(f"torch=={torch}.*",),
                    accelerator=label,
                )
                for files in _built("torchcodec", public, label, ["py3-none-any"])
            ]
    return found


def _built(name: str, public: str, label: str, tags: Sequence[str]) -> Iterator[list[str]]:
    # A Mac's wheels have no label, and so are another version.
    labelled = [one for one in tags if "macosx" not in one]
    bare = [one for one in tags if "macosx" in one]
    yield [f"{name}-{public}+{label}-{one}.whl" for one in labelled]
    if label == "cpu":
        bare = bare or ["py3-none-macosx_11_0_arm64"]
        yield [f"{name}-{public}-{one}.whl" for one in bare]


@st.composite
def extensions(draw: st.DrawFn) -> list[Release]:
    """Wheels of one name for several torches and accelerators, labelled in some spelling.

    An old one is for all.
    """
    found = [Release(index=EXTENSIONS, filenames=("gpuext-0.9-py3-none-any.whl",))]
    kinds = [("13", "0"), ("12", "8")]
    for version in draw(st.sampled_from([["1.0"], ["1.0", "1.1"]])):
        for torch in draw(st.sampled_from([["2.9"], ["2.8"], ["2.8", "2.9"]])):
            spelling = draw(st.sampled_from(SPELLINGS))
            for major, minor in kinds[: 1 if spelling == "torch{torch}" else 2]:
                local = spelling.format(
                    major=major, minor=minor, torch=torch, digits=torch.replace(".", "")
                )
                exact = "2.8.0" if torch == "2.8" else "2.9.0"
                limit = exact if ".0.cu" in local else f"{torch}.*"
                found.append(
                    Release(
                        index=EXTENSIONS,
                        filenames=(f"gpuext-{version}+{local}-py3-none-any.whl",),
                        requires=draw(st.sampled_from([(), ("torch",), ("alpha>=1.5",)])),
                        untold=() if "mystery" in local else (f"torch=={limit}",),
                        accelerator=f"cu{major}{minor}" if "cu" in local else "",
                    )
                )
    # Two labels of one spelling may come to the same file.
    return list({one.filenames: one for one in found}.values())
