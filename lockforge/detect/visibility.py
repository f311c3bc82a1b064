"""Which GPUs the variables leave to a program, by the rules of CUDA and of HIP.

A variable that is not set leaves all. A list counts up to its first entry that names no GPU, so
the empty text, ``-1`` and words such as ``NoDevFiles`` leave none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lockforge.detect.nvidia_texts import Identity

CUDA = "CUDA_VISIBLE_DEVICES"
CUDA_ORDER = "CUDA_DEVICE_ORDER"
CONTAINER = "NVIDIA_VISIBLE_DEVICES"
HIP = "HIP_VISIBLE_DEVICES"
ROCR = "ROCR_VISIBLE_DEVICES"
_NUMBER = re.compile(r"\d{1,4}", re.ASCII)
_UUID = re.compile(r"(?:GPU|MIG)-", re.ASCII)


def names_by_uuid(value: str | None) -> bool:
    """Whether the list is one of UUIDs, which its first entry decides."""
    return value is not None and _UUID.match(value.strip()) is not None


def counts_by_number(value: str | None) -> bool:
    """Whether the list is one of numbers."""
    return value is not None and _NUMBER.match(value.strip()) is not None


def visible_to_cuda(
    value: str | None, count: int, identities: Mapping[int, Identity]
) -> frozenset[int]:
    """Give the numbers of the *count* GPUs that CUDA_VISIBLE_DEVICES leaves.

    Without their identities UUIDs cannot be told apart, and all stay.
    """
    every = frozenset(range(count))
    if value is None:
        return every
    if not names_by_uuid(value):
        return _by_number(value, count)
    if not any(one.uuid for one in identities.values()):
        return every
    return frozenset(_by_uuid(value, identities)) & every


def visible_to_hip(variables: Mapping[str, str], count: int) -> frozenset[int]:
    """Give the numbers of the *count* GPUs left to HIP.

    ROCR_VISIBLE_DEVICES is applied by the layer below it, and what is left is counted anew. HIP
    heeds CUDA_VISIBLE_DEVICES as well, where its own variable is not set and CUDA's is given.
    """
    left = sorted(_left(variables.get(ROCR), count))
    kept = _left(variables.get(HIP, variables.get(CUDA)), len(left))
    return frozenset(left[number] for number in kept)


def hides_from_hip(variables: Mapping[str, str], count: int) -> str:
    """Name the variable that leaves HIP none of *count* GPUs."""
    if not _left(variables.get(ROCR), count):
        return ROCR
    return HIP if HIP in variables else CUDA


def _left(value: str | None, count: int) -> frozenset[int]:
    # Nothing lists the UUIDs of AMD's GPUs.
    if value is None or names_by_uuid(value):
        return frozenset(range(count))
    return _by_number(value, count)


def _by_number(value: str, count: int) -> frozenset[int]:
    found: set[int] = set()
    for entry in value.split(","):
        match = _NUMBER.match(entry.strip())
        number = int(match[0]) if match else count
        if number in found:
            # The same GPU twice makes the whole list void.
            return frozenset()
        if number >= count:
            break
        found.add(number)
    return frozenset(found)


def _by_uuid(value: str, identities: Mapping[int, Identity]) -> Iterator[int]:
    for entry in value.split(","):
        number = _find(entry.strip(), identities)
        if number is None:
            return
        yield number


def _find(entry: str, identities: Mapping[int, Identity]) -> int | None:
    """Find the GPU that a UUID, or the unambiguous beginning of one, belongs to."""
    for number, one in identities.items():
        if any(entry == uuid for _, uuid in one.migs):
            return number
    # Before driver 470 a MIG device was MIG-<UUID of its GPU>/<GPU instance>/<compute instance>.
    whole = entry.removeprefix("MIG-").partition("/")[0] if "/" in entry else entry
    found = [
        number
        for number, one in identities.items()
        if whole.startswith("GPU-") and one.uuid and one.uuid.startswith(whole)
    ]
    return found[0] if len(found) == 1 else None
