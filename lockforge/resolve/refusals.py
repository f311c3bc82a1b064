"""What turned out to be of no use after its page was judged, and what the user must hear of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lockforge.model.matrix import Target
    from lockforge.model.python import PythonMinor
    from lockforge.model.resolution import Resolution
    from lockforge.resolve.need import Candidate


class Refusals:
    """Files struck out, for a Python or for one Target, with the reasons."""

    def __init__(self) -> None:
        self._struck_out: dict[tuple[str, PythonMinor], tuple[Candidate, str]] = {}
        self._barred: dict[Target, dict[str, tuple[Candidate, str]]] = {}
        self._needing_build: set[tuple[str, Target]] = set()
        self._unreadable: dict[tuple[str, str], set[str]] = {}

    def strike_out(self, candidate: Candidate, python: PythonMinor, reason: str) -> None:
        """Refuse a file wherever *python* runs, for what its metadata says."""
        self._struck_out[candidate.file.url, python] = (candidate, reason)

    def bar(self, candidate: Candidate, target: Target, reason: str) -> None:
        """Refuse a file in one Target, for what that Target demands."""
        self._barred.setdefault(target, {})[candidate.file.url] = (candidate, reason)

    def lift(self, candidate: Candidate, target: Target) -> None:
        """Take a bar back."""
        del self._barred[target][candidate.file.url]

    def barred(self, name: str, target: Target) -> frozenset[str]:
        """Give the addresses of the files of *name* that are refused in *target* alone."""
        found = self._barred.get(target, {})
        return frozenset(url for url, (candidate, _) in found.items() if candidate.name == name)

    def reason(self, url: str, target: Target) -> str | None:
        """Say why a file is refused in *target*; None if it is not."""
        found = self._struck_out.get((url, target.python))
        found = found or self._barred.get(target, {}).get(url)
        return None if found is None else found[1]

    def mark_needing_build(self, name: str, target: Target) -> None:
        """Remember that an sdist of *name* was tried whose requirements only a build would tell.

        To try older and older ones would end at one from before the problem, which is not what
        anybody asked for.
        """
        self._needing_build.add((name, target))

    def needs_build(self, name: str, target: Target) -> bool:
        """Whether no sdist of *name* is to be tried in *target*."""
        return (name, target) in self._needing_build

    def note_unreadable(self, index_name: str, name: str, label: str) -> None:
        """Remember a label of an extension's wheels that could not be read."""
        self._unreadable.setdefault((index_name, name), set()).add(label)

    def warnings(self, resolutions: Iterable[Resolution]) -> list[str]:
        """Say what the user should know, sorted.

        Labels that could not be read, and files refused although newer than what was chosen: a row
        that is older than it could be must not be so in silence.
        """
        found = {
            f"index {index} has files of {name} with labels that cannot be read, which are "
            f"refused: {', '.join(sorted(labels))}"
            for (index, name), labels in self._unreadable.items()
        }
        for resolution in resolutions:
            target = resolution.target
            refused = [
                pair for (_, python), pair in self._struck_out.items() if python == target.python
            ]
            refused += self._barred.get(target, {}).values()
            chosen = {pin.name: pin.version for pin in resolution.pins}
            found |= {
                f"{candidate.file.filename} was passed over: {reason}"
                for candidate, reason in refused
                if candidate.name in chosen and candidate.version > chosen[candidate.name]
            }
        return sorted(found)
