"""``[tool.lockforge.rows.<name>]`` -> floors and RowSettings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packaging.utils import InvalidName, canonicalize_name

from lockforge.model.project import RowSettings
from lockforge.project.faults import TABLE, Faults, nearest, worded
from lockforge.project.restrictions import check_constraints, read_list
from lockforge.project.rows import parse_floor, parse_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.utils import NormalizedName

    from lockforge.catalog import Catalog
    from lockforge.model.matrix import Row
    from lockforge.model.platforms import Floor
    from lockforge.project.dependencies import OwnExtras
    from lockforge.project.requirements import Reader


def load_row_settings(
    config: dict[str, Any],
    rows: Sequence[Row],
    declared: set[str],
    catalog: Catalog,
    reader: Reader,
    own_extras: OwnExtras,
) -> tuple[dict[str, Floor], dict[str, RowSettings]]:
    """Read the tables of the rows by the names of *rows*, however the tables spell them.

    *declared* are the names of all rows there may be, beside those to lock now.
    """
    faults = reader.faults
    floors: dict[str, Floor] = {}
    settings: dict[str, RowSettings] = {}
    parsed = (parse_row(name, catalog, Faults(), name) for name in sorted(declared))
    names = {row.identity: row.name for row in (*filter(None, parsed), *rows)}
    tables: dict[str, str] = {}
    for written, table in (faults.typed(config, "rows", dict, TABLE) or {}).items():
        at = f"{TABLE}.rows.{written}"
        row = parse_row(written, catalog, Faults(), at)
        name = names.get(row.identity) if row else None
        if row is None or name is None:
            # A name that is no row's at all has its fault in the matrix.
            if written not in declared:
                faults.add(at, "no such row in the matrix", nearest(written, sorted(declared)))
            continue
        if name in tables:
            faults.add(at, f"{tables[name]} is of the same row", "say all of a row in one table")
            continue
        tables[name] = at
        if not isinstance(table, dict):
            faults.add(at, f"expected a table, found {worded(table)}")
            continue
        floor_key = row.platform.floor_key
        keys = ["dependencies", "exclude", "constraints", "overrides"]
        faults.unknown_keys(table, [*([floor_key] if floor_key else []), *keys], at)
        if floor_key and (text := faults.typed(table, floor_key, str, at)):
            floor = parse_floor(text, row.platform, faults, f"{at}.{floor_key}")
            if floor:
                floors[name] = floor
        settings[name] = _settings(table, at, reader, own_extras)
    return floors, settings


def _excluded(table: dict[str, Any], at: str, faults: Faults) -> frozenset[NormalizedName]:
    found = set()
    for number, name in enumerate(faults.strings(table, "exclude", at)):
        try:
            found.add(canonicalize_name(name, validate=True))
        except InvalidName:
            where = f"{at}.exclude[{number}]"
            faults.add(where, f"not a package name: {name!r}", "write the name alone")
    return frozenset(found)


def _settings(table: dict[str, Any], at: str, reader: Reader, own_extras: OwnExtras) -> RowSettings:
    requirements = read_list(table, "dependencies", at, reader)
    constraints = read_list(table, "constraints", at, reader)
    check_constraints(constraints, reader.faults)
    return RowSettings(
        requirements=tuple(one for entry in requirements for one in own_extras.expand(entry)),
        exclude=_excluded(table, at, reader.faults),
        constraints=tuple(constraints),
        overrides=tuple(read_list(table, "overrides", at, reader)),
    )
