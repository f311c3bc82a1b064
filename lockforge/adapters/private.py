"""What in the texts of a machine is its owner's, and what is put in its place.

A name, an id or an address is replaced by the same stand-in wherever it occurs, in whatever way it
is written there, so that one text still refers to another.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

# An id whole or, as CUDA_VISIBLE_DEVICES may have it, only the beginning of one.
_ID = re.compile(
    r"(?<![^\W_])(?:(MIG-GPU-|MIG-|GPU-)([0-9a-f]+(?:-[0-9a-f]+)*)"
    r"|([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}))(?![^\W_])",
    re.IGNORECASE,
)
# AMD's have sixteen digits, NVIDIA's two times as many.
_WHOLE = 16
_MAC = re.compile(r"\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b", re.IGNORECASE)
_BUS = re.compile(
    r"(?<![\w:.])(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])(?!\w|\.\w)",
    re.IGNORECASE,
)
_BUSES = 256
_PLAIN = (
    # Home directories of anybody.
    (re.compile(r"(/home/|/Users/|[A-Za-z]:\\+Users\\+)[^/\\:;\s\"']+"), r"\g<1>user"),
    # Quoted in JSON, and a tag in XML.
    (
        re.compile(
            r"(?i)(serial(?:[ _-]?(?:number|no\.?|num))?(?: \(system\))?"
            r"(?:[\"']?[^\S\n]*[:=][^\S\n]*|>)[\"']?)[^\s|\"'<>,]+"
        ),
        r"\g<1>0",
    ),
    # As an X server writes an address on the bus.
    (re.compile(r"\b(PCI:)\d+(?:@\d+)?:\d+:\d+"), r"\g<1>0:0:0"),
    # Numbers of one device in the topology of AMD's driver, and what Windows adds to a device's id.
    (re.compile(r"(?m)^(\s*(?:unique_id|location_id|hive_id|BDFID:)\s+)\d+"), r"\g<1>0"),
    (re.compile(r"(?i)(REV_[0-9a-f]{2}\\{1,2})[^\"\s,]+"), r"\g<1>0"),
    # Who runs what on a GPU.
    (re.compile(r"(?m)^\|\s+\d+\s+(?:\S+\s+\S+\s+)?\d+\s+[CMG+]{1,3}\s.*\n"), ""),
)
_WORD = re.compile(r"[\w-]+")
# A host or a user of such a name would be looked for in texts that mean something else by it.
_PUBLIC = frozenset(
    {
        "agent",
        "amd",
        "apple",
        "arc",
        "arm64",
        "bits",
        "class",
        "container",
        "core",
        "cpu",
        "cuda",
        "darwin",
        "debian",
        "device",
        "dri",
        "driver",
        "dxg",
        "geforce",
        "gpu",
        "graphics",
        "host",
        "implementation",
        "instinct",
        "intel",
        "interpreter",
        "iris",
        "jetson",
        "kfd",
        "laptop",
        "libc",
        "linux",
        "localhost",
        "mac",
        "machine",
        "macos",
        "marketing",
        "max",
        "microsoft",
        "model",
        "name",
        "nvidia",
        "pro",
        "python",
        "quadro",
        "radeon",
        "rocm",
        "root",
        "rtx",
        "server",
        "tegra",
        "tesla",
        "titan",
        "type",
        "ubuntu",
        "ultra",
        "unknown",
        "user",
        "uuid",
        "vendor",
        "version",
        "windows",
        "wsl",
        "wsl2",
        "x86",
        "x86_64",
        "xeon",
    }
)
_SHORTEST = 3
# Parts of a directory directly below the root, such as `/root`.
_TOP = 2

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """What the machine and its user are called."""

    hosts: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    home: str | None = None


def find_owner(environment: Mapping[str, str]) -> Owner:
    """Find what the machine at hand and its user are called."""
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    users = [environment.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")]
    return Owner(
        hosts=(socket.gethostname(), environment.get("COMPUTERNAME", "")),
        users=(*users, PurePath(home).name),
        # A home such as `/` or `/root` is nobody's.
        home=home if len(PurePath(home).parts) > _TOP else None,
    )


class StandIns:
    """The stand-ins for what is private in *texts*, and in no others.

    Names that are a word of *public* too are left: that text is the same on every such machine.
    """

    def __init__(self, texts: Iterable[str], owner: Owner, *, public: str = "") -> None:
        everything = "\n".join(texts)
        self._ids = _numbered(_whole_ids(everything))
        self._addresses = _numbered(sorted({_address(one) for one in _BUS.finditer(everything)}))
        known = _PUBLIC | set(_WORD.findall(public.lower()))
        self._home = owner.home
        self._names = {
            **_names(owner.users, "user", known),
            **_names(owner.hosts, "host", known),
        }

    def replace(self, text: str) -> str:
        """Give *text* with nothing private in it."""
        if self._home:
            text = text.replace(self._home, "/home/user")
        text = _MAC.sub("00:00:00:00:00:00", text)
        text = _ID.sub(self._id, text)
        text = _BUS.sub(self._bus, text)
        for pattern, stand_in in _PLAIN:
            text = pattern.sub(stand_in, text)
        for name, stand_in in self._names.items():
            text = re.sub(name, stand_in, text, flags=re.IGNORECASE)
        return text

    def _id(self, found: re.Match[str]) -> str:
        kind, written = found[1] or "", found[2] or found[3]
        if len(_digits(written)) >= _WHOLE:
            return kind + self._like(written)
        begun = [number for one, number in self._ids.items() if one.startswith(_digits(written))]
        # What is ambiguous has to remain so, and what means nothing too.
        if len(begun) == 1:
            return f"{kind}{begun[0]:08x}"
        return kind + ("000" if begun else "ffffffff")

    def _like(self, whole: str) -> str:
        """Give the stand-in of an id in the form of *whole*: it differs from others soon."""
        number = self._ids[_digits(whole)]
        digits = iter(f"{number:08x}".ljust(len(whole), "0"))
        return "".join(one if one == "-" else next(digits) for one in whole)

    def _bus(self, found: re.Match[str]) -> str:
        number = self._addresses[_address(found)]
        domain = f"{number // _BUSES:0{len(found[1])}x}:" if found[1] else ""
        return f"{domain}{number % _BUSES:02x}:00.0"


def _numbered(values: Iterable[_Value]) -> dict[_Value, int]:
    return {value: number for number, value in enumerate(values, 1)}


def _digits(text: str) -> str:
    return text.replace("-", "").lower()


def _whole_ids(text: str) -> Iterable[str]:
    found = [_digits(match[2] or match[3]) for match in _ID.finditer(text)]
    return dict.fromkeys(one for one in found if len(one) >= _WHOLE)


def _address(found: re.Match[str]) -> tuple[int, ...]:
    return tuple(int(one or "0", 16) for one in found.groups())


def _names(names: Iterable[str], stand_in: str, known: Collection[str]) -> Mapping[str, str]:
    """Give the patterns of those names that mean nothing but what they name."""
    wanted = {one for name in names for one in (name, name.split(".")[0])}
    return {
        rf"(?<![\w-]){re.escape(name)}(?![\w-])": stand_in
        for name in sorted(wanted, key=lambda name: (-len(name), name))
        if len(name) >= _SHORTEST and name.lower() not in known and not name.isdigit()
    }
