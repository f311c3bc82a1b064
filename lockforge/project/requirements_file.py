"""A requirements file as pip reads it: its lines, its options, and the files it names."""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from lockforge.errors import UsageError
from lockforge.project.references import Place, is_bare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lockforge.model.project import ProjectRequirement
    from lockforge.project.faults import Faults
    from lockforge.project.requirements import Reader

_COMMENT = re.compile(r"(^|\s+)#.*$")
_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")
_WEB = re.compile(r"https?:", re.IGNORECASE)
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
    expands_variables: bool = False
    """Whether the environment decides what it says."""
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

    def _file(self, path: str, *, constraining: bool, named_by: str | None = None) -> None:
        """Read one file; *named_by* is the line that names it, None for the command line."""
        # A file that names itself, by whatever detour, is read once.
        if (path, constraining) in self.seen:
            return
        self.seen.add((path, constraining))
        text = self._text(path, constraining=constraining, named_by=named_by)
        if text is None:
            return
        place = Place(
            to_url=lambda value: self.reader.place.to_url(beside(path, value)),
            name=f"the directory of {path}",
        )
        position = _Position(
            path=path, reader=replace(self.reader, place=place), constraining=constraining
        )
        hashed, demanded = 0, False
        for number, line in _joined(text.removeprefix("\ufeff").splitlines()):
            content = _COMMENT.sub("", line).strip()
            if content:
                at = replace(position, where=f"{path}, line {number}")
                if content.startswith("-"):
                    demanded |= "--require-hashes" in content.split()
                    self._options(content, at)
                else:
                    hashed += _HASH.search(content) is not None
                    self._requirement(content, at)
        self._note(path, hashed, demanded=demanded)

    def _text(self, path: str, *, constraining: bool, named_by: str | None) -> str | None:
        """Give the text of a file; what keeps it from being read is a fault."""
        faults = self.reader.faults
        where = named_by or path
        if _WEB.match(path):
            faults.add(
                where,
                f"a file on the web is not read: {path}",
                "download it, and name the copy",
            )
            return None
        beginning = f"{path}: " if named_by else ""
        try:
            text = self.read(path)
        except UsageError as error:
            faults.add(where, f"{beginning}{error.message}", error.hint)
            return None
        if text is None:
            kind = "constraints" if constraining else "requirements"
            relative = ", which is relative to this file" if named_by else ""
            faults.add(where, f"{beginning}no such {kind} file", f"correct the path{relative}")
        return text

    def _expand(self, text: str, at: _Position) -> str | None:
        """Put in what ``${NAME}`` stands for, as pip does; one that is not set is a fault."""
        environment = at.reader.references.credentials.environment
        unset = [name for name in _VARIABLE.findall(text) if not environment.get(name)]
        for name in unset:
            at.faults.add(
                at.where,
                f"the environment variable {name} is not set",
                "set it, or write out what it stands for",
            )
        if unset:
            return None
        expanded = _VARIABLE.sub(lambda match: environment[match[1]], text)
        self.result.expands_variables |= expanded != text
        return expanded

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
        # An address goes to the lock, so that only its credentials may come from the environment.
        if not (editable or is_bare(text) or "@" in text.partition(";")[0]):
            expanded = self._expand(text, at)
            if expanded is None:
                return
            text = expanded
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
            path = self._expand(value, at)
            if path is not None:
                self._file(beside(at.path, path), constraining=constraining, named_by=at.where)
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


def _joined(lines: list[str]) -> Iterator[tuple[int, str]]:
    r"""Join lines that end in ``\`` with the next, with the number of the first, as pip does.

    A comment is not continued: what follows it is a line of its own.
    """
    begun: list[str] = []
    for number, line in enumerate(lines, start=1):
        is_comment = _COMMENT.match(line) is not None
        if line.endswith("\\") and not is_comment:
            begun.append(line.strip("\\"))
            continue
        # After a continued line the comment is still one only with a blank before it.
        yield number - len(begun), "".join([*begun, f" {line}" if is_comment else line])
        begun = []
    if begun:
        yield len(lines) - len(begun) + 1, "".join(begun)


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
