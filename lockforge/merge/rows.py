"""What a lock says of a row beside its packages: the facts a host chooses by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.model.lock import LockedFile, LockedRow
from lockforge.model.python import render_python
from lockforge.standards.digest import row_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lockforge.catalog import Catalog
    from lockforge.model.matrix import Row
    from lockforge.model.python import PythonMinor
    from lockforge.model.release import DistributionFile
    from lockforge.model.resolution import Resolution


def locked_row(
    row: Row,
    resolutions: Sequence[Resolution],
    *,
    needs_extra: bool,
    catalog: Catalog,
    locate: Callable[[DistributionFile], LockedFile],
    index: str,
    left_out: Sequence[PythonMinor],
) -> LockedRow:
    """Gather the facts of *row* from its Resolutions, one per Python."""
    # One name may be another file at another Python.
    files = {
        (pin.file.filename, pin.file.sha256): locate(pin.file)
        for one in resolutions
        for pin in one.pins
    }
    torches = {pin.version for one in resolutions if (pin := one.pin("torch")) is not None}
    # With several torches in a row the oldest has the fewest architectures to count on.
    built = (
        catalog.gpu_architectures(row.accelerator, min(torches), row.platform) if torches else None
    )
    floor = row.platform.floor
    return LockedRow(
        name=row.name,
        platform=row.platform.name,
        accelerator=row.accelerator.label,
        pythons=tuple(render_python(one.target.python) for one in resolutions),
        left_out=tuple(map(render_python, left_out)),
        floor=f"{row.platform.floor_key} {floor[0]}.{floor[1]}" if floor else None,
        extra=row.accelerator.extra if needs_extra else None,
        torch=", ".join(str(version) for version in sorted(torches)) or None,
        index=index,
        packages=len({pin.name for one in resolutions for pin in one.pins}),
        digest=row_digest(file.sha256 for file in files.values() if file.sha256 is not None),
        size=sum(file.size or 0 for file in files.values()),
        unsized=sum(file.size is None and file.sha256 is not None for file in files.values()),
        min_driver=catalog.driver_floor(row.accelerator, row.platform) if torches else None,
        gpu_architectures=built.architectures if built else (),
        gpu_ptx=built.ptx if built else (),
        judged_by=built.judged_by if built else None,
    )
