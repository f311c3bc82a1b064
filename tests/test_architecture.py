"""The layers, the size of modules, and where the world may be touched."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lockforge import errors
from lockforge.errors import LockforgeError

ROOT = Path(__file__).parent.parent
LINES = 400
BASE = {"errors", "model", "ports", "catalog", "devices", "standards"}
LAYERS = {
    "": set[str](),
    "errors": set[str](),
    "model": {"errors", "model"},
    "ports": {"errors", "model"},
    "catalog": {"errors", "model", "standards", "catalog"},
    "devices": {"errors", "model"},
    "standards": {"errors", "model", "standards"},
    "project": {*BASE, "project"},
    "resolve": {*BASE, "resolve"},
    "merge": {*BASE, "merge"},
    "lockfile": {*BASE, "lockfile"},
    "detect": {*BASE, "detect"},
    "report": {*BASE, "report"},
    # The version names lockforge to the servers it asks.
    "adapters": {"", "errors", "model", "ports", "standards", "adapters"},
    "commands": {*BASE, "project", "resolve", "merge", "lockfile", "detect", "report", "commands"},
}
"""What each layer may import; those of the command line may import everything."""
TOP = {"cli", "__main__"}
WORLD = {
    "http",
    "httpx",
    "importlib",
    "os",
    "pathlib",
    "pkgutil",
    "shutil",
    "socket",
    "subprocess",
    "sys",
    "tempfile",
    "time",
    "urllib.request",
}
"""Modules that reach the disk, the network, the clock or the process."""
PURE = {
    ("pkgutil", "get_data"): {"catalog", "devices"},
    # These only take texts apart.
    ("pathlib", "PurePath"): {"project"},
    ("pathlib", "PurePosixPath"): {"project"},
}
"""What of those modules a layer may use all the same."""


def _layer(name: str) -> str:
    """The first part of a module's name below ``lockforge``."""
    return name.split(".")[1] if "." in name else ""


@dataclass(frozen=True)
class Import:
    """One imported module, with the name taken from it if one was."""

    module: str
    name: str
    run_time: bool


@dataclass(frozen=True)
class Module:
    """One module of ours."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def layer(self) -> str:
        return _layer(self.name)

    def imports(self) -> list[Import]:
        unreal = {
            node
            for branch in ast.walk(self.tree)
            if isinstance(branch, ast.If)
            and isinstance(branch.test, ast.Name)
            and branch.test.id == "TYPE_CHECKING"
            for statement in branch.body
            for node in ast.walk(statement)
        }
        found = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found += [Import(one.name, "", node not in unreal) for one in node.names]
            elif isinstance(node, ast.ImportFrom):
                module = node.module or ""
                found += [Import(module, one.name, node not in unreal) for one in node.names]
        return found


def _modules() -> list[Module]:
    found = []
    for path in sorted((ROOT / "lockforge").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        found.append(Module(name, path, ast.parse(path.read_text("utf-8"), str(path))))
    return found


MODULES = _modules()
NAMES = {module.name for module in MODULES}
LOWER = [module for module in MODULES if module.layer not in TOP]


def _ours(imported: Import) -> str | None:
    """The module of ours that an import brings in."""
    if imported.module.split(".")[0] != "lockforge":
        return None
    full = f"{imported.module}.{imported.name}"
    return full if full in NAMES else imported.module


def test_every_package_is_a_layer() -> None:
    """A new package has to find its place in the table before it can be imported."""
    assert {module.layer for module in MODULES} - TOP == LAYERS.keys()


def test_layers() -> None:
    """A module imports only what its layer may."""
    found = {
        (module.name, imported)
        for module in LOWER
        for one in module.imports()
        if (imported := _ours(one)) and _layer(imported) not in LAYERS.get(module.layer, set())
    }
    assert found == set()


def test_length() -> None:
    """No module is longer than a reader can hold in mind."""
    lengths = {one.name: len(one.path.read_text("utf-8").splitlines()) for one in MODULES}
    assert {name: length for name, length in lengths.items() if length > LINES} == {}


def test_no_relative_imports() -> None:
    """Every import says where it comes from."""
    relative = {
        (module.name, node.lineno)
        for module in MODULES
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.level
    }
    assert relative == set()


def test_only_the_edge_touches_the_world() -> None:
    """Disk, network, clock and process are out of reach below adapters and the command line."""
    imports = {
        (module.name, one.module, one.name)
        for module in LOWER
        if module.layer != "adapters"
        for one in module.imports()
        if one.run_time
        and WORLD & {one.module, one.module.split(".")[0], f"{one.module}.{one.name}"}
        and module.layer not in PURE.get((one.module, one.name), set())
    }
    calls = {
        (module.name, node.func.id)
        for module in LOWER
        if module.layer != "adapters"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"open", "input", "print"}
    }
    assert (imports, calls) == (set(), set())


def test_no_import_cycles() -> None:
    """No module imports itself by way of others, not even for its types."""
    remaining = {
        module.name: {name for one in module.imports() if (name := _ours(one))} - {module.name}
        for module in MODULES
    }
    # `lockforge` itself is the version and imports nothing.
    while free := {name for name, imports in remaining.items() if not imports & remaining.keys()}:
        remaining = {name: found for name, found in remaining.items() if name not in free}
    assert remaining == {}


def test_starting_needs_no_http_client() -> None:
    """`import lockforge.cli.lock` leaves httpx for a command that asks an index."""
    code = "import sys, lockforge.cli.lock; print('httpx' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


def _errors(base: type[LockforgeError]) -> list[type[LockforgeError]]:
    return [one for child in base.__subclasses__() for one in (child, *_errors(child))]


def test_errors_have_code_and_status() -> None:
    """Every error meant for the user has a kebab-case code and a status of the documented ones."""
    wrong = {
        error.__name__: (error.code, error.exit_status)
        for error in _errors(LockforgeError)
        if not re.fullmatch(r"[a-z]+(-[a-z]+)*", error.code)
        or error.exit_status not in {2, 4, 5, 6, 7}
    }
    assert wrong == {}


def test_error_codes_are_unique() -> None:
    """A code names one kind of error."""
    found = _errors(LockforgeError)
    assert len({error.code for error in found}) == len(found)


def test_the_tree_of_errors_is_drawn() -> None:
    """The docstring of `errors` shows every error beneath its base."""

    def draw(base: type[LockforgeError], depth: int) -> list[tuple[int, str]]:
        lines = [(depth, base.__name__)]
        for child in base.__subclasses__():
            lines += draw(child, depth + 1)
        return lines

    assert errors.__doc__ is not None
    drawn = [
        ((len(line) - len(line.lstrip())) // 2 - 2, line.split()[0])
        for line in errors.__doc__.splitlines()
        if line.startswith("    ")
    ]
    assert drawn == draw(LockforgeError, 0)
