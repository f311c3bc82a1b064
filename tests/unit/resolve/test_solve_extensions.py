"""Wheels built for one accelerator and one torch, solved over indexes in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lockforge.catalog import load_catalog
from lockforge.model.index import Index, UserIndex
from lockforge.resolve.finder import Finder
from lockforge.resolve.matrix import solve_matrix
from tests.unit.fakes import (
    FakeRepository,
    NoProgress,
    make_matrix,
    make_project,
    solve,
    solved,
    torch_index,
    versions,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockforge.model.project import Project

EXT = Index(name="ext", url="https://ext.example/simple/")
PYG = Index(name="pyg", url="https://pyg.example/torch-{torch}+{accelerator}.html", layout="flat")
LINUX, WINDOWS = "cp312-cp312-linux_x86_64", "cp312-cp312-win_amd64"
KERNELS = (UserIndex(index=EXT, packages=("kernels", "more")),)


def stack(**by_label: Sequence[str]) -> FakeRepository:
    """Torch for Linux and Windows by accelerator; that of the CPU for macOS too."""
    repository = FakeRepository()
    for label, known in by_label.items():
        for version in known:
            for platform in ("manylinux_2_28_x86_64", "win_amd64"):
                repository.add(
                    f"torch-{version}+{label}-cp312-cp312-{platform}.whl", index=torch_index(label)
                )
            if label == "cpu":
                repository.add(
                    f"torch-{version}-cp312-none-macosx_11_0_arm64.whl", index=torch_index(label)
                )
    return repository


def page(torch: str, accelerator: str) -> Index:
    url = PYG.url.replace("{torch}", torch).replace("{accelerator}", accelerator)
    return Index(name="pyg", url=url, layout="flat")


def project(*requirements: str, rows: Sequence[str] = ("linux-cu128",)) -> Project:
    return make_project(
        *requirements,
        matrix=make_matrix(*rows),
        user_indexes=[*KERNELS, UserIndex(index=PYG, packages=("scatter", "sparse"))],
    )


def chosen(
    repository: FakeRepository, *requirements: str, row: str = "linux-cu128"
) -> dict[str, str] | None:
    """What one row gets; None for no solution."""
    resolutions, failures = solve(project(*requirements, rows=[row]), repository)
    assert len(resolutions) + len(failures) == 1
    return versions(resolutions[0]) if resolutions else None


def add(repository: FakeRepository, version: str, *requires: str, tags: str = LINUX) -> None:
    repository.add(f"kernels-{version}-{tags}.whl", *requires, index=EXT)


def test_torch_goes_back_to_what_the_extension_is_built_for() -> None:
    repository = stack(cu128=["2.7.0", "2.8.0", "2.9.0"])
    for torch in ("2.7", "2.8"):
        add(repository, f"1.0+cu128torch{torch}")

    assert chosen(repository, "torch", "kernels") == {
        "torch": "2.8.0+cu128",
        "kernels": "1.0+cu128torch2.8",
    }
    # Whoever asks for the extension alone gets its torch as well.
    assert chosen(repository, "kernels") == chosen(repository, "torch", "kernels")


def test_the_extension_goes_back_to_what_is_built_for_torch() -> None:
    repository = stack(cu128=["2.7.0", "2.8.0"])
    add(repository, "2.0+cu128torch2.8")
    add(repository, "1.5+cu128torch2.7")
    add(repository, "1.0+cu128torch2.7")

    assert chosen(repository, "torch==2.7.0", "kernels") == {
        "torch": "2.7.0+cu128",
        "kernels": "1.5+cu128torch2.7",
    }
    assert chosen(repository, "torch", "kernels") == {
        "torch": "2.8.0+cu128",
        "kernels": "2.0+cu128torch2.8",
    }
    assert chosen(repository, "torch==2.7.0", "kernels>=2") is None


def test_two_extensions_meet_at_one_torch() -> None:
    repository = stack(cu128=["2.7.0", "2.8.0", "2.9.0"])
    for torch in ("2.7", "2.9"):
        add(repository, f"1.0+cu128torch{torch}")
    for torch in ("27", "28"):
        repository.add(f"more-3.0+pt{torch}cu128-{LINUX}.whl", index=EXT)

    assert chosen(repository, "torch", "kernels", "more") == {
        "torch": "2.7.0+cu128",
        "kernels": "1.0+cu128torch2.7",
        "more": "3.0+pt27cu128",
    }


def test_one_version_for_several_torches() -> None:
    """The newest torch is tried first, though `pt28` sorts above `pt210` as text."""
    repository = stack(cu128=["2.8.0", "2.9.0", "2.10.0"])
    for torch in ("28", "29", "210"):
        add(repository, f"1.0+pt{torch}cu128")

    assert chosen(repository, "kernels", "torch") == {
        "torch": "2.10.0+cu128",
        "kernels": "1.0+pt210cu128",
    }
    assert chosen(repository, "kernels", "torch<2.10") == {
        "torch": "2.9.0+cu128",
        "kernels": "1.0+pt29cu128",
    }
    # A newer torch comes before a newer version of the package.
    add(repository, "1.1+pt28cu128")
    assert chosen(repository, "kernels", "torch") == {
        "torch": "2.10.0+cu128",
        "kernels": "1.0+pt210cu128",
    }


def test_a_patch_release_of_torch() -> None:
    """Three numbers mean that one release, two mean any of its patch releases."""
    repository = stack(cu128=["2.8.0", "2.8.1"])
    add(repository, "1.0+torch2.8.0.cu128")
    repository.add(f"more-1.0+cu128torch2.8-{LINUX}.whl", index=EXT)

    assert chosen(repository, "kernels") == {
        "torch": "2.8.0+cu128",
        "kernels": "1.0+torch2.8.0.cu128",
    }
    assert chosen(repository, "more") == {"torch": "2.8.1+cu128", "more": "1.0+cu128torch2.8"}


def test_each_row_has_the_wheel_of_its_own() -> None:
    rows = ("linux-cu128", "linux-cu126", "win-cu128", "linux-cpu", "mac-cpu")
    repository = stack(cu128=["2.8.0"], cu126=["2.8.0"], cpu=["2.8.0"])
    for label in ("cu128", "cu126"):
        add(repository, f"1.0+{label}torch2.8")
    add(repository, "1.0+cu128torch2.8", tags=WINDOWS)
    add(repository, "1.0+pt28cpu")
    add(repository, "1.0", tags="cp312-cp312-macosx_11_0_arm64")

    found = {
        one.target.row.name: versions(one)["kernels"]
        for one in solved(project("kernels", "torch", rows=rows), repository)
    }
    assert found == {
        "linux-cu128": "1.0+cu128torch2.8",
        "linux-cu126": "1.0+cu126torch2.8",
        "win-cu128": "1.0+cu128torch2.8",
        "linux-cpu": "1.0+pt28cpu",
        "mac-cpu": "1.0",
    }


def test_a_row_without_a_wheel_fails_alone() -> None:
    repository = stack(cu128=["2.8.0"], cu126=["2.8.0"])
    add(repository, "1.0+cu128torch2.8")
    resolutions, failures = solve(
        project("kernels", rows=("linux-cu128", "linux-cu126")), repository
    )

    assert [one.target.row.name for one in resolutions] == ["linux-cu128"]
    assert [one.target.row.name for one in failures] == ["linux-cu126"]


@pytest.mark.parametrize(("torch", "twin"), [("2.5", "FALSE"), ("2.7", "TRUE"), ("2.8", "TRUE")])
def test_the_abi_is_that_of_torch(torch: str, twin: str) -> None:
    """Torch's Linux wheels have the new ABI from 2.7 on, and had the old one up to 2.5."""
    repository = stack(cu126=[f"{torch}.0"])
    for one in ("TRUE", "FALSE"):
        add(repository, f"1.0+cu126torch{torch}cxx11abi{one}")

    assert chosen(repository, "kernels", row="linux-cu126") == {
        "torch": f"{torch}.0+cu126",
        "kernels": f"1.0+cu126torch{torch}cxx11abi{twin.lower()}",
    }


@pytest.mark.parametrize(
    ("row", "twin"),
    [
        ("linux-cu124", "false"),
        ("linux-cu118", "false"),
        ("linux-cpu", "false"),
        ("linux-cu126", "true"),
        ("linux-rocm6.2.4", "true"),
        ("linux-xpu", "true"),
    ],
)
def test_the_abi_of_torch_2_6_depends_on_the_accelerator(row: str, twin: str) -> None:
    """Its release notes: CXX11_ABI=1 in the Linux wheels for CUDA 12.6, ROCm and XPU alone."""
    label = row.removeprefix("linux-")
    repository = stack(**{label: ["2.6.0"]})
    for one in ("TRUE", "FALSE"):
        add(repository, f"1.0+{label}torch2.6cxx11abi{one}")

    found = chosen(repository, "kernels", row=row)
    assert found is not None
    assert found["kernels"] == f"1.0+{label}torch2.6cxx11abi{twin}"


@pytest.mark.parametrize(("torch", "wrong"), [("2.5", "TRUE"), ("2.8", "FALSE")])
def test_a_wheel_of_the_other_abi_alone_is_of_no_use(torch: str, wrong: str) -> None:
    repository = stack(cu126=[f"{torch}.0"])
    add(repository, f"1.0+cu126torch{torch}cxx11abi{wrong}")

    assert chosen(repository, "kernels", row="linux-cu126") is None


def test_the_abi_without_a_torch() -> None:
    repository = stack(cu128=["2.5.0", "2.7.0", "2.8.0"])
    add(repository, "1.0+cu128cxx11abiFALSE")

    assert chosen(repository, "kernels") == {
        "torch": "2.5.0+cu128",
        "kernels": "1.0+cu128cxx11abifalse",
    }


def test_windows_has_no_such_abi() -> None:
    """The two ABIs are those of GCC's library: what a wheel for Windows says of them is idle."""
    repository = stack(cu128=["2.8.0"])
    add(repository, "1.0+cu128torch2.8.0cxx11abiFALSE", tags=WINDOWS)

    assert chosen(repository, "kernels", row="win-cu128") == {
        "torch": "2.8.0+cu128",
        "kernels": "1.0+cu128torch2.8.0cxx11abifalse",
    }


class TestPages:
    """A page per torch and accelerator, as PyG has them."""

    def test_the_newest_torch_with_a_wheel(self) -> None:
        repository = stack(cu128=["2.8.0", "2.9.0", "2.9.1"])
        for torch, digits in (("2.8.0", "28"), ("2.9.0", "29")):
            repository.add(f"scatter-2.1+pt{digits}cu128-{LINUX}.whl", index=page(torch, "cu128"))

        # The label says 2.9, whatever page it is on, so that 2.9.1 has it too.
        found = chosen(repository, "scatter", "torch")
        assert found == {"torch": "2.9.1+cu128", "scatter": "2.1+pt29cu128"}

    def test_a_wheel_without_label_is_for_the_torch_of_its_page(self) -> None:
        repository = stack(cu128=["2.8.0", "2.9.0", "2.9.1"])
        repository.add(f"scatter-2.1-{LINUX}.whl", index=page("2.8.0", "cu128"))
        repository.add(f"scatter-2.0-{LINUX}.whl", index=page("2.9.1", "cu128"))

        # Torch is decided first, and what is built for it beside it.
        assert chosen(repository, "scatter", "torch") == {
            "torch": "2.9.1+cu128",
            "scatter": "2.0",
        }
        assert chosen(repository, "scatter", "torch<2.9") == {
            "torch": "2.8.0+cu128",
            "scatter": "2.1",
        }
        assert chosen(repository, "scatter", "torch==2.9.0") is None

    def test_one_file_name_on_several_pages(self) -> None:
        """Each page has a file of its own, for its own torch."""
        repository = stack(cu128=["2.8.0", "2.9.0"])
        for torch in ("2.8.0", "2.9.0"):
            repository.add(f"scatter-2.1-{LINUX}.whl", index=page(torch, "cu128"))

        for limit, torch in (("torch", "2.9.0"), ("torch<2.9", "2.8.0")):
            (resolution,) = solved(project("scatter", limit), repository)
            pin = resolution.pin("scatter")
            assert pin is not None
            assert pin.index.url == page(torch, "cu128").url

    def test_two_packages_of_one_page(self) -> None:
        repository = stack(cu128=["2.8.0", "2.9.0"])
        for torch in ("2.8.0", "2.9.0"):
            repository.add(f"scatter-2.1-{LINUX}.whl", index=page(torch, "cu128"))
        repository.add(f"sparse-0.6-{LINUX}.whl", "scatter", index=page("2.8.0", "cu128"))

        found = chosen(repository, "scatter", "sparse", "torch")
        assert found == {"torch": "2.8.0+cu128", "scatter": "2.1", "sparse": "0.6"}

    def test_the_project_s_limits_say_which_pages_there_are(self) -> None:
        """No page is asked of a torch that the project does not admit anyway."""
        repository = stack(cu128=["2.7.0", "2.8.0", "2.9.0"])
        repository.add(f"scatter-2.1-{LINUX}.whl", index=page("2.8.0", "cu128"))

        assert chosen(repository, "scatter", "torch==2.8.*") == {
            "torch": "2.8.0+cu128",
            "scatter": "2.1",
        }
        assert repository.asked.count(("pyg", "scatter")) == 1

    def test_rows_have_pages_of_their_own(self) -> None:
        repository = stack(cu128=["2.8.0"], cpu=["2.8.0"])
        repository.add(f"scatter-2.1+pt28cu128-{LINUX}.whl", index=page("2.8.0", "cu128"))
        repository.add(f"scatter-2.1+pt28cpu-{LINUX}.whl", index=page("2.8.0", "cpu"))
        repository.add("scatter-2.1-cp312-none-macosx_11_0_arm64.whl", index=page("2.8.0", "cpu"))
        rows = ("linux-cu128", "linux-cpu", "mac-cpu")

        found = [versions(one) for one in solved(project("scatter", rows=rows), repository)]
        assert [one["scatter"] for one in found] == ["2.1+pt28cu128", "2.1+pt28cpu", "2.1"]
        assert [one["torch"] for one in found] == ["2.8.0+cu128", "2.8.0+cpu", "2.8.0"]


def test_what_is_added_is_told() -> None:
    """A limit that only a label states is named, with the version that has it."""
    repository = stack(cu128=["2.8.0", "2.9.0"])
    add(repository, "1.0+cu128torch2.8")

    (resolution,) = solved(project("kernels", "torch"), repository)
    (addition,) = resolution.additions
    assert (addition.package, addition.requirement) == ("kernels", "torch==2.8.*")
    assert "1.0+cu128torch2.8" in addition.source
    assert "ext" in addition.source


def test_nothing_is_added_that_metadata_says() -> None:
    repository = stack(cu128=["2.8.0", "2.9.0"])
    add(repository, "1.0+cu128torch2.8", "torch==2.8.*")

    (resolution,) = solved(project("kernels", "torch"), repository)
    assert resolution.additions == ()


def test_an_override_of_torch_wins_over_a_label() -> None:
    """Who overrides torch says that the label is wrong."""
    repository = stack(cu128=["2.8.0", "2.9.0"])
    add(repository, "1.0+cu128torch2.8")
    own = make_project(
        "kernels",
        matrix=make_matrix("linux-cu128"),
        user_indexes=KERNELS,
        overrides=["torch==2.9.0"],
    )

    (resolution,) = solved(own, repository)
    assert versions(resolution) == {"torch": "2.9.0+cu128", "kernels": "1.0+cu128torch2.8"}


def test_labels_that_cannot_be_read_are_warned_of_once() -> None:
    rows = ("linux-cu128", "linux-cu126")
    repository = stack(cu128=["2.8.0"], cu126=["2.8.0"])
    for label in ("weird.cu128", "cu129torch2.9rc1"):
        for version in ("1.0", "2.0"):
            add(repository, f"{version}+{label}")
    add(repository, "0.9+cu128torch2.8")
    add(repository, "0.9+cu126torch2.8")
    own = project("kernels", rows=rows)
    nothing: dict[str, tuple[()]] = {}
    preferred = dict.fromkeys(own.matrix.targets, nothing)
    finder = Finder(own, load_catalog(), repository, preferred)

    found = solve_matrix(own, finder, preferred, NoProgress())

    assert [versions(one)["kernels"] for one in found.resolutions] == [
        "0.9+cu128torch2.8",
        "0.9+cu126torch2.8",
    ]
    (warning,) = finder.refusals.warnings(())
    assert "ext" in warning
    assert "kernels" in warning
    assert "cu129torch2.9rc1, weird.cu128" in warning


class TestDirectReference:
    """The usual way to install such a wheel: by its address in a release."""

    URL = "https://github.example/kernels-1.0+cu128torch2.8-cp312-cp312-linux_x86_64.whl"

    def repository(self) -> FakeRepository:
        repository = stack(cu128=["2.8.0", "2.9.0"], cu126=["2.8.0"])
        index = Index(name="direct reference", url=self.URL, layout="direct")
        repository.add(f"kernels-1.0+cu128torch2.8-{LINUX}.whl", index=index)
        return repository

    def test_its_label_limits_torch(self) -> None:
        assert chosen(self.repository(), f"kernels @ {self.URL}", "torch") == {
            "torch": "2.8.0+cu128",
            "kernels": "1.0+cu128torch2.8",
        }

    def test_a_row_of_another_accelerator_is_refused(self) -> None:
        """To install it there would be a broken environment that nothing tells of."""
        found = chosen(self.repository(), f"kernels @ {self.URL}", "torch", row="linux-cu126")
        assert found is None
