"""YAML as people may have written it: whatever is wrong with it is one kind of error."""

from __future__ import annotations

from typing import Any

import yaml

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Characters of a number. Longer ones take PyYAML a time that grows with their square, and Python
# writes none of more than 4300 digits.
_LONGEST = 40
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
# The last are what PyYAML lets through of values that are not of the type their tag says.
_FAULTS = (
    yaml.YAMLError,
    RecursionError,
    ValueError,
    OverflowError,
    TypeError,
    AttributeError,
    LookupError,
)


class NotYamlError(ValueError):
    """The text is not YAML, or not as this reads it; the message is one line that says why."""


def parse_yaml(text: str) -> Any:
    """Read the one document of *text*; raises NotYamlError."""
    try:
        loader = _Loader(text)
        try:
            loader.yaml_constructors = {
                **loader.yaml_constructors,
                **{tag: _short(loader.yaml_constructors[tag]) for tag in _NUMBERS},
            }
            return loader.get_single_data()
        finally:
            loader.dispose()
    except _FAULTS as error:
        raise NotYamlError(" ".join(str(error).split())) from error


def _short(construct: Any) -> Any:
    def construct_short(loader: Any, node: Any) -> Any:
        if len(loader.construct_scalar(node)) > _LONGEST:
            raise ValueError("a number is too long")
        return construct(loader, node)

    return construct_short
