"""PEP 508 markers seen from a Target: decided, or what is left of them.

A Target fixes the platform and the Python minor, not the patch release or the kernel. A marker
on those is neither true nor false there; `decide` gives what remains once all that is known is
put in. Markers have no negation, so atoms can be decided one by one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from packaging.markers import Marker, UndefinedComparison, UndefinedEnvironmentName

from lockforge.standards.environment import (
    OPEN_VARIABLES,
    decided_environment,
    host_environment,
)
from lockforge.standards.identity import remembered
from lockforge.standards.patches import deciding_patches

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from lockforge.model.platforms import Platform
    from lockforge.model.python import PythonMinor

_TOKEN = re.compile(
    r"\s*(?:(?P<paren>[()])|(?P<joint>and|or)(?![\w.])"
    r"|(?P<operator>not\s+in|in(?![\w.])|===|==|!=|<=|>=|~=|<|>)"
    r"|(?P<value>\"[^\"]*\"|'[^']*'|[A-Za-z_][\w.]*))"
)
_PYTHON_VARIABLES = ("python_full_version", "implementation_version")
# PEP 751: only a lock is read where it is known what was chosen.
_LOCK_VARIABLES = ("extras", "dependency_groups")


@dataclass(frozen=True, slots=True)
class Atom:
    """One comparison, as text."""

    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Comparisons and groups joined by one word."""

    joint: Literal["and", "or"]
    members: tuple[Node, ...]


Node: TypeAlias = Atom | Group
_Environment: TypeAlias = "Mapping[str, str | AbstractSet[str]]"


def parse(marker: str) -> Node:
    """Read the normalized text of a valid marker; `and` binds tighter than `or`."""
    tokens = list(_TOKEN.finditer(marker))
    node, rest = _parse_or(tokens, 0)
    assert rest == len(tokens), marker
    return node


def _parse_or(tokens: list[re.Match[str]], at: int) -> tuple[Node, int]:
    member, at = _parse_and(tokens, at)
    members = [member]
    while at < len(tokens) and tokens[at]["joint"] == "or":
        member, at = _parse_and(tokens, at + 1)
        members.append(member)
    return join("or", members), at


def _parse_and(tokens: list[re.Match[str]], at: int) -> tuple[Node, int]:
    member, at = _parse_atom(tokens, at)
    members = [member]
    while at < len(tokens) and tokens[at]["joint"] == "and":
        member, at = _parse_atom(tokens, at + 1)
        members.append(member)
    return join("and", members), at


def _parse_atom(tokens: list[re.Match[str]], at: int) -> tuple[Node, int]:
    if tokens[at]["paren"] == "(":
        node, at = _parse_or(tokens, at + 1)
        return node, at + 1
    words = (match[match.lastgroup or 0] for match in tokens[at : at + 3])
    return Atom(" ".join(_requote(word) for word in words)), at + 3


def _requote(word: str) -> str:
    # A value holds no quote of its own kind; single quotes read well inside TOML strings.
    if word.startswith('"') and "'" not in word:
        return f"'{word[1:-1]}'"
    return word


def join(joint: Literal["and", "or"], members: list[Node]) -> Node:
    """Join nodes, flattening groups of the same joint and dropping repetitions."""
    flat: dict[Node, None] = {}
    for member in members:
        if isinstance(member, Group) and member.joint == joint:
            flat.update(dict.fromkeys(member.members))
        else:
            flat[member] = None
    if len(flat) == 1:
        return next(iter(flat))
    return Group(joint, tuple(flat))


def render(node: Node) -> str:
    """Write a node with no more parentheses than the grammar needs."""
    if isinstance(node, Atom):
        return node.text
    parts = [
        f"({render(member)})"
        if isinstance(member, Group) and node.joint == "and"
        else render(member)
        for member in node.members
    ]
    return f" {node.joint} ".join(parts)


def conjoin(*markers: str) -> str:
    """Join marker texts by `and`; an empty text is the marker that always holds."""
    nodes = [parse(marker) for marker in markers if marker]
    return render(join("and", nodes)) if nodes else ""


def disjoin(*markers: str) -> str:
    """Join marker texts by `or`; an empty text is the marker that always holds."""
    if not all(markers):
        return ""
    return render(join("or", [parse(marker) for marker in markers]))


_decided = lru_cache(maxsize=256)(decided_environment)


def decide(
    marker: Marker, platform: Platform, python: PythonMinor, extra: str = ""
) -> Literal[True, False] | str:
    """Evaluate *marker* for a Target: True, False, or the text of what it leaves open.

    Raises UndefinedComparison for a marker without meaning in a requirement.
    """
    try:
        return _decide_text(_text(marker), platform, python, extra)
    except UndefinedEnvironmentName as error:
        variable = error.args[0]
        raise UndefinedComparison(
            f"{variable} is known only where a lock is installed"
            if variable in _LOCK_VARIABLES
            else "it compares no variable"
        ) from error


# One text stands in many requirements, and writing it costs more than evaluating it.
_text = remembered(str)


@lru_cache(maxsize=65536)
def _decide_text(
    text: str, platform: Platform, python: PythonMinor, extra: str
) -> Literal[True, False] | str:
    if not any(variable in text for variable in OPEN_VARIABLES):
        return Marker(text).evaluate_prepared({**_decided(platform, python), "extra": extra})
    environment = {**_decided(platform, python), "extra": extra}
    node = _reduce(parse(text), environment, platform, python)
    return node if isinstance(node, bool) else render(node)


def can_apply(
    marker: Marker,
    platform: Platform,
    python: PythonMinor,
    extras: AbstractSet[str],
    groups: AbstractSet[str],
) -> bool:
    """Whether a lock's *marker* holds for a Target once what it leaves open is taken as true.

    Raises UndefinedEnvironmentName or UndefinedComparison for a marker without meaning in a lock.
    """
    environment: dict[str, str | AbstractSet[str]] = {
        **_decided(platform, python),
        "extras": extras,
        "dependency_groups": groups,
    }
    text = _text(marker)
    if not any(variable in text for variable in OPEN_VARIABLES):
        return marker.evaluate_prepared(environment)
    return _reduce(parse(text), environment, platform, python) is not False


def may_hold(condition: str, platform: Platform, python: PythonMinor, patch: int) -> bool:
    """Whether what a Target leaves open can be true at one patch release of its Python."""
    return not condition or _may_hold(parse(condition), host_environment(platform, python, patch))


def _may_hold(node: Node, environment: dict[str, str]) -> bool:
    if isinstance(node, Atom):
        if not any(variable in node.text.split() for variable in _PYTHON_VARIABLES):
            return True
        return Marker(node.text).evaluate_prepared(environment)
    answers = (_may_hold(member, environment) for member in node.members)
    return all(answers) if node.joint == "and" else any(answers)


def _reduce(
    node: Node, environment: _Environment, platform: Platform, python: PythonMinor
) -> Node | bool:
    if isinstance(node, Atom):
        return _decide_atom(node, environment, platform, python)
    absorbing = node.joint == "or"
    kept: list[Node] = []
    for member in node.members:
        reduced = _reduce(member, environment, platform, python)
        if reduced is absorbing:
            return absorbing
        if not isinstance(reduced, bool):
            kept.append(reduced)
    return join(node.joint, kept) if kept else not absorbing


def _decide_atom(
    atom: Atom, environment: _Environment, platform: Platform, python: PythonMinor
) -> Node | bool:
    marker = Marker(atom.text)
    words = atom.text.split()
    opened = [variable for variable in OPEN_VARIABLES if variable in words]
    if not opened:
        return marker.evaluate_prepared(environment)
    for variable in _LOCK_VARIABLES:
        if variable in words and variable not in environment:
            raise UndefinedEnvironmentName(variable)
    if opened[0] not in _PYTHON_VARIABLES:
        return atom
    answers = {
        marker.evaluate_prepared(host_environment(platform, python, patch))
        for patch in deciding_patches([atom.text], python)
    }
    return answers.pop() if len(answers) == 1 else atom
