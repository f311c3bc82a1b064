"""Which names an index of the user's own serves."""

from __future__ import annotations

import pytest

from lockforge.model.index import Index, UserIndex

INDEX = Index(name="acme", url="https://acme.example/simple/")


@pytest.mark.parametrize(
    ("packages", "accelerators", "name", "accelerator", "expected"),
    [
        (("acme-*",), (), "acme-core", "cpu", True),
        (("acme-*",), (), "acme", "cpu", False),
        (("acme-*",), (), "my-acme-core", "cpu", False),
        (("acme",), (), "acme", "cpu", True),
        (("acme",), (), "acme-core", "cpu", False),
        (("one", "two"), (), "two", "cpu", True),
        (("acme-*",), ("cu128",), "acme-core", "cu128", True),
        (("acme-*",), ("cu128",), "acme-core", "cu130", False),
        (("acme-*",), ("cu128", "cu130"), "acme-core", "cu130", True),
        (("*",), (), "anything", "rocm7.2", True),
        ((), (), "anything", "cpu", False),
    ],
)
def test_routes(
    packages: tuple[str, ...],
    accelerators: tuple[str, ...],
    name: str,
    accelerator: str,
    expected: bool,  # noqa: FBT001
) -> None:
    """Names and patterns decide, in rows of the accelerators that are named."""
    user = UserIndex(index=INDEX, packages=packages, accelerators=accelerators)
    assert user.routes(name, accelerator) is expected
