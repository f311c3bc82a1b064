"""Another machine, known by the texts that were captured on it.

A captured folder holds ``manifest.yaml`` and the files that it names. Each entry of its ``files``
says what the file is the answer to: ``argv`` (with ``env``, the variables set for the program, and
``rc``, its exit status), ``path``, ``env: true`` for environment variables, or only a ``note`` for
what the interpreter said of itself. What NVIDIA's libraries said has the ``argv`` of the program
that asked them, ``[python, nvidia_libraries.py]``. ``outcome`` is there for what was no text:
``timeout`` or ``unreadable``. What the manifest does not have was absent. An entry of ``absent``
such as ``nvidia-smi on PATH (only /usr/lib/wsl/lib/nvidia-smi)`` says that a program was found
elsewhere; other entries are for people. No file outside the folder is read, through links neither.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import yaml

from lockforge.adapters.small_files import (
    NotTextError,
    by_value,
    decoded,
    read_limited,
    text_of_file,
)
from lockforge.errors import ConfigError, Fault
from lockforge.model.probe import (
    ABSENT,
    Answer,
    AskInterpreter,
    AskNvidiaLibraries,
    ListDirectory,
    ReadFile,
    ReadFiles,
    Run,
    Variables,
)
from lockforge.standards.yaml_documents import NotYamlError, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lockforge.model.probe import Outcome, Question

MANIFEST = "manifest.yaml"
NVIDIA_LIBRARIES = ("python", "nvidia_libraries.py")
"""What the entry of NVIDIA's libraries has as ``argv``."""
ELSEWHERE = "{} on PATH (only {})"
_ELSEWHERE = re.compile(r"(\S+) on PATH(?: \(only (.+)\))?")
_LIMIT = 1024 * 1024
_FOLDER = "give a folder that `lockforge detect --capture` wrote"
# What a program can end with: the number of a signal below zero, and on Windows any of 32 bits.
_STATUSES = range(-128, 2**32)
_SAYS_PLATFORM = re.compile(r"^sys_platform=", re.MULTILINE)
# Of one folder, on any system.
_NAME = re.compile(r"(?!\.{1,2}$)[^/\\:\0]+")

_NoText: TypeAlias = Literal["timeout", "unreadable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One captured text, and what it is the answer to."""

    argv: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    path: str = ""
    variables: bool = False
    status: int | None = None
    outcome: _NoText | None = None
    text: str

    @property
    def answer(self) -> Answer:
        outcome: Outcome = self.outcome or ("failed" if self.status else "said")
        return Answer(outcome=outcome, text=self.text, status=self.status)

    @property
    def only_noted(self) -> bool:
        return not (self.argv or self.path or self.variables)


class CapturedSystem:
    """A machine that answers from the texts captured on it."""

    def __init__(self, entries: Iterable[Entry], elsewhere: dict[str, str]) -> None:
        self._entries = tuple(entries)
        self._elsewhere = elsewhere
        """The place of each program that was not found on PATH; empty where it was not told."""

    @classmethod
    def open(cls, folder: Path) -> CapturedSystem:
        """Read a captured folder; raises ConfigError with all that is wrong with it."""
        reading = _Reading(folder)
        system = cls(reading.entries(), reading.elsewhere())
        if reading.faults:
            raise ConfigError(reading.faults, where=str(folder / MANIFEST))
        return system

    def ask(self, question: Question) -> Answer:
        match question:
            case ReadFile(path=path):
                return self._first(one for one in self._entries if one.path == path)
            case ReadFiles():
                return self._read_files(question)
            case ListDirectory(path=path):
                listed = self._first(one for one in self._entries if _lists(one, path))
                # The status is that of a program, which need not be what lists it.
                return listed._replace(status=listed.status or None)
            case Run():
                return self._run(question)
            case Variables(names=names):
                return self._variables(names)
        return self._of_python(question)

    def _first(self, entries: Iterable[Entry]) -> Answer:
        return next((one.answer for one in entries), ABSENT)

    def _of_python(self, question: AskInterpreter | AskNvidiaLibraries) -> Answer:
        if isinstance(question, AskNvidiaLibraries):
            return self._first(one for one in self._entries if one.argv == NVIDIA_LIBRARIES)
        noted = [one for one in self._entries if one.only_noted]
        # Any other note may be beside it, so the one that says so comes first.
        noted.sort(key=lambda one: not _SAYS_PLATFORM.search(one.text))
        return self._first(noted)

    def _read_files(self, question: ReadFiles) -> Answer:
        braces = re.compile(re.escape(question.path) + r"/\{[^{}]*\}")
        for one in self._entries:
            if braces.fullmatch(one.path) if question.names else one.path == question.path:
                return one.answer
        return self._gathered(question)

    def _gathered(self, question: ReadFiles) -> Answer:
        """Make the one text of files that were captured each for itself."""
        names = "|".join(map(re.escape, question.names))
        pattern = re.escape(question.path).replace(r"\*", "([^/]+)")
        pattern += f"/(?P<attribute>{names})" if names else "(?P<attribute>)"
        found: dict[tuple[str, ...], dict[str, str]] = {}
        for one in self._entries:
            match = re.fullmatch(pattern, one.path)
            if match and one.outcome is None:
                device = tuple(match.groups()[:-1])
                found.setdefault(device, {})[match["attribute"]] = one.text
        if not found:
            return ABSENT
        devices = sorted(found.items(), key=lambda item: [by_value(name) for name in item[0]])
        if question.names:
            listed = [{key: text.strip() for key, text in one.items()} for _, one in devices]
            return Answer(outcome="said", text=yaml.safe_dump(listed, sort_keys=False))
        texts = (f"# {'/'.join(device)}\n{one[''].rstrip()}\n" for device, one in devices)
        return Answer(outcome="said", text="".join(texts))

    def _run(self, question: Run) -> Answer:
        asked = (_program(question.argv[0]), *question.argv[1:])
        for one in self._entries:
            if not one.argv or (_program(one.argv[0]), *one.argv[1:]) != asked:
                continue
            if sorted(one.environment) == sorted(question.environment):
                return self._found(one, asked[0], question.places)
        return ABSENT

    def _found(self, entry: Entry, program: str, places: Sequence[str]) -> Answer:
        answer = entry.answer
        by = entry.argv[0] if entry.argv[0] in places else None
        if program in self._elsewhere:
            by = self._elsewhere[program] or next(iter(places), None)
            if by is None:
                return ABSENT
        return Answer(outcome=answer.outcome, text=answer.text, status=answer.status, by=by)

    def _variables(self, names: Sequence[str]) -> Answer:
        text = next((one.text for one in self._entries if one.variables), None)
        if text is None:
            return ABSENT
        values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        said = "".join(f"{name}={values[name]}\n" for name in names if name in values)
        return Answer(outcome="said", text=said)


def _program(path: str) -> str:
    """Give the name of a program without its place, and without what Windows adds to it."""
    return re.split(r"[/\\]", path)[-1].removesuffix(".exe")


def _lists(entry: Entry, path: str) -> bool:
    return entry.path == path or entry.argv in {("ls", path), ("ls", "-1", path)}


class _Reading:
    """The reading of one folder, with all that is wrong with it."""

    def __init__(self, folder: Path) -> None:
        self.faults: list[Fault] = []
        self._folder = folder
        self._manifest = self._read_manifest()

    def entries(self) -> list[Entry]:
        files = self._manifest.get("files", {})
        if not isinstance(files, dict):
            self._fault("files", "expected a mapping of file names to what each answers")
            return []
        found = [self._entry(name, what) for name, what in files.items()]
        return [one for one in found if one is not None]

    def elsewhere(self) -> dict[str, str]:
        absent = self._manifest.get("absent") or []
        if not isinstance(absent, list) or not all(isinstance(one, str) for one in absent):
            self._fault("absent", "expected a list of strings")
            return {}
        found = [match for one in absent if (match := _ELSEWHERE.fullmatch(one))]
        return {match[1]: match[2] or "" for match in found}

    def _fault(self, where: str, message: str, hint: str | None = None) -> None:
        self.faults.append(Fault(where=where, message=message, hint=hint))

    def _read_manifest(self) -> dict[str, Any]:
        content = self._read(MANIFEST, MANIFEST)
        if content is None:
            return {}
        if len(content) == _LIMIT:
            self._fault(MANIFEST, "is too large", _FOLDER)
            return {}
        try:
            manifest = parse_yaml(content.decode("utf-8"))
        except (NotYamlError, UnicodeDecodeError) as error:
            self._fault(MANIFEST, f"not YAML: {error}")
            return {}
        if not isinstance(manifest, dict) or "files" not in manifest:
            self._fault(MANIFEST, "expected a mapping with the key 'files'", _FOLDER)
            return {}
        return manifest

    def _read(self, name: str, where: str) -> bytes | None:
        hint = _FOLDER if name == MANIFEST else None
        try:
            path = Path(os.path.realpath(self._folder / name))
            # Whoever sends a folder must not have other files of its reader shown by it.
            if path.parent != Path(os.path.realpath(self._folder)):
                self._fault(where, f"{name} is a link out of the folder", "put the file there")
                return None
            return read_limited(str(path), _LIMIT)
        except (FileNotFoundError, NotADirectoryError):
            self._fault(where, f"there is no file {name} in {self._folder}", hint)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            self._fault(where, f"{name} cannot be read: {(reason or str(error)).lower()}")
        return None

    def _entry(self, name: object, what: object) -> Entry | None:
        where = f"files.{name}"
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            self._fault(where, "expected the name of a file in the same folder")
            return None
        content = self._read(name, where)
        if not isinstance(what, dict):
            self._fault(where, "expected a mapping that says what the file answers")
            return None
        stated = [key for key in ("argv", "path") if key in what]
        stated += ["env"] if what.get("env") is True else []
        if len(stated) > 1:
            self._fault(where, f"{' and '.join(stated)} exclude one another")
        elif not stated and not isinstance(what.get("note"), str):
            self._fault(where, "says not what it answers", "expected argv, path, env or note")
        text = None if content is None else self._text(content, where, of_file="path" in what)
        return Entry(
            argv=self._argv(what, where),
            environment=self._environment(what, where),
            path=self._path(what, where),
            variables=what.get("env") is True,
            status=self._status(what, where),
            outcome=self._outcome(what, where),
            text=text or "",
        )

    def _text(self, content: bytes, where: str, *, of_file: bool) -> str | None:
        try:
            return text_of_file(content) if of_file else decoded(content)
        except NotTextError as error:
            self._fault(where, str(error))
        return None

    def _argv(self, what: dict[Any, Any], where: str) -> tuple[str, ...]:
        argv = what.get("argv", ())
        if "argv" in what and not (
            isinstance(argv, list) and argv and all(isinstance(one, str) for one in argv)
        ):
            self._fault(f"{where}.argv", "expected a list of strings with a program first")
            return ()
        return tuple(argv)

    def _environment(self, what: dict[Any, Any], where: str) -> tuple[tuple[str, str], ...]:
        environment = what.get("env", {})
        if environment is True:
            return ()
        if not isinstance(environment, dict) or not all(
            isinstance(one, str) for pair in environment.items() for one in pair
        ):
            self._fault(f"{where}.env", "expected true, or a mapping of variables to strings")
            return ()
        if environment and "argv" not in what:
            self._fault(f"{where}.env", "variables are set for a program, and there is no argv")
        return tuple(environment.items())

    def _path(self, what: dict[Any, Any], where: str) -> str:
        path = what.get("path", "")
        if "path" in what and not (isinstance(path, str) and path):
            self._fault(f"{where}.path", "expected a string")
            return ""
        return str(path)

    def _status(self, what: dict[Any, Any], where: str) -> int | None:
        status = what.get("rc")
        if status is not None and (type(status) is not int or status not in _STATUSES):
            self._fault(f"{where}.rc", "expected the exit status of a program")
            return None
        if status is None and "argv" in what and "outcome" not in what:
            return 0
        return status

    def _outcome(self, what: dict[Any, Any], where: str) -> _NoText | None:
        outcome = what.get("outcome")
        if outcome is None or outcome == "timeout" or outcome == "unreadable":  # noqa: PLR1714
            return outcome
        self._fault(f"{where}.outcome", "expected timeout or unreadable")
        return None
