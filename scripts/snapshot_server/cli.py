"""Command line of `serve_snapshot`."""

import argparse
import signal
import sys
from pathlib import Path

from snapshot_server.server import serve

_DEFAULT_DIRECTORY = Path(__file__).parents[2] / "fixtures" / "snapshot"

_DESCRIPTION = """\
Serve a recorded snapshot of package indexes on 127.0.0.1 until SIGTERM or SIGINT. The base URL is
printed when the server is ready.

  BASE/simple/             the default index: PEP 691 JSON or PEP 503 HTML, as the client asks
  BASE/whl/<accelerator>/  PyTorch indexes: HTML alone, 403 for what is missing
  BASE/files/<host>/...    the files the pages list, and their .metadata sidecars

The snapshot holds no wheels. A wheel's address answers a stand-in with the recorded METADATA, made
on the fly: its sha256 is not the one the page states. Source distributions answer 404, as do wheels
with no recorded METADATA."""


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal; 2 when the directory or the port cannot be used."""
    options = _make_parser().parse_args(arguments)
    # Blocked in every thread, so that sigwait below is the one to see them.
    stopping = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stopping)
    try:
        with serve(
            options.directory,
            port=options.port,
            latency=options.latency / 1000,
            sidecars=options.sidecars,
            ranges=options.ranges,
            html_only=options.html_only,
        ) as base_url:
            print(base_url, flush=True)
            signal.sigwait(stopping)
    except OSError as error:
        print(f"serve_snapshot: {error}", file=sys.stderr)
        return 2
    return 0


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "serve_snapshot",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "directory", nargs="?", type=Path, default=_DEFAULT_DIRECTORY, metavar="DIR"
    )
    parser.add_argument("--port", type=int, default=0, help="0 (default) takes a free port")
    parser.add_argument(
        "--latency", type=float, default=0.0, metavar="MS", help="sleep before each answer"
    )
    parser.add_argument(
        "--no-sidecars",
        dest="sidecars",
        action="store_false",
        help="neither announce nor answer them",
    )
    parser.add_argument(
        "--no-ranges", dest="ranges", action="store_false", help="answer range requests in full"
    )
    parser.add_argument(
        "--html-only", action="store_true", help="answer HTML on the default index too"
    )
    return parser
