"""A requirements file as pip reads it: its lines, its options, and the files it names."""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from lockforge.project.references import Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from lockforge.model.project import ProjectRequirement
    from lockforge.project.faults import Faults
    from lockforge.project.requirements import Reader

_CONTINUED = re.compile(r"\\\r?\n")
_COMMENT = re.compile(r"(^|\s)#.*$")
_HASH = re.compile(r"\s--hash[= ]\S+")
_LINE_OPTION = re.compile(r"\s(--[a-z][a-z-]*)")
_SHORT = {
    "-r": "--requirement",
    "-c": "--constraint",
    "-e": "--editable",
    "-i": "--index-url",
    "-f": "--find-links",
}
_FLAGS = ("--pre", "--prefer-binary", "--require-hashes", "--no-index")
_VALUES = (
    *_SHORT.values(),
    "--extra-index-url",
    "--only-binary",
    "--no-binary",
    "--trusted-host",
    "--use-feature",
)


class Stated(NamedTuple):
    """One value with where it stands."""

    where: str
    text: str


@dataclass(slots=True)
class RequirementsFile:
    """What a requirements file says, with the files it names."""

    requirements: list[ProjectRequirement] = field(default_factory=list)
    constraints: list[ProjectRequirement] = field(default_factory=list)
    index_url: Stated | None = None
    extra_index_urls: list[Stated] = field(default_factory=list)
    find_links: list[Stated] = field(default_factory=list)
    only_binary: list[Stated] = field(default_factory=list)
    no_binary: list[Stated] = field(default_factory=list)
    prereleases: bool = False
    notes: list[str] = field(default_factory=list)
    """What the file says and nothing is done about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Position:
    """The file that is being read."""

    path: str
    reader: Reader
    constraining: bool
    """Whether its lines are constraints."""
    where: str = ""

    @property
    def faults(self) -> Faults:
        return self.reader.faults


def parse_requirements_file(
    path: str,
    read: Callable[[str], str | None],
    reader: Reader,
    *,
    constraining: bool = False,
) -> RequirementsFile:
    """Read a requirements file and those it names; *read* gives None for no file.

    With *constraining* its lines are constraints, as after ``-c``.
    """
    return _Run(read=read, reader=reader).run(path, constraining=constraining)


@dataclass(slots=True, kw_only=True)
class _Run:
    """One file with all that it names, each read once."""

    read: Callable[[str], str | None]
    reader: Reader
    result: RequirementsFile = field(default_factory=RequirementsFile)
    seen: set[tuple[str, bool]] = field(default_factory=set)

    def run(self, path: str, *, constraining: bool) -> RequirementsFile:
        self._file(path, constraining=constraining)
        return self.result

    def _file(self, path: str, *, constraining: bool) -> None:
        # A file that names itself, by whatever detour, is read once.
        if (path, constraining) in self.seen:
            return
        self.seen.add((path, constraining))
        text = self.read(path)
        if text is None:
            kind = "constraints" if constraining else "requirements"
            self.reader.faults.add(path, f"no such {kind} file")
            return
        place = Place(
            to_url=lambda value: self.reader.place.to_url(beside(path, value)),
            name=f"the directory of {path}",
        )
        position = _Position(
            path=path, reader=replace(self.reader, place=place), constraining=constraining
        )
        hashed, demanded = 0, False
        # A joined line keeps its number: the continuation is replaced by a marked blank.
        joined = _CONTINUED.sub(" \0", text.removeprefix("\ufeff"))
        number = 1
        for line in joined.split("\n"):
            where = f"{path}, line {number}"
            number += 1 + line.count("\0")
            content = _COMMENT.sub("", line.replace("\0", "")).strip()
            if content:
                at = replace(position, where=where)
                if content.startswith("-"):
                    demanded |= "--require-hashes" in content.split()
                    self._options(content, at)
                else:
                    hashed += _HASH.search(content) is not None
                    self._requirement(content, at)
        self._note(path, hashed, demanded=demanded)

    def _note(self, path: str, hashed: int, *, demanded: bool) -> None:
        """Say once for each file that its hashes are not used."""
        if not hashed and not demanded:
            return
        several = "requirement" if hashed == 1 else "requirements"
        what = f"hashes of {hashed} {several} are" if hashed else "--require-hashes is"
        self.result.notes.append(
            f"{path}: {what} not used: the lock states the hash of every file it installs"
        )

    def _requirement(self, content: str, at: _Position, *, editable: bool = False) -> None:
        text = _HASH.sub("", content)
        if match := _LINE_OPTION.search(text):
            _refuse(match[1], at)
            return
        entry = at.reader.read(text, at.where, editable=editable)
        if entry is not None:
            found = self.result.constraints if at.constraining else self.result.requirements
            found.append(entry)

    def _options(self, content: str, at: _Position) -> None:
        try:
            words = shlex.split(content)
        except ValueError as error:
            at.faults.add(at.where, f"not a line of options: {content}: {error}")
            return
        while words:
            word = words.pop(0)
            option, equals, value = word.partition("=")
            if not word.startswith("--") and word[:2] in _SHORT:
                option, equals, value = _SHORT[word[:2]], word[2:], word[2:].removeprefix("=")
            if option in _FLAGS and not equals:
                self._flag(option, at)
            elif option not in _VALUES:
                _refuse(option, at)
                return
            elif not equals and not words:
                at.faults.add(at.where, f"the option {option} has no value")
            else:
                self._value(option, value if equals else words.pop(0), at)

    def _flag(self, option: str, at: _Position) -> None:
        if option == "--no-index":
            at.faults.add(
                at.where,
                "--no-index leaves no index, and PyTorch's own are what a row is made of",
                "delete the line; what a directory of --find-links holds comes from nowhere else",
            )
        self.result.prereleases |= option == "--pre"

    def _value(self, option: str, value: str, at: _Position) -> None:
        stated = Stated(at.where, value)
        result = self.result
        if option in {"--requirement", "--constraint"}:
            constraining = at.constraining or option == "--constraint"
            self._file(beside(at.path, value), constraining=constraining)
        elif option == "--editable":
            self._requirement(value, at, editable=True)
        elif option == "--index-url":
            result.index_url = stated
        elif option == "--extra-index-url":
            result.extra_index_urls.append(stated)
        elif option == "--find-links":
            result.find_links.append(Stated(at.where, beside(at.path, value)))
        elif option == "--only-binary":
            result.only_binary.append(stated)
        elif option == "--no-binary":
            result.no_binary.append(stated)


def _refuse(option: str, at: _Position) -> None:
    at.faults.add(
        at.where,
        f"the option {option} is not understood here",
        "move it to [tool.lockforge], or delete the line",
    )


def beside(path: str, value: str) -> str:
    """Give the path that *value*, written in the file *path*, means; written one way only."""
    if "://" in value:
        return value
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), value))
