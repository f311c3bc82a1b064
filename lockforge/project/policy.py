"""Which of the versions and files that exist are wanted -> Policy."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from packaging.utils import InvalidName, canonicalize_name

from lockforge.model.project import ALL, Alignment, Policy, Prereleases, Strategy
from lockforge.project.faults import TABLE, nearest
from lockforge.project.requirements_file import Stated
from lockforge.project.times import parse_exclude_newer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from lockforge.project.faults import Faults
    from lockforge.project.options import Options
    from lockforge.project.requirements_file import RequirementsFile

_NONE = ":none:"
_Word = TypeVar("_Word", Prereleases, Strategy, Alignment)

PRERELEASES: tuple[Prereleases, ...] = get_args(Prereleases)
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
ALIGNMENTS: tuple[Alignment, ...] = get_args(Alignment)


def load_policy(
    options: Options,
    config: dict[str, Any],
    files: Sequence[RequirementsFile],
    now: datetime,
    faults: Faults,
) -> Policy:
    """Read the policy: the command line wins over requirements files, which win over the keys."""
    default = Policy()
    prereleases = _word(options.prerelease, "prerelease", config, PRERELEASES, faults)
    if options.prerelease is None and any(file.prereleases for file in files):
        prereleases = "allow"
    newer, where = exclude_newer(options, config, faults)
    only_binary, no_binary = _formats(options, config, files, faults)
    strict = options.exclude_newer_strict or faults.typed(
        config, "exclude-newer-strict", bool, TABLE
    )
    if strict and not newer:
        faults.add(
            "--exclude-newer-strict"
            if options.exclude_newer_strict
            else f"{TABLE}.exclude-newer-strict",
            "there is no exclude-newer for it to hold strictly",
            'set exclude-newer = "2026-11-01" or the like, or leave it out',
        )
    return Policy(
        prereleases=prereleases or default.prereleases,
        strategy=_word(options.resolution, "resolution", config, STRATEGIES, faults)
        or default.strategy,
        only_binary=only_binary,
        no_binary=no_binary,
        exclude_newer=parse_exclude_newer(newer, now, faults, where) if newer else None,
        exclude_newer_strict=bool(strict),
        alignment=_word(options.align, "align", config, ALIGNMENTS, faults) or default.alignment,
    )


def exclude_newer(
    options: Options, config: dict[str, Any], faults: Faults
) -> tuple[str | None, str]:
    """Give the limit as it was written, and where."""
    if options.exclude_newer:
        return options.exclude_newer, "--exclude-newer"
    where = f"{TABLE}.exclude-newer"
    value = config.get("exclude-newer")
    # TOML has dates of its own; isoformat writes them as the string would be.
    if isinstance(value, date):
        return value.isoformat(), where
    return faults.typed(config, "exclude-newer", str, TABLE), where


def _word(
    option: str | None, key: str, config: dict[str, Any], known: Sequence[_Word], faults: Faults
) -> _Word | None:
    """Read one word of a few, from the option of the name *key* or the key itself."""
    text = faults.typed(config, key, str, TABLE) if option is None else option
    where = f"{TABLE}.{key}" if option is None else f"--{key}"
    if text is None:
        return None
    for word in known:
        if word == text:
            return word
    faults.add(where, f"unknown value {text!r}", nearest(text, known))
    return None


def _formats(
    options: Options,
    config: dict[str, Any],
    files: Sequence[RequirementsFile],
    faults: Faults,
) -> tuple[frozenset[str], frozenset[str]]:
    only_in_files = [one for file in files for one in file.only_binary]
    no_in_files = [one for file in files for one in file.no_binary]
    only = _names(
        _stated(options.only_binary, only_in_files, "only-binary", config, faults), faults
    )
    no = _names(_stated(options.no_binary, no_in_files, "no-binary", config, faults), faults)
    for name in sorted(only.keys() & no.keys()):
        faults.add(
            no[name],
            f"{name} would have neither wheels nor sdists: {only[name]} names it too",
            "leave it in one of the two",
        )
    return _wanted(only), _wanted(no)


def _stated(
    option: Sequence[str],
    in_files: Sequence[Stated],
    key: str,
    config: dict[str, Any],
    faults: Faults,
) -> list[Stated]:
    """List what is said in the order in which it is read: what comes later can start anew."""
    configured = [Stated(f"{TABLE}.{key}", text) for text in faults.strings(config, key, TABLE)]
    if option:
        configured = []
    return [*configured, *in_files, *(Stated(f"--{key}", text) for text in option)]


def _names(values: Iterable[Stated], faults: Faults) -> dict[str, str]:
    """Read names with where each was first said; `ALL` stands for all others, as in pip."""
    found: dict[str, str] = {}
    for where, texts in values:
        for text in filter(None, map(str.strip, texts.split(","))):
            if text == _NONE:
                found = {}
            elif text == ALL:
                found.setdefault(ALL, where)
            else:
                try:
                    found.setdefault(canonicalize_name(text, validate=True), where)
                except InvalidName:
                    faults.add(
                        where, f"not a package name: {text!r}", f"{ALL} stands for every one"
                    )
    return found


def _wanted(names: Iterable[str]) -> frozenset[str]:
    return frozenset({ALL}) if ALL in names else frozenset(names)
