"""What an interpreter is, as ``key=value`` lines.

It is also run as a program by interpreters that do not have lockforge, so it imports nothing of it.
"""

from __future__ import annotations

import os
import platform
import struct
import sys
import sysconfig


def describe() -> str:
    """Describe the interpreter that runs this."""
    facts = {
        "machine": platform.machine(),
        "sys_platform": sys.platform,
        "sysconfig_platform": sysconfig.get_platform(),
        "bits": struct.calcsize("P") * 8,
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        # Such a build takes wheels of an ABI of its own.
        "free_threaded": "1" if "free-threading" in sys.version else None,
        "libc": _libc(),
    }
    return "".join(f"{key}={value}\n" for key, value in facts.items() if value)


def _libc() -> str | None:
    """Name the C library with its version where it tells, which is glibc."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, OSError, ValueError):
        return None


if __name__ == "__main__":
    print(describe(), end="")  # noqa: T201 - the program's answer
