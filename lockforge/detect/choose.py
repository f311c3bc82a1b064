"""Facts x builds -> the verdict on each build, and the one to take."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lockforge.detect.builds import catalog_builds, platform_of
from lockforge.detect.judge_cuda import has_kernels, judge_cuda
from lockforge.detect.judge_host import why_not_host
from lockforge.detect.judge_others import judge_rocm, judge_xpu
from lockforge.detect.kernels import sources_of
from lockforge.detect.words import listed, name_amd, name_intel, name_nvidia
from lockforge.errors import UsageError
from lockforge.model.choice import FALLBACK, Choice, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockforge.catalog import Catalog
    from lockforge.model.accelerator import Kind
    from lockforge.model.choice import Build, Status, Wanted
    from lockforge.model.machine import Facts


def choose(
    facts: Facts, builds: Sequence[Build], catalog: Catalog, wanted: Wanted | None = None
) -> Choice:
    """Judge every build, and take the one that is wanted or the first that is usable.

    Raises UsageError for a wanted one that there is not, or that cannot be forced.
    """
    platform, present = platform_of(facts), _present(facts)

    def is_own(build: Build) -> bool:
        return platform is not None and build.platform.name == platform.name

    def order(build: Build) -> tuple[object, ...]:
        preference = build.accelerator.preference
        return not is_own(build), build.platform.order, preference, build.name

    verdicts = tuple(
        replace(_judge(build, facts, present, catalog), forcible=is_own(build))
        for build in sorted(builds, key=order)
    )
    verdicts = tuple(_explain_cpu(one, facts, present, verdicts, catalog) for one in verdicts)
    if wanted is None:
        best = next((one for one in verdicts if one.status == "usable"), None)
        return Choice(verdicts=verdicts, best=best)
    found = _find_wanted(facts, verdicts, wanted)
    best = found if found.status == "usable" else None
    if wanted.force and best is None:
        if not found.forcible:
            raise UsageError(
                f"{found.build.name} cannot be forced: {found.reason}",
                where=wanted.by,
                hint="take a row that is for this host's platform",
            )
        best = replace(found, forced=True)
        verdicts = tuple(best if one is found else one for one in verdicts)
    return Choice(verdicts=verdicts, best=best, wanted=wanted)


def would_serve(facts: Facts, catalog: Catalog) -> str | None:
    """Name the accelerator of the catalogue, at its newest torch, that serves a host best."""
    platform = platform_of(facts)
    if platform is None:
        return None
    best = choose(facts, catalog_builds(catalog, platform, None), catalog).best
    return None if best is None else best.build.accelerator.label


def _judge(build: Build, facts: Facts, present: Mapping[Kind, str], catalog: Catalog) -> Verdict:
    status: Status = "refused"
    reason = why_not_host(build, facts)
    sources: tuple[str, ...] = ()
    if reason is None:
        status, reason = _judge_devices(build, facts, catalog)
        if build.accelerator.kind in present:
            sources = sources_of(build, catalog)
    return Verdict(build=build, status=status, reason=reason, sources=sources)


def _judge_devices(build: Build, facts: Facts, catalog: Catalog) -> tuple[Status, str]:
    if build.accelerator.kind == "cuda":
        return judge_cuda(build, facts, catalog)
    if build.accelerator.kind == "rocm":
        return judge_rocm(build, facts, catalog)
    if build.accelerator.kind == "xpu":
        return judge_xpu(facts)
    if facts.apple is not None and facts.apple.mps_usable:
        chip = facts.apple.chip or "Apple's GPU"
        return "usable", f"the build for macOS runs on the CPU, and on {chip} by MPS"
    return "usable", "it runs on the CPU of every host of this platform"


def _explain_cpu(
    own: Verdict,
    facts: Facts,
    present: Mapping[Kind, str],
    verdicts: Sequence[Verdict],
    catalog: Catalog,
) -> Verdict:
    """Say of the CPU, where no GPU is served, why it is none."""
    if own.status != "usable" or own.build.accelerator.kind != "cpu" or facts.os == "macos":
        return own
    others = [one for one in verdicts if one.build.accelerator.kind != "cpu"]
    if any(one.status == "usable" for one in others):
        return own
    if not present:
        # A display that PyTorch has no build for is worth a word, and nothing to fall back from.
        display = name_intel(facts.intel.gpus) if facts.intel is not None else ""
        return replace(
            own, reason="no GPU was found" if not display else f"no build serves {display}"
        )
    platform = own.build.platform.name
    why = [one for one in others if one.build.accelerator.kind in present]
    why = [one for one in why if one.build.platform.name == platform]
    reason = _nearest(why, facts, catalog) or _no_row(own, present)
    return replace(own, reason=f"{FALLBACK}{reason}")


def _no_row(own: Verdict, present: Mapping[Kind, str]) -> str:
    kinds = " or ".join(kind.upper().replace("ROCM", "ROCm") for kind in present)
    return f"no {kinds} row is for {own.build.platform.name} ({', '.join(present.values())})"


def _nearest(refused: Sequence[Verdict], facts: Facts, catalog: Catalog) -> str | None:
    """Give the reason of what is nearest to serving: for some GPUs, or with another driver."""
    if partial := [one for one in refused if one.status == "partial"]:
        return partial[0].reason
    # The oldest asks least of the driver.
    fitting = [one for one in refused if has_kernels(one.build, facts, catalog)]
    return fitting[-1].reason if fitting else next((one.reason for one in refused), None)


def _present(facts: Facts) -> dict[Kind, str]:
    """Name the GPUs that there are, or are traces of, by the kind of build that may be for them."""
    found: dict[Kind, str] = {}
    nvidia = facts.nvidia
    # Tools that a driver was removed from, or never was with, are no trace of a GPU.
    if nvidia is not None and (nvidia.gpus or nvidia.state != "tools_without_driver"):
        found["cuda"] = name_nvidia(nvidia.gpus) or "an NVIDIA GPU"
    if facts.amd is not None and facts.amd.gpus:
        found["rocm"] = name_amd(facts.amd.gpus)
    supported = [gpu for gpu in facts.intel.gpus if gpu.xpu_supported] if facts.intel else []
    if supported:
        found["xpu"] = name_intel(supported)
    return found


def _find_wanted(facts: Facts, verdicts: Sequence[Verdict], wanted: Wanted) -> Verdict:
    """Give the verdict on what is asked for: by row, or by accelerator among the host's rows."""
    if wanted.row is not None:
        found = [one for one in verdicts if one.build.name == wanted.row]
        have = [one.build.name for one in verdicts]
    else:
        own = _own(facts, verdicts)
        found = [one for one in own if one.build.accelerator.label == wanted.accelerator]
        have = [one.build.accelerator.label for one in own]
    if found:
        return found[0]
    locked = any(one.build.locked for one in verdicts)
    if wanted.row is not None:
        message = f"no {'row' if locked else 'accelerator'} is named {wanted.row}"
    elif locked:
        message = f"no row for this host is for {wanted.accelerator}"
    else:
        message = f"{wanted.accelerator} is none of the accelerators for this host"
    raise UsageError(
        message,
        where=wanted.by,
        hint=f"there {'are' if len(have) > 1 else 'is'} {listed(have) or 'none'}",
    )


def _own(facts: Facts, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Give the verdicts on builds for the host's platform, on all where it has none."""
    platform = platform_of(facts)
    return [one for one in verdicts if platform is None or one.build.platform.name == platform.name]
