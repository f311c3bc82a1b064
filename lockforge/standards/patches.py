"""Patch releases of a Python minor, which a Target does not decide.

What depends on them changes only beside a patch release that it names, so a few of them stand for
all.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from lockforge.model.python import PythonMinor, render_minor

if TYPE_CHECKING:
    from collections.abc import Iterable

# A patch release no CPython minor reaches, so past every boundary that could be named.
_FAR = 999


def lowest_patch(minor: PythonMinor) -> int:
    """Give the lowest patch release of *minor* that a host may have."""
    return minor[2] if len(minor) > 2 else 0  # noqa: PLR2004


def deciding_patches(texts: Iterable[str], minor: PythonMinor) -> tuple[int, ...]:
    """List patch releases of *minor*, in order, that stand for all as far as *texts* can tell.

    *texts* are markers and version specifiers. Where none names a patch release there is one, the
    lowest that is covered.
    """
    texts = tuple(texts)
    lowest = lowest_patch(minor)
    named = {
        int(match[1])
        for text in texts
        for match in re.finditer(rf"\b{minor[0]}\.{minor[1]}\.(\d+)", text)
    }
    # Compared for more than "from" and "below", a bare `3.12` is 3.12.0; either side may be first.
    minor_text = rf"{minor[0]}\.{minor[1]}(?![\d.])"
    bare = re.compile(
        rf"(?:==|!=|<=|(?<![<>=~!])>)\s*['\"]?{minor_text}"
        rf"|(?<![\d.]){minor_text}['\"]\s*(?:==|!=|>=|<(?!=))"
    )
    if not named and not any(bare.search(text) for text in texts):
        return (lowest,)
    around = {patch + step for patch in named for step in (-1, 0, 1)}
    return tuple(sorted(patch for patch in {lowest, 1, _FAR} | around if patch >= lowest))


@lru_cache(maxsize=4096)
def python_fits(specifier: str, minor: PythonMinor) -> Literal["all", "some", "none"]:
    """Say how many patch releases of *minor* a specifier admits; an invalid one admits all.

    Where a patch release to start from is stated, one that excludes just that admits none: a host
    may have it. Where none is, it is enough that some are admitted.
    """
    try:
        limits = SpecifierSet(specifier)
    except InvalidSpecifier:
        return "all"
    answers = [
        limits.contains(f"{render_minor(minor)}.{patch}", prereleases=True)
        for patch in deciding_patches([specifier], minor)
    ]
    if all(answers):
        return "all"
    stated = len(minor) > 2  # noqa: PLR2004
    return "none" if not any(answers) or (stated and not answers[0]) else "some"


def narrowing_clauses(specifier: SpecifierSet, minors: Iterable[PythonMinor]) -> tuple[str, ...]:
    """List the clauses, sorted, that exclude patch releases of one of *minors*."""
    known = tuple(minors)
    return tuple(
        sorted(
            str(clause)
            for clause in specifier
            if any(python_fits(str(clause), minor) != "all" for minor in known)
        )
    )
