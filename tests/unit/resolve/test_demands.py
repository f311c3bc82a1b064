"""What a project demands of one Target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName

from lockforge.errors import ConfigError
from lockforge.model.project import ProjectRequirement, RowSettings
from lockforge.resolve.demands import Demands, demands_of
from lockforge.resolve.need import Need, split_extras
from tests.unit.fakes import make_matrix, make_project, required

if TYPE_CHECKING:
    from lockforge.model.project import Project

ROWS = make_matrix("linux-cu130", "linux-cpu", "win-cpu")
WHEEL = "https://files.example/acme-1.0-py3-none-any.whl"
OTHER = "https://files.example/acme-2.0-py3-none-any.whl"


def of(project: Project, row: str = "linux-cpu") -> Demands:
    (target,) = (one for one in project.matrix.targets if one.row.name == row)
    return demands_of(project, target)


def texts(needs: tuple[Need, ...] | list[Need]) -> list[tuple[str, str, str]]:
    """Identifier, requirement and condition of each need."""
    return [(need.identifier, need.text, need.condition) for need in needs]


def replaced(demands: Demands, text: str) -> list[tuple[str, str, str]]:
    """What the needs of somebody's requirement become."""
    stated = split_extras(Requirement(text))
    return texts([need for one in stated for need in demands.overridden(one)])


def test_requirements_in_an_order_of_their_own() -> None:
    """The order of the files is not the order of the solve; what is said twice is said once."""
    lines = ["torch>=2", "numpy", "torch[opt]>=2", "numpy"]
    demands = of(make_project(*lines, matrix=ROWS))

    assert texts(demands.needs) == [
        ("numpy", "numpy", ""),
        ("torch", "torch>=2", ""),
        ("torch", "torch[opt]>=2", ""),
        ("torch[opt]", "torch[opt]>=2", ""),
    ]
    assert texts(demands.needs) == texts(of(make_project(*lines[::-1], matrix=ROWS)).needs)
    assert {(need.kind, need.direct, need.where) for need in demands.needs} == {
        ("requirement", True, "test")
    }


def test_markers_are_those_of_the_target() -> None:
    project = make_project(
        "a; sys_platform == 'win32'",
        "b; sys_platform == 'linux'",
        "c; python_full_version >= '3.12.4'",
        required("d; sys_platform == 'linux'", "'train' in extras"),
        matrix=ROWS,
    )

    assert texts(of(project, "win-cpu").needs) == [
        ("a", "a", ""),
        ("c", "c", "python_full_version >= '3.12.4'"),
    ]
    assert texts(of(project).needs) == [
        ("b", "b", ""),
        ("c", "c", "python_full_version >= '3.12.4'"),
        ("d", "d", "'train' in extras"),
    ]


def test_one_row() -> None:
    """What a row says is for that row alone."""
    own = RowSettings(
        requirements=(required("flash-attn"),),
        exclude=frozenset({NormalizedName("numpy")}),
        constraints=(required("einops<1"),),
    )
    project = make_project("numpy", matrix=ROWS, rows={"linux-cu130": own})

    assert texts(of(project, "linux-cu130").needs) == [("flash-attn", "flash-attn", "")]
    assert list(of(project, "linux-cu130").constraints) == ["einops"]
    assert texts(of(project).needs) == [("numpy", "numpy", "")]
    assert of(project).constraints == {}
    assert replaced(of(project, "linux-cu130"), "numpy>=1") == []
    assert replaced(of(project), "numpy>=1") == [("numpy", "numpy>=1", "")]


def test_constraints() -> None:
    """They only limit; those of a row add to the general ones, by normalized name."""
    own = RowSettings(constraints=(required("Foo_Bar!=1.5"),))
    project = make_project(
        matrix=ROWS,
        constraints=["foo-bar<2", "foo.bar<1; sys_platform == 'win32'"],
        rows={"linux-cpu": own},
    )

    limits = of(project).constraints["foo-bar"]
    assert texts(limits) == [("foo-bar", "foo-bar<2", ""), ("foo-bar", "Foo_Bar!=1.5", "")]
    assert {(one.kind, one.only_limits, one.direct) for one in limits} == {
        ("constraint", True, True)
    }
    assert texts(of(project, "linux-cu130").constraints["foo-bar"]) == [
        ("foo-bar", "foo-bar<2", "")
    ]
    assert [need.text for need in of(project, "win-cpu").constraints["foo-bar"]] == [
        "foo-bar<2",
        "foo.bar<1",
    ]
    assert of(project).needs == ()


def test_an_override_stands_in_for_every_requirement() -> None:
    demands = of(make_project("Numpy>=2", matrix=ROWS, overrides=["numpy==1.26.4"]))

    (need,) = demands.needs
    assert (need.text, need.kind, need.direct) == ("numpy==1.26.4", "override", True)
    assert replaced(demands, "numpy<1.20") == [("numpy", "numpy==1.26.4", "")]
    assert replaced(demands, "scipy") == [("scipy", "scipy", "")]


def test_an_override_keeps_the_extras_that_are_asked_for() -> None:
    """It says which version; the extras of the requirement it stands in for still hold."""
    demands = of(make_project(matrix=ROWS, overrides=["jax==0.4"]))

    assert replaced(demands, "jax[cuda,tpu]>=0.5") == [
        ("jax", "jax==0.4", ""),
        ("jax[cuda,tpu]", "jax==0.4", ""),
    ]


def test_an_override_adds_its_own_extras() -> None:
    demands = of(make_project(matrix=ROWS, overrides=["jax[Cuda]==0.4"]))

    assert replaced(demands, "jax>=0.5") == [
        ("jax", "jax[Cuda]==0.4", ""),
        ("jax[cuda]", "jax[Cuda]==0.4", ""),
    ]
    assert {one[0] for one in replaced(demands, "jax[tpu]>=0.5")} == {
        "jax",
        "jax[cuda]",
        "jax[tpu]",
    }


def test_an_override_brings_nothing_in() -> None:
    demands = of(make_project("scipy", matrix=ROWS, overrides=["numpy==1.26.4"]))

    assert texts(demands.needs) == [("scipy", "scipy", "")]


def test_overrides_by_marker() -> None:
    """Where none of a package's overrides holds, nothing requires it any more."""
    project = make_project(
        "triton",
        matrix=ROWS,
        overrides=[
            "triton==3.4; sys_platform == 'linux' and platform_machine == 'x86_64'",
            "triton==3.3; sys_platform == 'linux' and platform_machine == 'aarch64'",
        ],
    )

    assert texts(of(project).needs) == [("triton", "triton==3.4", "")]
    assert of(project, "win-cpu").needs == ()
    assert replaced(of(project, "win-cpu"), "triton>=3") == []


def test_an_override_adds_its_condition_to_that_of_the_requirement() -> None:
    entry = required("numpy>=2", "'train' in extras")
    project = make_project(
        entry,
        matrix=ROWS,
        overrides=[
            "numpy==2.0; python_full_version >= '3.12.4'",
            "numpy==1.26; python_full_version < '3.12.4'",
        ],
    )

    assert texts(of(project).needs) == [
        ("numpy", "numpy==1.26", "python_full_version < '3.12.4' and 'train' in extras"),
        ("numpy", "numpy==2.0", "python_full_version >= '3.12.4' and 'train' in extras"),
    ]


def test_an_override_of_a_row_wins_over_the_general_one() -> None:
    """By name, even where its marker rules the row's own out: a row says all of a package."""
    own = RowSettings(
        overrides=(required("numpy==1.26"), required("scipy==1; sys_platform == 'win32'"))
    )
    project = make_project(
        "NumPy",
        "scipy",
        "einops",
        matrix=ROWS,
        overrides=["Numpy==2.0", "scipy==2", "einops==0.8"],
        rows={"linux-cu130": own},
    )

    assert texts(of(project, "linux-cu130").needs) == [
        ("einops", "einops==0.8", ""),
        ("numpy", "numpy==1.26", ""),
    ]
    assert texts(of(project).needs) == [
        ("einops", "einops==0.8", ""),
        ("numpy", "Numpy==2.0", ""),
        ("scipy", "scipy==2", ""),
    ]


def test_an_override_drops_limits_that_others_set() -> None:
    """A rule that only limits is no longer needed for what the project says itself."""
    demands = of(make_project(matrix=ROWS, overrides=["numpy==1.26.4"]))
    (stated,) = split_extras(Requirement("numpy<2"))

    assert list(demands.overridden(replace(stated, only_limits=True))) == []


def test_exclude_wins_over_an_override() -> None:
    own = RowSettings(exclude=frozenset({NormalizedName("numpy")}))
    project = make_project("numpy", matrix=ROWS, overrides=["numpy==2"], rows={"linux-cpu": own})

    assert of(project).needs == ()
    assert texts(of(project, "win-cpu").needs) == [("numpy", "numpy==2", "")]


def test_direct_references() -> None:
    """The one that holds in the Target is the source of the package, extras or not."""
    project = make_project(
        f"acme @ {WHEEL} ; sys_platform == 'linux'",
        f"acme[fast] @ {OTHER} ; sys_platform == 'win32'",
        "other>=1",
        matrix=ROWS,
    )

    def urls(row: str) -> dict[str, str | None]:
        return {name: one.requirement.url for name, one in of(project, row).direct.items()}

    assert urls("linux-cpu") == {"acme": WHEEL}
    assert urls("win-cpu") == {"acme": OTHER}
    assert {(one.identifier, one.url) for one in of(project, "win-cpu").needs} == {
        ("acme", OTHER),
        ("acme[fast]", OTHER),
        ("other", None),
    }


def test_one_direct_reference_said_twice() -> None:
    project = make_project(f"acme @ {WHEEL}", f"acme[fast] @ {WHEEL}", matrix=ROWS)

    assert list(of(project).direct) == ["acme"]


def test_two_direct_references_at_once() -> None:
    """The message names both places, and how to tell the two apart."""
    project = make_project(
        ProjectRequirement(requirement=Requirement(f"acme @ {WHEEL}"), where="one"),
        ProjectRequirement(requirement=Requirement(f"ACME @ {OTHER}"), where="two"),
        matrix=ROWS,
    )

    with pytest.raises(ConfigError) as caught:
        of(project)

    (fault,) = caught.value.faults
    assert fault.where == "two"
    assert "ACME" in fault.message
    assert "one" in fault.message
    assert "markers" in (fault.hint or "")


def test_a_direct_reference_of_an_override() -> None:
    """It replaces that of a requirement, so the two are no conflict."""
    project = make_project(f"acme @ {WHEEL}", matrix=ROWS, overrides=[f"acme @ {OTHER}"])

    demands = of(project)
    assert demands.direct["acme"].requirement.url == OTHER
    assert [need.url for need in demands.needs] == [OTHER]
    plain = of(make_project(f"acme @ {WHEEL}", matrix=ROWS, overrides=["acme==2"]))
    assert plain.direct == {}
    assert [need.url for need in plain.needs] == [None]


def test_a_direct_reference_of_what_is_excluded() -> None:
    """Nothing of an excluded package is left, so two references of it are no conflict."""
    own = RowSettings(exclude=frozenset({NormalizedName("acme")}))
    project = make_project(
        f"acme @ {WHEEL}", f"acme @ {OTHER}", matrix=ROWS, rows={"linux-cpu": own}
    )

    assert of(project).needs == ()
