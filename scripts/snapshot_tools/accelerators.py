"""What a torch wheel of a PyTorch index requires of its accelerator, stated by a fact or derived.

The ordinary requirements of a build are those of the PyPI wheel of the same release; only these
differ per index.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from packaging.requirements import Requirement
from packaging.version import Version

from snapshot_tools.facts import FactsEntry, FactsFile

# The CUDA of the PyPI wheels, by torch release.
REGISTRY_CUDA = {
    "2.6": "cu124",
    "2.7": "cu126",
    "2.8": "cu128",
    "2.9": "cu128",
    "2.10": "cu128",
    "2.11": "cu130",
    "2.12": "cu130",
    "2.13": "cu130",
}
ORDINARY = frozenset(
    {
        "filelock",
        "fsspec",
        "jinja2",
        "networkx",
        "opt-einsum",
        "optree",
        "pyyaml",
        "setuptools",
        "sympy",
    }
    | {"typing-extensions"}
)
_MACHINE_CLAUSE = re.compile(r'\s+and\s+platform_machine\s*==\s*"x86_64"')
_FIRST_WITHOUT_MACHINE_CLAUSE = Version("2.9")
_FIRST_WITH_TOOLKIT = Version("2.11")
_FIRST_TRITON_ROCM = Version("2.10")
_CUDA_BINDINGS_RANGE = {"12": ">=12.9.4,<13", "13": ">=13.0.3,<14"}

FindStated: TypeAlias = Callable[[Version], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """The requirements, by which rule they were found, and from which fact."""

    requirements: tuple[str, ...]
    rule: str
    source: str


def is_accelerator(requirement: str) -> bool:
    """Whether a requirement of torch belongs to an accelerator and not to torch itself."""
    return Requirement(requirement).name.lower() not in ORDINARY


def find_accelerator(
    file: FactsFile,
    *,
    entries: Iterable[FactsEntry],
    builds: Iterable[str],
    find_stated: FindStated,
) -> Accelerator | None:
    """Find the accelerator requirements of a torch wheel.

    `find_stated` gives the requirements of the PyPI wheel of a release, `builds` the versions that
    the index carries, for the case that only another release of it is known.
    """
    index = file.folder
    known = [entry for entry in entries if entry.project == "torch"]
    if file.platform == "mac-arm64":
        return Accelerator(
            requirements=(), rule="macos-plain", source=f"torch {file.version.public} on PyPI"
        )
    if index == "cpu":
        return Accelerator(
            requirements=(), rule="cpu-plain", source=f"torch {file.version.public} on PyPI"
        )
    if index.startswith("cu") and file.platform.startswith("win"):
        return Accelerator(
            requirements=(), rule="cuda-windows", source=f"torch {file.version.public} on PyPI"
        )
    own = _find_own(file.version, index, entries=known, find_stated=find_stated)
    return own or _find_neighbour(file, entries=known, builds=builds, find_stated=find_stated)


def _find_own(
    release: Version, index: str, *, entries: list[FactsEntry], find_stated: FindStated
) -> Accelerator | None:
    mine = {entry.kind: entry for entry in entries if entry.version == str(release)}
    accelerators = tuple(
        requirement for requirement in find_stated(release) if is_accelerator(requirement)
    )
    if (
        "exact" in mine
        and mine["exact"].platform == "linux-x86_64"
        and release >= _FIRST_WITHOUT_MACHINE_CLAUSE
    ):
        return _from_entry(mine["exact"], rule="other-machine")
    if REGISTRY_CUDA[f"{release.major}.{release.minor}"] == index:
        kept = tuple(_drop_machine_clause(requirement, release) for requirement in accelerators)
        return Accelerator(
            requirements=kept, rule="registry-cuda", source=f"torch {release.public} on PyPI"
        )
    for kind in ("poetry-lock", "uv-lock", "partial", "build-matrix"):
        if kind in mine and (found := _from_entry(mine[kind], rule=kind)).requirements:
            return _complete(found, release, accelerators)
    if index.startswith("rocm"):
        name = "triton-rocm" if release >= _FIRST_TRITON_ROCM else "pytorch-triton-rocm"
        pin = f'{name}=={_find_triton(accelerators)}; platform_system == "Linux"'
        return Accelerator(
            requirements=(pin,), rule="rocm-triton", source=f"torch {release.public} on PyPI"
        )
    return None


def _find_neighbour(
    file: FactsFile, *, entries: list[FactsEntry], builds: Iterable[str], find_stated: FindStated
) -> Accelerator | None:
    wanted = _find_triton(find_stated(file.version))
    others = sorted(
        {Version(build) for build in builds},
        key=lambda build: (_distance(build, file.version), build),
    )
    for other in others:
        if other.public == file.version.public or other.local != file.version.local:
            continue
        found = _find_own(other, file.folder, entries=entries, find_stated=find_stated)
        if found is None or not found.requirements:
            continue
        requirements = tuple(
            re.sub(r"^triton==[\d.]+", f"triton=={wanted}", requirement)
            for requirement in found.requirements
        )
        return Accelerator(requirements=requirements, rule="neighbour-release", source=found.source)
    return None


def _from_entry(entry: FactsEntry, *, rule: str) -> Accelerator:
    requirements = tuple(
        requirement for requirement in entry.requirements if is_accelerator(requirement)
    )
    return Accelerator(requirements=requirements, rule=rule, source=entry.key)


def _complete(found: Accelerator, release: Version, accelerators: tuple[str, ...]) -> Accelerator:
    """Turn what a lock resolved back into what torch asks for, and add a missing Triton."""
    requirements = found.requirements
    if str(release.local).startswith("cu"):
        # A lock made for x86_64 alone shows a clause that the wheel does not have.
        requirements = tuple(_drop_machine_clause(text, release) for text in requirements)
    if release >= _FIRST_WITH_TOOLKIT:
        requirements = tuple(_restore_range(requirement) for requirement in requirements)
    names = {Requirement(requirement).name for requirement in requirements}
    if found.rule == "build-matrix" and "triton" not in names:
        requirements += (f'triton=={_find_triton(accelerators)}; platform_system == "Linux"',)
    return Accelerator(requirements=requirements, rule=found.rule, source=found.source)


def _restore_range(requirement: str) -> str:
    pin = re.match(r"cuda-bindings==(1[23])\.[\d.]+", requirement)
    return (
        requirement.replace(pin[0], f"cuda-bindings{_CUDA_BINDINGS_RANGE[pin[1]]}")
        if pin
        else requirement
    )


def _drop_machine_clause(requirement: str, release: Version) -> str:
    if release < _FIRST_WITHOUT_MACHINE_CLAUSE:
        return requirement
    return _MACHINE_CLAUSE.sub("", requirement)


def _find_triton(requirements: tuple[str, ...]) -> str:
    pins = {parsed.name: str(parsed.specifier) for parsed in map(Requirement, requirements)}
    return pins.get("triton", "").removeprefix("==")


def _distance(one: Version, other: Version) -> int:
    return abs((one.minor - other.minor) * 10 + one.micro - other.micro)
