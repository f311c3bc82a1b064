"""Where the cache and the user's configuration lie.

Written by hand because this runs before anything else may be imported: platformdirs alone takes
about as long to import as Python to start.
"""

from __future__ import annotations

import os
import sys


def cache_directory() -> str:
    """Give ``LOCKFORGE_CACHE_DIR``, else the place the platform has for caches."""
    if stated := os.environ.get("LOCKFORGE_CACHE_DIR"):
        return stated
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA", home), "lockforge", "cache")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "lockforge")
    # XDG Base Directory Specification: a relative path is to be ignored.
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(xdg if os.path.isabs(xdg) else os.path.join(home, ".cache"), "lockforge")


def config_directory() -> str:
    """Give the place the platform has for a user's configuration."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("APPDATA", home), "lockforge")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "lockforge")
    xdg = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(xdg if os.path.isabs(xdg) else os.path.join(home, ".config"), "lockforge")
