"""Core metadata as the snapshot keeps it: the fields a resolver reads, named by their hash."""

import hashlib

KEPT_FIELDS = frozenset(
    {
        "metadata-version",
        "name",
        "version",
        "requires-python",
        "requires-dist",
        "provides-extra",
        "dynamic",
    }
)


def cut_metadata(text: str) -> str:
    """Keep the fields a resolver reads, in their order, and leave the description out."""
    kept: list[str] = []
    keeping = False
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.strip():
            break
        if line[0] not in " \t":
            keeping = line.partition(":")[0].strip().lower() in KEPT_FIELDS
        if keeping:
            kept.append(line)
    return "".join(f"{line}\n" for line in kept)


def read_requirements(text: str) -> tuple[str, ...]:
    """Read the `Requires-Dist` values of a cut text."""
    unfolded = text.replace("\n ", " ").replace("\n\t", " ")
    lines = (line.partition(":") for line in unfolded.splitlines())
    return tuple(value.strip() for field, _, value in lines if field.lower() == "requires-dist")


def render_metadata(
    *,
    name: str,
    version: str,
    requires_python: str | None,
    requirements: tuple[str, ...],
    metadata_version: str = "2.1",
) -> str:
    """Write a text in the same form, for a wheel whose own metadata cannot be had."""
    lines = [f"Metadata-Version: {metadata_version}", f"Name: {name}", f"Version: {version}"]
    if requires_python is not None:
        lines.append(f"Requires-Python: {requires_python}")
    lines.extend(f"Provides-Extra: {extra}" for extra in sorted(_read_extras(requirements)))
    lines.extend(f"Requires-Dist: {requirement}" for requirement in requirements)
    return "".join(f"{line}\n" for line in lines)


def _read_extras(requirements: tuple[str, ...]) -> frozenset[str]:
    quoted = (
        part
        for requirement in requirements
        for part in requirement.replace("'", '"').split("extra == ")[1:]
    )
    return frozenset(part.split('"')[1] for part in quoted)


def hash_text(text: str) -> str:
    """Hash a text as it is kept and announced."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_field(text: str, field: str) -> str | None:
    """Read the first value of a header field of a cut text."""
    prefix = f"{field}: "
    return next(
        (line.removeprefix(prefix) for line in text.splitlines() if line.startswith(prefix)), None
    )
