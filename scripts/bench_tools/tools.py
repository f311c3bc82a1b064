"""How each tool is asked to lock the rows: its project file and its commands.

Each is asked in the way that is fastest for it and still gives every row its own PyTorch index:

- lockforge: one command for all rows.
- uv: `uv pip compile` once per row, as a resolution has one platform and a source one index.
- nab: one command per accelerator for all its platforms, as a package has one index in a run.
- pdm: `pdm lock` once per row, as a project file has one list of sources.

All write hashes, consider wheels alone where they can be told so, and share one cache between their
commands. Direct requirements are routed to the PyTorch index by name. Where a tool routes no
others, the row's Triton is named as a direct requirement, as PyTorch's users do.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench_tools.rows import PYTHON, TORCH, Row

REQUIREMENTS = (f"torch=={TORCH}", "torchvision", "numpy", "pillow", "timm")
ROUTED = ("torch", "torchvision")

# Triton under another name than on the default index, which has none for these accelerators.
_TRITON = {"linux-rocm7.2": "triton-rocm", "linux-xpu": "triton-xpu"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One process: the rows it locks, and the lock it writes."""

    rows: tuple[Row, ...]
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    lock: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What to lock: the rows, the index, an empty directory for project files, and the cache."""

    rows: tuple[Row, ...]
    base_url: str
    directory: Path
    cache: Path

    @property
    def default_index(self) -> str:
        """The index of ordinary packages."""
        return f"{self.base_url}/simple/"

    def pytorch_index(self, accelerator: str) -> str:
        """Return the index of an accelerator's PyTorch packages."""
        return f"{self.base_url}/whl/{accelerator}/"


class Tool(Protocol):
    """A tool, installed in a virtual environment of its own."""

    @property
    def name(self) -> str:
        """Its program's name."""

    @property
    def packages(self) -> tuple[str, ...]:
        """What pip is to install."""

    def make_commands(self, case: Case, scripts: Path) -> tuple[Command, ...]:
        """Write the project files, and return the commands that lock the case's rows, in order.

        `scripts` is the folder of the environment's programs.
        """


class Lockforge:
    """One command for all rows."""

    name = "lockforge"

    def __init__(self, checkout: Path) -> None:
        self.packages = (str(checkout),)

    def make_commands(self, case: Case, scripts: Path) -> tuple[Command, ...]:
        """Ask for a new resolution; a lock of the same rows may be there."""
        command = self.make_unchanged_command(case, scripts)
        return (
            Command(
                rows=command.rows,
                arguments=(*command.arguments, "--upgrade"),
                environment=command.environment,
                lock=command.lock,
            ),
        )

    def make_unchanged_command(self, case: Case, scripts: Path) -> Command:
        """Ask for a lock that has nothing to do where one is there."""
        write_project(case.directory, REQUIREMENTS, f'[tool.lockforge]\npython = ["{PYTHON}"]\n')
        lock = case.directory / "pylock.toml"
        options = {
            "--project": str(case.directory),
            "--matrix": ",".join(map(str, case.rows)),
            "--index-url": case.default_index.rstrip("/"),
            "--torch-index": f"{case.base_url}/whl",
            "-o": str(lock),
        }
        return Command(
            rows=case.rows,
            arguments=(str(scripts / "lockforge"), "lock", *itertools.chain(*options.items())),
            environment={"LOCKFORGE_CACHE_DIR": str(case.cache)},
            lock=lock,
        )


class Uv:
    """`uv pip compile` once per row."""

    name = "uv"
    packages = ("uv",)

    _PLATFORMS: Mapping[str, str] = {
        "linux": "x86_64-manylinux_2_28",
        "linux-aarch64": "aarch64-manylinux_2_28",
        "win": "x86_64-pc-windows-msvc",
        "mac": "aarch64-apple-darwin",
    }

    def make_commands(self, case: Case, scripts: Path) -> tuple[Command, ...]:
        """Put each row in a folder of its own."""
        return tuple(self._make_command(case, row, scripts) for row in case.rows)

    def _make_command(self, case: Case, row: Row, scripts: Path) -> Command:
        directory = case.directory / str(row)
        requirements, routed = name_triton(row)
        sources = "".join(f'{name} = {{ index = "pytorch" }}\n' for name in routed)
        index = (
            f'name = "pytorch"\nurl = "{case.pytorch_index(row.accelerator)}"\nexplicit = true\n'
        )
        tables = f"[[tool.uv.index]]\n{index}\n[tool.uv.sources]\n{sources}"
        write_project(directory, requirements, tables)
        lock = directory / "pylock.toml"
        options = {
            "--format": "pylock.toml",
            "--output-file": str(lock),
            "--default-index": case.default_index,
            "--cache-dir": str(case.cache),
            "--python": str(scripts / "python"),
            "--python-version": PYTHON,
            "--python-platform": self._PLATFORMS[row.platform],
        }
        program = (str(scripts / "uv"), "pip", "compile", str(directory / "pyproject.toml"))
        return Command(
            rows=(row,),
            arguments=(*program, *itertools.chain(*options.items()), "--no-build", "--quiet"),
            environment={"MACOSX_DEPLOYMENT_TARGET": "14.0"},
            lock=lock,
        )


class Nab:
    """One command per accelerator."""

    name = "nab"
    packages = ("nab",)

    _PLATFORMS: Mapping[str, str] = {
        "linux": '{ id = "linux_x86_64", runs-on-libc = "2.28" }',
        "linux-aarch64": '{ id = "linux_aarch64", runs-on-libc = "2.28" }',
        "win": '{ id = "windows_amd64" }',
        "mac": '{ id = "macos_arm64", runs-on-macos = "14.0" }',
    }

    def make_commands(self, case: Case, scripts: Path) -> tuple[Command, ...]:
        """Put each accelerator in a folder of its own, in the order of the rows."""
        groups: dict[str, list[Row]] = {}
        for row in case.rows:
            groups.setdefault(row.accelerator, []).append(row)
        return tuple(self._make_command(case, tuple(rows), scripts) for rows in groups.values())

    def _make_command(self, case: Case, rows: tuple[Row, ...], scripts: Path) -> Command:
        accelerator = rows[0].accelerator
        directory = case.directory / accelerator
        routed = ", ".join(f'"{name}"' for name in (*ROUTED, *_TRITON.values()))
        platforms = ", ".join(self._PLATFORMS[row.platform] for row in rows)
        tables = (
            f'[tool.nab]\ndist-policy = "wheel-only"\n\n'
            f'[tool.nab.matrix]\npython = "=={PYTHON}.*"\nplatforms = [{platforms}]\n\n'
            f'[[tool.nab.indexes]]\nname = "default"\nurl = "{case.default_index}"\n\n'
            f"[[tool.nab.indexes]]\n"
            f'name = "pytorch"\nurl = "{case.pytorch_index(accelerator)}"\n\n'
            f'[[tool.nab.package-rules]]\nmatch = [{routed}]\nindex = "pytorch"\n'
        )
        write_project(directory, REQUIREMENTS, tables)
        lock = directory / "pylock.toml"
        project = str(directory / "pyproject.toml")
        options = ("--cache-dir", str(case.cache), "--output", str(lock), "--no-progress")
        return Command(
            rows=rows, arguments=(str(scripts / "nab"), "lock", project, *options), lock=lock
        )


class Pdm:
    """`pdm lock` once per row."""

    name = "pdm"
    # hishel 2 took away what pdm 2.29 asks of it.
    packages = ("pdm", "hishel<2")

    _PLATFORMS: Mapping[str, str] = {
        "linux": "manylinux_2_28_x86_64",
        "linux-aarch64": "manylinux_2_28_aarch64",
        "win": "windows_amd64",
        "mac": "macos_14_0_arm64",
    }

    def make_commands(self, case: Case, scripts: Path) -> tuple[Command, ...]:
        """Put each row in a folder of its own."""
        return tuple(self._make_command(case, row, scripts) for row in case.rows)

    def _make_command(self, case: Case, row: Row, scripts: Path) -> Command:
        directory = case.directory / str(row)
        routed = [*ROUTED, *_TRITON.values()]
        tables = (
            f"[tool.pdm]\ndistribution = false\n\n[tool.pdm.resolution]\n"
            f"respect-source-order = true\n\n"
            f'[[tool.pdm.source]]\nname = "pypi"\nurl = "{case.default_index}"\n'
            f"exclude_packages = {routed}\n\n"
            f'[[tool.pdm.source]]\nname = "pytorch"\n'
            f'url = "{case.pytorch_index(row.accelerator)}"\ninclude_packages = {routed}\n'
        )
        write_project(directory, REQUIREMENTS, tables)
        # Names the interpreter, so that no virtual environment is made for the project.
        (directory / ".pdm-python").write_text(str(scripts / "python"), encoding="utf-8")
        options = {
            "--project": str(directory),
            "--python": f"=={PYTHON}.*",
            "--platform": self._PLATFORMS[row.platform],
            "--strategy": "no_inherit_metadata",
        }
        environment = {
            "PDM_CACHE_DIR": str(case.cache),
            "PDM_CHECK_UPDATE": "0",
            "PDM_USE_VENV": "0",
        }
        return Command(
            rows=(row,),
            arguments=(str(scripts / "pdm"), "lock", *itertools.chain(*options.items())),
            environment=environment,
            lock=directory / "pdm.lock",
        )


def name_triton(row: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the requirements and the routed names, with the row's Triton where it needs one."""
    triton = [_TRITON[str(row)]] if str(row) in _TRITON else []
    return (*REQUIREMENTS, *triton), (*ROUTED, *triton)


def write_project(directory: Path, requirements: Iterable[str], tables: str) -> None:
    """Write the `pyproject.toml` of the project to lock, with the tool's own tables."""
    directory.mkdir(parents=True, exist_ok=True)
    dependencies = ", ".join(f'"{requirement}"' for requirement in requirements)
    text = (
        f'[project]\nname = "vision-demo"\nversion = "1.0.0"\nrequires-python = ">=3.11"\n'
        f"dependencies = [{dependencies}]\n\n{tables}"
    )
    (directory / "pyproject.toml").write_text(text, encoding="utf-8")
