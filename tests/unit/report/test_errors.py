"""Errors in words."""

from __future__ import annotations

import pytest

from lockforge.errors import (
    ConfigError,
    Fault,
    IndexUnavailableError,
    LockforgeError,
    ProofError,
    UsageError,
)
from lockforge.report.errors import render_error

ERRORS: list[tuple[LockforgeError, str]] = [
    (UsageError("no such file"), "error[usage]: no such file\n"),
    (
        IndexUnavailableError(
            "no answer", where="https://pypi.org/simple/torch/", hint="try again"
        ),
        (
            "error[index-unavailable]: no answer\n"
            "  in https://pypi.org/simple/torch/\n"
            "  hint: try again\n"
        ),
    ),
    (ProofError("it does not", hint="report it"), "error[proof]: it does not\n  hint: report it\n"),
    (
        ConfigError(
            [
                Fault(where="tool.lockforge.python[0]", message="not a Python version: '2.7'"),
                Fault(
                    where="tool.lockforge.matrx",
                    message="unknown key",
                    hint="did you mean 'matrix'?",
                ),
            ],
            where="pyproject.toml",
        ),
        (
            "error[configuration]: 2 faults found\n"
            "  in pyproject.toml\n"
            "  tool.lockforge.python[0]: not a Python version: '2.7'\n"
            "  tool.lockforge.matrx: unknown key\n"
            "    hint: did you mean 'matrix'?\n"
        ),
    ),
    (
        ConfigError([Fault(where="a", message="b")]),
        "error[configuration]: 1 fault found\n  a: b\n",
    ),
]


@pytest.mark.parametrize(("error", "expected"), ERRORS)
def test_words(error: LockforgeError, expected: str) -> None:
    """An error says what happened, where, and what to do; all faults of a document at once."""
    assert render_error(error) == expected
