"""What an existing lock chose: to be kept unless something moves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.pylock import PackageArchive, PackageSdist, PackageWheel

from lockforge.errors import LockSelectionError
from lockforge.model.accelerator import names_accelerator
from lockforge.model.resolution import Preferred
from lockforge.standards.selection import identity, select_possible

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from packaging.pylock import Pylock

    from lockforge.model.matrix import Target


def preferences(
    lock: Pylock, target: Target, *, moving: Collection[str]
) -> Mapping[str, Sequence[Preferred]]:
    """List by name what *target* should choose again: its own pins, then those of other rows.

    Names in *moving* are free. A Target that the lock does not serve takes the versions the lock
    has for others, newest first, so that a new row does not bring new versions.
    """
    found: dict[str, list[Preferred]] = {}
    for name, preferred in _own(lock, target).items():
        found[name] = [preferred]
    for package in lock.packages:
        if package.version is not None:
            others = Preferred(version=package.version)
            known = found.setdefault(package.name, [])
            if all(one.version != others.version for one in known):
                known.append(others)
    return {
        name: (wanted[0], *sorted(wanted[1:], key=lambda one: one.version, reverse=True))
        if wanted[0].filename
        else tuple(sorted(wanted, key=lambda one: one.version, reverse=True))
        for name, wanted in found.items()
        if name not in moving
    }


def _own(lock: Pylock, target: Target) -> dict[str, Preferred]:
    own = target.row.accelerator.extra
    extras = [name for name in lock.extras or () if name == own or not names_accelerator(name)]
    groups = lock.dependency_groups or ()
    try:
        selected = select_possible(
            lock, target.row.platform, target.python, extras=extras, groups=groups
        )
    except LockSelectionError:
        return {}
    return {
        name: Preferred(version=package.version, filename=source.filename)
        for name, (package, source) in selected.items()
        if package.version is not None and isinstance(source, PackageWheel | PackageSdist)
    }


def known_files(
    lock: Pylock, *, moving: Collection[str]
) -> dict[tuple[str, str], PackageArchive | PackageWheel | PackageSdist]:
    """Give the lock's files by (index, file name), which with the hash is what a file is.

    A direct reference is its own index.

    Those of names in *moving* are taken anew, as their pages have them now.
    """
    return {
        (package.index, file.filename): file
        for package in lock.packages
        if package.index is not None and package.name not in moving
        for file in (*(package.wheels or ()), *((package.sdist,) if package.sdist else ()))
    } | {
        (package.archive.url, str(identity(package.archive)[0])): package.archive
        for package in lock.packages
        if package.archive is not None and package.archive.url and package.name not in moving
    }
