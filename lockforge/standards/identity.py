"""Remembering what was computed of an object that cannot be hashed cheaply, or at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Object = TypeVar("_Object")
_Result = TypeVar("_Result")


def remembered(compute: Callable[[_Object], _Result]) -> Callable[[_Object], _Result]:
    """Compute once for each object, by its identity; for values that nobody changes.

    The object is kept, so that its identity stays its own.
    """
    known: dict[int, tuple[_Object, _Result]] = {}

    def recall(one: _Object) -> _Result:
        entry = known.get(id(one))
        if entry is None:
            entry = known[id(one)] = (one, compute(one))
        return entry[1]

    return recall
