"""A machine as it was kept: saved facts, or a folder of captured texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.commands.detect import Observed, observe
from lockforge.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from lockforge.adapters.files import TextFiles
    from lockforge.catalog import Catalog

# Characters of saved facts, with every probe of `detect --json --explain`.
_LARGEST = 8 * 1024**2


def observe_kept(path: Path, files: TextFiles, catalog: Catalog) -> Observed:
    """Read what is kept at *path*; raises ConfigError or UsageError for what is no machine."""
    if path.is_dir():
        from lockforge.adapters.captured import CapturedSystem

        return observe(CapturedSystem.open(path), catalog)
    text = files.read(path, UsageError)
    if text is None:
        raise UsageError("no such file", where=str(path), hint="correct the path")
    if len(text) > _LARGEST:
        raise UsageError(
            f"is larger than {_LARGEST // 1024**2} MiB",
            where=str(path),
            hint="give facts that `lockforge detect --save` wrote",
        )
    from lockforge.detect.record import parse_saved

    return Observed(facts=parse_saved(text, where=str(path)))
