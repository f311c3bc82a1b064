"""What a stamp may keep: nothing that repeats a secret of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockforge.adapters import stamp
from lockforge.standards.addresses import may_hold_secrets

LOCK = ["lock", "torch"]
PLAIN = 'url = "https://host.example/simple/"\n'
SECRET = 'url = "https://user:s3cret@host.example/simple/"\n'
QUERY = "acme @ https://host.example/acme-1.0.zip?token=s3cret\n"


def kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], content: bytes
) -> bool:
    """Whether a run of *arguments* that read *content* is remembered."""
    monkeypatch.setenv("LOCKFORGE_CACHE_DIR", str(folder / "cache"))
    path = folder / "read.txt"
    path.write_bytes(content)
    stamp.remember(arguments, {str(path): content}, b"is current\n", may_hold_secrets)
    assert not any(
        b"s3cret" in one.read_bytes().replace(b"\0", b"")
        for one in (folder / "cache").rglob("*")
        if one.is_file()
    )
    return stamp.recall(arguments) == b"is current\n"


def test_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(tmp_path, monkeypatch, LOCK, PLAIN.encode())
    assert kept(tmp_path, monkeypatch, LOCK, SECRET.replace("user:s3cret", "${TOKEN}").encode())


@pytest.mark.parametrize("text", [SECRET, QUERY])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_secrets_of_files(
    text: str, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the file is for, and however it is encoded."""
    assert not kept(tmp_path, monkeypatch, LOCK, text.encode(encoding))


@pytest.mark.parametrize("text", [SECRET, QUERY])
def test_secrets_of_the_command_line(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not kept(tmp_path, monkeypatch, ["lock", text.strip()], PLAIN.encode())


@pytest.mark.parametrize("text", [SECRET, QUERY])
def test_secrets_of_the_environment(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings among its variables are part of what a stamp is found by."""
    monkeypatch.setenv("LOCKFORGE_TORCH_INDEX", text.strip())
    assert not kept(tmp_path, monkeypatch, LOCK, PLAIN.encode())
