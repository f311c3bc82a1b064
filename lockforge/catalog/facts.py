"""The catalogue: what the rest may ask of its facts.

The facts are those of the package's `data/catalog.yaml` and of a user's additions, each with its
source.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from packaging.version import Version

from lockforge.model.accelerator import Accelerator, is_label
from lockforge.model.platforms import PLATFORMS, Platform
from lockforge.model.python import PythonMinor, parse_minor

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from lockforge.catalog.rules import Rule


class GpuArchitectures(NamedTuple):
    """What one torch minor was compiled for on one accelerator."""

    architectures: tuple[str, ...]
    """Compute capabilities such as ``9.0``, or AMD gfx names."""
    ptx: tuple[str, ...]
    source: str
    judged_by: str | None
    """The torch minor whose rule was used, where the catalogue does not know the asked one."""


class SupportEnd(NamedTuple):
    """When PyTorch stops to build for an accelerator."""

    last: str
    """The last torch minor that is built for it."""
    ends: str
    """The first that is not."""
    source: str


class Source(NamedTuple):
    """Where a fact is from."""

    title: str
    url: str | None


def split_place(text: str) -> tuple[Platform | None, str] | None:
    """Take ``win-cu129`` apart; a label alone is on any platform. None for anything else."""
    name, _, label = text.rpartition("-")
    if not is_label(label) or (name and name not in PLATFORMS):
        return None
    return PLATFORMS.get(name), label


class Catalog:
    """Facts about accelerators, families and rules; each method answers one question."""

    def __init__(self, data: dict[str, Any], additions: str | None = None) -> None:
        self._data = data
        self.additions = additions
        """What stands for a user's additions: the same for the same facts; None for none."""

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, in the order of the catalogue."""
        from lockforge.catalog.rules import read_rules

        return tuple(rule for fact in self._data["rules"] for rule in read_rules(fact))

    @cached_property
    def _family(self) -> frozenset[str]:
        return self._names("packages")

    @cached_property
    def _fallback(self) -> frozenset[str]:
        return self._names("fallback")

    def _names(self, key: str) -> frozenset[str]:
        from packaging.utils import canonicalize_name

        return frozenset(map(canonicalize_name, self._data["family"][key]))

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
        from packaging.specifiers import SpecifierSet

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

    def accelerator_source(self, accelerator: Accelerator) -> str | None:
        """Give the key of where an accelerator and its driver floor are from; None if unlisted."""
        own: dict[str, Any] = self._data["accelerators"].get(accelerator.label, {})
        return own.get("source")

    def gpu_architectures(
        self, accelerator: Accelerator, torch: Version, platform: Platform
    ) -> GpuArchitectures | None:
        """Say which GPUs a torch build has kernels for; None where nothing is known.

        A torch newer than the catalogue is judged by the newest rule of that accelerator.
        """
        if accelerator.kind == "rocm":
            return self._amd_architectures(accelerator.label, (torch.major, torch.minor))
        machine = "aarch64" if platform.machine == "aarch64" else "x86_64"
        known = [
            (parse_minor(fact["torch"]), "system" in fact, fact)
            for fact in self._data["gpu-architectures"]
            if fact["accelerator"] == accelerator.label
            and fact["machine"] == machine
            and fact.get("system", platform.system) == platform.system
        ]
        asked = (torch.major, torch.minor)
        usable = [one for one in known if one[0] <= asked]
        if not usable:
            return None
        # What is said of one system goes before what is said of all.
        minor, _, fact = max(usable, key=lambda one: one[:2])
        return GpuArchitectures(
            architectures=tuple(fact["sm"]),
            ptx=tuple(fact.get("ptx", ())) if platform.system == "linux" else (),
            source=fact["source"],
            judged_by=None if minor == asked else fact["torch"],
        )

    def _amd_architectures(self, label: str, torch: tuple[int, int]) -> GpuArchitectures | None:
        fact = self._data["amd-architectures"].get(label)
        if fact is None:
            return None
        early = "since" in fact and torch < parse_minor(fact["since"])
        names, source = ("earlier", "earlier-source") if early else ("gfx", "source")
        return GpuArchitectures(
            architectures=tuple(fact[names]), ptx=(), source=fact[source], judged_by=None
        )

    def _newest(self, accelerator: Accelerator, platform: Platform) -> dict[str, Any] | None:
        facts: dict[str, dict[str, Any]] = self._data["newest-torch"]
        label = accelerator.label
        if platform.name not in {one.name for one in self.platforms_of(accelerator)}:
            return None
        return facts.get(f"{platform.name}-{label}", facts.get(label))

    def newest_torch(self, accelerator: Accelerator, platform: Platform) -> Version | None:
        """Give the newest torch with wheels there; None where the catalogue knows none."""
        fact = self._newest(accelerator, platform)
        return None if fact is None else Version(fact["torch"])

    def pythons_of(self, accelerator: Accelerator, platform: Platform) -> tuple[PythonMinor, ...]:
        """List the Pythons that the newest torch has wheels for there."""
        fact = self._newest(accelerator, platform)
        return () if fact is None else tuple(map(parse_minor, fact["pythons"]))

    def support_end(self, accelerator: Accelerator) -> SupportEnd | None:
        """Say when torch stops to be built for *accelerator*; None where no end is known."""
        fact = self._data["support-ends"].get(accelerator.label)
        if fact is None:
            return None
        return SupportEnd(last=fact["last"], ends=fact["ends"], source=fact["source"])

    def source(self, key: str) -> Source:
        """Tell of a source by its key; a user's fact may name one that is listed nowhere."""
        fact = self._data["sources"].get(key, {})
        return Source(title=fact.get("title", key), url=fact.get("url"))
