"""What both are asked, and where they may differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.independent.check_lock import Row

_TRITON = {"linux-rocm7.2": "triton-rocm", "linux-xpu": "triton-xpu"}
"""Triton where its name is of PyTorch's indexes alone: uv's users name it to route it."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """Requirements, the rows and the Pythons they are wanted for."""

    name: str
    rows: Sequence[str]
    pythons: Sequence[str] = ("3.12",)
    requirements: Sequence[str] = ()
    project: str | None = None
    """The example project to ask for, in place of requirements."""
    extras: Sequence[str] = ()
    named: Mapping[str, str] = field(default_factory=lambda: _TRITON)
    """By row, what uv must be told of besides to find it on the row's index."""

    def row(self, name: str, python: str) -> Row:
        """Give a row as the independent check names it."""
        platform, _, label = name.rpartition("-")
        platforms = [other.rpartition("-")[0] for other in self.rows]
        major, minor = map(int, python.split("."))
        return Row(
            platform=platform,
            label=label,
            python=(major, minor),
            extra=label.replace(".", "-") if platforms.count(platform) > 1 else None,
        )


_PROJECT_ROWS = ("linux-cu130", "linux-cpu", "win-cpu", "mac-cpu")
_ROWS = (
    "linux-cpu",
    "linux-cu126",
    "linux-cu130",
    "linux-rocm7.2",
    "linux-xpu",
    "linux-aarch64-cpu",
    "linux-aarch64-cu130",
    "win-cpu",
    "win-cu130",
    "win-xpu",
    "mac-cpu",
)
_OLDER_ROWS = ("linux-cpu", "linux-cu128", "linux-aarch64-cpu", "win-cpu", "win-cu128", "mac-cpu")
_CODEC_ROWS = ("linux-cpu", "linux-cu126", "linux-cu130", "win-cpu", "mac-cpu")
_OLDER_CODEC_ROWS = ("linux-cpu", "linux-cu126", "linux-cu128", "win-cpu", "mac-cpu")
_AO_ROWS = ("linux-cpu", "linux-cu128", "win-cpu", "mac-cpu")

QUESTIONS = (
    Question(name="audio", project="audio", rows=_PROJECT_ROWS),
    Question(name="llm", project="llm", extras=("train",), rows=_PROJECT_ROWS),
    Question(name="vision", project="vision", rows=_PROJECT_ROWS),
    Question(name="torch", requirements=("torch",), rows=_ROWS, pythons=("3.11", "3.12", "3.13")),
    Question(name="three", requirements=("torch", "torchvision", "torchaudio"), rows=_ROWS),
    Question(
        name="older",
        requirements=("torch<2.9", "torchvision", "torchaudio"),
        rows=_OLDER_ROWS,
    ),
    Question(name="codec", requirements=("torch", "torchcodec"), rows=_CODEC_ROWS),
    Question(name="older-codec", requirements=("torch<2.11", "torchcodec"), rows=_OLDER_CODEC_ROWS),
    Question(name="ao", requirements=("torch", "torchao"), rows=_AO_ROWS),
    Question(
        name="attention",
        requirements=("torch", "xformers"),
        rows=("linux-cu128", "linux-cu130", "win-cu130"),
    ),
    # PyTorch's index alone has a Triton of that age for this machine.
    Question(
        name="older-arm",
        requirements=("torch<2.9", "torchvision"),
        rows=("linux-aarch64-cu129",),
        named={"linux-aarch64-cu129": "triton"},
    ),
)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A package whose version differs in some rows of a question, and the reason."""

    question: str
    package: str
    rows: Sequence[str]
    reason: str


DIFFERENCES = (
    Difference(
        question="older",
        package="torchaudio",
        rows=_OLDER_ROWS,
        reason="torchaudio 2.11 requires no torch by its metadata, but is built against torch 2.11;"
        " a rule of the catalogue keeps to each torch the torchaudio built against it",
    ),
    Difference(
        question="older-codec",
        package="torchcodec",
        rows=_OLDER_CODEC_ROWS,
        reason="torchcodec requires no torch by its metadata, but 0.10 is built against torch 2.10"
        " and newer ones need 2.11; a rule of the catalogue pairs them",
    ),
)
