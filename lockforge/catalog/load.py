"""The catalogue's files: the package's and a user's -> Catalog."""

from __future__ import annotations

import json
from functools import lru_cache
from pkgutil import get_data
from typing import Any

from lockforge.catalog.facts import Catalog
from lockforge.errors import ConfigError, Fault


@lru_cache(maxsize=1)
def _packaged() -> dict[str, Any]:
    # The same as catalog.yaml, which takes as long to read as all of a short command.
    text = get_data("lockforge", "data/catalog.json")
    assert text is not None
    data: dict[str, Any] = json.loads(text)
    return data


def load_catalog(user_text: str | None = None, *, where: str = "catalog.yaml") -> Catalog:
    """Read the packaged catalogue, overridden by a user's; raises ConfigError for the latter."""
    data = _packaged()
    if user_text is None:
        return Catalog(data)
    from lockforge.catalog.faults import find_faults
    from lockforge.standards.yaml_documents import NotYamlError, parse_yaml

    try:
        user = parse_yaml(user_text)
    except NotYamlError as error:
        fault = Fault(where=where, message=f"not YAML: {error}")
        raise ConfigError([fault], where=where) from error
    if faults := list(find_faults(user, data, where)):
        raise ConfigError(faults, where=where)
    return Catalog(_merge(data, user or {}), _digest(user) if user else None)


def _digest(user: dict[str, Any]) -> str:
    import hashlib

    text = json.dumps(user, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _merge(base: Any, over: Any) -> Any:
    """Merge mappings key by key; anything else is replaced."""
    if isinstance(base, dict) and isinstance(over, dict):
        return base | {key: _merge(base.get(key), value) for key, value in over.items()}
    return over
