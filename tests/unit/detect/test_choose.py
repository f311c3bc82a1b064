"""Verdicts on builds, and the one that is taken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from packaging.version import Version

from lockforge.catalog import load_catalog
from lockforge.detect.builds import catalog_builds, platform_of
from lockforge.detect.choose import choose
from lockforge.errors import UsageError
from lockforge.model.accelerator import Accelerator
from lockforge.model.choice import Build, Choice, Verdict, Wanted
from lockforge.model.machine import Facts, Intel, IntelGpu, Libc, NvidiaGpu, Override
from lockforge.model.platforms import PLATFORMS
from tests.support.hosts import amd, linux, mac, nvidia, python, windows

CATALOG = load_catalog()
LABELS = ("cu132", "cu130", "cu128", "cu126", "cu118", "rocm7.2", "xpu", "cpu")


def row(label: str, platform: str = "linux", **more: Any) -> Build:
    """Give a row of a lock, for Python 3.12 and torch 2.11 if nothing else is said."""
    build = Build(
        name=f"{platform}-{label}",
        accelerator=Accelerator(label),
        platform=PLATFORMS[platform],
        pythons=((3, 12),),
        torch=Version("2.11.0"),
        locked=True,
    )
    return replace(build, **more)


def verdict(facts: Facts, build: Build) -> Verdict:
    return choose(facts, [build], CATALOG).verdicts[0]


def judged(facts: Facts, *labels: str) -> Choice:
    return choose(facts, catalog_builds(CATALOG, platform_of(facts), labels or LABELS), CATALOG)


def usable(choice: Choice) -> list[str]:
    return [one.build.name for one in choice.verdicts if one.status == "usable"]


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (linux(python=None), "nothing is known of the Python on this host"),
        (
            windows(python=python("win32", bits=32)),
            "this host's Python is a 32-bit one, and torch needs one of 64 bits",
        ),
        (
            linux(libc=Libc(family="musl", version="1.2", source="ldd")),
            "this host has musl 1.2, and torch's wheels need glibc",
        ),
        (linux("ppc64le"), "torch has no wheels for linux-ppc64le"),
        (linux("aarch64"), "this row is for linux, and this host is linux-aarch64"),
        (
            linux(python=python("linux-x86_64", version="3.13.1")),
            "this host has Python 3.13.1, and the files are for 3.12",
        ),
        (
            linux(python=python("linux-x86_64", implementation="PyPy")),
            "torch needs CPython, and this host has PyPy",
        ),
        (
            linux(libc=Libc(family="glibc", version="2.9", source="ldd")),
            "glibc 2.28 is needed, and this host has 2.9",
        ),
        (linux(libc=None), "glibc 2.28 is needed, and which this host has is not known"),
    ],
)
def test_a_host_that_a_row_cannot_be_installed_on(facts: Facts, reason: str) -> None:
    """It is refused even for the CPU, by what does not fit first."""
    found = verdict(facts, row("cpu"))
    assert (found.status, found.reason) == ("refused", reason)


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("3.12.2", "refused"),
        ("3.12", "refused"),
        ("3.12.3", "usable"),
        ("3.12.11+", "usable"),
        ("3.13.0", "refused"),
    ],
)
def test_a_row_from_a_patch_release_on(version: str, status: str) -> None:
    """An older or unknown patch release of the same Python does not do."""
    facts = linux(python=python("linux-x86_64", version=version))
    assert verdict(facts, row("cpu", pythons=((3, 12, 3),))).status == status


@pytest.mark.parametrize(
    ("version", "status"), [("13.6.1", "refused"), ("14", "usable"), ("26.1", "usable")]
)
def test_the_floor_of_a_mac(version: str, status: str) -> None:
    """The version of macOS counts, its first two numbers."""
    assert verdict(mac(version), row("cpu", "mac")).status == status


def test_the_row_has_a_floor_of_its_own() -> None:
    """A row locked for a newer glibc asks for that."""
    build = row("cpu", platform="linux")
    newer = replace(build, platform=replace(build.platform, floor=(2, 40)))
    assert verdict(linux(), newer).reason == "glibc 2.40 is needed, and this host has 2.39"


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ("525.60.11", "refused"),
        ("525.60.13", "usable"),
        ("525.105", "usable"),
        ("525.60", "refused"),
        ("1000.1", "usable"),
        ("580-beta", "refused"),
    ],
)
def test_drivers_compare_as_numbers(driver: str, expected: str) -> None:
    """Component by component, and what is no version is not known."""
    assert verdict(linux(nvidia=nvidia(driver, "8.6")), row("cu128")).status == expected


def test_windows_and_wsl2_have_floors_of_their_own() -> None:
    """526.98 would do on Linux, and does not where the driver is one of Windows."""
    given = nvidia("526.98", "8.6")
    assert verdict(linux(nvidia=given), row("cu128")).status == "usable"
    for facts, platform in (
        (windows(nvidia=given), "win"),
        (linux(nvidia=given, wsl2=True), "linux"),
    ):
        assert verdict(facts, row("cu128", platform)).reason == (
            "cu128 needs driver 528.33 or newer on Windows; this host has 526.98 (GPU of 8.6 (8.6))"
        )


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("no_devices", "NVIDIA's tools are here, and they find no device (driver 580.95.05)"),
        (
            "driver_visible_no_device_nodes",
            (
                "a driver is visible, and there are no device nodes to reach a GPU by "
                "(driver 580.95.05)"
            ),
        ),
        ("tools_without_driver", "NVIDIA's tools are here without a driver (driver 580.95.05)"),
        ("ok", "no NVIDIA GPU was found (driver 580.95.05)"),
    ],
)
def test_a_driver_without_a_gpu_is_no_gpu(state: str, reason: str) -> None:
    """What is visible of a driver does not make a row usable."""
    facts = linux(nvidia=nvidia("580.95.05", state=state))
    assert verdict(facts, row("cu130")).reason == reason


def test_a_gpu_without_a_driver() -> None:
    """The row is refused, and says which driver it needs."""
    facts = linux(nvidia=nvidia(None, "8.6", state="gpu_without_driver"))
    assert verdict(facts, row("cu130")).reason == (
        "cu130 needs driver 580 or newer on Linux; this host has none loaded (GPU of 8.6 (8.6))"
    )
    unknown = linux(nvidia=nvidia(None, "8.6"))
    assert "which one this host has is not known" in verdict(unknown, row("cu130")).reason


def test_hidden_gpus() -> None:
    """They are refused by the name of the variable that hides them."""
    gpu = NvidiaGpu(name="H100", compute_cap="9.0", visible=False)
    facts = linux(nvidia=nvidia("580.1", gpu), hidden_by=("CUDA_VISIBLE_DEVICES",))
    choice = judged(facts)
    assert choice.verdicts[0].reason == "CUDA_VISIBLE_DEVICES hides H100 (9.0)"
    assert choice.best is not None
    assert choice.best.reason == "a fallback: CUDA_VISIBLE_DEVICES hides H100 (9.0)"
    gpus = tuple(one._replace(visible=False) for one in amd("gfx1100").gpus)
    both = replace(
        facts,
        amd=amd()._replace(gpus=gpus),
        hidden_by=("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
    )
    assert verdict(both, row("cu130")).reason == "CUDA_VISIBLE_DEVICES hides H100 (9.0)"
    assert verdict(both, row("rocm7.2")).reason == "HIP_VISIBLE_DEVICES hides gfx1100"


def test_after_a_reboot() -> None:
    """A driver that is not of its libraries serves the row that it would serve rebooted."""
    facts = linux(nvidia=nvidia("550.127.05", "8.6", state="driver_library_mismatch"))
    found = verdict(facts, row("cu128"))
    assert found.status == "usable"
    assert found.reason.startswith("driver 550.127.05 >= 525.60.13, usable after a reboot; ")


@pytest.mark.parametrize(
    ("capability", "expected"),
    [
        ("6.1", ["cu126", "cu118", "cpu"]),
        ("7.0", ["cu126", "cu118", "cpu"]),
        ("8.9", ["cu132", "cu130", "cu128", "cu126", "cu118", "cpu"]),
        ("10.0", ["cu132", "cu130", "cu128", "cpu"]),
        ("10.3", ["cu132", "cu130", "cu128", "cpu"]),
        ("12.1", ["cu132", "cu130", "cu128", "cpu"]),
        ("11.0", ["cpu"]),
        ("3.5", ["cpu"]),
        (None, ["cpu"]),
        ("8", ["cpu"]),
    ],
)
def test_code_runs_on_the_same_major_and_a_minor_no_older(
    capability: str | None, expected: list[str]
) -> None:
    """Code for X.z runs on X.y where z <= y, and on no other major."""
    gpu = NvidiaGpu(name="GPU", compute_cap=capability)
    assert usable(judged(linux(nvidia=nvidia("610.1", gpu)))) == expected


def test_server_arm_has_other_kernels() -> None:
    """On aarch64 the builds have code for 8.0 and newer, and since CUDA 13 for Thor."""
    of = {
        capability: usable(
            judged(linux("aarch64", nvidia=nvidia("610.1", capability)), "cu130", "cu126", "cpu")
        )
        for capability in ("7.5", "9.0", "11.0", "12.1")
    }
    assert of == {
        "7.5": ["cpu"],
        "9.0": ["cu130", "cu126", "cpu"],
        "11.0": ["cu130", "cpu"],
        "12.1": ["cu130", "cpu"],
    }


@pytest.mark.parametrize(
    ("cuda", "status"), [(None, "refused"), ("13.0", "refused"), ("13.2", "usable")]
)
def test_ptx_needs_a_driver_of_its_own_cuda(cuda: str | None, status: str) -> None:
    """A GPU of a later major runs PTX alone, where the driver surely compiles that of cu132."""
    build = row("cu132", torch=Version("2.12.0"))
    facts = linux(nvidia=nvidia("610.1", "13.0", cuda_umd_version=cuda))
    found = verdict(facts, build)
    assert found.status == status
    if status == "usable":
        assert "its PTX of 12.0 serves" in found.reason
    else:
        assert found.reason.endswith("the driver is not known to compile that PTX")
    on_windows = row("cu132", "win", torch=Version("2.12.0"))
    given = nvidia("610.1", "13.0", cuda_umd_version=cuda)
    assert verdict(windows(nvidia=given), on_windows).status == "refused"


def test_every_gpu_has_to_be_served() -> None:
    """A row for some of the GPUs is partial, and none is hidden from it by being invisible."""
    facts = linux(nvidia=nvidia("580.1", "6.1", "12.0"))
    choice = judged(facts, "cu130", "cu126", "cpu")
    assert [one.status for one in choice.verdicts] == ["partial", "partial", "usable"]
    assert (
        "has kernels for GPU of 12.0 (12.0), and none for GPU of 6.1 (6.1)"
        in choice.verdicts[0].reason
    )
    assert choice.best is not None
    assert choice.best.reason.startswith("a fallback: cu130 has kernels for ")
    hidden = NvidiaGpu(name="old", compute_cap="6.1", visible=False)
    assert usable(judged(linux(nvidia=nvidia("580.1", hidden, "12.0")), "cu130")) == ["cu130"]


def test_every_torch_of_a_row_counts() -> None:
    """Of a row with torch 2.10 and 2.11 the newer lost 7.0, so a GPU of 7.0 is not served."""
    facts = linux(nvidia=nvidia("580.1", "7.0"))
    older = row("cu128", torch=Version("2.10.0"))
    assert verdict(facts, older).status == "usable"
    both = replace(older, other_torches=(Version("2.11.0"),))
    assert verdict(facts, both).status == "refused"


def test_a_torch_newer_than_the_catalogue() -> None:
    """It is judged by the newest that is known, and that is said."""
    found = verdict(linux(nvidia=nvidia("580.1", "8.6")), row("cu130", torch=Version("2.99.0")))
    assert found.status == "usable"
    assert "'s list, taken for 2.99)" in found.reason


def test_an_accelerator_newer_than_the_catalogue() -> None:
    """What the lock recorded of it counts, and without that it is refused as unknown."""
    facts = linux(nvidia=nvidia("700.1", "13.0"))
    build = row("cu140")
    assert verdict(facts, build).reason == (
        "which GPUs cu140 of torch 2.11.0 has kernels for is not known, "
        "and so not whether for GPU of 13.0 (13.0)"
    )
    kernels = replace(build, gpu_architectures=("12.0", "13.0", "sm_90"))
    assert verdict(facts, kernels).reason == "which driver cu140 needs is not known"
    recorded = replace(kernels, min_driver="650")
    assert verdict(facts, recorded).status == "usable"
    assert verdict(linux(nvidia=nvidia("700.1", "9.0")), recorded).status == "refused"


def test_a_jetson_before_thor_runs_no_wheel() -> None:
    """Orin is refused by what it is, and Thor judged as any other."""
    orin = linux("aarch64", tegra="NVIDIA Jetson AGX Orin", nvidia=nvidia("540.4.0", "8.7"))
    assert verdict(orin, row("cu126", "linux-aarch64")).reason == (
        "this host is a Jetson older than Thor (GPU of 8.7 (8.7)), "
        "for which there are only the builds of NVIDIA's JetPack"
    )
    in_container = replace(orin, tegra=None)
    assert verdict(in_container, row("cu126", "linux-aarch64")).status == "refused"
    without_gpu = replace(orin, nvidia=None)
    assert "JetPack" in verdict(without_gpu, row("cu126", "linux-aarch64")).reason
    thor = linux("aarch64", tegra="NVIDIA Jetson AGX Thor", nvidia=nvidia("580.0", "11.0"))
    assert verdict(thor, row("cu130", "linux-aarch64")).status == "usable"


def test_a_stated_driver_stands_for_a_gpu() -> None:
    """By the user's word a row is usable where no GPU is seen, as in the making of an image."""
    name = "LOCKFORGE_CUDA_DRIVER_VERSION"
    facts = linux(
        nvidia=nvidia("550.1", driver_source=name),
        overrides=(Override(variable=name, value="550.1"),),
    )
    choice = judged(facts)
    assert usable(choice) == ["cu128", "cu126", "cu118", "cpu"]
    assert choice.best is not None
    assert choice.best.reason == (
        f"driver 550.1 (stated by {name}) >= 525.60.13; no GPU is seen to have kernels for"
    )


def test_rocm_needs_one_gpu_that_is_listed() -> None:
    """Others are named and left alone; hidden ones and those without a device node do not count."""
    found = verdict(linux(amd=amd("gfx1100", "gfx1036")), row("rocm7.2"))
    assert (found.status, found.reason) == (
        "usable",
        "rocm7.2 has kernels for gfx1100, and none for gfx1036",
    )
    assert found.sources == ("uv",)
    assert verdict(linux(), row("rocm7.2")).reason == "no AMD GPU was found"
    unreached = linux(amd=amd("gfx1100", device_node=False))
    assert verdict(unreached, row("rocm7.2")).status == "refused"
    given = amd("gfx1100")
    hidden = given._replace(gpus=tuple(gpu._replace(visible=False) for gpu in given.gpus))
    facts = linux(amd=hidden, hidden_by=("HIP_VISIBLE_DEVICES",))
    assert verdict(facts, row("rocm7.2")).reason == "HIP_VISIBLE_DEVICES hides gfx1100"
    assert verdict(linux(amd=amd(None)), row("rocm7.2")).status == "refused"


def test_xpu_needs_a_supported_family() -> None:
    """All adapters are looked at, and none is enough by its vendor."""
    old = IntelGpu(pci_id="8086:3e9b", family="UHD 630", xpu_supported=False)
    new = IntelGpu(pci_id="8086:e20b", family="Arc B580", xpu_supported=True)
    assert usable(judged(linux(intel=Intel(gpus=(old, new))))) == ["xpu", "cpu"]
    choice = judged(linux(intel=Intel(gpus=(old,))))
    assert choice.best is not None
    assert choice.best.reason == "no build serves UHD 630 (8086:3e9b)"


def test_xpu_needs_a_device_node() -> None:
    """A container sees the bus of its machine, and reaches nothing on it."""
    new = IntelGpu(pci_id="8086:e20b", family="Arc B580", xpu_supported=True)
    choice = judged(linux(intel=Intel(gpus=(new,), device_node=False)))
    assert choice.best is not None
    assert choice.best.reason == (
        "a fallback: there is no /dev/dri, by which alone XPU reaches Arc B580 (8086:e20b)"
    )


def test_what_is_not_known_of_a_gpu_is_not_denied() -> None:
    """A row without known code for a GPU is refused, as one that may have it or not."""
    unknown = NvidiaGpu(name="GPU", compute_cap=None)
    found = nvidia("580.95.05", "6.1")
    reason = verdict(linux(nvidia=found._replace(gpus=(*found.gpus, unknown))), row("cu130")).reason
    assert (
        "no kernels for GPU of 6.1 (6.1), and whether it has some for GPU (unknown capability) "
        "is not known" in reason
    )
    radeon = amd(None)
    assert (
        "whether rocm7.2 has some for AMD GPU (1002:164e) is not known"
        in verdict(linux(amd=radeon), row("rocm7.2")).reason
    )


def test_a_lock_without_a_row_for_the_gpu() -> None:
    """The row for the CPU is a fallback, and says what nothing is for."""
    choice = choose(linux(nvidia=nvidia("580.1", "8.6")), [row("cpu"), row("rocm7.2")], CATALOG)
    assert choice.best is not None
    assert choice.best.reason == "a fallback: no CUDA row is for linux (GPU of 8.6 (8.6))"


def test_rows_are_in_order_of_preference() -> None:
    """The host's platform comes first, and then CUDA newest first, ROCm, XPU, CPU."""
    builds = [
        row("cpu"),
        row("cpu", "mac"),
        row("cu130", "win"),
        row("xpu"),
        row("rocm7.2"),
        row("cu118"),
        row("cu130"),
    ]
    facts = windows(nvidia=nvidia("580.1", "8.6"))
    names = [one.build.name for one in choose(facts, builds, CATALOG).verdicts]
    assert names == [
        "win-cu130",
        "linux-cu130",
        "linux-cu118",
        "linux-rocm7.2",
        "linux-xpu",
        "linux-cpu",
        "mac-cpu",
    ]


def test_what_is_wanted_is_taken_if_it_serves() -> None:
    """By name, or by accelerator among the rows for the host's platform."""
    facts = linux(nvidia=nvidia("550.1", "8.6"))
    builds = [row("cu130"), row("cu128"), row("cpu"), row("cpu", "win")]

    def best(wanted: Wanted) -> str | None:
        choice = choose(facts, builds, CATALOG, wanted)
        assert choice.wanted == wanted
        return None if choice.best is None else choice.best.build.name

    assert best(Wanted(by="--row", row="linux-cpu")) == "linux-cpu"
    assert best(Wanted(by="UV_TORCH_BACKEND", accelerator="cpu")) == "linux-cpu"
    assert best(Wanted(by="--row", row="linux-cu130")) is None
    assert best(Wanted(by="LOCKFORGE_ROW", row="win-cpu")) is None


def test_what_is_wanted_and_is_not_there() -> None:
    """An error names the variable or option, and what there is."""
    builds = [row("cu128"), row("cpu"), row("cu130", "win")]
    for wanted, message, hint in (
        (Wanted(by="--row", row="x"), "no row is named x", "linux-cu128, linux-cpu and win-cu130"),
        (
            Wanted(by="UV_TORCH_BACKEND", accelerator="cu130"),
            "no row for this host is for cu130",
            "cu128 and cpu",
        ),
    ):
        with pytest.raises(UsageError) as caught:
            choose(linux(), builds, CATALOG, wanted)
        assert (caught.value.message, caught.value.where) == (message, wanted.by)
        assert caught.value.hint == f"there are {hint}"


def test_an_accelerator_that_is_wanted_and_is_not_there() -> None:
    """Without a lock there are no rows to speak of."""
    builds = catalog_builds(CATALOG, PLATFORMS["linux"], ("cu130", "cpu"))
    for wanted, message in (
        (Wanted(by="--row", row="x"), "no accelerator is named x"),
        (
            Wanted(by="UV_TORCH_BACKEND", accelerator="cu126"),
            "cu126 is none of the accelerators for this host",
        ),
    ):
        with pytest.raises(UsageError) as caught:
            choose(linux(), builds, CATALOG, wanted)
        assert (caught.value.message, caught.value.hint) == (message, "there are cu130 and cpu")


def test_force_takes_what_does_not_serve() -> None:
    """It is recorded where the row does not serve, and refused for another platform's."""
    builds = [row("cu130"), row("cpu"), row("cpu", "win")]

    def forced(name: str, facts: Facts) -> Verdict:
        wanted = Wanted(by="--force-row", row=name, force=True)
        choice = choose(facts, builds, CATALOG, wanted)
        assert choice.best in choice.verdicts
        assert choice.best is not None
        return choice.best

    best = forced("linux-cu130", linux())
    assert (best.status, best.forced, best.reason) == ("refused", True, "no NVIDIA GPU was found")
    assert not forced("linux-cpu", linux()).forced
    with pytest.raises(UsageError, match="win-cpu cannot be forced: this row is for win"):
        forced("win-cpu", linux())
    with pytest.raises(UsageError, match="cannot be forced: torch has no wheels"):
        forced("linux-cpu", linux("ppc64le"))


def test_apple_silicon() -> None:
    """The build for macOS is that of the CPU and of Apple's GPU, and no fallback."""
    choice = judged(mac())
    assert choice.best is not None
    assert choice.best.reason == "the build for macOS runs on the CPU, and on Apple M3 by MPS"


def test_what_no_driver_helps_is_said_first() -> None:
    """A GPU without kernels is told so, and not to update a driver that would not help."""
    old = linux(nvidia=nvidia("470.82", "3.7"))
    assert "no kernels for GPU of 3.7 (3.7)" in verdict(old, row("cu130")).reason
    builds = [row("cu130"), row("cu126"), row("cpu")]
    cpu = choose(old, builds, CATALOG).best
    assert cpu is not None
    assert cpu.reason.startswith("a fallback: cu130 has no kernels for")


def test_a_fallback_names_the_least_that_helps() -> None:
    """Of several drivers that are too new the oldest is the way to the GPU."""
    facts = linux(nvidia=nvidia("515.1", "8.6"))
    best = choose(facts, [row("cu130"), row("cu126"), row("cpu")], CATALOG).best
    assert best is not None
    assert "needs driver 525.60.13" in best.reason
