"""`lockforge lock`: resolve every row into one proved lock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from lockforge.errors import MissingHashError, NoSolutionError, SolverLimitError, UsageError
from lockforge.lockfile.freshness import is_altered, stale_reasons
from lockforge.lockfile.notes import notes_of
from lockforge.lockfile.previous import known_files, preferences
from lockforge.merge.merge import merge
from lockforge.merge.verify import verify
from lockforge.model.lock import LockedFile
from lockforge.model.matrix import Matrix
from lockforge.report.failure import render_failures, render_misalignments
from lockforge.resolve.finder import Finder
from lockforge.resolve.limits import ROUNDS_ONLY, Limits
from lockforge.resolve.matrix import solve_matrix
from lockforge.standards.addresses import public_address
from lockforge.standards.locked_rows import locked_rows, refuse_conflicts
from lockforge.standards.pylock import parse_pylock, render_pylock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from packaging.pylock import PackageArchive, PackageSdist, PackageWheel, Pylock

    from lockforge.catalog import Catalog
    from lockforge.model.project import Project
    from lockforge.model.release import DistributionFile
    from lockforge.model.resolution import Failure, Outcome, Pin, Resolution
    from lockforge.ports import Progress, Repository
    from lockforge.project.load import Loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRequest:
    """What to lock, over what."""

    loaded: Loaded
    previous: str | None
    """The text of the lock that is there."""
    where: str
    """What to call that file in messages."""
    upgrade: bool = False
    upgrade_packages: tuple[str, ...] = ()
    refresh: bool = False
    """Whether files are taken as their pages have them now; versions stay."""
    local_path: Callable[[str], tuple[str, bool]]
    """Gives for a ``file:`` address the path to write, and whether it is within the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockOutcome:
    """The lock's text, and why it was made anew; no reasons where the old one is current."""

    text: str
    pylock: Pylock
    data: dict[str, Any]
    """The text as it is read: validated, and plain."""
    reasons: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    """What the user should know of how the lock came about, and the lock does not say."""


def current_reasons(request: LockRequest) -> tuple[str, ...]:
    """Say why the lock that is there must be made anew; empty if it is current.

    Asks no index. Raises LockSyntaxError for a file that is no lock.
    """
    if request.previous is None:
        return ("there is no lock yet",)
    return _stale_reasons(request, *parse_pylock(request.previous, where=request.where))


def _stale_reasons(request: LockRequest, pylock: Pylock, data: dict[str, Any]) -> tuple[str, ...]:
    return stale_reasons(
        pylock,
        data,
        project=request.loaded.project,
        requirements=request.loaded.requirements,
        settings=request.loaded.settings,
        where=request.where,
    )


def lock(
    request: LockRequest,
    repository: Repository,
    catalog: Catalog,
    progress: Progress,
    limits: Limits = ROUNDS_ONLY,
) -> LockOutcome:
    """Make the lock, or give back the one that is there while it follows from the project.

    Raises NoSolutionError for all rows without a solution or SolverLimitError for all that were
    given up, MissingHashError for all files without a hash, and whatever the indexes raise.
    """
    project = request.loaded.project
    before = _read_previous(request)
    if before.current is not None:
        return before.current
    previous = before.pylock
    outcome, told = _solve(request, project, catalog, repository, previous, progress, limits)
    moving = frozenset(map(canonicalize_name, request.upgrade_packages))
    known = known_files(previous, moving=()) if previous else {}
    kept = known_files(previous, moving=moving) if previous and not request.refresh else {}
    resolutions = _complete(outcome.resolutions, kept, repository, progress, altered=before.altered)
    told += _changed_files(resolutions, known, altered=before.altered)
    outcome = replace(outcome, resolutions=tuple(resolutions))
    text, pylock, data = _render(request, project, catalog, outcome, before.additions)
    return LockOutcome(
        text=text,
        pylock=pylock,
        data=data,
        reasons=before.reasons,
        warnings=(*before.warnings, *told),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Previous:
    """What the lock that is there means for the one to be made."""

    reasons: tuple[str, ...]
    pylock: Pylock | None = None
    """None where nothing of it is to be kept."""
    altered: bool = False
    """Whether it is no longer what was locked, so that its hashes prove nothing."""
    additions: tuple[str, ...] = ()
    """What it says that lockforge added."""
    warnings: tuple[str, ...] = ()
    current: LockOutcome | None = None
    """Set where there is nothing to do."""


def _read_previous(request: LockRequest) -> _Previous:
    if request.previous is None:
        return _Previous(reasons=("there is no lock yet",))
    if request.upgrade:
        refuse_conflicts(request.previous, where=request.where)
        if request.upgrade_packages:
            found, _ = parse_pylock(request.previous, where=request.where)
            _check_known(request.upgrade_packages, found, where=request.where)
        return _Previous(reasons=("an upgrade was asked for",))
    pylock, data = parse_pylock(request.previous, where=request.where)
    _check_known(request.upgrade_packages, pylock, where=request.where)
    stale = _stale_reasons(request, pylock, data)
    asked = "a refresh was asked for" if request.refresh else "an upgrade was asked for"
    if not (stale or request.upgrade_packages or request.refresh):
        current = LockOutcome(text=request.previous, pylock=pylock, data=data, reasons=())
        return _Previous(reasons=(), pylock=pylock, current=current)
    warnings = []
    if not locked_rows(data, where=request.where):
        warnings.append(
            f"{request.where} was made by {pylock.created_by}: its versions are kept where "
            "they fit, and the file becomes lockforge's"
        )
    return _Previous(
        reasons=stale or (asked,),
        pylock=pylock,
        additions=tuple(data.get("tool", {}).get("lockforge", {}).get("additions", ())),
        altered=is_altered(pylock, data, matrix=request.loaded.project.matrix, where=request.where),
        warnings=tuple(warnings),
    )


def _check_known(names: Sequence[str], previous: Pylock, *, where: str) -> None:
    """Refuse to upgrade what the lock does not have: it would be a slip that nobody sees."""
    known = {package.name for package in previous.packages}
    unknown = [name for name in names if canonicalize_name(name) not in known]
    if unknown:
        raise UsageError(
            f"the lock has no {', '.join(unknown)} to upgrade",
            where=where,
            hint="correct the name; what is new to the project needs no upgrade",
        )


def _solve(
    request: LockRequest,
    project: Project,
    catalog: Catalog,
    repository: Repository,
    previous: Pylock | None,
    progress: Progress,
    limits: Limits,
) -> tuple[Outcome, list[str]]:
    """Solve all rows; gives the outcome and the warnings."""
    moving = frozenset(map(canonicalize_name, request.upgrade_packages))
    preferred = {
        target: preferences(previous, target, moving=moving) if previous else {}
        for target in project.matrix.targets
    }
    finder = Finder(project, catalog, repository, preferred)
    outcome = solve_matrix(project, finder, preferred, progress, limits)
    if outcome.failures:
        raise _no_solution(outcome.failures)
    if unaligned := [one for one in outcome.misalignments if one.required]:
        raise NoSolutionError(
            render_misalignments(unaligned),
            failures=unaligned,
            hint='take a row out of the matrix, or set align = "row" to let the rows differ',
        )
    return outcome, finder.refusals.warnings(outcome.resolutions)


def _no_solution(failures: Sequence[Failure]) -> NoSolutionError | SolverLimitError:
    """Make one error of all failures; only where every search was given up nothing is proved."""
    text = render_failures(failures)
    if all(failure.gave_up for failure in failures):
        return SolverLimitError(
            text, hint="pin some of the packages that conflict, to narrow the search"
        )
    return NoSolutionError(
        text,
        failures=failures,
        hint="relax one of the requirements named above, or take the row out of the matrix",
    )


def _complete(
    resolutions: Sequence[Resolution],
    known: Mapping[tuple[str, str], PackageArchive | PackageWheel | PackageSdist],
    repository: Repository,
    progress: Progress,
    *,
    altered: bool,
) -> list[Resolution]:
    """Give every file its hash: the previous lock's where it has the file, else the page's.

    Where that lock was altered, the page's comes first.

    What neither states is asked of the repository, which may download the file.
    """
    missing: dict[str, MissingHashError] = {}
    found: dict[tuple[object, ...], DistributionFile] = {}

    def complete(pin: Pin) -> Pin:
        # The address itself counts too: what a query tells apart are two files of one place.
        key = (*_place(pin), pin.file.url, pin.file.sha256)
        if key not in found:
            found[key] = file = _kept(pin.file, known.get(_place(pin)), altered=altered)
            if file.sha256 is None and not file.source_tree:
                progress.stage(f"hashing {file.filename}")
                try:
                    digest = repository.sha256(pin.index, file)
                except MissingHashError as error:
                    missing[file.filename] = error
                else:
                    found[key] = replace(file, sha256=digest)
        return replace(pin, file=found[key])

    completed = [
        replace(resolution, pins=tuple(map(complete, resolution.pins)))
        for resolution in resolutions
    ]
    if missing:
        _raise_missing(missing, resolutions)
    return completed


def _place(pin: Pin) -> tuple[str, str]:
    """Give what a file is known by: its index, which a direct reference is itself, and its name."""
    direct = pin.index.layout == "direct"
    place = public_address(pin.file.url) if direct else pin.index.url
    return place.rstrip("/"), pin.file.filename


def _changed_files(
    resolutions: Sequence[Resolution],
    known: Mapping[tuple[str, str], PackageArchive | PackageWheel | PackageSdist],
    *,
    altered: bool,
) -> list[str]:
    """Say which files have other bytes than the previous lock has of them, sorted."""
    found = set()
    how = "was changed at its source under the same name"
    if altered:
        how = "was changed at its source under the same name, or the lock was edited"
    for pin in (pin for one in resolutions for pin in one.pins):
        before = known.get(_place(pin))
        was = before.hashes.get("sha256") if before is not None else None
        if was is not None and was != pin.file.sha256:
            found.add(
                f"{pin.file.filename} {how}: its sha256 is {pin.file.sha256}, the lock had {was}; "
                "do not trust it before you know why"
            )
    return sorted(found)


def _kept(
    file: DistributionFile,
    known: PackageArchive | PackageWheel | PackageSdist | None,
    *,
    altered: bool,
) -> DistributionFile:
    """Keep the address and hash that the previous lock has, whatever the page says now."""
    if known is None or known.url is None:
        return file
    if altered and file.sha256 not in {None, known.hashes.get("sha256")}:
        return file
    return replace(
        file, url=known.url, sha256=known.hashes.get("sha256"), size=known.size or file.size
    )


def _raise_missing(
    missing: Mapping[str, MissingHashError], resolutions: Sequence[Resolution]
) -> None:
    lines = []
    for filename, error in sorted(missing.items()):
        rows = dict.fromkeys(
            resolution.target.row.name
            for resolution in resolutions
            if any(pin.file.filename == filename for pin in resolution.pins)
        )
        lines.append(f"{error.message} (row {', '.join(rows)})")
    first = next(iter(missing.values()))
    raise MissingHashError("\n".join(lines), where=first.where, hint=first.hint)


def _render(
    request: LockRequest,
    project: Project,
    catalog: Catalog,
    outcome: Outcome,
    told: Sequence[str],
) -> tuple[str, Pylock, dict[str, Any]]:
    resolutions = outcome.resolutions
    notes = notes_of(project, outcome, catalog)

    def locate(file: DistributionFile) -> LockedFile:
        if not file.url.startswith("file:"):
            return LockedFile(
                name=file.filename, sha256=file.sha256, url=public_address(file.url), size=file.size
            )
        path, inside = request.local_path(file.url)
        if not inside:
            notes.append(f"not portable: {path} is outside of the project")
        return LockedFile(name=file.filename, sha256=file.sha256, path=path, size=file.size)

    lock_ = merge(
        Matrix(targets=tuple(one.target for one in resolutions)),
        resolutions,
        asked=project.matrix,
        catalog=catalog,
        locate=locate,
        requires_python=project.requires_python,
        extras=project.extras,
        groups=project.groups,
        requirements=request.loaded.requirements,
        settings=request.loaded.settings,
        told=told,
        torch_indexes={
            label: index.name if index.url.startswith("file:") else index.url
            for label, index in project.torch_indexes.items()
        },
    )
    # Files are located while merging, so the notes are complete only now.
    text = render_pylock(replace(lock_, notes=tuple(sorted(set(notes)))))
    shared = frozenset(row.platform for row in lock_.rows if row.extra)
    pylock, data = verify(
        text, resolutions, extras=project.extras, groups=project.groups, shared=shared
    )
    return text, pylock, data
