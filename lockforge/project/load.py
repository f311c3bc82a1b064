"""A user's files and options -> Project; every fault gathered, each with its key path."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lockforge.model.project import Project
from lockforge.project.dependencies import OwnExtras, choose_parts
from lockforge.project.faults import TABLE, Faults, nearest
from lockforge.project.index_options import load_indexes
from lockforge.project.indexes import (
    CHANNELS,
    TORCH_NAME,
    Credentials,
    LocalPaths,
    check_index_address,
    index_address,
    local_name,
    torch_index,
)
from lockforge.project.inputs import editable_at, load_inputs
from lockforge.project.policy import exclude_newer, load_policy
from lockforge.project.record import requirement_texts, setting_texts
from lockforge.project.references import Place, References
from lockforge.project.requirements import Reader
from lockforge.project.restrictions import check_overrides
from lockforge.project.row_settings import load_row_settings
from lockforge.project.rows import build_matrix, choose_pythons, parse_rows
from lockforge.project.stated_metadata import load_metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from lockforge.catalog import Catalog
    from lockforge.model.access import IndexAccess
    from lockforge.model.matrix import Matrix, Row
    from lockforge.model.project import RowSettings
    from lockforge.project.inputs import Inputs
    from lockforge.project.options import Options
    from lockforge.project.references import Kind
    from lockforge.project.rows import Pythons

_KEYS = (
    "matrix",
    "python",
    "align",
    "exclude-newer",
    "exclude-newer-strict",
    "extras",
    "groups",
    "constraints",
    "overrides",
    "prerelease",
    "resolution",
    "only-binary",
    "no-binary",
    "torch-index",
    "channel",
    "rows",
    "index",
    "metadata",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The project's files, read; nothing here touches a disk but through these functions."""

    pyproject: dict[str, Any]
    python_version: str | None
    """The text of ``.python-version``."""
    read: Callable[[str], str | None]
    """The text at a path of the command line or a ``file:`` address; None for no file."""
    paths: LocalPaths
    kind_of: Callable[[str], Kind | None]
    """What lies at a ``file:`` address; None for nothing."""
    sha256_of: Callable[[str], str | None]
    """The sha256 of the file at a ``file:`` address; None for one that cannot be read."""
    where: str
    """What to call the document in messages."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What ``${NAME}`` in the address of an index stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The Project, and what must be told apart from it."""

    project: Project
    requirements: tuple[str, ...]
    """What is asked for, as sorted text for the lock."""
    settings: tuple[str, ...]
    """What else decides the result, as sorted text for the lock."""
    accesses: tuple[IndexAccess, ...]
    """What opens each index, as far as the project says."""
    relative_paths: AbstractSet[str] = frozenset()
    """The addresses of paths that were written relative."""
    notes: tuple[str, ...] = ()
    """What the user said that nothing is done about."""
    expands_variables: bool = False
    """Whether the environment decides what a requirements file says, which no stamp covers."""

    @property
    def uses_local_files(self) -> bool:
        """Whether a directory or file of this machine, whose content no stamp covers, is used."""
        project = self.project
        indexes = [*project.torch_indexes.values(), *(user.index for user in project.user_indexes)]
        urls = [project.default_index.url, *(index.url for index in indexes)]
        entries = [*project.requirements, *project.overrides]
        for settings in project.rows.values():
            entries += [*settings.requirements, *settings.overrides]
        urls += [entry.requirement.url or "" for entry in entries]
        return any(url.startswith("file:") for url in urls)


def load_project(options: Options, files: Files, catalog: Catalog, now: datetime) -> Loaded:
    """Read a project; raises ConfigError with all faults at once."""
    faults = Faults()
    config = _load_config(files, faults)
    credentials = Credentials(files.environment)
    reader = _make_reader(files, credentials, faults)
    references = reader.references
    rows, declared = _load_rows(options, config, catalog, faults)
    own_extras = OwnExtras.of(files.pyproject, reader)
    floors, settings = load_row_settings(config, rows, declared, catalog, reader, own_extras)
    pythons = _load_pythons(options, files, config, catalog, faults)
    matrix = build_matrix(rows, pythons.chosen, floors)
    asked = choose_parts(options, config, files.pyproject, faults)
    inputs = load_inputs(
        options,
        files.pyproject,
        config,
        asked,
        own_extras,
        files.read,
        files.paths.to_url_here,
        matrix,
        reader,
    )
    own = _own_settings(settings, matrix, inputs, faults)
    base = _load_torch_base(options, config, credentials, faults)
    indexes = load_indexes(
        options,
        faults.typed(config, "index", list, TABLE) or [],
        inputs.files,
        {catalog.torch_index, base or catalog.torch_index},
        paths=files.paths,
        credentials=credentials,
        faults=faults,
    )
    channel = _load_channel(options, config, faults)
    policy = load_policy(options, config, inputs.files, now, faults)
    stated = load_metadata(config, faults)
    if not (inputs.requirements or faults or any(one.requirements for one in own.values())):
        _nothing_to_lock(options, faults)
    faults.raise_if_any(files.where)
    to_url = files.paths.to_url_here if options.torch_index else files.paths.to_url
    torch_base = index_address(base or catalog.torch_index, credentials, to_url, TORCH_NAME)
    project = Project(
        requirements=tuple(inputs.requirements),
        requires_python=pythons.limits,
        matrix=matrix,
        rows=own,
        default_index=indexes.default,
        torch_indexes={
            row.accelerator.label: torch_index(torch_base, channel, row.accelerator.label)
            for row in rows
        },
        user_indexes=indexes.others,
        metadata=stated,
        policy=policy,
        constraints=tuple(inputs.constraints),
        overrides=tuple(inputs.overrides),
        extras=tuple(asked.extras),
        groups=tuple(asked.groups),
        pythons_derived=pythons.derived,
    )
    return Loaded(
        project=project,
        requirements=requirement_texts(project, references.shown),
        settings=setting_texts(
            project,
            references.shown,
            contents=references.content_texts,
            places=indexes.places,
            catalog=catalog.additions,
            torch_base=local_name(base or "") or torch_base,
            channel=channel,
            exclude_newer=exclude_newer(options, config, faults)[0],
        ),
        accesses=tuple(credentials.found),
        relative_paths=frozenset(files.paths.relative),
        notes=(
            *(note for file in inputs.files for note in file.notes),
            *indexes.notes,
            *references.notes,
        ),
        expands_variables=any(file.expands_variables for file in inputs.files),
    )


def _load_config(files: Files, faults: Faults) -> dict[str, Any]:
    tool = faults.typed(files.pyproject, "tool", dict, "") or {}
    config = faults.typed(tool, "lockforge", dict, "tool") or {}
    faults.unknown_keys(config, _KEYS, TABLE)
    return config


def _make_reader(files: Files, credentials: Credentials, faults: Faults) -> Reader:
    references = References(
        paths=files.paths,
        kind_of=files.kind_of,
        read=files.read,
        credentials=credentials,
        sha256_of=files.sha256_of,
    )
    place = Place(to_url=files.paths.to_url, name="the project's directory")
    return Reader(faults=faults, references=references, place=place)


def _load_pythons(
    options: Options, files: Files, config: dict[str, Any], catalog: Catalog, faults: Faults
) -> Pythons:
    project = faults.typed(files.pyproject, "project", dict, "") or {}
    return choose_pythons(
        options.python or faults.strings(config, "python", TABLE),
        "--python" if options.python else f"{TABLE}.python",
        python_version_file=files.python_version,
        requires_python=faults.typed(project, "requires-python", str, "project"),
        catalog=catalog,
        faults=faults,
    )


def _own_settings(
    settings: Mapping[str, RowSettings], matrix: Matrix, inputs: Inputs, faults: Faults
) -> dict[str, RowSettings]:
    """Give the settings of the rows to lock, held against the rest of the project."""
    own: dict[str, RowSettings] = {}
    for row in matrix.rows:
        if (one := settings.get(row.name)) is None:
            continue
        check_overrides(one.overrides, [at for at in matrix.targets if at.row == row], faults)
        own[row.name] = replace(
            one,
            requirements=editable_at(one.requirements, inputs.editable),
            overrides=editable_at(one.overrides, inputs.editable),
        )
    return own


def _load_torch_base(
    options: Options, config: dict[str, Any], credentials: Credentials, faults: Faults
) -> str | None:
    """Give the stated base of PyTorch's indexes as it was written."""
    base = options.torch_index or faults.typed(config, "torch-index", str, TABLE)
    if base:
        where = "--torch-index" if options.torch_index else f"{TABLE}.torch-index"
        check_index_address(base, credentials, faults, where)
    return base


def _load_channel(options: Options, config: dict[str, Any], faults: Faults) -> str | None:
    channel = options.channel or faults.typed(config, "channel", str, TABLE)
    if channel is not None and channel not in CHANNELS:
        where = "--channel" if options.channel else f"{TABLE}.channel"
        faults.add(where, f"unknown channel {channel!r}", nearest(channel, CHANNELS))
    return channel


def _nothing_to_lock(options: Options, faults: Faults) -> None:
    for path in options.requirement_files:
        faults.add(path, "it has no requirements", "name some there, or another file")
    if not options.requirement_files:
        faults.add(
            "project.dependencies",
            "nothing to lock",
            "name requirements there, with -r FILE, or on the command line",
        )


def _load_rows(
    options: Options, config: dict[str, Any], catalog: Catalog, faults: Faults
) -> tuple[list[Row], set[str]]:
    """Give the rows to lock, and every row name that the files or options declare."""
    configured = faults.strings(config, "matrix", TABLE)
    names = list(options.matrix) or configured
    where = "--matrix" if options.matrix else f"{TABLE}.matrix"
    if not names and config.get("matrix") in (None, []):
        faults.add(
            where,
            "no matrix",
            "give --matrix linux-cu130,mac-cpu or the like, or set tool.lockforge.matrix",
        )
    return parse_rows(names, catalog, faults, where), {*names, *configured}
