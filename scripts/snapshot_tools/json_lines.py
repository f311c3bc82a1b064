"""JSON files with one entry a line, sorted, so that a change shows as the lines it touches."""

import json
from collections.abc import Mapping


def render_texts(texts: Mapping[str, str]) -> str:
    """Render a `metadata.json`: texts by their hash."""
    return render_object(texts) + "\n"


def render_object(entries: Mapping[str, object]) -> str:
    """Render an object with sorted keys, each value on the line of its key."""
    if not entries:
        return "{}"
    lines = [f"{_compact(key)}:{_compact(entries[key])}" for key in sorted(entries)]
    return "{\n" + ",\n".join(lines) + "\n" + "}"


def render_array(entries: tuple[str, ...]) -> str:
    """Render an array of sentences, in the order given."""
    return "[\n" + ",\n".join(map(_compact, entries)) + "\n]"


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
