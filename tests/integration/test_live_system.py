"""The machine at hand: whatever its programs and files do, an answer comes, and comes in time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lockforge.adapters.system import LiveSystem
from lockforge.model.probe import (
    Answer,
    AskInterpreter,
    AskNvidiaLibraries,
    ListDirectory,
    ReadFile,
    ReadFiles,
    Run,
    Variables,
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs are shell scripts")

BOUND = 20.0
"""Seconds that no answer takes on the slowest machine, and far fewer than what hangs would."""
SMI = Run(argv=("nvidia-smi", "-L"))


class Machine:
    """A root directory and a PATH of its own, with the tools that scripts need."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.bin = folder / "bin"
        self.root.mkdir()
        self.bin.mkdir()
        self.variables = {"PATH": f"{self.bin}:{os.environ['PATH']}"}

    def program(self, text: str, name: str = "nvidia-smi") -> Path:
        path = self.bin / name
        path.write_text(text, "utf-8")
        path.chmod(0o755)
        return path

    def file(self, path: str, content: bytes | str) -> Path:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def system(self, total: float = 10.0) -> LiveSystem:
        return LiveSystem(total=total, environment=self.variables, root=str(self.root))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture(autouse=True)
def in_time() -> object:
    """No test of this module may wait for what hangs."""
    start = time.monotonic()
    yield
    assert time.monotonic() - start < BOUND


def ended(process: int) -> bool:
    """Whether a process is gone, or is only waited for by whoever inherited it."""
    try:
        state = Path(f"/proc/{process}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def wait_for(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + BOUND / 2
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


def test_a_program(machine: Machine) -> None:
    """Both streams are taken, and it is told to speak plainly."""
    machine.program('#!/bin/sh\necho "$1 $LC_ALL $EXTRA"\necho beside >&2\n')

    answer = machine.system().ask(Run(argv=("nvidia-smi", "-L"), environment=(("EXTRA", "1"),)))

    assert (answer.outcome, answer.text, answer.status, answer.by) == (
        "said",
        "-L C 1\nbeside\n",
        0,
        None,
    )
    assert answer.milliseconds > 0


def test_no_input(machine: Machine) -> None:
    """A program that asks something is not waited for."""
    machine.program("#!/bin/sh\nread answer || echo nobody\n")

    assert machine.system().ask(SMI).text == "nobody\n"


def test_a_failing_program(machine: Machine) -> None:
    machine.program("#!/bin/sh\necho Failed to initialize NVML\nexit 18\n")

    answer = machine.system().ask(SMI)

    assert (answer.outcome, answer.text, answer.status) == (
        "failed",
        "Failed to initialize NVML\n",
        18,
    )


def test_a_crashing_program(machine: Machine) -> None:
    machine.program("#!/bin/sh\necho begun\nkill -SEGV $$\n")

    answer = machine.system().ask(SMI)

    assert (answer.outcome, answer.text, answer.status) == ("failed", "begun\n", -11)


@pytest.mark.parametrize("before", ["", "trap '' TERM HUP INT\n"])
def test_a_hanging_program(before: str, machine: Machine) -> None:
    """It is ended with all that it started, whatever signals it ignores."""
    machine.program(f"#!/bin/sh\n{before}echo $$\nsleep 600 &\necho $!\nwait\n")

    answer = machine.system().ask(Run(argv=("nvidia-smi",), timeout=0.5))

    assert (answer.outcome, answer.status) == ("timeout", None)
    first, second, last = answer.text.splitlines()
    assert last == "no end within 0.5 s"
    assert wait_for(lambda: ended(int(first)) and ended(int(second)))


def test_one_that_leaves_another(machine: Machine) -> None:
    """A process left behind that keeps the pipe open is ended, and what was said counts."""
    machine.program("#!/bin/sh\nsleep 600 &\necho $!\n")

    answer = machine.system(total=600).ask(Run(argv=("nvidia-smi",), timeout=600))

    assert (answer.outcome, answer.status) == ("said", 0)
    assert wait_for(lambda: ended(int(answer.text)))


@pytest.mark.skipif(shutil.which("setsid") is None, reason="there is no setsid")
def test_one_that_leaves_another_in_a_session_of_its_own(machine: Machine) -> None:
    """What has gone out of reach is not waited for."""
    machine.program("#!/bin/sh\nsetsid sleep 15 &\necho said\n")

    answer = machine.system(total=600).ask(Run(argv=("nvidia-smi",), timeout=600))

    assert (answer.outcome, answer.text) == ("said", "said\n")


@pytest.mark.skipif(shutil.which("setsid") is None, reason="there is no setsid")
def test_one_that_leaves_another_that_writes_for_ever(machine: Machine) -> None:
    """It is not read for ever, so that it ends when it writes on."""
    machine.program("#!/bin/sh\nsetsid sh -c 'echo $$; exec yes' &\nsleep 0.2\n")

    answer = machine.system(total=600).ask(Run(argv=("nvidia-smi",), timeout=600))

    assert answer.outcome == "said"
    assert wait_for(lambda: ended(int(answer.text.split("\n", 1)[0])))


def test_one_that_is_stopped(machine: Machine) -> None:
    """A stopped process ends no more than one that hangs."""
    machine.program("#!/bin/sh\necho $$\nkill -STOP $$\n")

    answer = machine.system().ask(Run(argv=("nvidia-smi",), timeout=0.5))

    assert answer.outcome == "timeout"
    assert wait_for(lambda: ended(int(answer.text.split("\n", 1)[0])))


def test_a_long_path(machine: Machine) -> None:
    machine.program("#!/bin/sh\necho found\n")
    nowhere = ":".join(f"/none/{number}" for number in range(5000))
    machine.variables = {"PATH": f"{nowhere}:{machine.variables['PATH']}"}

    assert machine.system().ask(SMI).text == "found\n"


def test_one_that_closes_its_output(machine: Machine) -> None:
    machine.program("#!/bin/sh\nexec >/dev/null 2>&1\nsleep 600\n")

    assert machine.system().ask(Run(argv=("nvidia-smi",), timeout=0.5)).outcome == "timeout"


def test_rubbish(machine: Machine) -> None:
    """Bytes that are no text are replaced, and NUL is dropped."""
    machine.program("#!/bin/sh\nprintf 'a\\000b\\377\\r\\nc'\n")

    assert machine.system().ask(SMI).text == "ab\ufffd\nc"


def test_a_flood(machine: Machine) -> None:
    """The beginning of ten megabytes is kept, and the program may write all of them."""
    machine.program("#!/bin/sh\necho begun\nhead -c 10000000 /dev/zero | tr '\\000' x\nexit 3\n")

    answer = machine.system().ask(Run(argv=("nvidia-smi",), timeout=10))

    assert (answer.outcome, answer.status, len(answer.text)) == ("failed", 3, 256 * 1024)
    assert answer.text.startswith("begun\nxxx")


def test_a_flood_without_end(machine: Machine) -> None:
    machine.program("#!/bin/sh\nexec cat /dev/zero\n")

    assert machine.system().ask(Run(argv=("nvidia-smi",), timeout=0.5)).outcome == "timeout"


def test_no_program(machine: Machine) -> None:
    machine.variables = {"PATH": ""}

    assert machine.system().ask(SMI).outcome == "absent"
    machine.variables = {}
    assert machine.system().ask(SMI).outcome == "absent"


def test_a_directory_of_its_name(machine: Machine) -> None:
    (machine.bin / "nvidia-smi").mkdir()

    assert machine.system().ask(SMI).outcome == "absent"


def test_not_executable(machine: Machine) -> None:
    """Nobody may execute it, not even root; it is there all the same."""
    machine.program("#!/bin/sh\n").chmod(0o600)

    answer = machine.system().ask(SMI)

    assert (answer.outcome, answer.text) == ("unreadable", "cannot be started: permission denied")


@pytest.mark.parametrize("content", ["#!/no/such/interpreter\n", "no program\n", "\x7fELF"])
def test_what_cannot_be_started(content: str, machine: Machine) -> None:
    """It is there, so it is not absent."""
    machine.program(content)

    answer = machine.system().ask(SMI)

    assert answer.outcome == "unreadable"
    assert answer.text.startswith("cannot be started: ")


def test_a_place_off_the_path(machine: Machine) -> None:
    """The place is named as the question has it; PATH comes before it."""
    place = "/usr/lib/wsl/lib/nvidia-smi"
    machine.file(place, "#!/bin/sh\necho placed\n").chmod(0o755)
    question = Run(argv=("nvidia-smi",), places=("/none/nvidia-smi", place))

    placed = machine.system().ask(question)
    machine.program("#!/bin/sh\necho found\n")
    found = machine.system().ask(question)

    assert (placed.text, placed.by) == ("placed\n", place)
    assert (found.text, found.by) == ("found\n", None)


def test_no_program_of_the_working_directory(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that lies in a project is not the vendor's, whatever PATH says."""
    machine.program("#!/bin/sh\necho planted\n")
    monkeypatch.chdir(machine.bin)
    machine.variables = {"PATH": f".::{machine.root}"}

    assert machine.system().ask(SMI).outcome == "absent"


def test_a_question_that_cannot_be(machine: Machine) -> None:
    """A NUL is in no path and in no argument."""
    machine.program("#!/bin/sh\n")
    system = machine.system()

    assert system.ask(ReadFile(path="/etc/\0")).outcome == "unreadable"
    assert system.ask(Run(argv=("nvidia-smi", "\0"))).outcome == "unreadable"


def test_the_name_of_the_host_is_left_out(machine: Machine) -> None:
    """`uname -a` is answered without a process, as the program would."""
    real = subprocess.run(["uname", "-snrvm"], capture_output=True, text=True, check=True).stdout
    machine.variables = {}

    answer = machine.system().ask(Run(argv=("uname", "-a")))

    expected = real.strip().replace(os.uname().nodename, "host", 1)
    assert (answer.outcome, answer.status) == ("said", 0)
    assert answer.text.startswith(expected)


def test_files(machine: Machine) -> None:
    machine.file("/sys/module/nvidia/version", "580.95.05\n")
    machine.file("/proc/device-tree/compatible", b"nvidia,p3737\0nvidia,tegra234\0")
    system = machine.system()

    assert system.ask(ReadFile(path="/sys/module/nvidia/version")).text == "580.95.05\n"
    assert (
        system.ask(ReadFile(path="/proc/device-tree/compatible")).text
        == "nvidia,p3737\nnvidia,tegra234"
    )
    assert system.ask(ReadFile(path="/etc/os-release")).outcome == "absent"
    assert system.ask(ReadFile(path="/sys/module/nvidia/version/x")).outcome == "absent"


def test_a_large_file(machine: Machine) -> None:
    machine.file("/etc/os-release", "x" * 1_000_000)

    assert machine.system().ask(ReadFile(path="/etc/os-release")).text == "x" * 64 * 1024


def test_what_is_no_text(machine: Machine) -> None:
    """Nothing waits at a pipe, and no device is opened."""
    (machine.root / "folder").mkdir()
    os.mkfifo(machine.root / "pipe")
    (machine.root / "device").symlink_to("/dev/zero")
    (machine.root / "loop").symlink_to("loop")
    machine.file("/bytes", b"\x7fELF\0\xff")
    system = machine.system()

    answers = {
        name: system.ask(ReadFile(path=f"/{name}"))
        for name in ("folder", "pipe", "device", "loop", "bytes")
    }

    assert {name: answer.outcome for name, answer in answers.items()} == dict.fromkeys(
        answers, "unreadable"
    )
    assert answers["pipe"].text == "is not a file"
    assert answers["bytes"].text == "is not a text"


def test_a_file_of_another(machine: Machine) -> None:
    path = machine.file("/secret", "x")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("whoever runs this may read all")

    answer = machine.system().ask(ReadFile(path="/secret"))

    assert (answer.outcome, answer.text) == ("unreadable", "permission denied")


def test_a_file_that_cannot_be_read() -> None:
    """The kernel refuses it to everybody, root too."""
    path = "/proc/self/mem"
    if not Path(path).exists():
        pytest.skip("there is no /proc")

    assert LiveSystem().ask(ReadFile(path=path)).outcome == "unreadable"


def test_files_of_devices(machine: Machine) -> None:
    """They are in order of their numbers, and one that cannot be read is left out."""
    pattern = "/sys/class/kfd/kfd/topology/nodes/*/properties"
    for node in ("10", "9", "0"):
        machine.file(pattern.replace("*", node), f"simd_count {node}\n")
    (machine.root / pattern.replace("*", "1").lstrip("/")).mkdir(parents=True)

    answer = machine.system().ask(ReadFiles(path=pattern))

    assert (answer.outcome, answer.text) == (
        "said",
        "# 0\nsimd_count 0\n# 9\nsimd_count 9\n# 10\nsimd_count 10\n",
    )
    assert machine.system().ask(ReadFiles(path="/sys/class/drm/*/x")).outcome == "absent"


def test_attributes_of_devices(machine: Machine) -> None:
    """A link is told by the name it leads to; an attribute that is not there is left out."""
    folder = "/sys/bus/pci/devices"
    for slot, device in (("0000:0a:00.0", "0xe20b"), ("0000:09:00.0", "it's")):
        machine.file(f"{folder}/{slot}/device", f"{device}\n")
        machine.file(f"{folder}/{slot}/config", b"\0\xff")
    (machine.root / f"{folder[1:]}/0000:0a:00.0/driver").symlink_to("../../drivers/xe")
    (machine.root / f"{folder[1:]}/0000:0b:00.0").mkdir()

    answer = machine.system().ask(ReadFiles(path=f"{folder}/*", names=("device", "driver")))

    assert answer.text == "- {device: 'it''s'}\n- {device: '0xe20b', driver: 'xe'}\n"


def test_names_of_devices(machine: Machine) -> None:
    """Only those that tell of an accelerator: a disk may be named after its owner."""
    for name in ("nvidia0", "nvidiactl", "kfd", "dxg", "null", "alices-disk", "nvme0n1"):
        machine.file(f"/dev/{name}", "")
    machine.file("/sys/module/amdgpu", "")

    system = machine.system()

    assert system.ask(ListDirectory(path="/dev")).text == "dxg\nkfd\nnull\nnvidia0\nnvidiactl\n"
    assert system.ask(ListDirectory(path="/sys/module")).text == "amdgpu\n"
    assert system.ask(ListDirectory(path="/none")).outcome == "absent"


def test_variables(machine: Machine) -> None:
    """Set to nothing is not the same as not set."""
    machine.variables = {"A": "", "B": "two\nlines", "C": "\udcff", "D": "not asked"}

    answer = machine.system().ask(Variables(names=("C", "B", "A", "NONE")))

    assert (answer.outcome, answer.text) == ("said", "C=\ufffd\nB=two lines\nA=\n")


def test_the_whole_time(machine: Machine) -> None:
    """When it is over nothing is begun, and what is at hand is still told."""
    machine.program("#!/bin/sh\nsleep 600\n")
    system = machine.system(total=0.5)

    first = system.ask(Run(argv=("nvidia-smi",), timeout=600))
    second = system.ask(SMI)

    assert (first.outcome, second.outcome) == ("timeout", "timeout")
    assert second.text == "not asked: the 0.5 s were over\n"
    assert system.ask(AskNvidiaLibraries()).outcome == "timeout"
    assert system.ask(ReadFile(path="/etc/os-release")).outcome == "timeout"
    assert system.ask(AskInterpreter()).outcome == "said"
    assert system.ask(Variables(names=("PATH",))).outcome == "said"


def lines(answer: Answer) -> dict[str, str]:
    return dict(line.split("=", 1) for line in answer.text.splitlines())


def test_this_interpreter() -> None:
    """It is described as `packaging` and the interpreter itself have it."""
    code = (
        "import platform, sys, sysconfig; print(platform.machine(), sys.platform,"
        " sysconfig.get_platform(), 64 if sys.maxsize > 2**32 else 32,"
        " platform.python_version(), platform.python_implementation())"
    )
    real = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    found = lines(LiveSystem().ask(AskInterpreter()))

    keys = ("machine", "sys_platform", "sysconfig_platform", "bits", "version", "implementation")
    assert " ".join(found[key] for key in keys) == real.stdout.strip()


def test_the_c_library() -> None:
    """It is the one that the system's own program tells."""
    getconf = shutil.which("getconf")
    if getconf is None:
        pytest.skip("there is no getconf")
    real = subprocess.run(
        [getconf, "GNU_LIBC_VERSION"], capture_output=True, text=True, check=False
    )

    found = lines(LiveSystem().ask(AskInterpreter()))

    assert found.get("libc", "") == real.stdout.strip()


def test_another_interpreter(machine: Machine) -> None:
    """One that does not have lockforge answers the same questions."""
    here = LiveSystem().ask(AskInterpreter())

    there = LiveSystem(python=sys.executable).ask(AskInterpreter())

    assert (there.outcome, there.status, there.text) == ("said", 0, here.text)
    broken = machine.program("#!/bin/sh\nexit 3\n", "python")
    assert LiveSystem(python=str(broken)).ask(AskInterpreter()).outcome == "failed"
    assert LiveSystem(python=str(machine.root / "none")).ask(AskInterpreter()).outcome in {
        "absent",
        "unreadable",
    }


def test_an_interpreter_beside(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is one, and is not looked for on PATH."""
    machine.program("#!/bin/sh\necho version=beside\n", "python3")
    monkeypatch.chdir(machine.bin)

    assert LiveSystem(python="python3").ask(AskInterpreter()).text == "version=beside\n"


NVML = r"""
typedef void *nvmlDevice_t;
#include <string.h>
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *out, unsigned length) {
    strncpy(out, "580.95.05", length); return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *out) {
    *out = (void *)(0x7f0000000000ULL + index); return 0; }
int nvmlDeviceGetName(nvmlDevice_t device, char *out, unsigned length) {
    strncpy(out, (unsigned long long)device & 1 ? "NVIDIA B200" : "NVIDIA L4", length); return 0; }
int nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
    int odd = (unsigned long long)device & 1;
    *major = odd ? 10 : 8; *minor = odd ? 0 : 9; return 0; }
"""
CUDA = r"""
#include <string.h>
int cuDriverGetVersion(int *out) { *out = 12080; return 0; }
int cuInit(unsigned flags) { return flags; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int index) { *device = index + 40; return 0; }
int cuDeviceGetName(char *out, int length, int device) {
    strncpy(out, device == 40 ? "Orin" : "?", length); return 0; }
int cuDeviceGetAttribute(int *out, int attribute, int device) {
    *out = device == 40 && attribute == 75 ? 8 : attribute == 76 ? 7 : -1; return 0; }
"""
# Of an NVML whose kernel module is of another version.
MISMATCH = "int nvmlInit_v2(void) { return 18; }"
NO_GPU = (
    "int cuDriverGetVersion(int *v) { *v = 13000; return 0; } int cuInit(int f) { return 100; }"
)
CRASH = "#include <signal.h>\nint nvmlInit_v2(void) { return raise(SIGSEGV); }"
HANG = "#include <unistd.h>\nint nvmlInit_v2(void) { for (;;) sleep(100); }"
STDOUT = '#include <stdio.h>\nint nvmlInit_v2(void) { puts("\\x01=\\n=\\n"); return 9; }'


def build(machine: Machine, *, nvml: str | None = None, cuda: str | None = None) -> LiveSystem:
    """Give a machine with libraries of the names of NVIDIA's."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("there is no compiler for libraries of Linux")
    folder = machine.root / "lib"
    folder.mkdir()
    for name, text in (("libnvidia-ml.so.1", nvml), ("libcuda.so.1", cuda)):
        if text is not None:
            source = folder / f"{name}.c"
            source.write_text(text, "utf-8")
            subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / name, source], check=True)
    machine.variables = {"LD_LIBRARY_PATH": str(folder), "PATH": os.environ["PATH"]}
    return machine.system(total=60)


def test_no_libraries(machine: Machine) -> None:
    """The child says so, where there are none."""
    if Path("/proc/driver/nvidia/version").exists() or Path("/dev/dxg").exists():
        pytest.skip("there are NVIDIA's own")

    answer = machine.system().ask(AskNvidiaLibraries())

    assert (answer.outcome, answer.status, answer.text) == ("said", 0, "nvml=absent\ncuda=absent\n")


def test_libraries(machine: Machine) -> None:
    """NVML names every GPU; then libcuda is asked for no more than its version."""
    answer = build(machine, nvml=NVML, cuda=CUDA).ask(AskNvidiaLibraries(timeout=BOUND))

    assert answer.text.splitlines() == [
        "nvml_driver=580.95.05",
        "gpus_from=nvml",
        "gpu=NVIDIA L4, 8.9",
        "gpu=NVIDIA B200, 10.0",
        "cuda_version=12.8",
    ]


def test_libcuda_alone(machine: Machine) -> None:
    """As on a Jetson, where NVML is not there or knows no compute capability."""
    answer = build(machine, cuda=CUDA).ask(AskNvidiaLibraries(timeout=BOUND))

    assert answer.text.splitlines() == [
        "nvml=absent",
        "cuda_version=12.8",
        "gpus_from=libcuda",
        "gpu=Orin, 8.7",
    ]


def test_libraries_that_refuse(machine: Machine) -> None:
    answer = build(machine, nvml=MISMATCH, cuda=NO_GPU).ask(AskNvidiaLibraries(timeout=BOUND))

    assert (answer.outcome, answer.text.splitlines()) == (
        "said",
        ["nvml_error=18", "cuda_version=13.0", "cuda_error=100"],
    )


def test_libraries_of_another_kind(machine: Machine) -> None:
    """Without the functions that are asked for, as a very old one or a stub."""
    answer = build(machine, nvml="int other;", cuda="int other;").ask(
        AskNvidiaLibraries(timeout=BOUND)
    )

    assert answer.outcome == "said"
    assert "nvml_without=nvmlInit_v2" in answer.text.splitlines()


def test_a_library_that_is_none(machine: Machine) -> None:
    system = build(machine)
    machine.file("/lib/libcuda.so.1", "no library")

    answer = system.ask(AskNvidiaLibraries(timeout=BOUND))

    assert answer.outcome == "said"
    assert lines(answer)["cuda"] != "absent"


def test_a_library_that_crashes(machine: Machine) -> None:
    """It takes the child with it, and nothing else."""
    answer = build(machine, nvml=CRASH).ask(AskNvidiaLibraries(timeout=BOUND))

    assert (answer.outcome, answer.status) == ("failed", -11)
    assert not list(machine.root.rglob("core*"))


def test_a_library_that_hangs(machine: Machine) -> None:
    answer = build(machine, nvml=HANG).ask(AskNvidiaLibraries(timeout=1))

    assert (answer.outcome, answer.status) == ("timeout", None)


def test_a_library_that_prints(machine: Machine) -> None:
    """Whatever it says is only text."""
    answer = build(machine, nvml=STDOUT).ask(AskNvidiaLibraries(timeout=BOUND))

    assert answer.outcome == "said"
    assert "nvml_error=9" in answer.text.splitlines()


def test_an_early_crash_keeps_what_was_said(machine: Machine) -> None:
    """A line is out before the next call is made."""
    crash = CUDA.replace("{ return flags; }", "{ __builtin_trap(); }")

    answer = build(machine, cuda=crash).ask(AskNvidiaLibraries(timeout=BOUND))

    assert answer.outcome == "failed"
    assert answer.text.splitlines() == ["nvml=absent", "cuda_version=12.8"]
