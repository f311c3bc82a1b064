"""What constraints and overrides may say."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement

from lockforge.errors import Fault
from lockforge.model.matrix import Target
from lockforge.model.project import ProjectRequirement
from lockforge.project.faults import Faults
from lockforge.project.restrictions import check_constraints, check_overrides, overriding
from tests.unit.fakes import make_target
from tests.unit.project.gathered import gathered


def entries(*texts: str) -> list[ProjectRequirement]:
    return [
        ProjectRequirement(requirement=Requirement(text), where=f"list[{number}]")
        for number, text in enumerate(texts)
    ]


def test_constraints() -> None:
    """A version and a marker are fine; where it comes from and its extras are not its matter."""
    faults = Faults()
    check_constraints(
        entries(
            "numpy<2; sys_platform == 'linux'",
            "scipy",
            "acme @ https://host.example/acme-1.0-py3-none-any.whl",
            "peft[fast]<1",
        ),
        faults,
    )
    assert gathered(faults) == (
        Fault(
            where="list[2]",
            message="the constraint on acme is a direct reference, which would say where it comes "
            "from",
            hint="require it from there instead, or override it",
        ),
        Fault(
            where="list[3]",
            message="the constraint on peft has extras, which it cannot bring in",
            hint="leave the extras out, or require them",
        ),
    )


LINUX = make_target("linux-cpu", "3.12")
MAC = make_target("mac-cpu", "3.12")
PATCH = make_target("linux-cpu", "3.12.5")


@pytest.mark.parametrize(
    ("texts", "targets", "clash"),
    [
        (("numpy==1", "scipy==1"), (LINUX,), False),
        (("numpy==1", "NumPy==2"), (LINUX,), True),
        (("numpy==1; sys_platform == 'linux'", "numpy==2"), (LINUX,), True),
        (
            ("numpy==1; sys_platform == 'linux'", "numpy==2; sys_platform == 'darwin'"),
            (LINUX, MAC),
            False,
        ),
        (
            ("numpy==1; sys_platform == 'linux'", "numpy==2; sys_platform != 'darwin'"),
            (LINUX, MAC),
            True,
        ),
        # What no Target decides may be true.
        (("numpy==1; platform_release >= '5'", "numpy==2"), (LINUX,), True),
        (
            (
                "numpy==1; python_full_version < '3.12.4'",
                "numpy==2; python_full_version >= '3.12.4'",
            ),
            (LINUX,),
            False,
        ),
        (
            (
                "numpy==1; python_full_version <= '3.12.4'",
                "numpy==2; python_full_version >= '3.12.4'",
            ),
            (LINUX,),
            True,
        ),
        (
            (
                "numpy==1; python_full_version <= '3.12.4'",
                "numpy==2; python_full_version >= '3.12.4'",
            ),
            (PATCH,),
            False,
        ),
    ],
)
def test_two_overrides_of_one_package(
    texts: tuple[str, ...], targets: tuple[Target, ...], *, clash: bool
) -> None:
    """They may stand side by side where their markers cannot hold together."""
    faults = Faults()
    check_overrides(entries(*texts), targets, faults)
    assert [fault.where for fault in gathered(faults)] == (["list[1]"] if clash else [])


def test_both_overrides_are_named() -> None:
    faults = Faults()
    check_overrides(entries("numpy==1", "numpy==2"), [LINUX], faults)
    assert gathered(faults) == (
        Fault(
            where="list[1]",
            message="numpy==2 and numpy==1 (list[0]) override one package",
            hint="leave one of them, or give them markers that exclude each other",
        ),
    )


def test_a_stated_override_wins() -> None:
    """All of what is configured for its package gives way, whatever the markers."""
    stated = entries("numpy==2; sys_platform == 'linux'")
    configured = entries("NumPy==1", "numpy==1; sys_platform == 'win32'", "scipy==1")
    found = overriding(stated, configured)
    assert [str(one.requirement) for one in found] == [
        'numpy==2; sys_platform == "linux"',
        "scipy==1",
    ]
