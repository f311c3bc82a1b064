"""The machine at hand: asked within bounds, and changed by nothing that is asked."""

from __future__ import annotations

import os
import re
import sys
import time
from typing import TYPE_CHECKING, Any

from lockforge.adapters import small_files
from lockforge.adapters.deadline import within
from lockforge.adapters.interpreter import describe
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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lockforge.model.probe import Question

UNAME = ("uname", "-a")
_HERE = os.path.dirname(os.path.abspath(__file__))
_INTERPRETER_SECONDS = 5.0
# For what takes a blink wherever the file system answers.
_FILE_SECONDS = 2.0
# What in /dev tells of an accelerator or of a container; other names may tell of its owner.
_DEVICES = re.compile(
    r"nvidia[\w-]*|nvhost[\w-]*|nvgpu[\w-]*|nvmap|kfd|dri|dxg|accel"
    r"|null|zero|full|u?random|tty|pts|shm"
)


class LiveSystem:
    """The machine at hand; *total* is the time for all questions from the first one on."""

    def __init__(
        self,
        *,
        total: float = 14.0,
        clock: Callable[[], float] = time.monotonic,
        environment: Mapping[str, str] = os.environ,
        root: str = "/",
        python: str | None = None,
    ) -> None:
        self._total = total
        self._clock = clock
        self._environment = environment
        self._root = root
        # Not looked for on PATH, and not resolved: a link to it may be what tells its environment.
        self._python = None if python is None else os.path.abspath(python)
        self._until: float | None = None

    def ask(self, question: Question) -> Answer:
        start = self._clock()
        if self._until is None:
            self._until = start + self._total
        try:
            answer = self._answer(question)
        except (FileNotFoundError, NotADirectoryError):
            answer = ABSENT
        except TimeoutError as error:
            answer = Answer(outcome="timeout", text=f"{_reason(error)}\n")
        except OSError as error:
            answer = Answer(outcome="unreadable", text=_reason(error))
        except (ValueError, RuntimeError, MemoryError) as error:
            # Such as a NUL in a path, or no thread to be had.
            answer = Answer(outcome="unreadable", text=str(error))
        return Answer(
            outcome=answer.outcome,
            text=answer.text,
            status=answer.status,
            milliseconds=(self._clock() - start) * 1000,
            by=answer.by,
        )

    def _answer(self, question: Question) -> Answer:
        at_hand = self._at_hand(question)
        if at_hand is not None:
            return at_hand
        if self._left() <= 0:
            return self._over("asked")
        processes: Mapping[type, Callable[[Any], Answer]] = {
            Run: self._run,
            AskInterpreter: self._ask_interpreter,
            AskNvidiaLibraries: self._ask_nvidia_libraries,
        }
        if way := processes.get(type(question)):
            return way(question)
        files: Mapping[type, Callable[[Any], Answer]] = {
            ReadFile: self._read_file,
            ReadFiles: self._read_files,
            ListDirectory: self._list_directory,
        }
        return within(self._file_seconds(), lambda: files[type(question)](question))

    def _at_hand(self, question: Question) -> Answer | None:
        """Answer what costs no time, which is answered too when none is left."""
        match question:
            case Variables(names=names):
                return _said(self._variables(names))
            case AskInterpreter() if self._python is None:
                # Windows asks a service for the machine, which may hang.
                return _said(within(_INTERPRETER_SECONDS, describe))
            case Run(argv=argv) if argv == UNAME:
                return _uname()
        return None

    def _over(self, what: str) -> Answer:
        return Answer(outcome="timeout", text=f"not {what}: the {self._total:g} s were over\n")

    def _left(self) -> float:
        assert self._until is not None
        return self._until - self._clock()

    def _file_seconds(self) -> float:
        return min(_FILE_SECONDS, self._left())

    def _path(self, path: str) -> str:
        return path if self._root == "/" else os.path.join(self._root, path.lstrip("/"))

    def _variables(self, names: Sequence[str]) -> str:
        found = ((name, self._environment.get(name)) for name in names)
        return "".join(
            f"{name}={' '.join(small_files.plain(value).splitlines())}\n"
            for name, value in found
            if value is not None
        )

    def _read_file(self, question: ReadFile) -> Answer:
        return _said(small_files.read_text(self._path(question.path)))

    def _read_files(self, question: ReadFiles) -> Answer:
        texts: list[str] = []
        reason = None
        for path, name in small_files.matches(self._path("/"), question.path):
            if self._left() <= 0:
                return self._over("read to its end")
            try:
                texts.append(_entry(path, name, question.names))
            except FileNotFoundError:
                continue
            except OSError as error:
                reason = _reason(error)
        if reason is not None and not texts:
            return Answer(outcome="unreadable", text=reason)
        return _said("".join(texts))

    def _list_directory(self, question: ListDirectory) -> Answer:
        names = small_files.list_names(
            self._path(question.path),
            lambda name: question.path != "/dev" or bool(_DEVICES.fullmatch(name)),
        )
        return _said("".join(f"{name}\n" for name in names))

    def _ask_interpreter(self, _: AskInterpreter) -> Answer:
        return self._run_script(
            self._python or sys.executable, "interpreter.py", _INTERPRETER_SECONDS
        )

    def _ask_nvidia_libraries(self, question: AskNvidiaLibraries) -> Answer:
        # There are none for a Mac.
        if sys.platform == "darwin":
            return ABSENT
        return self._run_script(sys.executable, "nvidia_libraries.py", question.timeout)

    def _run(self, question: Run) -> Answer:
        program, by = within(self._file_seconds(), lambda: self._find(question))
        if program is None:
            return ABSENT
        ended = self._run_program(
            (program, *question.argv[1:]), question.timeout, dict(question.environment)
        )
        return Answer(outcome=ended.outcome, text=ended.text, status=ended.status, by=by)

    def _find(self, question: Run) -> tuple[str | None, str | None]:
        """Find the program, and its place if it is not on PATH.

        Not by shutil.which, which takes one from the working directory too where PATH or Windows
        says so: a program that lies in a project is not the vendor's.
        """
        name = question.argv[0]
        if sys.platform == "win32" and not name.lower().endswith(".exe"):
            name += ".exe"
        folders = self._environment.get("PATH", "").split(os.pathsep)
        on_path = [os.path.join(one, name) for one in folders if os.path.isabs(one)]
        there: list[tuple[str, str | None]] = [
            (path, None) for path in on_path if os.path.isfile(path)
        ]
        there += [
            (self._path(place), place)
            for place in map(self._expanded, question.places)
            if os.path.isfile(self._path(place))
        ]
        # One that may not be executed is left for when there is no other, to say so.
        there.sort(key=lambda found: not os.access(found[0], os.X_OK))
        return there[0] if there else (None, None)

    def _expanded(self, place: str) -> str:
        """Fill in the variables of a place on Windows, such as ``%SystemRoot%``."""
        return re.sub(
            r"%(\w+)%", lambda found: self._environment.get(found[1].upper(), found[0]), place
        )

    def _run_script(self, python: str, name: str, timeout: float) -> Answer:
        argv = (python, "-I", "-S", os.path.join(_HERE, name))
        return self._run_program(argv, timeout, {"CUDA_CACHE_DISABLE": "1"})

    def _run_program(
        self, argv: Sequence[str], timeout: float, variables: Mapping[str, str]
    ) -> Answer:
        # Most hosts have none of the programs.
        from lockforge.adapters.processes import run_bounded

        seconds = min(timeout, self._left())
        environment = {**self._environment, "LC_ALL": "C", **variables}
        try:
            ended = run_bounded(argv, environment, seconds)
        except OSError as error:
            # FileNotFoundError too: it is there, but what it is to be interpreted by is not.
            return Answer(outcome="unreadable", text=f"cannot be started: {_reason(error)}")
        text = small_files.decoded(ended.content)
        if ended.status is None:
            before = text and text.rstrip("\n") + "\n"
            return Answer(outcome="timeout", text=f"{before}no end within {seconds:.3g} s\n")
        return Answer(outcome="failed" if ended.status else "said", text=text, status=ended.status)


def _said(text: str) -> Answer:
    return Answer(outcome="said", text=text)


def _entry(path: str, name: str, attributes: Sequence[str]) -> str:
    """Write what one device says of itself; raises OSError where it cannot be read."""
    if attributes:
        return small_files.attribute_line(small_files.read_attributes(path, attributes))
    text = small_files.read_text(path).rstrip()
    return f"# {name}\n{text}\n"


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _uname() -> Answer:
    """Say what ``uname -a`` does, but for the name of the host."""
    if sys.platform == "win32":
        return ABSENT
    system = os.uname()
    # GNU's has the processor, the platform and the kind of system at its end too.
    last = [system.machine] * 3 + ["GNU/Linux"] if system.sysname == "Linux" else [system.machine]
    words = [system.sysname, "host", system.release, system.version, *last]
    return Answer(outcome="said", text=" ".join(words) + "\n", status=0)
