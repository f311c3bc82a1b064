"""``python -m lockforge`` and the console script."""

from __future__ import annotations

import sys

from lockforge.adapters import stamp


def main() -> None:
    """Run the command line and end the process with its status."""
    known = stamp.recall(sys.argv[1:])
    if known is not None:
        stamp.show(known)
        return
    from lockforge.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
