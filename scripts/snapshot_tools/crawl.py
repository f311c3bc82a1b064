"""Which projects and versions of the default index are kept: all that the kept ones require.

A version is kept when it is among the newest of its project, in a range named here, or the newest
one that satisfies some kept requirement on some target. None of these rules depends on the order of
the walk, and the last one keeps every exact pin.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from snapshot_tools.core_metadata import cut_metadata, read_requirements
from snapshot_tools.registry import RegistryFile
from snapshot_tools.targets import select_by_marker

NEWEST = 10
NEWEST_WITH_MANY_WHEELS = 6
MANY_WHEELS = 12
SDIST_VERSIONS = 3
# Projects that the PyTorch indexes own, kept whole so that a tool can be caught taking them here.
# tensorboard 2.16 is bounded away because it asks for all of TensorFlow.
RANGES: Mapping[str, SpecifierSet] = {
    "tensorboard": SpecifierSet(">=2.17"),
    "torch": SpecifierSet(">=2.6,<=2.13.0"),
    "torchao": SpecifierSet(">=0.8"),
    "torchaudio": SpecifierSet(">=2.6,<=2.11.0"),
    "torchcodec": SpecifierSet(">=0.9"),
    "torchvision": SpecifierSet(">=0.21,<0.29"),
    "triton": SpecifierSet(">=3.2,<3.8"),
    "xformers": SpecifierSet(">=0.0.29,<0.0.36"),
}
ALSO_KEPT: Mapping[str, frozenset[str]] = {"numpy": frozenset({"1.26.4"})}
LAST_PATCHES = {"numpy": Version("2.0")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """A specifier and the targets where something kept asks for it."""

    specifier: str
    targets: int


@dataclass(slots=True, kw_only=True)
class Crawl:
    """The state of the walk, and when it has ended, its result."""

    pages: dict[str, tuple[RegistryFile, ...]] = field(default_factory=dict)
    kept: dict[str, tuple[RegistryFile, ...]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    extras: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    demands: defaultdict[str, set[Demand]] = field(default_factory=lambda: defaultdict(set))
    missing_projects: set[str] = field(default_factory=set)


LoadPages: TypeAlias = Callable[[Iterable[str]], Mapping[str, tuple[RegistryFile, ...] | None]]
LoadTexts: TypeAlias = Callable[[Iterable[str]], Mapping[str, str]]


def crawl_registry(seeds: Iterable[str], *, load_pages: LoadPages, load_texts: LoadTexts) -> Crawl:
    """Walk from the seed requirements until nothing new is asked for."""
    crawl = Crawl()
    for seed in seeds:
        _ask(crawl, seed, frozenset())
    changed = True
    while changed:
        _load_new_pages(crawl, load_pages)
        before = (sum(map(len, crawl.kept.values())), _count_asked(crawl))
        for project in sorted(crawl.pages):
            crawl.kept[project] = select_kept(project, crawl.pages[project], crawl.demands[project])
        _load_new_texts(crawl, load_texts)
        for project in sorted(crawl.kept):
            for requirement in _iter_requirements(crawl, project):
                _ask(crawl, requirement, frozenset(crawl.extras[project]))
        changed = before != (sum(map(len, crawl.kept.values())), _count_asked(crawl))
    return crawl


def select_kept(
    project: str, files: tuple[RegistryFile, ...], demands: Iterable[Demand]
) -> tuple[RegistryFile, ...]:
    """Select the wheels of the kept versions, and the sdists of the newest few."""
    wheels: defaultdict[Version, list[RegistryFile]] = defaultdict(list)
    for file in files:
        if file.is_wheel:
            wheels[file.version].append(file)
    offered = sorted(wheels or {file.version for file in files}, reverse=True)
    if any(not version.is_prerelease for version in offered):
        finals = [version for version in offered if not version.is_prerelease]
    else:
        finals = offered
    chosen = _select_base(project, finals, wheels)
    for demand in demands:
        chosen |= _select_for_demand(demand, finals, wheels)
    with_sdist = set(sorted(chosen, reverse=True)[:SDIST_VERSIONS])
    return tuple(
        file for file in files if file.version in (chosen if file.is_wheel else with_sdist)
    )


def _select_base(
    project: str, finals: list[Version], wheels: Mapping[Version, list[RegistryFile]]
) -> set[Version]:
    if project in RANGES:
        return {version for version in finals if version in RANGES[project]}
    newest = finals[0] if finals else None
    has_many = newest is not None and len(wheels.get(newest, ())) > MANY_WHEELS
    chosen = set(finals[: NEWEST_WITH_MANY_WHEELS if has_many else NEWEST])
    chosen |= {version for version in finals if str(version) in ALSO_KEPT.get(project, ())}
    if project in LAST_PATCHES:
        minors: dict[tuple[int, ...], Version] = {}
        for version in finals:
            if version >= LAST_PATCHES[project]:
                minors.setdefault(version.release[:2], version)
        chosen |= set(minors.values())
    return chosen


def _select_for_demand(
    demand: Demand, finals: list[Version], wheels: Mapping[Version, list[RegistryFile]]
) -> set[Version]:
    specifiers = SpecifierSet(demand.specifier)
    chosen: set[Version] = set()
    remaining = demand.targets
    for version in finals:
        if not remaining:
            break
        if not specifiers.contains(version, prereleases=True):
            continue
        served = 0
        for file in wheels.get(version, ()):
            if file.yanked is False or "==" in demand.specifier:
                served |= file.targets
        if served & remaining:
            chosen.add(version)
            remaining &= ~served
    return chosen


def _ask(crawl: Crawl, text: str, extras: frozenset[str]) -> None:
    requirement = Requirement(text)
    targets = select_by_marker(str(requirement.marker) if requirement.marker else None, extras)
    if not targets:
        return
    project = canonicalize_name(requirement.name)
    crawl.extras[project] |= {canonicalize_name(extra) for extra in requirement.extras}
    crawl.demands[project].add(Demand(specifier=str(requirement.specifier), targets=targets))


def _iter_requirements(crawl: Crawl, project: str) -> Iterable[str]:
    texts = {crawl.texts[file.url] for file in crawl.kept[project] if file.is_wheel}
    return sorted({requirement for text in texts for requirement in read_requirements(text)})


def _load_new_pages(crawl: Crawl, load_pages: LoadPages) -> None:
    known = crawl.pages.keys() | crawl.missing_projects
    for project, files in load_pages(sorted(crawl.demands.keys() - known)).items():
        if files:
            crawl.pages[project] = files
        else:
            crawl.missing_projects.add(project)


def _load_new_texts(crawl: Crawl, load_texts: LoadTexts) -> None:
    wheels = {file.url for files in crawl.kept.values() for file in files if file.is_wheel}
    texts = load_texts(sorted(wheels - crawl.texts.keys()))
    crawl.texts.update((url, cut_metadata(text)) for url, text in texts.items())


def _count_asked(crawl: Crawl) -> tuple[int, int]:
    return sum(map(len, crawl.demands.values())), sum(map(len, crawl.extras.values()))
