"""Capturing a machine: what it was asked and said, as a folder for CapturedSystem."""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING, Any

import yaml

from lockforge import __version__
from lockforge.adapters.captured import ELSEWHERE, MANIFEST, NVIDIA_LIBRARIES
from lockforge.adapters.private import StandIns, find_owner
from lockforge.errors import OutputError, UsageError
from lockforge.model.probe import (
    ABSENT,
    AskInterpreter,
    ListDirectory,
    ReadFile,
    ReadFiles,
    Run,
    Variables,
)

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from lockforge.adapters.private import Owner
    from lockforge.model.probe import Answer, Question
    from lockforge.ports import System

_NOTE = (
    "platform.machine, sys.platform, sysconfig.get_platform(), pointer bits, version,"
    " implementation, libc"
)
# The same on every machine of a kind.
_PUBLIC = ("/etc/os-release", "/etc/nv_tegra_release", "/proc/device-tree/model")
_NAME_LENGTH = 60


class CapturingSystem:
    """Asks another system, and remembers what it said."""

    def __init__(self, system: System, *, owner: Owner | None = None) -> None:
        self._system = system
        self._owner = owner or find_owner(os.environ)
        self._asked: dict[Question, Answer] = {}

    def ask(self, question: Question) -> Answer:
        answer = self._system.ask(question)
        self._asked.setdefault(question, answer)
        return answer

    def stand_ins(self) -> StandIns:
        """Give the stand-ins for what is private in all that was said."""
        public = (self._asked.get(ReadFile(path=path), ABSENT).text for path in _PUBLIC)
        return StandIns(
            (answer.text for answer in self._asked.values()),
            self._owner,
            public="\n".join(public),
        )

    def write(self, folder: Path, *, source: str) -> None:
        """Write the captured folder, which is not there yet or empty, without what is private.

        Raises UsageError for a folder that holds something, OutputError if it cannot be written.
        """
        prepare_folder(folder)
        stand_ins = self.stand_ins()
        files: dict[str, tuple[dict[str, Any], str]] = {}
        absent: list[str] = []
        variables: dict[str, str] | None = None
        for question, answer in self._asked.items():
            text = stand_ins.replace(answer.text)
            if isinstance(question, Variables):
                variables = {**(variables or {}), **_lines(text)}
            elif answer.outcome == "absent":
                absent.append(_worded(question))
            else:
                name = _file_name(_worded(question), files.keys())
                files[name] = (_entry(question, answer), text)
            if isinstance(question, Run) and answer.by is not None:
                absent.append(ELSEWHERE.format(question.argv[0], answer.by))
        if variables is not None:
            text = "".join(f"{name}={value}\n" for name, value in variables.items())
            files[_file_name("env", files.keys())] = ({"env": True}, text)
        manifest = {
            "source": source,
            "files": {
                name: {**what, "provenance": f"captured by lockforge {__version__}"}
                for name, (what, _) in files.items()
            },
            "absent": list(dict.fromkeys(absent)),
        }
        _write(folder, {name: text for name, (_, text) in files.items()}, manifest)


def prepare_folder(folder: Path) -> None:
    """Make the folder where it is not there yet, so that what is wrong with it is told soon.

    Raises UsageError for a folder that holds something, OutputError if it cannot be written to.
    """
    hint = "give a folder that is not there yet, or an empty one"
    try:
        if folder.exists() and not folder.is_dir():
            raise UsageError("is not a folder", where=str(folder), hint=hint)
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError("is not empty", where=str(folder), hint=hint)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _cannot_be_written(folder, error) from error


def _cannot_be_written(folder: Path, error: OSError) -> OutputError:
    return OutputError(
        f"cannot be written: {(error.strerror or str(error)).lower()}",
        where=str(folder),
        hint="check that it can be made there",
    )


def _write(folder: Path, texts: dict[str, str], manifest: dict[str, Any]) -> None:
    dumped = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True)
    try:
        for name, text in (*texts.items(), (MANIFEST, dumped)):
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise _cannot_be_written(folder, error) from error


def _entry(question: Question, answer: Answer) -> dict[str, Any]:
    entry = _answers(question)
    if answer.status is not None:
        entry["rc"] = answer.status
    if answer.outcome in {"timeout", "unreadable"}:
        entry["outcome"] = answer.outcome
    return entry


def _answers(question: Question) -> dict[str, Any]:
    match question:
        case ReadFile(path=path):
            return {"path": path}
        case ReadFiles(path=path, names=names):
            return {"path": f"{path}/{{{','.join(names)}}}" if names else path}
        case ListDirectory(path=path):
            return {"argv": ["ls", path]}
        case Run(argv=argv, environment=environment):
            return {"argv": list(argv)} | ({"env": dict(environment)} if environment else {})
        case AskInterpreter():
            return {"note": _NOTE}
    return {"argv": list(NVIDIA_LIBRARIES)}


def _worded(question: Question) -> str:
    """Name a question for people."""
    if isinstance(question, AskInterpreter):
        return "python"
    what = _answers(question)
    variables = "".join(f"{name}={value} " for name, value in what.get("env", {}).items())
    return variables + (what["path"] if "path" in what else " ".join(what["argv"]))


def _lines(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines())


def _file_name(worded: str, taken: Collection[str]) -> str:
    """Give a name that every system allows, and none has for another of *taken*."""
    plain = re.sub(r"[^A-Za-z0-9._=-]+", "_", worded).replace("_--", "_").strip("_.")[:_NAME_LENGTH]
    lower = {name.lower() for name in taken}
    number = 1
    while (name := f"{plain}{f'_{number}' if number > 1 else ''}.txt").lower() in lower:
        number += 1
    return name
