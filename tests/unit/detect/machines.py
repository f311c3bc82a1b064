"""Machines made of a few texts, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from lockforge.catalog import load_catalog
from lockforge.detect.facts import read_facts
from lockforge.detect.gather import gather
from lockforge.model.machine import Facts
from lockforge.model.probe import (
    ABSENT,
    Answer,
    AskNvidiaLibraries,
    ListDirectory,
    Question,
    ReadFile,
    ReadFiles,
    Run,
    Variables,
)

CATALOG = load_catalog()
CSV = "nvidia-smi --query-gpu=driver_version,compute_cap,name --format=csv,noheader"
CSV_BEFORE_510 = "nvidia-smi --query-gpu=driver_version,name --format=csv,noheader"
KERNEL = "uname -a"
LINUX = "machine=x86_64\nsys_platform=linux\nsysconfig_platform=linux-x86_64\nbits=64\nversion=3.12.1\nimplementation=CPython\nlibc=glibc 2.39\n"  # noqa: E501
AARCH64 = LINUX.replace("x86_64", "aarch64")
WINDOWS = "machine=AMD64\nsys_platform=win32\nsysconfig_platform=win-amd64\nbits=64\nversion=3.12.1\nimplementation=CPython\n"  # noqa: E501
MAC = "machine=arm64\nsys_platform=darwin\nsysconfig_platform=macosx-11.0-arm64\nbits=64\nversion=3.12.1\nimplementation=CPython\n"  # noqa: E501
WSL2 = "Linux host 6.6.87.2-microsoft-standard-WSL2 #1 SMP x86_64 x86_64 x86_64 GNU/Linux\n"
NODES = "null\nnvidia0\nnvidiactl\nnvidia-uvm\n"

Texts: TypeAlias = Mapping[str, str | Answer]


class Machine:
    """Answers by command line, path, or one of the words ``python``, ``env`` and ``libraries``."""

    def __init__(self, answers: Texts) -> None:
        self._answers = answers
        self.asked: list[str] = []

    def ask(self, question: Question) -> Answer:
        key = _key(question)
        self.asked.append(key)
        answer = self._answers.get(key, ABSENT)
        return answer if isinstance(answer, Answer) else Answer(outcome="said", text=answer)


def _key(question: Question) -> str:
    match question:
        case Run(argv=argv, environment=environment):
            return " ".join([*(f"{name}={value}" for name, value in environment), *argv])
        case ReadFile(path=path) | ReadFiles(path=path) | ListDirectory(path=path):
            return path
        case Variables():
            return "env"
        case AskNvidiaLibraries():
            return "libraries"
    return "python"


def failed(text: str, status: int = 1) -> Answer:
    return Answer(outcome="failed", text=text, status=status)


HUNG = Answer(outcome="timeout")


def facts_of(answers: Texts) -> Facts:
    return read_facts(gather(Machine(answers)), CATALOG)
