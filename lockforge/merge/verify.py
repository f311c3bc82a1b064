"""The proof before writing: the rendered text gives back every Target's Resolution.

For each Target, `Pylock.select` over the text must yield exactly the pins, by version, file and
hash: with no extra or group of the project, with each alone, and with all; at every patch release
of its Python at which something changes and for which the entries that apply have files. Two rows
of one platform at once need no proof: markers only ever ask for an extra, so the entries of both
apply, and two torches are an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from packaging.markers import Marker
from packaging.specifiers import SpecifierSet

from lockforge.errors import LockSelectionError, ProofError
from lockforge.model.python import render_minor
from lockforge.standards.environment import host_environment
from lockforge.standards.patches import deciding_patches
from lockforge.standards.pylock import parse_pylock
from lockforge.standards.selection import identity, select

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from packaging.pylock import Pylock
    from packaging.version import Version

    from lockforge.model.matrix import Target
    from lockforge.model.python import PythonMinor
    from lockforge.model.resolution import Pin, Resolution

_Identity: TypeAlias = "tuple[Version | None, str | None, str | None]"

_REPORT = "this is a fault of lockforge; please report it with the command and the project's files"


def verify(
    text: str,
    resolutions: Sequence[Resolution],
    *,
    extras: Sequence[str],
    groups: Sequence[str],
    shared: frozenset[str],
) -> tuple[Pylock, dict[str, Any]]:
    """Give *text* as it is read, once it is proved to select each Resolution.

    *shared* names the platforms of several rows. Raises ProofError.
    """
    lock, data = parse_pylock(text, where="the lock just made")
    for resolution in resolutions:
        for chosen_extras, chosen_groups in _choices(extras, groups):
            _verify_target(lock, resolution, chosen_extras, chosen_groups, shared)
    return lock, data


def _choices(
    extras: Sequence[str], groups: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    yield (), ()
    for extra in extras:
        yield (extra,), ()
    for group in groups:
        yield (), (group,)
    if len(extras) + len(groups) > 1:
        yield tuple(extras), tuple(groups)


def _verify_target(
    lock: Pylock,
    resolution: Resolution,
    extras: tuple[str, ...],
    groups: tuple[str, ...],
    shared: frozenset[str],
) -> None:
    target = resolution.target
    row_extra = (target.row.accelerator.extra,) if target.row.platform.name in shared else ()
    wanted: set[str] = set()
    given: set[str] = set()
    for patch in _patches(lock, resolution):
        environment: dict[str, str | frozenset[str]] = {
            **host_environment(target.row.platform, target.python, patch),
            "extras": frozenset(extras),
            "dependency_groups": frozenset(groups),
        }
        pins = [pin for pin in resolution.pins if _holds(pin, environment)]
        wanted |= {pin.name for pin in pins}
        if not all(_admits(pin, target.python, patch) for pin in pins):
            # An installer refuses there, as the entry says.
            continue
        given |= {pin.name for pin in pins}
        try:
            selected = select(
                lock,
                target.row.platform,
                target.python,
                extras=(*row_extra, *extras),
                groups=groups,
                patch=patch,
            )
        except LockSelectionError as error:
            raise ProofError(
                f"the lock does not serve {target.id}: {error.message}", hint=_REPORT
            ) from error
        found: dict[str, _Identity] = {
            name: (package.version, *identity(source))
            for name, (package, source) in selected.items()
        }
        _compare(target, {pin.name: _identity(pin) for pin in pins}, found)
    if never := sorted(wanted - given):
        raise ProofError(
            f"no patch release of Python {render_minor(target.python)} that needs them has a file "
            f"of {', '.join(never)} in {target.id}",
            hint=_REPORT,
        )


def _compare(
    target: Target, expected: Mapping[str, _Identity], found: Mapping[str, _Identity]
) -> None:
    names = sorted(
        name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
    )
    if names:
        raise ProofError(
            f"the lock does not give {target.id} back: {', '.join(names)} differ", hint=_REPORT
        )


def _patches(lock: Pylock, resolution: Resolution) -> list[int]:
    """List patch releases that stand for all that what every host of a Target has admits."""
    python = resolution.target.python
    texts = [
        *(pin.requires_python or "" for pin in resolution.pins),
        *(pin.condition for pin in resolution.pins),
        str(lock.requires_python or ""),
    ]
    always = [pin for pin in resolution.pins if not pin.condition]
    covered = [
        patch
        for patch in deciding_patches(texts, python)
        if all(_admits(pin, python, patch) for pin in always)
        and (
            lock.requires_python is None
            or lock.requires_python.contains(f"{render_minor(python)}.{patch}")
        )
    ]
    if not covered:
        wanted = [f"{pin.name} {pin.requires_python}" for pin in always if pin.requires_python]
        raise ProofError(
            f"no patch release of Python {render_minor(python)} suits {resolution.target.id}: "
            f"{', '.join([*wanted, f'the lock {lock.requires_python}'])}",
            hint="choose versions that admit more patch releases, or widen requires-python",
        )
    return covered


def _admits(pin: Pin, python: PythonMinor, patch: int) -> bool:
    limits = SpecifierSet(pin.requires_python or "")
    return limits.contains(f"{render_minor(python)}.{patch}")


def _identity(pin: Pin) -> _Identity:
    if pin.file.source_tree:
        return None, None, None
    return pin.version, pin.file.filename, pin.file.sha256


def _holds(pin: Pin, environment: dict[str, str | frozenset[str]]) -> bool:
    return not pin.condition or Marker(pin.condition).evaluate_prepared(environment)
