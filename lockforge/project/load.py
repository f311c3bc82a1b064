"""A user's files and options -> Project; every fault gathered, each with its key path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from lockforge.model.index import Index
from lockforge.model.project import Policy, Project, ProjectRequirement, RowSettings
from lockforge.model.release import Metadata
from lockforge.project.faults import Faults, nearest
from lockforge.project.indexes import (
    CHANNELS,
    DEFAULT_INDEX,
    Credentials,
    LocalPaths,
    check_address,
    find_links_index,
    parse_indexes,
    simple_index,
    torch_index,
)
from lockforge.project.requirements import (
    RequirementsFile,
    parse_requirement_text,
    parse_requirements_file,
    project_requirements,
)
from lockforge.project.rows import build_matrix, choose_pythons, parse_floor, parse_row, parse_rows
from lockforge.project.times import parse_exclude_newer
from lockforge.standards.patches import narrowing_clauses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from packaging.utils import NormalizedName

    from lockforge.catalog import Catalog
    from lockforge.model.index import UserIndex
    from lockforge.model.matrix import Row
    from lockforge.model.platforms import Floor

_TABLE = "tool.lockforge"
_KEYS = (
    "matrix",
    "python",
    "align",
    "exclude-newer",
    "extras",
    "groups",
    "torch-index",
    "channel",
    "rows",
    "index",
    "metadata",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line says; it wins over the files."""

    requirements: tuple[str, ...] = ()
    requirement_files: tuple[str, ...] = ()
    matrix: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    index_url: str | None = None
    torch_index: str | None = None
    channel: str | None = None
    find_links: tuple[str, ...] = ()
    exclude_newer: str | None = None
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The project's files, read; nothing here touches a disk but through these functions."""

    pyproject: dict[str, Any]
    python_version: str | None
    """The text of ``.python-version``."""
    read: Callable[[str], str | None]
    paths: LocalPaths
    where: str
    """What to call the document in messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The Project, and what must be told apart from it."""

    project: Project
    requirements: tuple[str, ...]
    """What is asked for, as sorted text for the lock."""
    settings: tuple[str, ...]
    """What else decides the result, as sorted text for the lock."""
    credentials: Mapping[str, tuple[str, str]]
    """By origin."""

    @property
    def uses_local_files(self) -> bool:
        """Whether an index is a directory, whose content no stamp covers."""
        project = self.project
        indexes = [project.default_index, *(user.index for user in project.user_indexes)]
        return any(index.url.startswith("file:") for index in indexes)


def load_project(options: Options, files: Files, catalog: Catalog, now: datetime) -> Loaded:
    """Read a project; raises ConfigError with all faults at once."""
    faults = Faults()
    tool = faults.typed(files.pyproject, "tool", dict, "pyproject") or {}
    config = faults.typed(tool, "lockforge", dict, "tool") or {}
    faults.unknown_keys(config, _KEYS, _TABLE)
    if (align := faults.typed(config, "align", str, _TABLE)) not in {None, "row"}:
        faults.add(f"{_TABLE}.align", f"unknown alignment {align!r}", 'expected "row"')
    rows, declared = _load_rows(options, config, catalog, faults)
    floors, settings = _load_row_settings(config, declared, catalog, faults)
    metadata = faults.typed(files.pyproject, "project", dict, "pyproject") or {}
    pythons, limits = choose_pythons(
        options.python or faults.strings(config, "python", _TABLE),
        "--python" if options.python else f"{_TABLE}.python",
        python_version_file=files.python_version,
        requires_python=faults.typed(metadata, "requires-python", str, "project"),
        catalog=catalog,
        faults=faults,
    )
    extras = _names(options.extras or faults.strings(config, "extras", _TABLE))
    groups = _names(options.groups or faults.strings(config, "groups", _TABLE))
    if options.requirements or options.requirement_files:
        for option, asked in (("--extra", options.extras), ("--group", options.groups)):
            if asked:
                faults.add(
                    option,
                    "the requirements are not those of pyproject.toml, which alone has any",
                    "name what it brings in as requirements too",
                )
        extras, groups = [], []
    requirements, from_files = _load_requirements(options, files, extras, groups, faults)
    credentials = Credentials()
    default, user_indexes = _load_indexes(
        options, config, from_files, files.paths, credentials, faults
    )
    base = options.torch_index or faults.typed(config, "torch-index", str, _TABLE)
    if base:
        check_address(
            base, faults, "--torch-index" if options.torch_index else f"{_TABLE}.torch-index"
        )
    channel = options.channel or faults.typed(config, "channel", str, _TABLE)
    if channel is not None and channel not in CHANNELS:
        faults.add(f"{_TABLE}.channel", f"unknown channel {channel!r}", nearest(channel, CHANNELS))
    newer = options.exclude_newer or faults.typed(config, "exclude-newer", str, _TABLE)
    limit = parse_exclude_newer(newer, now, faults, f"{_TABLE}.exclude-newer") if newer else None
    stated = _load_metadata(config, faults)
    if not (requirements or faults or any(one.requirements for one in settings.values())):
        faults.add(
            "project.dependencies",
            "nothing to lock",
            "name requirements there, with -r FILE, or on the command line",
        )
    faults.raise_if_any(files.where)
    torch_base = credentials.strip(base or catalog.torch_index)
    project = Project(
        requirements=tuple(requirements),
        requires_python=limits,
        matrix=build_matrix(rows, pythons, floors),
        rows={row.name: settings[row.name] for row in rows if row.name in settings},
        default_index=default,
        torch_indexes={
            row.accelerator.label: torch_index(torch_base, channel, row.accelerator.label)
            for row in rows
        },
        user_indexes=tuple(user_indexes),
        metadata=stated,
        policy=Policy(exclude_newer=limit),
        extras=tuple(extras),
        groups=tuple(groups),
    )
    return Loaded(
        project=project,
        requirements=_requirement_texts(project),
        settings=_setting_texts(project, torch_base, channel, newer),
        credentials=credentials.by_origin,
    )


def _names(texts: Sequence[str]) -> list[NormalizedName]:
    return sorted(set(map(canonicalize_name, texts)))


def _load_rows(
    options: Options, config: dict[str, Any], catalog: Catalog, faults: Faults
) -> tuple[list[Row], set[str]]:
    """Give the rows to lock, and every row name that the files or options declare."""
    configured = faults.strings(config, "matrix", _TABLE)
    names = list(options.matrix) or configured
    where = "--matrix" if options.matrix else f"{_TABLE}.matrix"
    if not names:
        faults.add(
            where,
            "no matrix",
            "give --matrix linux-cu130,mac-cpu or the like, or set tool.lockforge.matrix",
        )
    return parse_rows(names, catalog, faults, where), {*names, *configured}


def _load_row_settings(
    config: dict[str, Any], declared: set[str], catalog: Catalog, faults: Faults
) -> tuple[dict[str, Floor], dict[str, RowSettings]]:
    floors: dict[str, Floor] = {}
    settings: dict[str, RowSettings] = {}
    for name, table in (faults.typed(config, "rows", dict, _TABLE) or {}).items():
        at = f"{_TABLE}.rows.{name}"
        if name not in declared:
            faults.add(at, "no such row in the matrix", nearest(name, sorted(declared)))
            continue
        if not isinstance(table, dict):
            faults.add(at, f"expected a table, found {table!r}")
            continue
        row = parse_row(name, catalog, Faults(), at)
        floor_key = row.platform.floor_key if row else None
        keys = [*([floor_key] if floor_key else []), "dependencies", "exclude"]
        faults.unknown_keys(table, keys, at)
        if floor_key and (text := faults.typed(table, floor_key, str, at)):
            floor = parse_floor(text, faults, f"{at}.{floor_key}")
            if floor:
                floors[name] = floor
        requirements = [
            entry
            for number, text in enumerate(faults.strings(table, "dependencies", at))
            if (entry := parse_requirement_text(text, faults, f"{at}.dependencies[{number}]"))
        ]
        settings[name] = RowSettings(
            requirements=tuple(requirements),
            exclude=frozenset(map(canonicalize_name, faults.strings(table, "exclude", at))),
        )
    return floors, settings


def _load_requirements(
    options: Options,
    files: Files,
    extras: Sequence[str],
    groups: Sequence[str],
    faults: Faults,
) -> tuple[list[ProjectRequirement], list[RequirementsFile]]:
    """Take the command line and requirements files where given, else ``[project]``."""
    found = [
        entry
        for text in options.requirements
        if (entry := parse_requirement_text(text, faults, "command line"))
    ]
    read = [parse_requirements_file(path, files.read, faults) for path in options.requirement_files]
    for file in read:
        found += file.requirements
    if not options.requirements and not options.requirement_files:
        found = project_requirements(files.pyproject, extras=extras, groups=groups, faults=faults)
    return found, read


def _load_indexes(
    options: Options,
    config: dict[str, Any],
    from_files: Sequence[RequirementsFile],
    paths: LocalPaths,
    credentials: Credentials,
    faults: Faults,
) -> tuple[Index, list[UserIndex]]:
    tables = faults.typed(config, "index", list, _TABLE) or []
    default, user_indexes = parse_indexes(tables, credentials, paths, faults)
    stated = options.index_url or next((one.index_url for one in from_files if one.index_url), None)
    if stated is not None and check_address(stated, faults, "--index-url"):
        default = simple_index("default", stated, credentials, paths.to_url_here)
    links = [("--find-links", text) for text in options.find_links]
    links += [("--find-links", text) for one in from_files for text in one.find_links]
    for where, text in links:
        index = find_links_index(text, paths, faults, where)
        if index is not None:
            user_indexes.append(index)
    return default or Index(name="pypi", url=DEFAULT_INDEX), user_indexes


def _load_metadata(
    config: dict[str, Any], faults: Faults
) -> dict[tuple[NormalizedName, str], Metadata]:
    found: dict[tuple[NormalizedName, str], Metadata] = {}
    for key, table in (faults.typed(config, "metadata", dict, _TABLE) or {}).items():
        at = f'{_TABLE}.metadata."{key}"'
        name, _, version = key.partition("==")
        try:
            parsed = Version(version)
        except InvalidVersion:
            faults.add(at, "not a pinned name", 'write "flash-attn==2.8.3" or so')
            continue
        if not isinstance(table, dict):
            faults.add(at, f"expected a table, found {table!r}")
            continue
        faults.unknown_keys(table, ("requires-dist", "requires-python"), at)
        requires: list[Requirement] = []
        for number, text in enumerate(faults.strings(table, "requires-dist", at)):
            try:
                requires.append(Requirement(text))
            except InvalidRequirement as error:
                where = f"{at}.requires-dist[{number}]"
                faults.add(where, f"not a requirement: {text!r}: {str(error).splitlines()[0]}")
        requires_python = faults.typed(table, "requires-python", str, at)
        try:
            SpecifierSet(requires_python or "")
        except InvalidSpecifier:
            faults.add(f"{at}.requires-python", f"not a version specifier: {requires_python!r}")
        found[canonicalize_name(name), str(parsed)] = Metadata(
            version=parsed, requires_python=requires_python, requires_dist=tuple(requires)
        )
    return found


def _requirement_texts(project: Project) -> tuple[str, ...]:
    texts = [_text(entry) for entry in project.requirements]
    for name, settings in project.rows.items():
        texts += [f"{name}: {_text(entry)}" for entry in settings.requirements]
    return tuple(sorted(set(texts)))


def _text(entry: ProjectRequirement) -> str:
    text = str(entry.requirement)
    return f"{text} [{entry.condition}]" if entry.condition else text


def _setting_texts(
    project: Project, torch_base: str, channel: str | None, exclude_newer: str | None
) -> tuple[str, ...]:
    texts = [f"default index {project.default_index.url}", f"torch index {torch_base}"]
    if channel:
        texts.append(f"channel {channel}")
    if exclude_newer:
        texts.append(f"exclude newer {exclude_newer}")
    for row in project.matrix.rows:
        if floor := row.platform.floor:
            texts.append(f"{row.name}: {row.platform.floor_key} {floor[0]}.{floor[1]}")
        settings = project.rows.get(row.name)
        texts += (
            [f"{row.name}: without {name}" for name in sorted(settings.exclude)] if settings else []
        )
    for user in project.user_indexes:
        # A directory is named as the user did: its place on this machine is nobody's business.
        place = user.index.name if user.index.url.startswith("file:") else user.index.url
        limit = f" for {', '.join(user.accelerators)}" if user.accelerators else ""
        texts.append(f"index {place} serves {', '.join(sorted(user.packages))}{limit}")
    for (name, version), metadata in sorted(project.metadata.items()):
        requires = ", ".join(sorted(map(str, metadata.requires_dist)))
        python = f" and Python {metadata.requires_python}" if metadata.requires_python else ""
        texts.append(f"metadata {name}=={version} requires {requires or 'nothing'}{python}")
    if project.requires_python is not None:
        clauses = narrowing_clauses(project.requires_python, project.matrix.pythons)
        texts += [f"Python {clause}" for clause in clauses]
    return tuple(sorted(set(texts)))
