"""The README's first code block is the two commands, and CI runs them from there."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.conftest import ROOT
from tests.support.command import lockforge
from tests.support.machines import read_machines


def test_the_first_code_block_is_two_commands_that_set_up_all_they_need() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")

    block = readme.partition("```sh\n")[2].partition("```")[0].splitlines()

    assert len(block) == 2
    assert all(line.startswith("python3 -m venv .venv && ") for line in block)
    assert "lockforge lock --project fixtures/projects/vision" in block[0]
    assert "--snapshot fixtures/snapshot" in block[0]
    assert block[1].endswith("-m pytest")


def test_the_configuration_shown_has_no_fault(tmp_path: Path) -> None:
    """Every key of it is known; that the offline cache is empty comes only after that."""
    readme = (ROOT / "README.md").read_text("utf-8")
    block = readme.partition("```toml\n")[2].partition("```")[0]
    project = '[project]\nname = "demo"\ndependencies = ["torch"]\n'
    extras = "[project.optional-dependencies]\ntrain = []\n"
    (tmp_path / "pyproject.toml").write_text(f"{project}{extras}{block}", "utf-8")
    (tmp_path / "wheels").mkdir()

    ended = lockforge("lock", "--project", tmp_path, "--offline")

    assert ended.status == 5
    assert "not in the cache, and --offline forbids to ask for it" in ended.err


def test_the_facts_shown_are_those_of_a_host(tmp_path: Path) -> None:
    """They are read without a fault, and are enough to choose by."""
    readme = (ROOT / "README.md").read_text("utf-8")
    blocks = [part.partition("```")[0] for part in readme.split("```yaml\n")[1:]]
    (facts,) = (block for block in blocks if block.startswith("version: 1\nfacts:"))
    path = tmp_path / "host.yaml"
    path.write_text(facts, "utf-8")

    ended = lockforge("detect", "--facts", path, "--accelerators", "cu130,cpu")

    assert (ended.status, ended.err) == (0, "")
    assert "cu130 is the accelerator for this host" in ended.out


def test_the_machine_shown_is_a_real_answer(tmp_path: Path) -> None:
    """What is shown of `detect` is what it prints of one of the machines."""
    folder = read_machines()["rtx-4090-beside-raphael"].write(tmp_path / "machine")
    ended = lockforge("detect", "--facts", folder, "--accelerators", "cu130,cu128,cpu")
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"```\n{ended.out}```" in readme


def test_the_manifest_shown_is_of_a_captured_machine(tmp_path: Path) -> None:
    """Each of its entries is read, and answers what it says that it does."""
    readme = (ROOT / "README.md").read_text("utf-8")
    blocks = [part.partition("```")[0] for part in readme.split("```yaml\n")[1:]]
    (manifest,) = (block for block in blocks if "\nfiles:\n" in block)
    python = "machine=x86_64 sys_platform=linux sysconfig_platform=linux-x86_64 bits=64"
    texts = {
        "nvidia_smi.csv": "580.95.05, 8.9, NVIDIA L4\n",
        "sys_module_nvidia_version": "580.95.05\n",
        "env": "CUDA_VISIBLE_DEVICES=\n",
        "python.txt": f"{python} version=3.12.11 implementation=CPython ".replace(" ", "\n"),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "manifest.yaml").write_text(manifest, "utf-8")

    ended = lockforge("detect", "--facts", tmp_path, "--json", "--explain")

    assert (ended.status, ended.err) == (0, "")
    data = json.loads(ended.out)
    assert set(yaml.safe_load(manifest)["files"]) == set(texts)
    assert data["facts"]["arch"] == "x86_64"
    assert data["facts"]["hidden_by"] == ["CUDA_VISIBLE_DEVICES"]
    assert data["facts"]["nvidia"]["driver_source"] == "sys_module"
    assert data["facts"]["nvidia"]["gpus"][0]["name"] == "NVIDIA L4"
    (smi,) = (one for one in data["probes"] if one["name"] == "nvidia-smi")
    assert smi["by"] == "/usr/lib/wsl/lib/nvidia-smi"


def test_every_code_of_a_warning_is_listed() -> None:
    """And none is listed that there is not."""
    readme = (ROOT / "README.md").read_text("utf-8")
    table = readme.partition("| code | meaning |\n")[2].partition("\n\n")[0]
    listed = [
        code
        for line in table.splitlines()
        for code in re.findall("`(.+?)`", line[: line.index("|", 2)])
    ]
    modules = sorted((ROOT / "lockforge" / "detect").glob("cautions*.py"))
    patterns = [one for path in modules for one in _codes(ast.parse(path.read_text("utf-8")))]

    assert [one for one in patterns if not any(re.fullmatch(one, code) for code in listed)] == []
    assert [code for code in listed if not any(re.fullmatch(one, code) for one in patterns)] == []
    assert len(listed) == len(set(listed))


def _codes(tree: ast.Module) -> Iterator[str]:
    """Give a pattern for each code that a module makes a caution of."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "Caution"
        ):
            (code,) = (one.value for one in node.keywords if one.arg == "code")
            branches = (code.body, code.orelse) if isinstance(code, ast.IfExp) else (code,)
            yield from map(_pattern, branches)


def _pattern(code: ast.expr) -> str:
    parts = code.values if isinstance(code, ast.JoinedStr) else [code]
    return "".join(
        re.escape(str(one.value)) if isinstance(one, ast.Constant) else ".+" for one in parts
    )
