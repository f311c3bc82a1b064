"""What is wrong with a user's catalogue: its shape, and the details of its facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from lockforge.catalog.facts import split_place
from lockforge.catalog.rules import fill_pair, series_of
from lockforge.errors import Fault
from lockforge.model.accelerator import is_label
from lockforge.model.platforms import PLATFORMS
from lockforge.model.python import parse_minor

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHAPES: dict[type, str] = {
    dict: "a mapping",
    list: "a list",
    str: "a string",
    int: "a number",
    bool: "true or false",
}
# Mappings whose keys are names of the user's own.
_OPEN = frozenset(
    {"sources", "kinds", "accelerators", "amd-architectures", "kinds.cuda.drivers"}
    | {"newest-torch", "support-ends"}
)
_ARCHITECTURE_KEYS: dict[str, type] = {
    "torch": str,
    "accelerator": str,
    "machine": str,
    "system": str,
    "sm": list,
    "ptx": list,
    "source": str,
}
_MACHINES = ("x86_64", "aarch64")
_SYSTEMS = ("linux", "windows")
_RULE_KEYS: dict[str, type] = {
    "package": str,
    "versions": str,
    "pairs": dict,
    "requires": str,
    "when-present": bool,
    "compiled": bool,
    "reason": str,
    "source": str,
}


def find_faults(user: Any, packaged: dict[str, Any], where: str) -> list[Fault]:
    """Say what is wrong with a user's catalogue, held against the packaged one."""
    if user is None:
        return []
    if not isinstance(user, dict):
        return [Fault(where=where, message="expected a mapping at the top")]
    # The details of a key of the wrong shape cannot be looked at.
    return list(_shape_faults(user, packaged, "")) or [
        *_accelerator_faults(user.get("accelerators", {})),
        *_rule_faults(user.get("rules", [])),
        *_abi_faults(user.get("cxx11-abi", {})),
        *_python_faults(user.get("python", {}).get("minors", []), "python.minors"),
        *_newest_faults(user.get("newest-torch", {}), packaged["newest-torch"]),
        *_end_faults(user.get("support-ends", {}), packaged["support-ends"]),
        *_architecture_faults(user.get("gpu-architectures", [])),
        *_amd_faults(user.get("amd-architectures", {}), packaged["amd-architectures"]),
    ]


def _shape_faults(user: dict[Any, Any], known: dict[str, Any], at: str) -> Iterator[Fault]:
    """Hold the user's mapping against the packaged one, which has every key there is.

    Below the mappings whose keys are the user's own, any entry of the packaged one is the model.
    """
    open_ended = at in _OPEN
    for key, value in user.items():
        place = f"{at}.{key}" if at else str(key)
        if open_ended:
            models = list(known.values())
        elif key in known:
            models = [known[key]]
        else:
            yield Fault(
                where=place, message="unknown key", hint=f"expected one of {', '.join(known)}"
            )
            continue
        if not any(type(value) is type(model) for model in models):
            wanted = _SHAPES[type(models[0])]
            yield Fault(where=place, message=f"expected {wanted}, found {value!r}")
        elif isinstance(value, dict):
            merged: dict[str, Any] = {}
            for model in models:
                merged |= model
            yield from _shape_faults(value, merged, place)
        elif isinstance(value, list):
            yield from _item_faults(value, models[0], place)


def _item_faults(values: list[Any], model: list[Any], at: str) -> Iterator[Fault]:
    wanted = type(model[0])
    for number, value in enumerate(values):
        if not isinstance(value, wanted):
            message = f"expected {_SHAPES[wanted]}, found {value!r}"
            yield Fault(where=f"{at}[{number}]" if wanted is dict else at, message=message)


def _accelerator_faults(accelerators: dict[str, Any]) -> Iterator[Fault]:
    for label, fact in accelerators.items():
        at = f"accelerators.{label}"
        if not is_label(str(label)):
            yield Fault(where=at, message="not an accelerator label")
        for name in fact.get("platforms", ()):
            if name not in PLATFORMS:
                yield Fault(where=f"{at}.platforms", message=f"unknown platform {name!r}")


def _rule_faults(rules: list[dict[str, Any]]) -> Iterator[Fault]:
    for number, rule in enumerate(rules):
        at = f"rules[{number}]"
        texts = ["package", "requires", "reason", "source"]
        texts += ["pairs"] if "pairs" in rule else ["versions"]
        if missing := set(texts) - set(rule):
            yield Fault(where=at, message=f"missing {', '.join(sorted(missing))}")
            continue
        faults = list(_rule_key_faults(rule, at))
        yield from faults
        if not faults:
            yield from _requirement_faults(rule, at)


def _key_faults(fact: dict[str, Any], known: dict[str, type], at: str) -> Iterator[Fault]:
    """Check the keys of an item of a list and the kind of their values."""
    for key, value in fact.items():
        wanted = known.get(key)
        if wanted is None:
            hint = f"expected one of {', '.join(known)}"
            yield Fault(where=f"{at}.{key}", message="unknown key", hint=hint)
        elif not isinstance(value, wanted):
            message = f"expected {_SHAPES[wanted]}, found {value!r}"
            yield Fault(where=f"{at}.{key}", message=message)


def _rule_key_faults(rule: dict[str, Any], at: str) -> Iterator[Fault]:
    """Check the keys of a rule, their values, and that `pairs` is what it has to be."""
    yield from _key_faults(rule, _RULE_KEYS, at)
    series = rule.get("pairs")
    if series is not None and "versions" in rule:
        yield Fault(where=f"{at}.pairs", message="stands in place of versions, not beside it")
    if isinstance(series, dict):
        # YAML reads 0.10 as the number 0.1.
        for own, other in series.items():
            if not isinstance(own, str) or not isinstance(other, str):
                message = f"expected two strings in quotes, found {own!r}: {other!r}"
                yield Fault(where=f"{at}.pairs", message=message)


def _requirement_faults(rule: dict[str, Any], at: str) -> Iterator[Fault]:
    """Check that the versions are some, and that the requirement is one for each pair."""
    series = series_of(rule)
    for versions, _ in series:
        try:
            SpecifierSet(versions)
        except InvalidSpecifier as error:
            key = "pairs" if "pairs" in rule else "versions"
            yield Fault(where=f"{at}.{key}", message=str(error))
    try:
        for _, pair in series:
            Requirement(fill_pair(rule["requires"], pair).format(minor="1.0"))
    except (InvalidRequirement, AttributeError, LookupError, ValueError) as error:
        message = f"not a requirement: {str(error).splitlines()[0]}"
        yield Fault(where=f"{at}.requires", message=message)


def _abi_faults(fact: dict[str, str]) -> Iterator[Fault]:
    for key in ("first", "only"):
        yield from _version_faults(fact.get(key, "0"), f"cxx11-abi.{key}")


def _version_faults(text: str, at: str) -> Iterator[Fault]:
    try:
        Version(text)
    except InvalidVersion as error:
        yield Fault(where=at, message=str(error))


def _python_faults(minors: list[str], at: str) -> Iterator[Fault]:
    for text in minors:
        try:
            parse_minor(text)
        except ValueError:
            yield Fault(where=at, message=f"not a Python minor: {text!r}")


def _newest_faults(
    places: dict[str, dict[str, Any]], packaged: dict[str, dict[str, Any]]
) -> Iterator[Fault]:
    for place, fact in places.items():
        at = f"newest-torch.{place}"
        if split_place(str(place)) is None:
            yield Fault(where=at, message="not an accelerator label, nor one behind a platform")
        if missing := {"torch", "pythons"} - {*fact, *packaged.get(place, ())}:
            yield Fault(where=at, message=f"missing {', '.join(sorted(missing))}")
        yield from _version_faults(fact.get("torch", "0"), f"{at}.torch")
        yield from _python_faults(fact.get("pythons", []), f"{at}.pythons")


def _architecture_faults(facts: list[dict[str, Any]]) -> Iterator[Fault]:
    for number, fact in enumerate(facts):
        at = f"gpu-architectures[{number}]"
        if missing := {"torch", "accelerator", "machine", "sm", "source"} - set(fact):
            yield Fault(where=at, message=f"missing {', '.join(sorted(missing))}")
            continue
        faults = list(_key_faults(fact, _ARCHITECTURE_KEYS, at))
        yield from faults or _architecture_value_faults(fact, at)


def _minor_faults(text: str, at: str) -> Iterator[Fault]:
    try:
        parse_minor(text)
    except ValueError:
        yield Fault(where=at, message=f"not the first two numbers of a version: {text!r}")


def _architecture_value_faults(fact: dict[str, Any], at: str) -> Iterator[Fault]:
    yield from _minor_faults(fact["torch"], f"{at}.torch")
    for key, known in (("machine", _MACHINES), ("system", _SYSTEMS)):
        if key in fact and fact[key] not in known:
            hint = f"expected one of {', '.join(known)}"
            yield Fault(where=f"{at}.{key}", message=f"unknown {key} {fact[key]!r}", hint=hint)
    # YAML reads 9.0 as a number.
    for key in ("sm", "ptx"):
        for value in fact.get(key, ()):
            if not isinstance(value, str):
                message = f"expected a string in quotes, found {value!r}"
                yield Fault(where=f"{at}.{key}", message=message)


def _amd_faults(
    builds: dict[str, dict[str, Any]], packaged: dict[str, dict[str, Any]]
) -> Iterator[Fault]:
    early = {"since", "earlier", "earlier-source"}
    for label, fact in builds.items():
        at = f"amd-architectures.{label}"
        keys = {*fact, *packaged.get(label, ())}
        wanted = {"gfx", "source"} | (early if early & keys else set())
        if missing := wanted - keys:
            yield Fault(where=at, message=f"missing {', '.join(sorted(missing))}")
        if "since" in fact:
            yield from _minor_faults(fact["since"], f"{at}.since")


def _end_faults(
    ends: dict[str, dict[str, str]], packaged: dict[str, dict[str, str]]
) -> Iterator[Fault]:
    for label, fact in ends.items():
        at = f"support-ends.{label}"
        if not is_label(str(label)):
            yield Fault(where=at, message="not an accelerator label")
        if missing := {"last", "ends", "source"} - {*fact, *packaged.get(label, ())}:
            yield Fault(where=at, message=f"missing {', '.join(sorted(missing))}")
