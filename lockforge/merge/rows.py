"""What a lock says of a row beside its packages: the facts a host chooses by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockforge.model.lock import LockedFile, LockedRow
from lockforge.model.python import render_python
from lockforge.standards.digest import row_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from packaging.version import Version

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
    architectures, ptx, judged_by = _kernels(row, sorted(torches), catalog)
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
        gpu_architectures=architectures,
        gpu_ptx=ptx,
        judged_by=judged_by,
    )


def _kernels(
    row: Row, torches: Sequence[Version], catalog: Catalog
) -> tuple[tuple[str, ...], tuple[str, ...], str | None]:
    """Give the architectures and PTX that all torches of *row* have, and whose lists were taken.

    A newer torch may have dropped what an older one has. Of one that nothing is known of there is
    nothing to count on.
    """
    found = [catalog.gpu_architectures(row.accelerator, one, row.platform) for one in torches]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        return (), (), None
    shared = set.intersection(*(set(one.architectures) for one in known))
    ptx = set.intersection(*(set(one.ptx) for one in known))
    return (
        tuple(one for one in known[0].architectures if one in shared),
        tuple(one for one in known[0].ptx if one in ptx),
        next((one.judged_by for one in known if one.judged_by), None),
    )
