"""The core metadata of a wheel on a PyTorch index, by the first rule that applies."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from packaging.version import Version

from snapshot_tools.accelerators import find_accelerator, is_accelerator
from snapshot_tools.core_metadata import read_field, read_requirements, render_metadata
from snapshot_tools.facts import FAMILY, FactsEntry, FactsFile, find_platform

RULES = {
    "exact": (
        "The requirements are those of this very file, copied from a public lock file that lists "
        "them per wheel."
    ),
    "same-bytes": (
        "PyPI carries a file with the same sha256, so its metadata is the metadata of this file."
    ),
    "other-python": (
        "A file of the same build for the same platform and another Python is known exactly."
    ),
    "other-machine": (
        "The Linux x86_64 file of the same build is known exactly; from torch 2.9 on both machines "
        "agree."
    ),
    "registry-sibling": "The PyPI wheel of the same release, with this file's name and version.",
    "triton-sibling": (
        "The PyPI triton wheel of the same release, with this project's name and version."
    ),
    "lock-sibling": (
        "Requirement names of the project in a public uv.lock, with Requires-Python of PyPI's "
        "triton."
    ),
    "macos-plain": (
        "The PyPI wheel of the release without CUDA and Triton requirements, as torch 2.9.1 is "
        "known to be."
    ),
    "cpu-plain": (
        "The PyPI wheel of the release without CUDA and Triton requirements, as the exact Linux "
        "CPU builds are."
    ),
    "cuda-windows": (
        "The PyPI wheel of the release without CUDA and Triton requirements, as the exact Windows "
        "CUDA builds are."
    ),
    "registry-cuda": (
        "The PyPI wheel of the release is built for the same CUDA; from torch 2.9 on the index "
        "drops the machine clause of the markers."
    ),
    "poetry-lock": (
        "Accelerator requirements from a public poetry.lock, which copies those of one wheel; the "
        "rest from PyPI."
    ),
    "uv-lock": (
        "Accelerator names and resolved versions from public uv.lock files, written as == because "
        "torch pins them; cuda-bindings as the range of the exact builds from torch 2.11 on, CUDA "
        "markers without a machine clause from torch 2.9 on; the rest from PyPI."
    ),
    "partial": ("Accelerator requirements from a public report on this build; the rest from PyPI."),
    "build-matrix": (
        "Accelerator requirements from the build matrix of the release; Triton and the rest from "
        "PyPI."
    ),
    "rocm-triton": (
        "The ROCm Triton of the version that the PyPI wheel of the release pins; the rest from "
        "PyPI."
    ),
    "neighbour-release": (
        "Accelerator requirements of the nearest release on the same index, Triton and the rest "
        "from PyPI: a guess."
    ),
}
_TRITON_BUILDS = frozenset(
    {"pytorch-triton", "pytorch-triton-rocm", "pytorch-triton-xpu", "triton-rocm", "triton-xpu"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A metadata text and where it comes from."""

    text: str
    rule: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryText:
    """The recorded metadata of a PyPI wheel."""

    project: str
    version: Version
    filename: str
    sha256: str
    text: str


class Evidence:
    """All that is known about core metadata, ready to be asked about one file after another."""

    def __init__(
        self,
        entries: Iterable[FactsEntry],
        registry: Iterable[RegistryText],
        files: Iterable[FactsFile],
    ) -> None:
        self.entries = tuple(entries)
        self._registry = tuple(registry)
        self._builds: defaultdict[str, set[str]] = defaultdict(set)
        for file in files:
            if file.project == "torch":
                self._builds[file.folder].add(str(file.version))

    def find(self, file: FactsFile) -> Derived | None:
        """Find the metadata of a file, or nothing when no rule explains it."""
        return self._find_exact(file) or (
            self._find_derived(file) if file.project in FAMILY else None
        )

    def _find_exact(self, file: FactsFile) -> Derived | None:
        entry = self._exact.get(file.filename)
        if entry and entry.index in {None, file.folder}:
            return self._render(
                file, entry.requirements, entry.requires_python, rule="exact", source=entry.key
            )
        return None

    def _find_derived(self, file: FactsFile) -> Derived | None:
        if twin := self._by_hash.get(file.sha256 or ""):
            return Derived(text=twin.text, rule="same-bytes", source=twin.filename)
        for entry in self._exact.values():
            is_same_build = (entry.project, entry.version) == (file.project, str(file.version))
            if (
                is_same_build
                and entry.platform == file.platform
                and entry.index in {None, file.folder}
            ):
                return self._render(
                    file,
                    entry.requirements,
                    entry.requires_python,
                    rule="other-python",
                    source=entry.key,
                )
        if file.project == "torch":
            return self._derive_torch(file)
        if file.project in _TRITON_BUILDS:
            return self._derive_triton(file)
        sibling = self._find_sibling(file.project, file)
        if sibling is None:
            return None
        return self._render(
            file,
            read_requirements(sibling.text),
            read_field(sibling.text, "Requires-Python"),
            rule="registry-sibling",
            source=sibling.filename,
        )

    def _derive_torch(self, file: FactsFile) -> Derived | None:
        sibling = self._find_sibling("torch", file)
        if sibling is None:
            return None
        stated = read_requirements(sibling.text)
        accelerator = find_accelerator(
            file,
            entries=self.entries,
            builds=self._builds[file.folder],
            find_stated=lambda release: self._find_stated(release, file.python),
        )
        if accelerator is None:
            return None
        ordinary = tuple(requirement for requirement in stated if not is_accelerator(requirement))
        of_extras = tuple(requirement for requirement in ordinary if "extra ==" in requirement)
        always = tuple(requirement for requirement in ordinary if requirement not in of_extras)
        return self._render(
            file,
            (*always, *accelerator.requirements, *of_extras),
            read_field(sibling.text, "Requires-Python"),
            rule=accelerator.rule,
            source=accelerator.source,
        )

    def _derive_triton(self, file: FactsFile) -> Derived | None:
        sibling = self._find_sibling("triton", file)
        requires_python = read_field(sibling.text, "Requires-Python") if sibling else None
        if file.project.endswith("-xpu"):
            for entry in self.entries:
                if (entry.project, entry.version, entry.kind) == (
                    file.project,
                    str(file.version),
                    "uv-lock",
                ):
                    return self._render(
                        file,
                        entry.requirements,
                        requires_python,
                        rule="lock-sibling",
                        source=entry.key,
                    )
        if sibling is None:
            return None
        return self._render(
            file,
            read_requirements(sibling.text),
            requires_python,
            rule="triton-sibling",
            source=sibling.filename,
        )

    def _find_stated(self, release: Version, python: str) -> tuple[str, ...]:
        """Find what the PyPI wheel for Linux x86_64 requires, the one that names all of CUDA."""
        sibling = self._find_nearest("torch", release, platform="linux-x86_64", python=python)
        return read_requirements(sibling.text) if sibling else ()

    def _find_sibling(self, project: str, file: FactsFile) -> RegistryText | None:
        return self._find_nearest(project, file.version, platform=file.platform, python=file.python)

    def _find_nearest(
        self, project: str, version: Version, *, platform: str, python: str
    ) -> RegistryText | None:
        """Find the nearest PyPI wheel of a release: same platform first, then same Python."""
        release = Version(version.public)
        same = [
            text for text in self._registry if text.project == project and text.version == release
        ]
        return min(
            same,
            key=lambda text: (
                find_platform(text.filename) != platform,
                find_platform(text.filename) != "linux-x86_64",
                text.filename.split("-")[-3] != python,
                text.filename,
            ),
            default=None,
        )

    def _render(
        self,
        file: FactsFile,
        requirements: tuple[str, ...],
        requires_python: str | None,
        *,
        rule: str,
        source: str,
    ) -> Derived:
        text = render_metadata(
            name=file.project,
            version=str(file.version),
            requires_python=requires_python,
            requirements=requirements,
        )
        return Derived(text=text, rule=rule, source=source)

    @cached_property
    def _exact(self) -> Mapping[str, FactsEntry]:
        return {
            entry.filename: entry
            for entry in self.entries
            if entry.kind == "exact" and entry.filename
        }

    @cached_property
    def _by_hash(self) -> Mapping[str, RegistryText]:
        return {text.sha256: text for text in self._registry}
