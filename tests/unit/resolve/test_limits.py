"""When a search is given up: by rounds and by a clock that the test moves."""

from __future__ import annotations

import pytest

from lockforge.model.resolution import Effort
from lockforge.resolve.limits import LimitReachedError, LimitReporter, Limits
from tests.unit.fakes import FakeRepository, make_matrix, make_project, solve


def world() -> FakeRepository:
    """Packages that take several rounds, and conflict on the way in the second row."""
    repository = FakeRepository()
    repository.wheels("left", "1.0", "1.1", "1.2", requires=["middle<2"])
    repository.wheels("right", "1.0", "1.1", "1.2", requires=["middle>=2; sys_platform == 'win32'"])
    repository.wheels("middle", "1.0", "2.0")
    return repository


def test_rounds() -> None:
    """So many rounds as are allowed are run, whatever the number of searches."""
    reporter = LimitReporter(Limits(rounds=3))
    for index in (0, 1, 0):
        reporter.starting_round(index)

    with pytest.raises(LimitReachedError):
        reporter.starting_round(1)

    assert reporter.effort == Effort(rounds=3, seconds=0)


def test_seconds() -> None:
    """The clock counts from the start of the Target."""
    now = [100.0]
    reporter = LimitReporter(Limits(seconds=5, clock=lambda: now[0]))
    now[0] = 105.0
    reporter.starting_round(0)
    now[0] = 107.0

    with pytest.raises(LimitReachedError):
        reporter.starting_round(1)

    assert reporter.effort == Effort(rounds=1, seconds=7)


def test_one_row_gives_up() -> None:
    """A row that is given up is a failure beside the other rows, and says what it stood at."""
    project = make_project("left", "right", matrix=make_matrix("linux-cpu", "win-cpu"))
    resolutions, failures = solve(project, world(), limits=Limits(rounds=4))
    assert [one.target.id for one in resolutions] == ["linux-cpu-py312"]
    (failure,) = failures
    assert failure.gave_up == Effort(rounds=4, seconds=0)
    assert {cause.requirement for cause in failure.causes} == {"middle<2", "middle>=2"}


def test_enough_rounds() -> None:
    """With enough rounds the same row is found to have no solution."""
    project = make_project("left", "right", matrix=make_matrix("win-cpu"))
    (failure,) = solve(project, world())[1]
    assert failure.gave_up is None


def test_time_ends_a_search() -> None:
    """A clock that jumps ahead ends the search of every Target."""
    ticks = iter(range(0, 10_000, 20))
    project = make_project("left", matrix=make_matrix("linux-cpu", "mac-cpu"))
    limits = Limits(seconds=30, clock=lambda: float(next(ticks)))
    resolutions, failures = solve(project, world(), limits=limits)
    assert list(resolutions) == []
    assert all(failure.gave_up and failure.gave_up.seconds > 30 for failure in failures)
