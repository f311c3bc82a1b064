"""For each row, uv finds the same versions on the same indexes, or there is a reason."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.differential.conftest import LockOf
from tests.differential.questions import DIFFERENCES, QUESTIONS, Question
from tests.differential.uv import Uv
from tests.independent.check_lock import project_requirements, select

ASKED = [
    pytest.param(question, row, python, id=f"{question.name}-{row}-{python}")
    for question in QUESTIONS
    for row in question.rows
    for python in question.pythons
]


def requirements_of(question: Question, projects: Path) -> Sequence[str]:
    if question.project is None:
        return question.requirements
    return project_requirements(projects / question.project, question.extras)


@pytest.mark.parametrize(("question", "row", "python"), ASKED)
def test_a_row_has_the_versions_uv_finds(
    question: Question,
    row: str,
    python: str,
    *,
    uv: Uv,
    lock_of: LockOf,
    projects: Path,
    tmp_path: Path,
) -> None:
    asked = [*requirements_of(question, projects)]
    asked += [question.named[row]] if row in question.named else []
    environment = question.row(row, python)
    selected = select(lock_of(question), environment, extras=question.extras)

    ours = {name: str(package.version) for name, (package, _) in selected.items()}
    theirs = uv.compile(asked, environment, tmp_path)

    explained = {
        difference.package
        for difference in DIFFERENCES
        if difference.question == question.name and row in difference.rows
    }
    differing = {
        name: (ours.get(name), theirs.get(name))
        for name in sorted({*ours, *theirs})
        if ours.get(name) != theirs.get(name)
    }
    assert set(differing) == explained, differing


def test_reasons_are_for_rows_that_are_asked() -> None:
    asked = {(question.name, row) for question in QUESTIONS for row in question.rows}

    explained = {(one.question, row) for one in DIFFERENCES for row in one.rows}

    assert explained <= asked
