"""What a lock installs in one environment: exactly one entry per name, or an error."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote, urlsplit

from packaging.markers import (
    InvalidMarker,
    Marker,
    UndefinedComparison,
    UndefinedEnvironmentName,
)
from packaging.pylock import PackageArchive, PackageSdist, PackageWheel, PylockSelectError

from lockforge.errors import LockSelectionError
from lockforge.model.python import render_python
from lockforge.standards.environment import host_environment
from lockforge.standards.identity import remembered
from lockforge.standards.markers import can_apply
from lockforge.standards.patches import python_fits
from lockforge.standards.tags import target_tags

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from collections.abc import Set as AbstractSet

    from packaging.pylock import Package, PackageDirectory, PackageVcs, Pylock
    from packaging.specifiers import SpecifierSet

    from lockforge.model.platforms import Platform
    from lockforge.model.python import PythonMinor

_HINT = "restore the lock from version control, or run `lockforge lock`"

Source: TypeAlias = "PackageVcs | PackageDirectory | PackageArchive | PackageWheel | PackageSdist"


def select(
    lock: Pylock,
    platform: Platform,
    python: PythonMinor,
    *,
    extras: Collection[str] = (),
    groups: Collection[str] = (),
    patch: int | None = None,
) -> Mapping[str, tuple[Package, Source]]:
    """Select by name what a host of *platform* would install.

    Raises LockSelectionError where an installer must refuse: no environment, two entries of one
    name, no usable file, an extra or group the lock does not have, a dependency left out.
    """
    known = _selections(lock)
    key = (platform, python, tuple(sorted(extras)), tuple(sorted(groups)), patch)
    if key not in known:
        known[key] = _select(lock, platform, python, extras, groups, patch)
    return known[key]


def select_possible(
    lock: Pylock,
    platform: Platform,
    python: PythonMinor,
    *,
    extras: Collection[str] = (),
    groups: Collection[str] = (),
) -> Mapping[str, tuple[Package, Source]]:
    """Select by name what hosts of a Target may install, whatever the Target leaves open.

    That is a patch release, or the release of a kernel: what depends on them counts as selected.
    Raises LockSelectionError as `select` does, and where no patch release would do.
    """
    known = _selections(lock)
    key = (platform, python, tuple(sorted(extras)), tuple(sorted(groups)), "possible")
    if key not in known:
        settled = _settle(lock, platform, python, frozenset(extras), frozenset(groups))
        known[key] = _select(settled, platform, python, extras, groups, None)
    return known[key]


_Selections: TypeAlias = "dict[tuple[object, ...], Mapping[str, tuple[Package, Source]]]"


@remembered
def _selections(_lock: Pylock) -> _Selections:
    """Hold what was selected of a lock: what proves it is then what the report is made of."""
    return {}


def _select(
    lock: Pylock,
    platform: Platform,
    python: PythonMinor,
    extras: Collection[str],
    groups: Collection[str],
    patch: int | None,
) -> dict[str, tuple[Package, Source]]:
    environment = host_environment(platform, python, patch)
    try:
        found = list(
            lock.select(
                environment=environment,  # type: ignore[arg-type]
                tags=target_tags(platform, python),
                extras=extras,
                dependency_groups=groups,
            )
        )
    except PylockSelectError as error:
        raise LockSelectionError(
            _name_versions(lock, error),
            where=f"{platform.name}, Python {environment['python_full_version']}",
            hint=_HINT,
        ) from error
    except (UndefinedComparison, UndefinedEnvironmentName) as error:
        raise _without_meaning(error) from error
    selected: dict[str, tuple[Package, Source]] = {
        package.name: (package, source) for package, source in found
    }
    _check_closed(
        selected,
        {**environment, "extras": frozenset(extras), "dependency_groups": frozenset(groups)},
    )
    return selected


def _settle(
    lock: Pylock,
    platform: Platform,
    python: PythonMinor,
    extras: AbstractSet[str],
    groups: AbstractSet[str],
) -> Pylock:
    """Give the lock as a Target sees it, with no condition left on an entry or a dependency."""

    def applies(marker: Marker | None) -> bool:
        return marker is None or can_apply(marker, platform, python, extras, groups)

    def settle(package: Package) -> Package:
        dependencies = [
            {key: value for key, value in one.items() if key != "marker"}
            for one in package.dependencies or ()
            if applies(_marker_of(one))
        ]
        _check_python(package.requires_python, python, package.name)
        return replace(package, marker=None, requires_python=None, dependencies=dependencies)

    try:
        packages = [settle(package) for package in lock.packages if applies(package.marker)]
    except (UndefinedComparison, UndefinedEnvironmentName, InvalidMarker) as error:
        raise _without_meaning(error) from error
    _check_python(lock.requires_python, python, "the lock")
    return replace(lock, requires_python=None, packages=packages)


def _check_python(limits: SpecifierSet | None, python: PythonMinor, what: str) -> None:
    if limits is not None and python_fits(str(limits), python) == "none":
        raise LockSelectionError(
            f"{what} requires Python {limits}, which no {render_python(python)} is", hint=_HINT
        )


def _without_meaning(error: Exception) -> LockSelectionError:
    return LockSelectionError(f"a marker has no meaning in a lock: {error}", hint=_HINT)


def identity(source: Source) -> tuple[str | None, str | None]:
    """Give (file name, sha256) of what is installed; None for what a source does not have.

    A directory has neither.
    """
    if isinstance(source, PackageWheel | PackageSdist):
        return source.filename, source.hashes.get("sha256")
    if isinstance(source, PackageArchive):
        place = source.url or source.path or ""
        return unquote(urlsplit(place).path.rpartition("/")[2]), source.hashes.get("sha256")
    return None, None


def _name_versions(lock: Pylock, error: PylockSelectError) -> str:
    """Say the versions too where several entries of one name were selected."""
    text = str(error)
    for name in {package.name for package in lock.packages}:
        if text.startswith(f"Multiple packages with the name {name!r}"):
            versions = sorted(str(one.version) for one in lock.packages if one.name == name)
            return f"several entries of {name} apply at once: {' and '.join(versions)}"
    return text


def _check_closed(
    selected: dict[str, tuple[Package, Source]], environment: Mapping[str, str | AbstractSet[str]]
) -> None:
    """Demand that what the selected entries depend on is selected too.

    A dependency names its entry's marker where it is not for every environment of its parent, so
    an entry that is missing can be told from one that is not meant.
    """
    for package, _ in selected.values():
        named: dict[str, list[Mapping[str, Any]]] = {}
        for dependency in package.dependencies or ():
            named.setdefault(_name_of(dependency, package), []).append(dependency)
        for name, dependencies in named.items():
            meant = [
                one
                for one in dependencies
                if (marker := _marker_of(one)) is None or marker.evaluate_prepared(environment)
            ]
            if not meant:
                continue
            if name not in selected:
                raise _incomplete(f"{package.name} depends on {name}, of which no entry applies")
            version = str(selected[name][0].version)
            if all(one.get("version", version) != version for one in meant):
                raise _incomplete(f"{name} {version} is not what {package.name} depends on")


def _name_of(dependency: Mapping[str, Any], package: Package) -> str:
    name = dependency.get("name")
    if not isinstance(name, str):
        raise _incomplete(f"a dependency of {package.name} has no name")
    return name


def _marker_of(dependency: Mapping[str, Any]) -> Marker | None:
    return _parse_marker(str(dependency["marker"])) if "marker" in dependency else None


@lru_cache(maxsize=4096)
def _parse_marker(text: str) -> Marker:
    return Marker(text)


def _incomplete(message: str) -> LockSelectionError:
    return LockSelectionError(message, hint=_HINT)
