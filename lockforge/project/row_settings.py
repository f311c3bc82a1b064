"""``[tool.lockforge.rows.<name>]`` -> floors and RowSettings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from lockforge.model.project import RowSettings
from lockforge.project.faults import Faults, nearest
from lockforge.project.restrictions import check_constraints, read_list
from lockforge.project.rows import parse_floor, parse_row

if TYPE_CHECKING:
    from lockforge.catalog import Catalog
    from lockforge.model.platforms import Floor
    from lockforge.project.requirements import Reader

_TABLE = "tool.lockforge"


def load_row_settings(
    config: dict[str, Any], declared: set[str], catalog: Catalog, reader: Reader
) -> tuple[dict[str, Floor], dict[str, RowSettings]]:
    """Read the tables of the rows by name; *declared* are the rows there may be."""
    faults = reader.faults
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
        keys = ["dependencies", "exclude", "constraints", "overrides"]
        faults.unknown_keys(table, [*([floor_key] if floor_key else []), *keys], at)
        if floor_key and (text := faults.typed(table, floor_key, str, at)):
            floor = parse_floor(text, faults, f"{at}.{floor_key}")
            if floor:
                floors[name] = floor
        settings[name] = _settings(table, at, reader)
    return floors, settings


def _settings(table: dict[str, Any], at: str, reader: Reader) -> RowSettings:
    constraints = read_list(table, "constraints", at, reader)
    check_constraints(constraints, reader.faults)
    return RowSettings(
        requirements=tuple(read_list(table, "dependencies", at, reader)),
        exclude=frozenset(map(canonicalize_name, reader.faults.strings(table, "exclude", at))),
        constraints=tuple(constraints),
        overrides=tuple(read_list(table, "overrides", at, reader)),
    )
