"""What a lock installs in one environment: exactly one entry per name, or an error."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote, urlsplit

from packaging.markers import Marker
from packaging.pylock import PackageArchive, PackageSdist, PackageWheel, PylockSelectError

from lockforge.errors import LockSelectionError
from lockforge.standards.environment import host_environment
from lockforge.standards.identity import remembered
from lockforge.standards.patches import deciding_patches
from lockforge.standards.tags import target_tags

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from collections.abc import Set as AbstractSet

    from packaging.pylock import Package, PackageDirectory, PackageVcs, Pylock

    from lockforge.model.matrix import PythonMinor
    from lockforge.model.platforms import Platform

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
    selected: dict[str, tuple[Package, Source]] = {
        package.name: (package, source) for package, source in found
    }
    _check_closed(
        selected,
        {**environment, "extras": frozenset(extras), "dependency_groups": frozenset(groups)},
    )
    return selected


@remembered
def _patch_texts(lock: Pylock) -> tuple[str, ...]:
    """List all of a lock that may name patch releases."""
    limits = [lock.requires_python, *(package.requires_python for package in lock.packages)]
    markers = (str(package.marker) for package in lock.packages if package.marker is not None)
    texts = [str(limit) for limit in limits if limit is not None]
    return tuple(dict.fromkeys([*texts, *(text for text in markers if "_full_version" in text)]))


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


def covered_patches(
    lock: Pylock,
    platform: Platform,
    python: PythonMinor,
    *,
    extras: Collection[str] = (),
    groups: Collection[str] = (),
) -> tuple[int, ...]:
    """List patch releases of *python* that stand for all that the lock covers there."""
    limited = [package for package in lock.packages if package.requires_python]
    limits = [lock.requires_python] if lock.requires_python is not None else []
    covered = []
    for patch in deciding_patches(_patch_texts(lock), python):
        host = host_environment(platform, python, patch)
        environment: dict[str, str | AbstractSet[str]] = {
            **host,
            "extras": frozenset(extras),
            "dependency_groups": frozenset(groups),
        }
        own = (
            package.requires_python
            for package in limited
            if package.marker is None or package.marker.evaluate_prepared(environment)
        )
        version = host["python_full_version"]
        if all(limit.contains(version) for limit in (*limits, *own) if limit is not None):
            covered.append(patch)
    return tuple(covered)


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
            named.setdefault(dependency["name"], []).append(dependency)
        for name, dependencies in named.items():
            meant = [
                one
                for one in dependencies
                if "marker" not in one
                or _parse_marker(one["marker"]).evaluate_prepared(environment)
            ]
            if not meant:
                continue
            if name not in selected:
                raise _incomplete(f"{package.name} depends on {name}, of which no entry applies")
            version = str(selected[name][0].version)
            if all(one.get("version", version) != version for one in meant):
                raise _incomplete(f"{name} {version} is not what {package.name} depends on")


@lru_cache(maxsize=4096)
def _parse_marker(text: str) -> Marker:
    return Marker(text)


def _incomplete(message: str) -> LockSelectionError:
    return LockSelectionError(message, hint=_HINT)
