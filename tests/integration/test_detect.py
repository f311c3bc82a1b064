"""The real command on the machine at hand, whatever it has, and on captured ones beside a lock."""

from __future__ import annotations

import getpass
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from tests.support.command import Ended, lockforge
from tests.support.machines import read_machines

MACHINES = read_machines()
MATRIX = ("linux-cu130", "linux-cu126", "linux-cpu", "win-cpu", "mac-cpu")
NO_RESOLVER = re.compile(r"resolvelib|httpx|httpcore|rich|lockforge\.(resolve|merge)(\.|$)")
LONGEST = 15.0

FakeSmi: TypeAlias = Callable[[str], None]
Capture: TypeAlias = Callable[..., Path]


@pytest.fixture(autouse=True)
def own_project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep any lock of the user's out of every test."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")


@pytest.fixture
def fake_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSmi:
    """Put an nvidia-smi of the given shell script on a PATH with nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def make(script: str) -> None:
        program = folder / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))

    return make


@pytest.fixture
def capture(tmp_path: Path) -> Capture:
    """Write the captured folder of a machine of the fixtures, with variables."""

    def write(name: str, variables: Mapping[str, str] | None = None) -> Path:
        machine = MACHINES[name]
        if variables:
            text = "".join(f"{key}={value}\n" for key, value in variables.items())
            machine = replace(machine, answers={**machine.answers, "env": {"text": text}})
        return machine.write(tmp_path / "captured" / name)

    return write


_made: dict[str, str] = {}


@pytest.fixture
def lock(snapshot: Path, tmp_path: Path) -> Path:
    """A lock of torch 2.12.1 for five rows, made once from the recorded indexes."""
    path = tmp_path / "project" / "pylock.toml"
    if "lock" not in _made:
        ended = lockforge(
            *("lock", "torch==2.12.1", "--project", path.parent),
            *("--matrix", ",".join(MATRIX), "--python", "3.12"),
            *("--snapshot", snapshot, "-o", path),
        )
        assert ended.status == 0, ended.err
        _made["lock"] = path.read_text("utf-8")
    path.write_text(_made["lock"], "utf-8")
    return path


def read(*arguments: str | Path) -> dict[str, Any]:
    ended = lockforge("detect", "--json", *arguments)
    assert ended.status == 0, ended.err
    data: dict[str, Any] = json.loads(ended.out)
    return data


def answer_to(data: dict[str, Any], probe: str) -> dict[str, Any]:
    return next(one for one in data["probes"] if one["name"] == probe)


class TestTheMachineAtHand:
    def test_it_tells_what_it_is(self) -> None:
        """System, machine and Python are those of this process, and every row has a reason."""
        data = read()

        python = data["facts"]["python"]
        assert python["version"] == f"{sys.version_info.major}.{sys.version_info.minor}"
        assert python["bits"] == (64 if sys.maxsize > 2**32 else 32)
        assert all(row["reason"] for row in data["rows"])
        assert data["usable_rows"][:1] == [data["best_row"]][: len(data["usable_rows"])]

    def test_the_text_fits_a_terminal(self) -> None:
        ended = lockforge("detect")

        assert (ended.status, ended.err) == (0, "")
        assert [line for line in ended.out.splitlines() if len(line) > 100] == []

    def test_a_path_without_anything_is_no_error(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
        with_nothing = read()
        monkeypatch.delenv("PATH")
        without = read()

        assert with_nothing["facts"]["python"] == without["facts"]["python"]

    @pytest.mark.parametrize("beside", ["a lock", "nothing"])
    def test_neither_resolver_nor_http_client_is_loaded(self, beside: str, lock: Path) -> None:
        """Nor anything else that takes time and is of no use here."""
        if beside == "nothing":
            lock.unlink()

        ended = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "lockforge", "detect"],
            capture_output=True,
            text=True,
            check=False,
            cwd=lock.parent,
        )

        assert ended.returncode in {0, 6}, ended.stderr
        imported = [line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()]
        assert "lockforge.detect.choose" in imported
        assert [name for name in imported if NO_RESOLVER.match(name)] == []


class TestAFakeTool:
    """What nvidia-smi does is no reason to fail."""

    def test_one_that_hangs_is_given_up(self, fake_smi: FakeSmi) -> None:
        """And is not run again."""
        fake_smi("exec /bin/sleep 60")
        start = time.monotonic()

        data = read("--explain")

        assert time.monotonic() - start < LONGEST
        assert answer_to(data, "nvidia-smi")["outcome"] == "timeout"
        names = [probe["name"] for probe in data["probes"]]
        assert [name for name in names if name.startswith("nvidia-smi")] == ["nvidia-smi"]
        # It said nothing, and so not that there is no driver.
        assert not any("finds no" in one["text"] for one in data["warnings"])

    @pytest.mark.parametrize(
        "script",
        [
            "echo 'Segmentation fault, core dumped, 12'; exit 139",
            "exit 9",
            "kill -9 $$",
            "printf '580.95.05\\000, 9.0\\000, H100\\000\\n\\000\\000'",
            "printf '\\377\\376,\\200,,,\\n\\n , , \\n'",
            "/bin/dd if=/dev/zero bs=1000000 count=10 2>/dev/null | /usr/bin/tr '\\000' '9'",
            "/bin/dd if=/dev/zero bs=1000000 count=10 2>/dev/null",
            "echo 'No devices were found' >&2; exit 6",
        ],
    )
    def test_what_it_prints_harms_nothing(self, fake_smi: FakeSmi, script: str) -> None:
        fake_smi(script)
        start = time.monotonic()

        data = read("--explain")

        assert time.monotonic() - start < LONGEST
        assert answer_to(data, "nvidia-smi")["outcome"] in {"said", "failed", "timeout"}
        assert len(json.dumps(data["probes"])) < 5_000_000
        assert all(row["reason"] for row in data["rows"])

    def test_one_that_cannot_be_run_is_as_none(self, fake_smi: FakeSmi, tmp_path: Path) -> None:
        fake_smi("exit 0")
        (tmp_path / "bin" / "nvidia-smi").write_bytes(b"\x7fELF")

        assert read()["facts"]["python"]

    def test_what_it_says_counts(self, fake_smi: FakeSmi) -> None:
        """Where it lists GPUs, those are the machine's."""
        fake_smi("echo '580.95.05, 9.0, NVIDIA H100 PCIe'")

        nvidia = read()["facts"]["nvidia"]

        assert [gpu["name"] for gpu in nvidia["gpus"]] == ["NVIDIA H100 PCIe"]
        assert nvidia["gpus"][0]["compute_cap"] == "9.0"
        assert nvidia["state"] == "ok"


class TestAnotherPython:
    """The Python to install for is asked itself."""

    def test_its_version_counts(self, tmp_path: Path) -> None:
        python = tmp_path / "python"
        python.symlink_to(sys.executable)

        stated = read("--python", python)["facts"]["python"]

        assert stated == read()["facts"]["python"]

    @pytest.mark.parametrize(
        ("script", "told"),
        [
            ("echo hello", "hello"),
            ("echo; exit 3", "status 3"),
            ("printf '\\377\\001'", "does not answer"),
            ("echo version=3.12.1", "version=3.12.1"),
            ("exec /bin/sleep 60", "no end within"),
            ("echo 'SyntaxError: future feature annotations is not defined' >&2; exit 1", "future"),
        ],
    )
    def test_what_is_no_python_is_an_error(self, tmp_path: Path, script: str, told: str) -> None:
        python = tmp_path / "project" / "python3"
        python.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        python.chmod(0o755)

        ended = lockforge("detect", "--python", "python3")

        assert ended.status == 2
        assert "--python python3" in ended.err
        assert told in ended.err


class TestSavedFacts:
    """Whatever is given as saved facts, the answer is facts or an error that names the file."""

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[" * 20_000,
            "version: 1\nfacts: {os: !!timestamp foo}\n",
            "version: 1\nfacts: {wsl2: !!bool maybe}\n",
            f"version: 1\nfacts: {{os: 0x{'f' * 5000}}}\n",
            f"version: 0x{'f' * 5000}\nfacts: {{}}\n",
            f"version: 1\nfacts: {{0x{'f' * 5000}: 1}}\n",
            "version: 1\nfacts: &f\n  nvidia: *f\n  os: *f\n",
            "x" * (8 * 1024**2 + 1),
        ],
    )
    def test_no_facts(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "saved.yaml").write_text(text, "utf-8")

        ended = lockforge("detect", "--json", "--facts", tmp_path / "saved.yaml")

        assert (ended.status, ended.out) == (2, "")
        assert "saved.yaml" in ended.err

    def test_what_has_no_end(self) -> None:
        if not Path("/dev/zero").is_char_device():
            pytest.skip("there is no such device")

        assert lockforge("detect", "--facts", "/dev/zero").status == 2


SPLIT = """
case "$1" in
  -L) echo 'GPU 0: NVIDIA H100 PCIe (UUID: GPU-8f5a3c1e-7d42-4b9a-a1c3-5e6f7a8b9c0d)'
      echo '  MIG 1g.10gb     Device  0: (UUID: MIG-3b1f6a2c-94d7-5e80-8c3a-2f7d1e9b4a65)' ;;
  --query-gpu=driver_version,compute_cap,name) echo '580.95.05, 9.0, NVIDIA H100 PCIe' ;;
  *) echo '| NVIDIA-SMI 580.95.05   Driver Version: 580.95.05    CUDA Version: 13.0 |'
     echo '|   0  NVIDIA H100 PCIe         On  |   00000000:C3:00.0 Off |           0 |' ;;
esac"""
PRIVATE = re.compile(
    r"8f5a3c1e|3b1f6a2c|[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE
)


class TestWhatIsKept:
    """Saved facts and captured folders."""

    @pytest.fixture(autouse=True)
    def split_gpu(self, fake_smi: FakeSmi, monkeypatch: pytest.MonkeyPatch) -> None:
        fake_smi(SPLIT)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-3b1f6a2c-94d7-5e80-8c3a-2f7d1e9b4a65")

    def test_the_directory_of_saved_facts_is_made(self, tmp_path: Path) -> None:
        ended = lockforge("detect", "--save", tmp_path / "hosts" / "one.yaml")

        assert ended.status == 0
        assert lockforge("detect", "--facts", tmp_path / "hosts" / "one.yaml").status == 0

    def test_saved_facts_have_nothing_private(self, tmp_path: Path) -> None:
        saved = tmp_path / "saved.yaml"

        ended = lockforge("detect", "--save", saved)

        assert ended.status == 0, ended.err
        text = saved.read_text("utf-8")
        assert yaml.safe_load(text)["facts"]["nvidia"]["gpus"][0]["mig"] == ["1g.10gb"]
        assert not PRIVATE.search(text)
        assert not owners_names(text)

    def test_a_captured_folder_has_nothing_private_and_gives_the_same_facts(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "capture"

        data = read("--capture", folder)

        monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
        assert read("--facts", folder) == data
        texts = [path.read_text("utf-8") for path in folder.iterdir()]
        assert not [text for text in texts if "8f5a3c1e" in text or "3b1f6a2c" in text]
        assert not [text for text in texts if "C3:00.0" in text]
        assert not [text for text in texts if owners_names(text)]

    def test_a_number_of_the_device_in_its_name_is_not_saved(
        self, tmp_path: Path, fake_smi: FakeSmi
    ) -> None:
        fake_smi("echo '580.95.05, 9.0, H100 GPU-8f5a3c1e-7d42-4b9a-a1c3-5e6f7a8b9c0d C3:00.0'")

        lockforge("detect", "--save", tmp_path / "saved.yaml")

        text = (tmp_path / "saved.yaml").read_text("utf-8")
        assert "H100 GPU-00000001-" in text
        assert not re.search("8f5a3c1e|C3:00", text)

    def test_what_is_no_file_is_not_replaced(self, tmp_path: Path) -> None:
        """A device such as /dev/null could be, by root."""
        os.mkfifo(tmp_path / "pipe")

        ended = lockforge("detect", "--save", tmp_path / "pipe")

        assert ended.status == 5
        assert str(tmp_path / "pipe") in ended.err
        assert (tmp_path / "pipe").is_fifo()

    def test_a_link_leads_to_what_is_written(self, tmp_path: Path) -> None:
        """And stays a link, such as /dev/stdout is."""
        (tmp_path / "saved.yaml").write_text("old", "utf-8")
        (tmp_path / "link").symlink_to("saved.yaml")

        assert lockforge("detect", "--save", tmp_path / "link").status == 0

        assert (tmp_path / "link").is_symlink()
        assert yaml.safe_load((tmp_path / "saved.yaml").read_text("utf-8"))["version"] == 1

    def test_a_folder_that_cannot_be_is_told_before_anything_is_asked(
        self, tmp_path: Path, fake_smi: FakeSmi
    ) -> None:
        fake_smi(f": > {tmp_path}/asked")
        (tmp_path / "file").write_text("kept", "utf-8")

        for folder, status in ((tmp_path, 2), (tmp_path / "file" / "x", 5)):
            assert lockforge("detect", "--capture", folder).status == status

        assert not (tmp_path / "asked").exists()

    def test_a_folder_that_holds_something_is_not_written_to(self, tmp_path: Path) -> None:
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "kept.txt").write_text("kept", "utf-8")

        ended = lockforge("detect", "--capture", tmp_path / "full")

        assert ended.status == 2
        assert str(tmp_path / "full") in ended.err
        assert [path.name for path in (tmp_path / "full").iterdir()] == ["kept.txt"]


def owners_names(text: str) -> list[str]:
    """Give those names of host and user in *text* that are no ordinary words."""
    names = {socket.gethostname(), getpass.getuser()} - {"root", "user", "localhost", "host"}
    return [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]


class TestVariables:
    """What the user states comes before what is detected, and is shown."""

    @pytest.mark.parametrize("name", ["LOCKFORGE_CUDA_DRIVER_VERSION", "UV_CUDA_DRIVER_VERSION"])
    def test_the_driver(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.setenv(name, "570.12")

        data = read()

        assert data["facts"]["nvidia"]["kernel_driver_version"] == "570.12"
        assert data["facts"]["nvidia"]["driver_source"] == name
        assert data["overrides"] == [{"variable": name, "value": "570.12"}]

    def test_our_own_variable_comes_before_that_of_another_tool(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("UV_CUDA_DRIVER_VERSION", "550.1")
        monkeypatch.setenv("LOCKFORGE_CUDA_DRIVER_VERSION", "570.12")

        assert read()["facts"]["nvidia"]["kernel_driver_version"] == "570.12"

    def test_driver_and_capability_make_a_gpu(self, capture: Capture) -> None:
        stated = {"LOCKFORGE_CUDA_DRIVER_VERSION": "580.65", "LOCKFORGE_CUDA_ARCH": "6.1"}

        data = read("--facts", capture("container-for-the-cpu", stated))

        assert [gpu["compute_cap"] for gpu in data["facts"]["nvidia"]["gpus"]] == ["6.1"]
        assert data["best_row"] == "cu126"
        assert [one["variable"] for one in data["overrides"]] == list(stated)

    @pytest.mark.parametrize("name", ["LOCKFORGE_AMD_GPU_ARCHITECTURE", "UV_AMD_GPU_ARCHITECTURE"])
    def test_the_amd_architecture(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.setenv(name, "gfx1151")

        amd = read()["facts"]["amd"]

        assert [gpu["gfx"] for gpu in amd["gpus"]] == ["gfx1151"]
        assert amd["source"] == name

    def test_conda_states_the_newest_cuda(self, capture: Capture) -> None:
        """Which is as good as the lowest driver that serves it."""
        folder = capture("gtx-1080-driver-580", {"CONDA_OVERRIDE_CUDA": "11.8"})

        data = read("--facts", folder, "--accelerators", "cu126,cu118,cpu")

        assert data["usable_rows"] == ["cu118", "cpu"]
        assert data["overrides"] == [{"variable": "CONDA_OVERRIDE_CUDA", "value": "11.8"}]

    def test_condas_variable_set_to_nothing_means_no_cuda(self, capture: Capture) -> None:
        folder = capture("gtx-1080-driver-580", {"CONDA_OVERRIDE_CUDA": ""})

        data = read("--facts", folder)

        assert data["usable_rows"] == ["cpu"]
        assert "hidden_by_CONDA_OVERRIDE_CUDA" in [one["code"] for one in data["warnings"]]

    def test_the_backend_of_uv(self, capture: Capture) -> None:
        folder = capture("gtx-1080-driver-580", {"UV_TORCH_BACKEND": "cpu"})

        assert read("--facts", folder)["best_row"] == "cpu"

    def test_the_row(self, capture: Capture, lock: Path) -> None:
        folder = capture("four-a100-ubuntu-20.04", {"LOCKFORGE_ROW": "linux-cpu"})

        data = read("--facts", folder, "--lock", lock)

        assert data["best_row"] == "linux-cpu"
        assert data["requested"] == {"by": "LOCKFORGE_ROW", "row": "linux-cpu", "forced": False}

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("LOCKFORGE_CUDA_DRIVER_VERSION", "newest"),
            ("LOCKFORGE_CUDA_ARCH", "sm_89"),
            ("LOCKFORGE_AMD_GPU_ARCHITECTURE", "rdna3"),
            ("UV_CUDA_DRIVER_VERSION", "cuda-13"),
            ("UV_AMD_GPU_ARCHITECTURE", "gfx11-generic"),
            ("UV_TORCH_BACKEND", "gpu"),
            ("CONDA_OVERRIDE_CUDA", "yes"),
            ("LOCKFORGE_ROW", "no-such-row"),
        ],
    )
    def test_a_malformed_one_is_an_error_that_names_it(
        self, monkeypatch: pytest.MonkeyPatch, name: str, value: str
    ) -> None:
        monkeypatch.setenv(name, value)

        ended = lockforge("detect")

        assert ended.status == 2
        assert name in ended.err
        assert value in ended.err


class TestBesideALock:
    """The rows of the lock are judged, by the torch that is locked in each."""

    def test_the_lock_of_the_project_is_found(self, lock: Path) -> None:
        assert lock.is_file()

        data = json.loads(lockforge("detect", "--json").out)

        assert sorted(row["name"] for row in data["rows"]) == sorted(MATRIX)

    def test_a_lock_that_cannot_be_read(self, lock: Path) -> None:
        """It failed as it does where it is named."""
        for content in (b"\xff", b"lock-version =", b"<<<<<<< ours\n=======\n>>>>>>> theirs\n"):
            lock.write_bytes(content)

            found, named = lockforge("detect"), lockforge("detect", "--lock", lock)

            assert (found.status, named.status) == (5, 5)
            assert "pylock.toml" in found.err

    def test_rows_have_their_reasons(self, capture: Capture, lock: Path) -> None:
        data = read("--facts", capture("four-a100-ubuntu-20.04"), "--lock", lock)

        reasons = {row["name"]: row["reason"] for row in data["rows"]}
        assert data["usable_rows"] == ["linux-cu126", "linux-cpu"]
        assert data["best_row"] == "linux-cu126"
        assert [part for part in ("580", "535.129.03") if part not in reasons["linux-cu130"]] == []
        assert [part for part in ("A100", "8.0") if part not in reasons["linux-cu126"]] == []
        assert "win" in reasons["win-cpu"]

    def test_no_row_serves(self, capture: Capture, lock: Path) -> None:
        ended = lockforge("detect", "--facts", capture("alpine"), "--lock", lock)

        assert ended.status == 6
        assert "musl" in ended.out
        assert "no_wheels_for_musl" in ended.out

    def test_without_a_lock_that_is_no_failure(self, capture: Capture) -> None:
        assert lockforge("detect", "--facts", capture("alpine")).status == 0

    def test_the_row_for_a_gpu_that_is_idle_is_named(self, capture: Capture, lock: Path) -> None:
        """The CPU serves, and what to lock for the GPU is told."""
        folder = capture("arc-b580-beside-uhd-770")

        data = read("--facts", folder, "--lock", lock)
        text = lockforge("detect", "--facts", folder, "--lock", lock).out

        assert data["best_row"] == "linux-cpu"
        assert data["would_serve"] == "linux-xpu"
        assert "linux-xpu would: add it to the matrix" in text

    def test_what_is_no_accelerator_is_an_error(self) -> None:
        ended = lockforge("detect", "--accelerators", "cu130,cuda")

        assert ended.status == 2
        assert "--accelerators" in ended.err
        assert "'cuda'" in ended.err

    def test_a_row_that_is_asked_for_and_usable(self, capture: Capture, lock: Path) -> None:
        folder = capture("four-a100-ubuntu-20.04")

        data = read("--facts", folder, "--lock", lock, "--row", "linux-cpu")

        assert data["best_row"] == "linux-cpu"

    def test_a_row_that_is_asked_for_and_not_usable(self, capture: Capture, lock: Path) -> None:
        folder = capture("four-a100-ubuntu-20.04")

        ended = lockforge("detect", "--facts", folder, "--lock", lock, "--row", "linux-cu130")

        assert ended.status == 6
        assert "535.129.03" in ended.out + ended.err

    def test_a_row_that_is_forced(self, capture: Capture, lock: Path) -> None:
        folder = capture("container-that-sees-the-hosts-kernel")

        data = read("--facts", folder, "--lock", lock, "--force-row", "linux-cu130")

        assert data["best_row"] == "linux-cu130"
        assert data["requested"]["forced"] is True

    @pytest.mark.parametrize("option", ["--row", "--force-row"])
    def test_a_row_that_there_is_not(self, capture: Capture, lock: Path, option: str) -> None:
        folder = capture("container-for-the-cpu")

        ended = lockforge("detect", "--facts", folder, "--lock", lock, option, "linux-cu999")

        assert ended.status == 2
        assert "linux-cu999" in ended.err
        assert "linux-cu130" in ended.err

    @pytest.mark.parametrize("option", ["--row", "--force-row"])
    def test_a_name_that_says_nothing_is_refused(self, lock: Path, option: str) -> None:
        """As of a variable of the shell that is not set."""
        ended = lockforge("detect", "--lock", lock, option, "")

        assert ended.status == 2
        assert option in ended.err

    def test_without_a_lock_the_names_are_those_of_accelerators(self) -> None:
        ended = lockforge("detect", "--row", "linux-cu130")

        assert ended.status == 2
        assert "no accelerator is named linux-cu130" in ended.err

    def test_files_for_another_platform_are_not_forced(self, capture: Capture, lock: Path) -> None:
        folder = capture("container-for-the-cpu")

        ended = lockforge("detect", "--facts", folder, "--lock", lock, "--force-row", "win-cpu")

        assert ended.status == 2
        assert "win-cpu" in ended.err


FLEET = (
    "four-a100-ubuntu-20.04",
    "b200-driver-610",
    "container-for-the-cpu",
    "rtx-5080-without-wmic",
)


class TestAFleet:
    """Saved facts of many hosts beside one lock."""

    @pytest.fixture
    def hosts(self, capture: Capture, tmp_path: Path) -> Path:
        folder = tmp_path / "hosts"
        folder.mkdir()
        for name in FLEET:
            saved = folder / f"{name}.yaml"
            ended = lockforge("detect", "--facts", capture(name), "--save", saved)
            assert ended.status == 0, ended.err
        return folder

    @pytest.fixture
    def with_alpine(self, hosts: Path, capture: Capture) -> Path:
        lockforge("detect", "--facts", capture("alpine"), "--save", hosts / "alpine.yaml")
        return hosts

    def plan(self, hosts: Path, lock: Path, *arguments: str) -> Ended:
        return lockforge("plan", "--hosts", hosts, "--lock", lock, *arguments)

    def test_every_host_gets_its_row(self, hosts: Path, lock: Path) -> None:
        ended = self.plan(hosts, lock, "--json")

        data = json.loads(ended.out)
        assert ended.status == 0, ended.err
        assert {one["host"]: one["row"] for one in data["hosts"]} == {
            "four-a100-ubuntu-20.04": "linux-cu126",
            "b200-driver-610": "linux-cu130",
            "container-for-the-cpu": "linux-cpu",
            "rtx-5080-without-wmic": "win-cpu",
        }
        assert all(one["reason"] for one in data["hosts"])
        assert data["unserved"] == []
        assert data["unused_rows"] == ["mac-cpu"]

    def test_a_host_that_no_row_serves_is_told_by_the_status(
        self, with_alpine: Path, lock: Path
    ) -> None:
        ended = self.plan(with_alpine, lock, "--json")

        data = json.loads(ended.out)
        assert ended.status == 6
        assert "alpine" in json.dumps(data["unserved"])
        assert "musl" in json.dumps(data)

    @pytest.mark.parametrize("form", ["text", "markdown"])
    def test_people_read_the_same(self, with_alpine: Path, lock: Path, form: str) -> None:
        ended = self.plan(with_alpine, lock, "--format", form)

        assert ended.status == 6
        parts = (*FLEET, "alpine", "musl", "linux-cu126", "linux-cu130", "mac-cpu")
        assert [part for part in parts if part not in ended.out] == []

    def test_captured_folders_are_hosts_as_well(
        self, hosts: Path, lock: Path, tmp_path: Path
    ) -> None:
        saved = json.loads(self.plan(hosts, lock, "--json").out)

        captured = json.loads(self.plan(tmp_path / "captured", lock, "--json").out)

        assert captured == saved

    def test_what_cannot_be_read_is_told_with_its_file(self, hosts: Path, lock: Path) -> None:
        """All of it at once."""
        (hosts / "one.yaml").write_text("version: 1\nfacts: 3\n", "utf-8")
        (hosts / "other.yaml").write_text("{", "utf-8")

        ended = self.plan(hosts, lock)

        assert ended.status == 2
        assert "one.yaml" in ended.err
        assert "other.yaml" in ended.err

    def test_hosts_of_one_name_are_told_apart(
        self, lock: Path, capture: Capture, tmp_path: Path
    ) -> None:
        """Hidden files are not hosts, and the output of `detect --json` is one."""
        folder = tmp_path / "mixed"
        folder.mkdir()
        machine = capture("container-for-the-cpu")
        lockforge("detect", "--facts", machine, "--save", folder / "a.yaml")
        ended = lockforge("detect", "--facts", machine, "--json", "--explain")
        for name in ("a.json", "b.JSON"):
            (folder / name).write_text(ended.out, "utf-8")
        (folder / ".a.yaml.swp.yaml").write_text("{", "utf-8")
        (folder / "notes.txt").write_text("{", "utf-8")

        data = json.loads(self.plan(folder, lock, "--json").out)

        assert [one["host"] for one in data["hosts"]] == ["a.json", "a.yaml", "b"]

    def test_another_document_is_left_out_and_named(self, hosts: Path, lock: Path) -> None:
        """It may lie beside the facts, and is not passed over in silence."""
        before = self.plan(hosts, lock, "--json")
        (hosts / "policy.yaml").write_text("schema: 1\nrows: [cu130]\n", "utf-8")
        ended = self.plan(hosts, lock, "--json")

        assert (ended.status, ended.out) == (before.status, before.out)
        assert "policy.yaml holds no facts" in ended.err

    def test_a_pipe_is_not_waited_for(self, hosts: Path, lock: Path) -> None:
        os.mkfifo(hosts / "pipe.yaml")

        ended = self.plan(hosts, lock)

        assert ended.status == 2
        assert "pipe.yaml" in ended.err

    def test_two_forms_exclude_one_another(self, hosts: Path, lock: Path) -> None:
        ended = self.plan(hosts, lock, "--json", "--format", "markdown")

        assert ended.status == 2
        assert "markdown" in ended.err
        assert self.plan(hosts, lock, "--json", "--format", "json").status == 0

    def test_a_directory_without_facts_is_an_error(self, tmp_path: Path, lock: Path) -> None:
        (tmp_path / "empty").mkdir()

        ended = self.plan(tmp_path / "empty", lock)

        assert ended.status == 2
        assert os.fspath(tmp_path / "empty") in ended.err


def test_the_row_of_this_host_with_what_installs_it(lock: Path, tmp_path: Path) -> None:
    """Beside a lock the command to go on with names the row's extra, for this machine alone."""
    python = tmp_path / "python"
    said = "machine=x86_64 sys_platform=linux sysconfig_platform=linux-x86_64 bits=64"
    said += " version=3.12.11 implementation=CPython"
    python.write_text(f"#!/bin/sh\nprintf '%s\\n' {said} 'libc=glibc 2.39'\n", "utf-8")
    python.chmod(0o755)

    here = lockforge("detect", "--lock", lock, "--python", python, "--row", "linux-cpu")
    lockforge("detect", "--python", python, "--save", tmp_path / "saved.yaml")
    facts = ("--facts", tmp_path / "saved.yaml")
    elsewhere = lockforge("detect", "--lock", lock, *facts, "--row", "linux-cpu")

    assert f"pip install -r '{lock}[cpu]'" in here.out
    assert "linux-cpu is taken" in elsewhere.out
    assert "pip install" not in elsewhere.out
