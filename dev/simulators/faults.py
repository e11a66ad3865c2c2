"""The ways in which any provider can fail, below its own words."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Event

from werkzeug.wrappers import Response

#: The longest that a fault holds a connection: a client without a timeout ends too.
PATIENCE_S = 60.0
OVERSIZE_BYTES = 64 * 1024 * 1024
PRIVATE_ADDRESS = "http://10.0.0.1/latest/meta-data/"


@dataclass
class Fault:
    """One planned failure.

    `times` calls meet it (`None`: all, until it is cleared). `match` limits it to paths that contain it.
    With `after` the provider acts first and the failure hits its answer alone, as when a connection is lost
    on the way back. The rest belongs to the kind: `status`, `retry_after`, `seconds`, `location`.
    """

    name: str
    kind: str
    times: int | None = 1
    match: str = ""
    after: bool = False
    status: int = 503
    retry_after: int | None = None
    seconds: float = 1.0
    location: str = PRIVATE_ADDRESS
    met: int = field(default=0, init=False)


@dataclass(frozen=True)
class Exchange:
    """One request that meets a fault: its raw connection, and the word that it is time to let go."""

    fault: Fault
    connection: socket.socket
    stopped: Event

    def send(self, data: bytes) -> None:
        try:
            self.connection.sendall(data)
        except OSError:
            raise self.drop() from None

    def drop(self) -> ConnectionAbortedError:
        """End the connection; the server, told by the exception, writes nothing more to it."""
        with contextlib.suppress(OSError):  # the client may have been faster
            self.connection.shutdown(socket.SHUT_RDWR)
        return ConnectionAbortedError(self.fault.kind)


def _head(length: int) -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()


def down(exchange: Exchange) -> Response:
    """Closed without a word. (A port where nobody listens is `Server.closed_url`.)"""
    raise exchange.drop()


def drop(exchange: Exchange) -> Response:
    """Lost in the middle of the reply."""
    exchange.send(_head(1000) + b'{"sta')
    raise exchange.drop()


def hang(exchange: Exchange) -> Response:
    """Accepts, and never answers."""
    exchange.stopped.wait(PATIENCE_S)
    raise exchange.drop()


def slow(exchange: Exchange) -> Response:
    """One byte now and then, often enough that no read ever times out."""
    exchange.send(_head(100_000) + b"{")
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and not exchange.stopped.wait(0.1):
        exchange.send(b" ")
    raise exchange.drop()


def not_http(exchange: Exchange) -> Response:
    """Bytes of another protocol."""
    exchange.send(b"\x16\x03\x01\x00\xff\x00SSH-2.0-nonsense\r\n\r\n")
    raise exchange.drop()


def garbage(_: Exchange) -> Response:
    """A good status and type around bytes that mean nothing."""
    return Response(bytes(range(256)) * 4, 200, content_type="application/json")


def wrong_type(_: Exchange) -> Response:
    """The friendly page of a captive portal."""
    page = "<html><body>Selamat datang di Wi-Fi bandara</body></html>"
    return Response(page, 200, content_type="text/html")


def status(exchange: Exchange) -> Response:
    """An error of the provider's front end: `status`, and `retry_after` in seconds when given."""
    after = exchange.fault.retry_after
    headers = {} if after is None else {"Retry-After": str(after)}
    return Response("upstream error", exchange.fault.status, headers=headers, content_type="text/plain")


def oversize(exchange: Exchange) -> Response:
    """A reply without an end in sight."""

    def chunks() -> Iterator[bytes]:
        for _ in range(OVERSIZE_BYTES // 65536):
            if exchange.stopped.is_set():
                return
            yield b" " * 65536

    return Response(chunks(), 200, content_type="application/json", direct_passthrough=True)


def redirect(exchange: Exchange) -> Response:
    """Sends the caller to `location`, a private address unless told otherwise."""
    return Response("", 302, headers={"Location": exchange.fault.location}, content_type="text/plain")


#: Every kind but `latency`, which waits `seconds` and goes on to the provider's own answer.
WIRE: dict[str, Callable[[Exchange], Response]] = {
    behaviour.__name__: behaviour
    for behaviour in (down, drop, hang, slow, not_http, garbage, wrong_type, status, oversize, redirect)
}
LATENCY = "latency"
