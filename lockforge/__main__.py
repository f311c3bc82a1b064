"""``python -m lockforge`` and the console script."""

from __future__ import annotations

import gc
import sys
from io import TextIOWrapper

from lockforge.adapters import stamp


def main() -> None:
    """Run the command line and end the process with its status."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A path may have bytes that are no text, and a terminal may know few characters.
        sys.stdout.reconfigure(errors="backslashreplace")
    known = stamp.recall(sys.argv[1:])
    if known is not None and stamp.show(known):
        return
    # A run makes many values and next to no cycles: looking for them every 700 new objects costs
    # a sixth of a lock's time and frees nothing.
    gc.set_threshold(100_000, 50, 50)
    from lockforge.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
