"""Machines of which one text is damaged: nothing raises, and no row comes of it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lockforge.adapters.captured import CapturedSystem, Entry
from lockforge.catalog import load_catalog
from lockforge.detect.builds import catalog_builds, platform_of
from lockforge.detect.cautions import cautions_of
from lockforge.detect.choose import choose
from lockforge.detect.facts import read_facts
from lockforge.detect.gather import gather
from lockforge.detect.record import parse_saved, render_saved
from lockforge.errors import UsageError
from lockforge.model.machine import Facts
from lockforge.model.probe import Asked
from tests.support.machines import ENTRIES, LABELS, Machine, read_machines

CATALOG = load_catalog()
MACHINES = list(read_machines().values())
TEXTS = [str(one["text"]) for each in MACHINES for one in each.answers.values() if "text" in one]
# Without them GPUs are not known to be hidden or out of reach.
OPENING = frozenset({"env", "dev"})
laws = settings(deadline=None, max_examples=150, derandomize=True)

noise = st.binary(max_size=80).map(lambda content: content.decode("utf-8", "replace"))


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """Cut a part of *text* out, or put noise or another machine's text in its place."""
    start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
    middle = draw(st.just("") | noise | st.sampled_from(TEXTS) | st.just(text[start:end] * 2))
    return text[:start] + middle + text[end:]


def asked(machine: Machine, probe: str | None = None, text: str = "") -> tuple[Asked, ...]:
    """Ask *machine*, with *text* in place of what *probe* said."""
    entries = []
    for name, answer in machine.answers.items():
        entry = ENTRIES[name]
        entries.append(
            Entry(
                argv=tuple(entry.get("argv", ())),
                environment=tuple(entry["env"].items())
                if isinstance(entry.get("env"), dict)
                else (),
                path=entry.get("path", ""),
                variables=entry.get("env") is True,
                status=answer.get("status"),
                outcome=answer.get("outcome"),
                text=text if name == probe else answer.get("text", ""),
            )
        )
    return gather(CapturedSystem(entries, {}))


def usable(facts: Facts) -> set[str]:
    choice = choose(facts, catalog_builds(CATALOG, platform_of(facts), LABELS), CATALOG)
    assert all(one.reason for one in choice.verdicts)
    assert all(one.text for one in cautions_of(facts, choice, CATALOG))
    return {one.build.name for one in choice.verdicts if one.status == "usable"}


@given(st.data())
@laws
def test_noise_gives_no_row(data: st.DataObject) -> None:
    """A probe that says rubbish takes rows away, and adds none."""
    machine = data.draw(st.sampled_from(MACHINES))
    probe = data.draw(st.sampled_from(sorted(set(machine.answers) - OPENING)))

    rows = usable(read_facts(asked(machine, probe, data.draw(noise)), CATALOG))

    assert rows <= usable(read_facts(asked(machine), CATALOG))


@given(st.data())
@laws
def test_no_text_raises(data: st.DataObject) -> None:
    """Whatever a probe says, facts are read, judged, saved and read again; but for overrides."""
    machine = data.draw(st.sampled_from(MACHINES))
    probe = data.draw(st.sampled_from(sorted(machine.answers)))
    text = data.draw(damaged(str(machine.answers[probe].get("text", ""))))

    try:
        facts = read_facts(asked(machine, probe, text), CATALOG)
    except UsageError:
        assert probe == "env"
        return

    usable(facts)
    assert parse_saved(render_saved(facts), where="saved") == facts
