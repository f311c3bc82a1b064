"""A loopback HTTP server over a recorded snapshot of a default index and of PyTorch's indexes."""

from snapshot_server.server import serve

__all__ = ["serve"]
