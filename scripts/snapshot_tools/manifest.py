"""`MANIFEST.json`: what the snapshot holds, from where, by which rules, and what is not known."""

import hashlib
import json
from collections.abc import Mapping

from snapshot_tools.json_lines import render_array, render_object

REGISTRY = "https://pypi.org/simple/"
PYTORCH = "https://download.pytorch.org/whl/"
REGISTRY_NOTES = (
    (
        "The default index is trimmed to what the projects under fixtures/projects and the "
        "PyTorch family can reach on Linux (x86_64, aarch64), Windows (amd64, arm64) and macOS "
        "(arm64, x86_64) with CPython 3.11 to 3.14: the newest versions of each project, the "
        "newest version that satisfies each kept requirement on each of these, hence every pinned "
        "one, and nothing uploaded after the date."
    ),
    (
        "Kept wheels: CPython 3.11 to 3.14, abi3 and pure ones for these platforms. musllinux "
        "wheels are kept for numpy and pillow only, free-threaded ones for markupsafe, numpy, "
        "pyyaml, torch and triton only, so that a tool has something to refuse. Sdists are kept "
        "for the three newest versions of a project and have no core metadata. Files with an "
        "invalid Requires-Python are left out."
    ),
    (
        "Core metadata is cut to Metadata-Version, Name, Version, Requires-Python, Requires-Dist, "
        "Provides-Extra and Dynamic; the announced hash is that of the cut text. The registry as "
        "it was reached left core-metadata out of its pages and answered <file>.metadata for a "
        "part of the wheels only; for the others METADATA was read out of the wheel. The public "
        "registry announces core-metadata, so it is written here for every wheel."
    ),
    (
        "The pages keep the addresses of the public file hosts; the files themselves are not part "
        "of the snapshot."
    ),
)


def render_manifest(
    *,
    date: str,
    indexes: Mapping[str, Mapping[str, str]],
    notes: tuple[str, ...],
    rules: Mapping[str, str],
    pages: Mapping[str, str],
    origins: Mapping[str, Mapping[str, str]],
) -> str:
    """Render the manifest of the given files, one entry a line."""
    sources = {index["path"]: index["source"] for index in indexes.values()}
    parts = {
        path: {
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            "source": sources[path.partition("/")[0]],
        }
        for path, text in pages.items()
    }
    fields = {
        "format": "1",
        "date": json.dumps(date),
        "indexes": render_object(indexes),
        "notes": render_array(notes),
        "rules": render_object(rules),
        "parts": render_object(parts),
        "metadata": render_object(origins),
    }
    return "{\n" + ",\n".join(f'"{name}":{value}' for name, value in fields.items()) + "\n}\n"
