"""One function a command, ports as arguments."""
