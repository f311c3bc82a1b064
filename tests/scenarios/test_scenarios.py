"""Every given scenario comes out as its answer says, through the real command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.scenarios.conftest import Answer, AnswerOf, Given
from tests.scenarios.judge import find_faults, names_one_of, selections, versions

EXPLAINED = {
    "python-less-than-current": (
        "Simple repository API, data-requires-python: installer tools SHOULD ignore the download "
        "when installing to a Python version that doesn't satisfy the requirement"
    ),
}
"""Scenarios with another answer, and the sentence of the newer specification that demands it."""


def test_scenario(name: str, answer_of: AnswerOf) -> None:
    answer = answer_of(name)

    if answer.ended.status == 0:
        assert find_faults(answer.lock, answer.scenario, answer.site) == []
    agrees = _agrees_over_all(answer) if answer.scenario.universal else _agrees(answer)
    if name in EXPLAINED:
        assert not agrees, f"{name} comes out as expected: it needs no explanation"
    else:
        assert agrees, _describe(answer)


def test_neither_order_nor_form_of_pages_decides(name: str, answer_of: AnswerOf) -> None:
    answer, other = answer_of(name), answer_of(name, other_way=True)

    assert other.ended.status == answer.ended.status, _describe(other)
    if answer.ended.status == 0:
        assert find_faults(other.lock, other.scenario, other.site) == []
        assert _found(other) == _found(answer)


def _agrees(answer: Answer) -> bool:
    """One environment has the answer that is given."""
    if not answer.scenario.satisfiable:
        return _is_refused(answer)
    expected = answer.scenario.packages
    return answer.ended.status == 0 and (
        expected is None or all(found == expected for found in _found(answer).values())
    )


def _agrees_over_all(answer: Answer) -> bool:
    """All environments are locked, or refused where the answer is that none serves them all.

    A row is a single environment: it may have a solution where all together have none.
    """
    return answer.ended.status == 0 or (not answer.scenario.satisfiable and _is_refused(answer))


def _is_refused(answer: Answer) -> bool:
    said = answer.ended.err
    projects = {*answer.site.projects, *answer.scenario.roots}
    return (
        answer.ended.status == 4
        and names_one_of(said, projects)
        and "Traceback" not in said
        and not answer.lock.exists()
    )


def _found(answer: Answer) -> dict[str, dict[str, str]]:
    return {
        f"{row}.{patch}": versions(selected)
        for row, patch, selected in selections(answer.lock, answer.scenario)
    }


def _describe(answer: Answer) -> str:
    scenario = answer.scenario
    found = _found(answer) if answer.ended.status == 0 else answer.ended.err
    return (
        f"{scenario.requires} {' '.join(scenario.options)} on {scenario.python}\n"
        f"expected: {scenario.packages if scenario.satisfiable else 'status 4'}\n"
        f"found: status {answer.ended.status}, {found}"
    )


def test_explanations_are_of_scenarios(given: Given) -> None:
    assert set(EXPLAINED) <= set(given.scenarios)


def test_rows_beside_universal_answers(
    shared: Path, given: Given, answer_of: AnswerOf, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another tool's answers are one for all rows; which differ is told, and not judged."""
    answers = json.loads((shared / "scenarios" / "universal_answers.json").read_text("utf-8"))
    universal = sorted(name for name, one in given.scenarios.items() if one.universal)
    equal = 0
    for name in universal:
        found, expected = _by_platform(answer_of(name)), answers[name].get("rows")
        equal += found == expected
        if found != expected:
            print(f"{name}: {found}; the other tool has {expected}")  # noqa: T201

    assert sorted(answers) == universal
    with capsys.disabled():
        print(f"\n{equal} of {len(universal)} universal answers are equal")  # noqa: T201


def _by_platform(answer: Answer) -> dict[str, dict[str, str]] | None:
    if answer.ended.status != 0:
        return None
    selected = selections(answer.lock, answer.scenario)
    return {row.platform: versions(selection) for row, _, selection in selected}


def test_the_judge_sees_a_requirement_that_does_not_hold(given: Given, answer_of: AnswerOf) -> None:
    answers = (answer_of(name) for name, one in given.scenarios.items() if one.packages)
    answer = next(answer for answer in answers if answer.ended.status == 0)
    asked = tuple(f"{name}<0" for name in answer.scenario.roots)

    faults = find_faults(answer.lock, replace(answer.scenario, requires=asked), answer.site)

    assert any(f"the project requires {asked[0]}, selected is" in fault for fault in faults)


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("the project requires a==1.0", True),
        ("index default has no project a\n", True),
        ("the index has no file of a for this row", False),
        ("there is a version", False),
        ("b-a 1.0 requires c.a", False),
    ],
)
def test_a_name_is_told_from_an_article(text: str, is_named: bool) -> None:  # noqa: FBT001
    assert names_one_of(text, ["a"]) is is_named
