"""Captured machines: what a folder answers, what is wrong with one, and how one is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockforge import __version__
from lockforge.adapters.capture import CapturingSystem
from lockforge.adapters.captured import CapturedSystem
from lockforge.adapters.private import Owner, StandIns, find_owner
from lockforge.errors import ConfigError, OutputError, UsageError
from lockforge.model.probe import (
    ABSENT,
    Answer,
    AskInterpreter,
    AskNvidiaLibraries,
    ListDirectory,
    Question,
    ReadFile,
    ReadFiles,
    Run,
    Variables,
)

NODES = "/sys/class/kfd/kfd/topology/nodes/*/properties"
PCI = "/sys/bus/pci/devices/*"
PLACE = "/usr/lib/wsl/lib/nvidia-smi"


def captured(folder: Path, *entries: tuple[Mapping[str, Any], str], **other: Any) -> CapturedSystem:
    """Write a folder with *entries* under names that mean nothing, and open it."""
    for number, (_, text) in enumerate(entries):
        (folder / f"{number}.txt").write_text(text, "utf-8")
    files = {f"{number}.txt": what for number, (what, _) in enumerate(entries)}
    manifest(folder, {"files": files, **other})
    return CapturedSystem.open(folder)


def manifest(folder: Path, content: object) -> None:
    text = content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
    (folder / "manifest.yaml").write_text(text, "utf-8")


def said(text: str, status: int | None = None, by: str | None = None) -> Answer:
    return Answer(outcome="said", text=text, status=status, by=by)


def test_paths(tmp_path: Path) -> None:
    system = captured(tmp_path, ({"path": "/etc/os-release"}, "ID=arch\n"))

    assert system.ask(ReadFile(path="/etc/os-release")) == said("ID=arch\n")
    assert system.ask(ReadFile(path="/etc/os")) == ABSENT


def test_programs(tmp_path: Path) -> None:
    """Arguments and variables are equal, and of the program the name without its place."""
    system = captured(
        tmp_path,
        ({"argv": ["/opt/rocm/bin/rocminfo"], "rc": 1}, "failed\n"),
        ({"argv": ["rocminfo"], "env": {"DXG": "1"}, "rc": 0}, "agents\n"),
        ({"argv": ["C:\\Windows\\System32\\nvidia-smi.exe", "-L"]}, "GPU 0\n"),
    )

    assert system.ask(Run(argv=("rocminfo",))) == Answer(
        outcome="failed", text="failed\n", status=1
    )
    assert system.ask(Run(argv=("rocminfo",), environment=(("DXG", "1"),))) == said("agents\n", 0)
    assert system.ask(Run(argv=("rocminfo",), environment=(("DXG", "2"),))) == ABSENT
    assert system.ask(Run(argv=("rocminfo", "-x"))) == ABSENT
    assert system.ask(Run(argv=("nvidia-smi", "-L"))) == said("GPU 0\n", 0)


def test_programs_off_the_path(tmp_path: Path) -> None:
    """The manifest says that a program is only at a place, and may say which."""
    question = Run(argv=("nvidia-smi",), places=("/first", PLACE))
    entry = ({"argv": ["nvidia-smi"], "rc": 0}, "banner\n")

    named = captured(tmp_path, entry, absent=[f"nvidia-smi on PATH (only {PLACE})"])
    unnamed = captured(tmp_path, entry, absent=["nvidia-smi on PATH", "/dev/kfd"])
    by_path = captured(tmp_path, ({"argv": [PLACE]}, "banner\n"))

    assert named.ask(question) == said("banner\n", 0, PLACE)
    assert unnamed.ask(question) == said("banner\n", 0, "/first")
    assert unnamed.ask(Run(argv=("nvidia-smi",))) == ABSENT
    assert by_path.ask(question) == said("banner\n", 0, PLACE)


def test_directories(tmp_path: Path) -> None:
    system = captured(tmp_path, ({"argv": ["ls", "/dev"], "rc": 0}, "kfd\n"))

    assert system.ask(ListDirectory(path="/dev")).text == "kfd\n"
    assert system.ask(ListDirectory(path="/dev/dri")) == ABSENT


def test_variables(tmp_path: Path) -> None:
    """Those that are asked for, with empty values kept; without such a file they are absent."""
    system = captured(tmp_path, ({"env": True}, "A=\nB=x=y\nSECRET=1\n"))

    assert system.ask(Variables(names=("B", "A", "NONE"))) == said("B=x=y\nA=\n")
    (tmp_path / "other").mkdir()
    assert captured(tmp_path / "other").ask(Variables(names=("A",))) == ABSENT


def test_the_interpreter(tmp_path: Path) -> None:
    """It is the note that describes one, whatever other notes there are."""
    system = captured(
        tmp_path,
        ({"note": "who made this"}, "a person\n"),
        ({"note": "platform.machine and so on"}, "machine=x86_64\nsys_platform=linux\n"),
    )

    assert system.ask(AskInterpreter()) == said("machine=x86_64\nsys_platform=linux\n")
    assert system.ask(AskNvidiaLibraries()) == ABSENT


def test_devices_together(tmp_path: Path) -> None:
    """One file may hold the attributes of all devices, more of them than were asked for too."""
    system = captured(
        tmp_path,
        ({"path": f"{PCI}/{{class,vendor,device,driver}}"}, "- {class: '0x030000'}\n"),
        ({"path": NODES}, "# 0\nsimd_count 0\n"),
    )

    assert system.ask(ReadFiles(path=PCI, names=("class", "driver"))).text == (
        "- {class: '0x030000'}\n"
    )
    assert system.ask(ReadFiles(path=NODES)).text == "# 0\nsimd_count 0\n"


def test_devices_one_by_one(tmp_path: Path) -> None:
    """Files of single devices make up the text that was asked for, in order of number."""
    system = captured(
        tmp_path,
        ({"path": NODES.replace("*", "10")}, "simd_count 10\n"),
        ({"path": NODES.replace("*", "9")}, "simd_count 9\n"),
        ({"path": f"{PCI.replace('*', '0000:01:00.0')}/class"}, "0x030000\n"),
        ({"path": f"{PCI.replace('*', '0000:01:00.0')}/vendor"}, "0x10de\n"),
        ({"path": f"{PCI.replace('*', '0000:00:02.0')}/class"}, "0x030200\n"),
    )

    assert system.ask(ReadFiles(path=NODES)).text == ("# 9\nsimd_count 9\n# 10\nsimd_count 10\n")
    assert yaml.safe_load(system.ask(ReadFiles(path=PCI, names=("class", "vendor"))).text) == [
        {"class": "0x030200"},
        {"class": "0x030000", "vendor": "0x10de"},
    ]
    assert system.ask(ReadFiles(path="/sys/class/drm/*/x")) == ABSENT


def test_bytes(tmp_path: Path) -> None:
    """They are decoded as those of the machine at hand."""
    system = captured(tmp_path, ({"argv": ["rocminfo"]}, ""), ({"path": "/model"}, ""))
    (tmp_path / "0.txt").write_bytes(b"a\0b\xff\r\n")
    (tmp_path / "1.txt").write_bytes(b"one\0two\0")
    system = CapturedSystem.open(tmp_path)

    assert system.ask(Run(argv=("rocminfo",))).text == "ab\ufffd\n"
    assert system.ask(ReadFile(path="/model")).text == "one\ntwo"


def faults(folder: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        CapturedSystem.open(folder)
    assert caught.value.where == str(folder / "manifest.yaml")
    return [fault.where for fault in caught.value.faults]


def test_no_folder(tmp_path: Path) -> None:
    assert faults(tmp_path / "none") == ["manifest.yaml"]
    (tmp_path / "file").write_text("", "utf-8")
    assert faults(tmp_path / "file") == ["manifest.yaml"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "- a",
        "host: x",
        "\x00",
        "a: 2026-99-99",
        "- " * 1500,
        "&a [*a]",
        "!!timestamp a",
        "!!bool a",
    ],
)
def test_a_manifest_that_is_none(content: str, tmp_path: Path) -> None:
    manifest(tmp_path, content)

    assert faults(tmp_path) == ["manifest.yaml"]


def test_a_manifest_of_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_bytes(b"files: {}\n# \xff\n")

    assert faults(tmp_path) == ["manifest.yaml"]


def test_a_link_out_of_the_folder(tmp_path: Path) -> None:
    """Whoever sends a folder gets no other file of its reader shown; links within are files."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret").write_text("private", "utf-8")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "within.txt").write_text("ID=arch\n", "utf-8")
    (folder / "in").symlink_to("within.txt")

    manifest(folder, {"files": {"out": {"path": "/x"}, "in": {"path": "/y"}}})
    assert faults(folder) == ["files.out"]

    manifest(folder, {"files": {"in": {"path": "/y"}}})
    assert CapturedSystem.open(folder).ask(ReadFile(path="/y")) == said("ID=arch\n")

    (folder / "manifest.yaml").unlink()
    (folder / "manifest.yaml").symlink_to(tmp_path / "secret")
    assert faults(folder) == ["manifest.yaml"]


def test_all_faults_of_one_entry(tmp_path: Path) -> None:
    """Also where there is no file to read."""
    manifest(
        tmp_path, {"files": {"none": {"argv": [], "rc": 2**40, "env": [], "outcome": ["lost"]}}}
    )

    assert faults(tmp_path) == [
        "files.none",
        "files.none.argv",
        "files.none.env",
        "files.none.rc",
        "files.none.outcome",
    ]


def test_all_faults_at_once(tmp_path: Path) -> None:
    """What is wrong is told together, each with its place."""
    for name in "abcdefghij":
        (tmp_path / name).write_text("", "utf-8")
    (tmp_path / "k").write_bytes(b"\x7fELF\0\xff")
    (tmp_path / "folder").mkdir()
    manifest(
        tmp_path,
        {
            "files": {
                "none": {"path": "/x"},
                "../outside": {"path": "/x"},
                "folder": {"path": "/x"},
                "a": "text",
                "b": {},
                "c": {"argv": []},
                "d": {"argv": ["ls", 1]},
                "e": {"path": 1},
                "f": {"argv": ["ls"], "path": "/x"},
                "g": {"argv": ["ls"], "env": {"A": 1}},
                "h": {"argv": ["ls"], "rc": "0"},
                "i": {"argv": ["ls"], "outcome": "lost"},
                "j": {"path": "/x", "env": {"A": "1"}},
                "k": {"path": "/x"},
                1: {"path": "/x"},
            },
            "absent": "nothing",
        },
    )

    assert faults(tmp_path) == [
        "files.none",
        "files.../outside",
        "files.folder",
        "files.a",
        "files.b",
        "files.c.argv",
        "files.d.argv",
        "files.e.path",
        "files.f",
        "files.g.env",
        "files.h.rc",
        "files.i.outcome",
        "files.j.env",
        "files.k",
        "files.1",
        "absent",
    ]


def test_given_machines(shared: Path) -> None:
    """Every text of every given machine is the answer to what its manifest says."""
    folders = [path.parent for path in sorted((shared / "hosts").glob("*/manifest.yaml"))]
    assert len(folders) == 36
    for folder in folders:
        system = CapturedSystem.open(folder)
        content = yaml.safe_load((folder / "manifest.yaml").read_text("utf-8"))
        for name, what in content["files"].items():
            text = (folder / name).read_text("utf-8")
            if what.get("env") is True:
                names = tuple(line.split("=")[0] for line in text.splitlines())
                assert system.ask(Variables(names=names)).text == text
            elif "argv" not in what and "path" not in what:
                assert system.ask(AskInterpreter()).text == text
            else:
                answer = system.ask(question(what))
                assert answer.text == text
                assert (answer.status or 0) == what.get("rc", 0)
                assert (answer.outcome == "failed") is bool(answer.status)
        interpreter = system.ask(AskInterpreter()).text
        assert "sys_platform=" in interpreter


def question(what: Mapping[str, Any]) -> Question:
    """Read an entry of a manifest as the question that it answers."""
    if "argv" in what and what["argv"][0] == "ls":
        return ListDirectory(path=what["argv"][1])
    if "argv" in what:
        return Run(
            argv=tuple(what["argv"]),
            environment=tuple(what.get("env", {}).items()),
            places=(PLACE,),
        )
    pattern, brace, names = what["path"].partition("/{")
    return (
        ReadFiles(path=pattern, names=tuple(names[:-1].split(",")))
        if brace
        else ReadFile(path=what["path"])
    )


class FakeSystem:
    """A machine that says what it is told to."""

    def __init__(self, answers: Mapping[Question, Answer]) -> None:
        self._answers = answers

    def ask(self, question: Question) -> Answer:
        return self._answers.get(question, ABSENT)


OWNER = Owner(
    hosts=("workhorse.lab.example", "ubuntu"), users=("alice", "root"), home="/net/h/alice"
)
FIRST = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
SECOND = "GPU-0b5d1a0e-1111-2222-3333-444455556666"
MIG = "MIG-41a3e3a5-aaaa-5bbb-8ccc-0123456789ab"
ANSWERS: Mapping[Question, Answer] = {
    Run(argv=("nvidia-smi", "-L")): said(
        f"GPU 0: NVIDIA H100 (UUID: {FIRST})\n"
        f"  MIG 2g.20gb     Device  0: (UUID: {MIG})\n"
        f"GPU 1: NVIDIA H100 (UUID: {SECOND})\n",
        0,
        PLACE,
    ),
    Run(argv=("nvidia-smi",)): said(
        "| NVIDIA-SMI 535.54.03      Driver Version: 535.54.03    CUDA Version: 12.2     |\n"
        "|   0  NVIDIA H100 80GB HBM3          On  | 00000000:65:00.0 Off |          0 |\n"
        "| N/A   38C    P0    70W / 700W |  1234MiB / 81559MiB |      0%      Default |\n"
        "|    0   N/A  N/A      4242      C   /opt/secret/train.py              500MiB |\n"
        "|    0    4243    G   /usr/lib/xorg/Xorg                               500MiB |\n",
        0,
        PLACE,
    ),
    Run(argv=("lspci", "-nn")): said(
        "17:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330] (rev a1)\n"
        "65:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330] (rev a1)\n",
        0,
    ),
    Run(argv=("rocminfo",), environment=(("DXG", "1"),)): Answer(
        outcome="failed",
        text="  Uuid:                    GPU-1a2b3c4d5e6f7081\n  BDFID:                   768\n"
        "open /home/alice/.rocm: denied on Workhorse\n",
        status=1,
    ),
    Run(argv=("rocminfo",)): Answer(outcome="timeout", text="no end within 3 s\n"),
    Run(argv=("powershell", "Get-CimInstance Win32_VideoController")): said(
        '"PNPDeviceID": "PCI\\\\VEN_10DE\\u0026DEV_2C02\\u0026REV_A1\\\\4\\u00262283F625"\n',
        0,
    ),
    ReadFile(path="/etc/os-release"): said('NAME="Ubuntu"\nID=ubuntu\n'),
    ReadFile(path="/proc/driver/nvidia/version"): Answer(
        outcome="unreadable", text="permission denied"
    ),
    ReadFiles(path=NODES): said("# 1\nsimd_count 8\nunique_id 1234567\nlocation_id 768\n"),
    ReadFiles(path=PCI, names=("class", "vendor")): said("- {class: '0x030200'}\n"),
    ListDirectory(path="/dev"): said("nvidia0\n"),
    ListDirectory(path="/empty"): said(""),
    Variables(names=("CUDA_VISIBLE_DEVICES", "A")): said(
        f"CUDA_VISIBLE_DEVICES={MIG},{SECOND[:8]},GPU-fade,GPU-\nA=\n"
    ),
    Variables(names=("PATH",)): said("PATH=/net/h/alice/bin:/home/alice/bin:/opt/bob/bin\n"),
    AskInterpreter(): said("machine=x86_64\nsys_platform=linux\n"),
    AskNvidiaLibraries(): Answer(outcome="failed", text="nvml_driver=1\n", status=-11),
    ReadFile(path="/sys/module/nvidia/version"): ABSENT,
    Run(argv=("amd-smi", "static", "--json")): ABSENT,
}


def capture(folder: Path, answers: Mapping[Question, Answer] = ANSWERS) -> CapturingSystem:
    system = CapturingSystem(FakeSystem(answers), owner=OWNER)
    for question in answers:
        assert system.ask(question) == answers[question]
    system.write(folder, source="a report")
    return system


def test_round_trip(tmp_path: Path) -> None:
    """The folder answers what the machine did, but for what is private."""
    clean = capture(tmp_path / "new").stand_ins()

    system = CapturedSystem.open(tmp_path / "new")

    for question, answer in ANSWERS.items():
        assert system.ask(question) == answer._replace(text=clean.replace(answer.text)), question


def test_nothing_private(tmp_path: Path) -> None:
    """No name, id or address of the machine or its user is in any file."""
    capture(tmp_path / "new")

    written = "".join(
        f"{path.name}\n{path.read_text('utf-8')}" for path in (tmp_path / "new").iterdir()
    ).lower()

    private = (
        *("alice", "workhorse", "8932f937", "0b5d1a0e", "41a3e3a5", "1a2b3c4d", "secret"),
        *("65:00.0", "17:00.0", "2283f625", "1234567", "768", "4242", "xorg", "fade"),
    )
    assert [one for one in private if one in written] == []
    assert "id=ubuntu" in written


def test_ids_still_refer_to_one_another(tmp_path: Path) -> None:
    """What named a device by its id, or by the beginning of one, names the same one."""
    capture(tmp_path / "new")
    system = CapturedSystem.open(tmp_path / "new")

    listed = system.ask(Run(argv=("nvidia-smi", "-L"))).text
    visible = system.ask(Variables(names=("CUDA_VISIBLE_DEVICES",))).text

    first, mig, second = (line.split("UUID: ")[1].rstrip(")") for line in listed.splitlines())
    names = visible.strip().removeprefix("CUDA_VISIBLE_DEVICES=").split(",")
    assert len({first, mig, second}) == 3
    assert len(first) == len(FIRST)
    assert names[0] == mig
    assert second.startswith(names[1])
    assert not first.startswith(names[1])
    assert not any(one.startswith(names[2]) for one in (first, mig, second))


def test_addresses_keep_their_order(tmp_path: Path) -> None:
    """A bus address has one stand-in, however it is written, and a later one a later."""
    capture(tmp_path / "new")
    system = CapturedSystem.open(tmp_path / "new")

    slots = [line.split()[0] for line in system.ask(Run(argv=("lspci", "-nn"))).text.splitlines()]

    assert slots == sorted(slots)
    assert len(set(slots)) == 2
    assert f"00000000:{slots[1]} Off" in system.ask(Run(argv=("nvidia-smi",))).text


def test_the_manifest(tmp_path: Path) -> None:
    """It is in the form that is read, and tells where the texts are from."""
    answers: dict[Question, Answer] = {
        Run(argv=("nvidia-smi", "--query-gpu=name", "--format=csv")): said("L4\n", 0),
        ReadFile(path="/etc/os-release"): said("ID=arch\n"),
        Variables(names=("A",)): said(""),
        ReadFile(path="/proc/driver/nvidia/version"): ABSENT,
        Run(argv=("rocminfo",)): ABSENT,
    }
    capture(tmp_path / "a" / "new", answers)

    provenance = {"provenance": f"captured by lockforge {__version__}"}
    assert yaml.safe_load((tmp_path / "a" / "new" / "manifest.yaml").read_text("utf-8")) == {
        "source": "a report",
        "files": {
            "nvidia-smi_query-gpu=name_format=csv.txt": {
                "argv": ["nvidia-smi", "--query-gpu=name", "--format=csv"],
                "rc": 0,
                **provenance,
            },
            "etc_os-release.txt": {"path": "/etc/os-release", **provenance},
            "env.txt": {"env": True, **provenance},
        },
        "absent": ["/proc/driver/nvidia/version", "rocminfo"],
    }


def test_a_folder_that_holds_something(tmp_path: Path) -> None:
    """Nothing of the user's is overwritten, and nothing is added to it."""
    (tmp_path / "file").write_text("mine", "utf-8")

    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(UsageError) as caught:
            capture(place)
        assert caught.value.hint == "give a folder that is not there yet, or an empty one"

    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_empty_folder(tmp_path: Path) -> None:
    """It is taken, and nothing is written beside it."""
    (tmp_path / "new").mkdir()

    capture(tmp_path / "new")

    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", "utf-8")

    with pytest.raises(OutputError):
        capture(tmp_path / "file" / "new")


def test_names_of_files(tmp_path: Path) -> None:
    """Two questions of one name on a system that ignores case have a file each."""
    answers: dict[Question, Answer] = {
        ReadFile(path="/sys/a"): said("1"),
        ReadFile(path="/sys_A"): said("2"),
    }
    capture(tmp_path / "new", answers)

    system = CapturedSystem.open(tmp_path / "new")

    names = {path.name.lower() for path in (tmp_path / "new").glob("*.txt")}
    assert len(names) == 2
    assert [system.ask(question).text for question in answers] == ["1", "2"]


def replaced(text: str, owner: Owner = OWNER, public: str = "") -> str:
    return StandIns([text], owner, public=public).replace(text)


def test_beginnings_of_ids() -> None:
    """One that several ids begin with remains the beginning of them all."""
    text = "GPU-abcd000000000001 GPU-abcd000000000002 GPU-ab MIG-GPU-abcd000000000002/7/0"

    first, second, both, part = replaced(text).split()

    assert first.startswith(both)
    assert second.startswith(both)
    assert part == f"MIG-{second}/7/0"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GPU-Util MIG M. GPU 0", "GPU-Util MIG M. GPU 0"),
        ("driver 580.95.05, at 12:34:56.789", "driver 580.95.05, at 12:34:56.789"),
        ("link/ether 02:42:ac:11:00:02", "link/ether 00:00:00:00:00:00"),
        ("Serial Number : 1320220073034", "Serial Number : 0"),
        ("Board Serial Number: 16543-A", "Board Serial Number: 0"),
        ('"serial_number": "SN0099", "x": 1', '"serial_number": "0", "x": 1'),
        ("<serial>1324021056791</serial>", "<serial>0</serial>"),
        ("PCI:195:0:0 and PCI:3@1:0:0", "PCI:0:0:0 and PCI:0:0:0"),
        ("fell off the bus at 0000:C3:00.0.", "fell off the bus at 0000:01:00.0."),
        (
            "GPU_UUID=8f5a3c1e-7d42-4b9a-a1c3-5e6f7a8b9c0d",
            "GPU_UUID=00000001-0000-0000-0000-000000000000",
        ),
        ("id 8F5A3C1E7D424B9AA1C35E6F7A8B9C0D", f"id 00000001{'0' * 24}"),
        (r"C:\Users\Bob\bin", r"C:\Users\user\bin"),
        ("/Users/bob/bin and /home/bob", "/Users/user/bin and /home/user"),
        ("workhorse.lab.example, workhorse: alice", "host, host: user"),
        ("workhorses of root", "workhorses of root"),
        ("/net/h/alice/x", "/home/user/x"),
    ],
)
def test_what_is_private(text: str, expected: str) -> None:
    """What identifies a machine or a person goes, and what only looks like it stays."""
    assert replaced(text) == expected


def test_a_public_name() -> None:
    """A host named after its distribution is not told by that word."""
    assert replaced("ID=ubuntu", public="ID=ubuntu") == "ID=ubuntu"


@pytest.mark.parametrize("name", ["machine", "container", "vendor", "jetson", "orin"])
def test_an_owner_named_as_what_the_texts_are_about(name: str, tmp_path: Path) -> None:
    """What they say of the machine stays."""
    answers: dict[Question, Answer] = {
        AskInterpreter(): said("machine=aarch64\n", 0),
        Variables(names=("container",)): said("container=podman\n"),
        ReadFile(path="/proc/device-tree/model"): said("NVIDIA Jetson AGX Orin"),
        ReadFiles(path=PCI, names=("vendor",)): said("- {vendor: '0x8086'}\n"),
    }
    asked = CapturingSystem(FakeSystem(answers), owner=Owner(users=(name,), hosts=(name,)))
    for question in answers:
        asked.ask(question)

    asked.write(tmp_path / "new", source="a test")

    system = CapturedSystem.open(tmp_path / "new")
    assert [system.ask(question).text for question in answers] == [
        answer.text for answer in answers.values()
    ]


def test_the_owner() -> None:
    """It is found in the variables of POSIX and of Windows."""
    posix = find_owner({"USER": "bob", "HOME": "/net/h/bobby"})
    windows = find_owner({"USERNAME": "bob", "USERPROFILE": "/root", "COMPUTERNAME": "PC7"})

    assert {"bob", "bobby"} <= set(posix.users)
    assert posix.home == "/net/h/bobby"
    assert "bob" in windows.users
    assert "PC7" in windows.hosts
    assert windows.home is None
