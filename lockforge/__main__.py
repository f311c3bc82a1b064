"""``python -m lockforge`` and the console script."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and end the process with its status."""
    from lockforge.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
