"""YAML that people wrote: what it says, and one kind of error for all that is wrong."""

from __future__ import annotations

import pytest

from lockforge.standards.yaml_documents import NotYamlError, parse_yaml


def test_a_document() -> None:
    """It is read as YAML 1.1 has it, and JSON is YAML."""
    assert parse_yaml("a: [1, 0x1F, 2.5, true, '1']\nb:\n") == {
        "a": [1, 31, 2.5, True, "1"],
        "b": None,
    }
    assert parse_yaml('{"a": {"b": [1.5]}}') == {"a": {"b": [1.5]}}
    assert parse_yaml("") is None


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "a: b: c",
        "a: 2026-13-45",
        "!!timestamp a",
        "!!bool a",
        "!!int a",
        "!!float a",
        "!!python/object/apply:os.system [id]",
        "? [a]\n: b",
        "a: 1\n---\nb: 2",
        "\x00",
        "[" * 20_000 + "]" * 20_000,
        "- " * 1500,
    ],
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(NotYamlError) as caught:
        parse_yaml(text)

    assert str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "number",
    [
        "9" * 5000,
        "0x" + "f" * 5000,
        "0b" + "1" * 20_000,
        ":".join(["59"] * 200_000),
        "59:" * 999 + "1.5",
    ],
)
def test_a_number_that_nobody_can_write_again(number: str) -> None:
    """Python refuses to write some of these, and takes long to read others."""
    with pytest.raises(NotYamlError):
        parse_yaml(f"a: {number}")
