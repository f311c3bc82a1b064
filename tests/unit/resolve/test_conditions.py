"""Under which conditions each package of a solution is installed."""

from __future__ import annotations

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from lockforge.resolve.conditions import find_conditions
from lockforge.resolve.need import Need

P, Q, R = "platform_release >= '5'", "'train' in extras", "python_full_version < '3.12.4'"


def need(name: str, condition: str = "") -> Need:
    return Need(name=NormalizedName(name), specifier=SpecifierSet(), text=name, condition=condition)


CASES: list[tuple[dict[str, str], dict[str, dict[str, str]], dict[str, str]]] = [
    # roots, dependencies of each, the condition of each
    ({"a": ""}, {"a": {}}, {"a": ""}),
    ({"a": P}, {"a": {}}, {"a": P}),
    ({"a": ""}, {"a": {"b": P}, "b": {}}, {"a": "", "b": P}),
    # Along a path conditions add up.
    (
        {"a": Q},
        {"a": {"b": P}, "b": {"c": ""}, "c": {}},
        {"a": Q, "b": f"{Q} and {P}", "c": f"{Q} and {P}"},
    ),
    ({"a": P}, {"a": {"b": P}, "b": {}}, {"a": P, "b": P}),
    # Several paths are alternatives; one that always holds covers the others.
    (
        {"a": P, "b": Q},
        {"a": {"c": ""}, "b": {"c": ""}, "c": {}},
        {"a": P, "b": Q, "c": f"{Q} or {P}"},
    ),
    ({"a": P, "b": ""}, {"a": {"c": ""}, "b": {"c": ""}, "c": {}}, {"a": P, "b": "", "c": ""}),
    ({"a": "", "b": P}, {"a": {"c": P}, "b": {"c": Q}, "c": {}}, {"a": "", "b": P, "c": P}),
    # Circles end.
    ({"a": P}, {"a": {"b": ""}, "b": {"a": Q}}, {"a": P, "b": P}),
    (
        {"a": ""},
        {"a": {"b": P}, "b": {"c": Q}, "c": {"b": R}},
        {"a": "", "b": P, "c": f"{Q} and {P}"},
    ),
    # What nothing reaches has no condition.
    ({"a": ""}, {"a": {}, "b": {"c": ""}, "c": {}}, {"a": ""}),
]


@pytest.mark.parametrize(("roots", "dependencies", "expected"), CASES)
def test_conditions(
    roots: dict[str, str],
    dependencies: dict[str, dict[str, str]],
    expected: dict[str, str],
) -> None:
    """Conditions add up along a path, alternatives are joined and covered ones dropped."""
    found = find_conditions(
        [need(name, condition) for name, condition in roots.items()],
        {
            name: [need(child, condition) for child, condition in children.items()]
            for name, children in dependencies.items()
        },
    )
    assert found == expected


def test_two_needs_of_one_root() -> None:
    """A package asked for twice is there when either holds."""
    roots = [need("a", P), need("a", Q)]
    assert find_conditions(roots, {"a": []}) == {"a": f"{Q} or {P}"}
