"""A fleet as text, Markdown and data; the golden files hold whole texts."""

from __future__ import annotations

from lockforge.model.choice import Choice
from lockforge.model.fleet import Fleet, HostPlan
from lockforge.report.fleet import fleet_data, render_fleet, render_fleet_markdown

_NOTHING = Choice(verdicts=(), best=None)


def make_plan(
    host: str,
    row: str | None,
    reason: str,
    would_serve: str | None = None,
    *,
    fallback: bool = False,
) -> HostPlan:
    return HostPlan(
        host=host,
        choice=_NOTHING,
        row=row,
        reason=reason,
        would_serve=would_serve,
        to_lock=would_serve and f"linux-{would_serve}",
        fallback=fallback,
    )


SERVED = make_plan("train", "linux-cu130", "it has kernels for sm_90")
FLEET = Fleet(
    hosts=(
        SERVED,
        make_plan("lab", None, "no row has kernels for 6.1", "cu126"),
        make_plan("alpine", None, "no wheels for musl"),
        make_plan("strix", "linux-cpu", "no row has kernels for gfx1151", fallback=True),
    ),
    unused_rows=("mac-cpu",),
    cheapest=("linux-cu130", "linux-cpu"),
)


def test_data() -> None:
    """The JSON has every host, and of those without a row the accelerator that would serve."""
    assert fleet_data(FLEET) == {
        "version": 1,
        "hosts": [
            {
                "host": "train",
                "row": "linux-cu130",
                "reason": "it has kernels for sm_90",
                "fallback": False,
            },
            {
                "host": "lab",
                "row": None,
                "reason": "no row has kernels for 6.1",
                "fallback": False,
            },
            {"host": "alpine", "row": None, "reason": "no wheels for musl", "fallback": False},
            {
                "host": "strix",
                "row": "linux-cpu",
                "reason": "no row has kernels for gfx1151",
                "fallback": True,
            },
        ],
        "unserved": [
            {
                "host": "lab",
                "reason": "no row has kernels for 6.1",
                "accelerator": "cu126",
                "to_lock": "linux-cu126",
            },
            {
                "host": "alpine",
                "reason": "no wheels for musl",
                "accelerator": None,
                "to_lock": None,
            },
        ],
        "unused_rows": ["mac-cpu"],
        "cheapest": ["linux-cu130", "linux-cpu"],
    }


def test_nothing_is_said_of_what_is_not_there() -> None:
    """A fleet that is served has no lists of what is missing."""
    fleet = Fleet(hosts=(SERVED,), unused_rows=(), cheapest=("linux-cu130",))

    assert render_fleet(fleet) == (
        "1 host: 1 served\n"
        "\n"
        "host   row          reason\n"
        "train  linux-cu130  it has kernels for sm_90\n"
        "\n"
        "cheapest rows for the hosts served:\n"
        "  linux-cu130\n"
    )


def test_no_hosts() -> None:
    """A fleet without hosts uses no row."""
    fleet = Fleet(hosts=(), unused_rows=("mac-cpu",), cheapest=())

    assert render_fleet(fleet) == "0 hosts: 0 served\n\nrows that no host gets:\n  mac-cpu\n"
    assert render_fleet_markdown(fleet) == (
        "0 hosts: 0 served\n\n**Rows that no host gets:** mac-cpu\n"
    )


def test_markdown_shows_texts_as_they_are() -> None:
    """Nothing in a name or a reason becomes a column, a tag or emphasis."""
    plan = make_plan("a|b", "linux-cpu", "glibc 2.27<2.28, `x` *y* [z]\n\\")
    fleet = Fleet(hosts=(plan,), unused_rows=(), cheapest=())

    assert render_fleet_markdown(fleet).splitlines()[-1] == (
        r"| a\|b | linux-cpu | glibc 2.27\<2.28, \`x\` \*y\* \[z]\n\\ |"
    )
