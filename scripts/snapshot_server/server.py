"""The socket side: HTTP/1.1 keep-alive, a thread per connection, one write per answer."""

import contextlib
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from snapshot_server.message import Request, Response
from snapshot_server.site import Options, Site
from snapshot_server.snapshot import Snapshot

LOOPBACK = "127.0.0.1"

_HEAD_END = b"\r\n\r\n"
_LONGEST_HEAD = 65_536
_BAD_REQUEST = Response(status=HTTPStatus.BAD_REQUEST)


class _Connection(socketserver.BaseRequestHandler):
    """Answers one connection's requests in order until the client or the server closes it."""

    server: "SnapshotServer"
    request: socket.socket

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError), self.server.track(self.request):
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            received = b""
            while True:
                while _HEAD_END not in received:
                    if (
                        not (chunk := self.request.recv(_LONGEST_HEAD))
                        or len(received) > _LONGEST_HEAD
                    ):
                        return
                    received += chunk
                head, _, received = received.partition(_HEAD_END)
                if not self._answer(head):
                    return

    def _answer(self, head: bytes) -> bool:
        try:
            request = Request.parse(head)
        except ValueError:
            self.request.sendall(_BAD_REQUEST.encode(with_body=True, keep_alive=False))
            return False
        if self.server.latency:
            time.sleep(self.server.latency)
        response = self.server.site.answer(request)
        # A body, if the request had one, was not read: the connection cannot be used again.
        keep_alive = request.keeps_alive and response.status != HTTPStatus.METHOD_NOT_ALLOWED
        self.request.sendall(
            response.encode(with_body=request.method != "HEAD", keep_alive=keep_alive)
        )
        return keep_alive


class SnapshotServer(socketserver.ThreadingTCPServer):
    """Bound when made; port 0 takes a free one, which `base_url` then names."""

    allow_reuse_address = True
    request_queue_size = 256

    def __init__(self, directory: Path, *, port: int, options: Options) -> None:
        snapshot = Snapshot(directory)
        super().__init__((LOOPBACK, port), _Connection)
        self.base_url = f"http://{LOOPBACK}:{self.server_address[1]}"
        self.latency = options.latency
        self.site = Site(snapshot, self.base_url, options)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def track(self, connection: socket.socket) -> Iterator[None]:
        """Keep the connection where `close_connections` finds it."""
        with self._lock:
            self._open.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(connection)

    def close_connections(self) -> None:
        """End kept-alive connections: their threads wait for requests that may never come."""
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def serve(
    directory: Path,
    *,
    port: int = 0,
    latency: float = 0.0,
    sidecars: bool = True,
    ranges: bool = True,
    html_only: bool = False,
) -> Iterator[str]:
    """Serve the snapshot in `directory` while the block runs; yields the base URL.

    `latency` is the seconds slept before each answer. The server lives in threads of this process.
    """
    options = Options(latency=latency, sidecars=sidecars, ranges=ranges, html_only=html_only)
    with SnapshotServer(directory, port=port, options=options) as server:
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        thread.start()
        try:
            yield server.base_url
        finally:
            server.shutdown()
            thread.join()
            server.close_connections()
