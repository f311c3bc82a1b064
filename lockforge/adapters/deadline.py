"""Wait for the file system no longer than a time: a broken driver or a lost server may hang it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")


def within(seconds: float, work: Callable[[], _Result]) -> _Result:
    """Give what *work* does, in a thread that is left to itself when the time is over.

    Raises what *work* raises, and TimeoutError.
    """
    results: list[_Result] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(seconds, 0))
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"no end within {seconds:.3g} s")
    return results[0]
