"""What the host is apart from its accelerators: system, machine, Python, C library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from lockforge import devices
from lockforge.detect.answers import read_pairs
from lockforge.model.machine import Interpreter, Libc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockforge.detect.answers import Answers
    from lockforge.model.platforms import System

_SYSTEMS: dict[str, System] = {"linux": "linux", "win32": "windows", "darwin": "macos"}
_MACHINES = frozenset({"x86_64", "aarch64", "arm64", "armv7l", "i686", "ppc64le", "riscv64"})
_PYTHON = re.compile(r"\d{1,3}\.\d{1,3}(?:[.\w+]{0,40})?", re.ASCII)
_LIBC = re.compile(r"(?P<family>glibc|musl)[ -](?P<version>\d{1,3}\.\d{1,3})", re.ASCII)
_LDD_MUSL = re.compile(r"musl libc[^\n]*\nVersion (\d{1,3}\.\d{1,3})", re.ASCII)
_LDD_GLIBC = re.compile(r"^ldd \(.{0,200}\) (\d{1,3}\.\d{1,3})", re.ASCII | re.MULTILINE)
_TEGRA_RELEASE = re.compile(r"# (R\d{1,3}) \(release\), REVISION: ([\d.]{1,10})", re.ASCII)
_TEGRA_MODEL = re.compile(r"Jetson|Tegra|IGX|\bOrin\b|\bXavier\b|\bThor\b", re.IGNORECASE)
# Distributions that others are built from with the same numbers, or without any.
_SAME_NUMBERS = frozenset({"arch", "fedora", "rhel"})
_PRODUCT = re.compile(r"^ProductVersion:[ \t]*(\d[\d.]{0,20})[ \t]*$", re.ASCII | re.MULTILINE)


class Host(NamedTuple):
    """A machine without its accelerators; the fields are those of Facts."""

    os: System | None
    os_version: str | None
    arch: str | None
    python: Interpreter | None
    libc: Libc | None
    wsl2: bool
    container: bool
    tegra: str | None


def read_host(answers: Answers) -> Host:
    """Read all of it."""
    system = read_system(answers)
    return Host(
        os=system,
        os_version=_read_os_version(answers, system),
        arch=read_machine(answers),
        python=_read_python(answers),
        libc=_read_libc(answers) if system == "linux" else None,
        wsl2=is_wsl2(answers),
        container=_is_container(answers),
        tegra=read_tegra(answers) if system == "linux" else None,
    )


def read_variables(answers: Answers) -> dict[str, str]:
    """Read the variables that are set; the empty text is a value."""
    return read_pairs(answers.said("variables"))


def read_system(answers: Answers) -> System | None:
    """Give the system this Python runs on; the kernel's word counts where it told nothing."""
    told = _interpreter(answers).get("sys_platform", "")
    if told:
        return _SYSTEMS.get(told)
    kernel = answers.said("kernel")
    if kernel.startswith("Linux"):
        return "linux"
    return "macos" if kernel.startswith("Darwin") else None


def read_machine(answers: Answers) -> str | None:
    """Give the machine as the interpreter spells it; else as the kernel does."""
    if told := _interpreter(answers).get("machine", "")[:40]:
        return told
    # The release may name a machine too, and stands before it.
    words = answers.said("kernel")[:1000].split()
    return next((word for word in reversed(words) if word in _MACHINES), None)


def is_wsl2(answers: Answers) -> bool:
    """Whether Linux runs beside Windows, whose driver reaches the GPUs."""
    if read_system(answers) != "linux":
        return False
    kernel = answers.said("kernel").lower()
    # The first WSL says "Microsoft" as well, and has no GPU. A kernel built by the user may say
    # neither of the two, but reaches the GPU through the same device.
    return "microsoft-standard" in kernel or "wsl2" in kernel or "dxg" in device_nodes(answers)


def device_nodes(answers: Answers) -> frozenset[str]:
    """Give the names in ``/dev``."""
    return frozenset(answers.said("dev").split())


def has_node(answers: Answers, host: Host, name: str) -> bool | None:
    """Whether the device node is there by which Linux reaches GPUs of one vendor.

    None where that was not told or is no matter, as on Windows and WSL2.
    """
    nodes = device_nodes(answers)
    if host.os != "linux" or host.wsl2 or not nodes:
        return None
    return name in nodes


def told_libc(answers: Answers) -> bool:
    """Whether the interpreter itself told its C library."""
    return _LIBC.match(_interpreter(answers).get("libc", "")) is not None


def read_tegra(answers: Answers) -> str | None:
    """Name the Jetson by its model; else by the release of its system."""
    model = " ".join(answers.said("tegra-model").split())[:80]
    if _TEGRA_MODEL.search(model):
        return model
    if release := _TEGRA_RELEASE.match(answers.said("tegra-release").lstrip()):
        return f"{release[1]}.{release[2]}"
    words = answers.said("kernel")[:1000].split()
    return "Tegra" if any(word.endswith("-tegra") for word in words) else None


def _interpreter(answers: Answers) -> dict[str, str]:
    return read_pairs(answers.said("interpreter"))


def _read_python(answers: Answers) -> Interpreter | None:
    pairs = _interpreter(answers)
    version, bits = pairs.get("version", ""), pairs.get("bits", "")
    texts = [pairs.get(key, "")[:80] for key in ("implementation", "machine", "sysconfig_platform")]
    if not _PYTHON.fullmatch(version) or bits not in {"32", "64"} or not all(texts):
        return None
    implementation, machine, platform = texts
    return Interpreter(
        version=version,
        implementation=implementation,
        bits=int(bits),
        machine=machine,
        platform=platform,
        free_threaded=pairs.get("free_threaded") == "1",
    )


def _read_libc(answers: Answers) -> Libc | None:
    told = _interpreter(answers).get("libc", "")
    if match := _LIBC.match(told):
        family: Literal["glibc", "musl"] = "musl" if match["family"] == "musl" else "glibc"
        return Libc(family=family, version=match["version"], source="interpreter")
    return read_ldd(answers.text("ldd")) or _libc_of_release(answers.said("os-release"))


def read_ldd(text: str) -> Libc | None:
    """Read ``ldd --version``, which musl's loader answers with an error and its version."""
    text = text[:5000]
    if match := _LDD_MUSL.search(text):
        return Libc(family="musl", version=match[1], source="ldd")
    if match := _LDD_GLIBC.search(text):
        return Libc(family="glibc", version=match[1], source="ldd")
    return None


def _libc_of_release(text: str) -> Libc | None:
    release = _read_os_release(text)
    name, version = release.get("ID", ""), release.get("VERSION_ID")
    if name == "alpine" and (match := re.match(r"3\.(\d{1,3})", version or "", re.ASCII)):
        # https://alpinelinux.org/posts/Alpine-3.13.0-released.html
        series = "1.2" if int(match[1]) >= 13 else "1.1"  # noqa: PLR2004
        return Libc(family="musl", version=series, source="os-release")
    found = (devices.glibc_of(*one) for one in _built_from(release))
    glibc = next(filter(None, found), None)
    return Libc(family="glibc", version=glibc, source="os-release") if glibc else None


def _built_from(release: dict[str, str]) -> Iterator[tuple[str, str | None]]:
    """Name the distributions whose C library this one has, by ID and version: itself first."""
    version = release.get("VERSION_ID")
    yield release.get("ID", ""), version
    # Those built from Ubuntu or Debian number their releases in their own way.
    if codename := release.get("UBUNTU_CODENAME"):
        yield "ubuntu", codename
    if codename := release.get("DEBIAN_CODENAME") or release.get("VERSION_CODENAME"):
        yield "debian", codename
    for name in release.get("ID_LIKE", "").split():
        if name in _SAME_NUMBERS:
            yield name, version


def _read_os_release(text: str) -> dict[str, str]:
    return {key: value.strip("\"'")[:80] for key, value in read_pairs(text).items()}


def _read_os_version(answers: Answers, system: System | None) -> str | None:
    if system == "linux":
        release = _read_os_release(answers.said("os-release"))
        words = [release.get("NAME") or release.get("ID", ""), release.get("VERSION_ID", "")]
        return " ".join(filter(None, words)) or None
    if system == "macos":
        match = _PRODUCT.search(answers.said("sw-vers"))
        return match and match[1]
    return None


def _is_container(answers: Answers) -> bool:
    # Podman writes the one file, Docker the other; both, and systemd-nspawn, may set the variable.
    files = ("containerenv", "dockerenv")
    return bool(read_variables(answers).get("container")) or any(
        answers.get(name).outcome == "said" for name in files
    )
