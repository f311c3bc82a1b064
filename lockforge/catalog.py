"""The catalogue: package data (and a user's additions) -> Catalog.

The only reader of `data/catalog.yaml`. Facts live there with their sources; here is what the
rest may ask of them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import yaml
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import InvalidVersion, Version

from lockforge.errors import ConfigError, Fault
from lockforge.model.accelerator import Accelerator, is_label
from lockforge.model.matrix import PythonMinor, parse_minor
from lockforge.model.platforms import PLATFORMS, Platform

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
_OPEN = frozenset({"sources", "kinds", "accelerators", "amd-architectures", "kinds.cuda.drivers"})
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
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A requirement that holds for versions of a package although its metadata lacks it."""

    package: NormalizedName
    versions: SpecifierSet
    requires: str
    """A requirement; ``{minor}`` stands for ``X.Y`` of the package's version."""
    when_present: bool
    """Whether it only limits a package that is required anyway."""
    compiled: bool
    """Whether it holds for wheels of one platform alone, which have compiled code."""
    reason: str
    source: str

    def applies(self, name: str, version: Version, filename: str) -> bool:
        return (
            name == self.package
            and not (self.compiled and filename.endswith("-any.whl"))
            and self.versions.contains(version.public, prereleases=True)
        )

    def parsed(self, version: Version) -> Requirement:
        """Give the requirement as it stands for one version of the package."""
        return Requirement(self.requires.format(minor=f"{version.major}.{version.minor}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuArchitectures:
    """What one torch minor was compiled for on one accelerator."""

    architectures: tuple[str, ...]
    """Compute capabilities such as ``9.0``, or AMD gfx names."""
    ptx: tuple[str, ...]
    source: str
    judged_by: str | None
    """The torch minor whose rule was used, where the catalogue does not know the asked one."""


class Catalog:
    """Facts about accelerators, families and rules; each method answers one question."""

    def __init__(self, data: dict[str, Any], additions: str | None = None) -> None:
        self._data = data
        self._family = frozenset(map(canonicalize_name, data["family"]["packages"]))
        self._fallback = frozenset(map(canonicalize_name, data["family"]["fallback"]))
        self.rules: tuple[Rule, ...] = tuple(
            rule for fact in data["rules"] for rule in _read_rules(fact)
        )
        self.additions = additions
        """What stands for a user's additions: the same for the same facts; None for none."""

    @property
    def torch_index(self) -> str:
        """The base address of PyTorch's indexes, without a trailing slash."""
        return str(self._data["torch-index"]["url"])

    @property
    def pythons(self) -> tuple[PythonMinor, ...]:
        return tuple(map(parse_minor, self._data["python"]["minors"]))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels known to exist, in order of preference."""
        return tuple(
            sorted(self._data["accelerators"], key=lambda label: Accelerator(label).preference)
        )

    def is_family(self, name: str) -> bool:
        """Whether *name* comes from the row's own PyTorch index."""
        return name in self._family

    def falls_back(self, name: str) -> bool:
        """Whether versions that the row's index lacks may come from the default index."""
        return name in self._fallback

    def abi_limits(
        self, accelerator: Accelerator, platform: Platform, *, cxx11: bool
    ) -> SpecifierSet:
        """Give the torch versions whose wheels there have the new C++ ABI, or the old one.

        Only Linux has two: elsewhere all have both.
        """
        if platform.system != "linux":
            return SpecifierSet()
        fact = self._data["cxx11-abi"]
        early = accelerator.label in fact["accelerators"] or platform.machine in fact["machines"]
        since = fact["first"] if early else fact["only"]
        return SpecifierSet(f">={since}" if cxx11 else f"<{since}")

    def platforms_of(self, accelerator: Accelerator) -> tuple[Platform, ...]:
        """List the platforms that wheels of *accelerator* exist for."""
        own = self._data["accelerators"].get(accelerator.label, {})
        names = own.get("platforms", self._data["kinds"][accelerator.kind]["platforms"])
        return tuple(PLATFORMS[name] for name in names)

    def driver_floor(self, accelerator: Accelerator, platform: Platform) -> str | None:
        """Give the lowest driver of a CUDA build there; None where no driver is asked for."""
        if accelerator.kind != "cuda":
            return None
        own = self._data["accelerators"].get(accelerator.label, {}).get("driver")
        majors = self._data["kinds"]["cuda"]["drivers"]
        floors = own or majors.get(str(accelerator.version[0]))
        return None if floors is None else floors.get(platform.system)

    def gpu_architectures(
        self, accelerator: Accelerator, torch: Version, platform: Platform
    ) -> GpuArchitectures | None:
        """Say which GPUs a torch build has kernels for; None where nothing is known.

        A torch newer than the catalogue is judged by the newest rule of that accelerator.
        """
        if accelerator.kind == "rocm":
            fact = self._data["amd-architectures"].get(accelerator.label)
            return fact and GpuArchitectures(
                architectures=tuple(fact["gfx"]), ptx=(), source=fact["source"], judged_by=None
            )
        machine = "aarch64" if platform.machine == "aarch64" else "x86_64"
        known = [
            (parse_minor(fact["torch"]), fact)
            for fact in self._data["gpu-architectures"]
            if fact["accelerator"] == accelerator.label and fact["machine"] == machine
        ]
        asked = (torch.major, torch.minor)
        usable = [(minor, fact) for minor, fact in known if minor <= asked]
        if not usable:
            return None
        minor, fact = max(usable, key=lambda pair: pair[0])
        return GpuArchitectures(
            architectures=tuple(fact["sm"]),
            ptx=tuple(fact.get("ptx", ())) if platform.system == "linux" else (),
            source=fact["source"],
            judged_by=None if minor == asked else fact["torch"],
        )


def _series(fact: dict[str, Any]) -> list[tuple[str, str | None]]:
    """List the versions that the rules of one entry hold for, each with its pair."""
    if "pairs" in fact:
        return [(f"=={own}.*", pair) for own, pair in fact["pairs"].items()]
    return [(fact["versions"], None)]


def _fill_pair(requires: str, pair: str | None) -> str:
    return requires if pair is None else requires.format(pair=pair, minor="{minor}")


def _read_rules(fact: dict[str, Any]) -> Iterator[Rule]:
    """Read one entry of `rules`: one rule, or one for each of its pairs."""
    for versions, pair in _series(fact):
        yield Rule(
            package=canonicalize_name(fact["package"]),
            versions=SpecifierSet(versions),
            requires=_fill_pair(fact["requires"], pair),
            when_present=fact.get("when-present", False),
            compiled=fact.get("compiled", False),
            reason=fact["reason"],
            source=fact["source"],
        )


@lru_cache(maxsize=1)
def _packaged() -> dict[str, Any]:
    text = resources.files("lockforge").joinpath("data/catalog.yaml").read_text("utf-8")
    data: dict[str, Any] = yaml.load(text, Loader=_Loader)  # noqa: S506
    return data


def load_catalog(user_text: str | None = None, *, where: str = "catalog.yaml") -> Catalog:
    """Read the packaged catalogue, overridden by a user's; raises ConfigError for the latter."""
    data = _packaged()
    if user_text is None:
        return Catalog(data)
    try:
        user = yaml.load(user_text, Loader=_Loader)  # noqa: S506
    except yaml.YAMLError as error:
        message = f"not YAML: {' '.join(str(error).split())}"
        raise ConfigError([Fault(where=where, message=message)], where=where) from error
    if faults := list(_find_faults(user, where)):
        raise ConfigError(faults, where=where)
    return Catalog(_merge(data, user or {}), _digest(user) if user else None)


def _digest(user: dict[str, Any]) -> str:
    text = json.dumps(user, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _merge(base: Any, over: Any) -> Any:
    """Merge mappings key by key; anything else is replaced."""
    if isinstance(base, dict) and isinstance(over, dict):
        return base | {key: _merge(base.get(key), value) for key, value in over.items()}
    return over


def _find_faults(user: Any, where: str) -> list[Fault]:
    if user is None:
        return []
    if not isinstance(user, dict):
        return [Fault(where=where, message="expected a mapping at the top")]
    # The details of a key of the wrong shape cannot be looked at.
    return list(_shape_faults(user, _packaged(), "")) or [
        *_accelerator_faults(user.get("accelerators", {})),
        *_rule_faults(user.get("rules", [])),
        *_abi_faults(user.get("cxx11-abi", {})),
        *_python_faults(user.get("python", {}).get("minors", [])),
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


def _rule_key_faults(rule: dict[str, Any], at: str) -> Iterator[Fault]:
    """Check the keys of a rule and the kind of their values."""
    for key, value in rule.items():
        wanted = _RULE_KEYS.get(key)
        if wanted is None:
            hint = f"expected one of {', '.join(_RULE_KEYS)}"
            yield Fault(where=f"{at}.{key}", message="unknown key", hint=hint)
        elif not isinstance(value, wanted):
            message = f"expected {_SHAPES[wanted]}, found {value!r}"
            yield Fault(where=f"{at}.{key}", message=message)
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
    series = _series(rule)
    for versions, _ in series:
        try:
            SpecifierSet(versions)
        except InvalidSpecifier as error:
            key = "pairs" if "pairs" in rule else "versions"
            yield Fault(where=f"{at}.{key}", message=str(error))
    try:
        for _, pair in series:
            Requirement(_fill_pair(rule["requires"], pair).format(minor="1.0"))
    except (InvalidRequirement, AttributeError, LookupError, ValueError) as error:
        message = f"not a requirement: {str(error).splitlines()[0]}"
        yield Fault(where=f"{at}.requires", message=message)


def _abi_faults(fact: dict[str, str]) -> Iterator[Fault]:
    for key in ("first", "only"):
        try:
            Version(fact.get(key, "0"))
        except InvalidVersion as error:
            yield Fault(where=f"cxx11-abi.{key}", message=str(error))


def _python_faults(minors: list[str]) -> Iterator[Fault]:
    for text in minors:
        try:
            parse_minor(text)
        except ValueError:
            yield Fault(where="python.minors", message=f"not a Python minor: {text!r}")
