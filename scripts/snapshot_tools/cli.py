"""The command line of `record_snapshot`: options in, a folder of files out."""

import argparse
import datetime as dt
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from snapshot_tools.check import check_hashes, find_gaps, find_holes
from snapshot_tools.core_metadata import read_requirements
from snapshot_tools.crawl import Crawl
from snapshot_tools.derive import RULES, Evidence
from snapshot_tools.download import Downloads
from snapshot_tools.facts import FAMILY, load_entries, load_files
from snapshot_tools.live import LIVE_RULES, record_live
from snapshot_tools.manifest import PYTORCH, REGISTRY, REGISTRY_NOTES, render_manifest
from snapshot_tools.projects import load_requirements
from snapshot_tools.registry_part import iter_registry_texts, record_registry, render_registry_part
from snapshot_tools.torch_part import TorchPart, build_torch_part

HELP = """\
Record the package indexes that lockforge resolves from, so that it can be tested without a network.

The default index is fetched from its public address and trimmed to what the example projects and
the PyTorch family can reach. The PyTorch indexes are either rebuilt from a folder of gathered facts
(--facts) or fetched (--live). Every answer is kept in the work directory: a second run with the
same one costs nothing and writes the same bytes.
"""
EPILOG = "example: record_snapshot fixtures/snapshot --facts ../index-facts --work .snapshot-work"
FACTS_ORIGIN = "rebuilt from facts gathered from public lock files; not a recording"


def main(arguments: Sequence[str] | None = None) -> int:
    """Record a snapshot as the options say."""
    options = _make_parser().parse_args(arguments)
    seeds = (*load_requirements(options.projects), *FAMILY)
    recorded = _read_recording_date(options.work)
    with closing(Downloads(options.work / "http")) as downloads:
        record = partial(
            record_registry, downloads=downloads, address=options.registry, until=options.date
        )
        if options.live:
            part = record_live(downloads=downloads, address=options.pytorch, until=options.date)
            origin, source, rules = "recorded", options.pytorch, LIVE_RULES
        else:
            # The PyPI wheels of the family are needed to derive what facts do not say.
            part = _rebuild(options.facts, record(seeds), until=options.date)
            origin, source, rules = FACTS_ORIGIN, "public lock files", RULES
        wanted = {required for text in part.texts for required in read_requirements(text)}
        crawl = record((*seeds, *sorted(wanted)))
    pages = {**render_registry_part(crawl), **part.pages}
    used = {one["rule"] for one in part.origins.values()}
    pages["MANIFEST.json"] = render_manifest(
        date=options.date,
        indexes={
            REGISTRY: {"path": "simple", "origin": "recorded", "source": options.registry}
            | {"recorded": recorded},
            PYTORCH: {"path": "whl", "origin": origin, "source": source, "recorded": recorded},
        },
        notes=(*REGISTRY_NOTES, *part.notes, *find_gaps(crawl, wanted)),
        rules={rule: sentence for rule, sentence in rules.items() if rule in used},
        pages=pages,
        origins=part.origins,
    )
    _write(options.out, pages)
    size = sum(len(page.encode()) for page in pages.values())
    print(f"{len(pages)} files, {size} bytes, in {options.out}")
    return 0


def _rebuild(facts: Path, crawl: Crawl, *, until: str) -> TorchPart:
    files = load_files(facts, until=until)
    evidence = Evidence(load_entries(facts), iter_registry_texts(crawl), files)
    derived = {file.place: found for file in files if (found := evidence.find(file))}
    part = build_torch_part(files, derived, stamp=_to_stamp(until))
    check_hashes(part.pages, facts)
    return replace(part, notes=(*part.notes, *find_holes(files, derived)))


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="record_snapshot",
        description=HELP,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "out", metavar="OUT", type=Path, help="folder to write, e.g. fixtures/snapshot"
    )
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument(
        "--facts", metavar="DIR", type=Path, help="rebuild the PyTorch indexes from this folder"
    )
    origin.add_argument("--live", action="store_true", help="fetch the PyTorch indexes")
    parser.add_argument(
        "--work",
        metavar="DIR",
        type=Path,
        default=Path(".snapshot-work"),
        help="kept answers (default: %(default)s)",
    )
    parser.add_argument(
        "--date",
        metavar="DAY",
        default="2026-08-22",
        help="newest upload to keep (default: %(default)s)",
    )
    parser.add_argument(
        "--projects",
        metavar="DIR",
        type=Path,
        default=Path("fixtures/projects"),
        help="folder of projects whose requirements are followed (default: %(default)s)",
    )
    parser.add_argument(
        "--registry", metavar="URL", default=REGISTRY, help="default index (default: %(default)s)"
    )
    parser.add_argument(
        "--pytorch", metavar="URL", default=PYTORCH, help="PyTorch indexes (default: %(default)s)"
    )
    return parser


def _read_recording_date(work: Path) -> str:
    kept = work / "recorded"
    if not kept.exists():
        work.mkdir(parents=True, exist_ok=True)
        kept.write_text(time.strftime("%Y-%m-%d", time.gmtime()), encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def _to_stamp(date: str) -> int:
    return int(dt.datetime.fromisoformat(f"{date}T00:00:00+00:00").timestamp())


def _write(out: Path, pages: Mapping[str, str]) -> None:
    for part in ("simple", "whl"):
        shutil.rmtree(out / part, ignore_errors=True)
    for path, page in pages.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(page, encoding="utf-8", newline="\n")
