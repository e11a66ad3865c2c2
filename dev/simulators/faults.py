"""Faults that any provider can have, for example no response, a slow response or a wrong content type."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Event

from werkzeug.wrappers import Response

#: Maximum seconds that a fault keeps a connection open. Without this limit, a client without a timeout would never end.
PATIENCE_S = 60.0
OVERSIZE_BYTES = 64 * 1024 * 1024
PRIVATE_ADDRESS = "http://10.0.0.1/latest/meta-data/"


@dataclass
class Fault:
    """One planned failure of a simulator.

    `times` is the number of calls that fail. `None` means all calls until the fault is cleared. `match` limits the
    fault to paths that contain this text. With `after`, the simulator handles the request before the response fails.
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
    """One request that gets a fault, and the request's raw connection.

    `stopped` is the event that ends a hanging request.
    """

    fault: Fault
    connection: socket.socket
    stopped: Event

    def send(self, data: bytes) -> None:
        try:
            self.connection.sendall(data)
        except OSError:
            raise self.drop() from None

    def drop(self) -> ConnectionAbortedError:
        """Close the connection. Return the exception that prevents the server from writing to the connection."""
        with contextlib.suppress(OSError):  # The client may have closed the connection already.
            self.connection.shutdown(socket.SHUT_RDWR)
        return ConnectionAbortedError(self.fault.kind)


def _head(length: int) -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()


def down(exchange: Exchange) -> Response:
    """Close the connection without a response. For a refused connection, use `Server.closed_url`."""
    raise exchange.drop()


def drop(exchange: Exchange) -> Response:
    """Close the connection in the middle of the response."""
    exchange.send(_head(1000) + b'{"sta')
    raise exchange.drop()


def hang(exchange: Exchange) -> Response:
    """Accept the request and never answer."""
    exchange.stopped.wait(PATIENCE_S)
    raise exchange.drop()


def slow(exchange: Exchange) -> Response:
    """Send one byte at a time. The pause is short, so that no read of the client times out."""
    exchange.send(_head(100_000) + b"{")
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and not exchange.stopped.wait(0.1):
        exchange.send(b" ")
    raise exchange.drop()


def not_http(exchange: Exchange) -> Response:
    """Send bytes that are no HTTP response."""
    exchange.send(b"\x16\x03\x01\x00\xff\x00SSH-2.0-nonsense\r\n\r\n")
    raise exchange.drop()


def garbage(_: Exchange) -> Response:
    """Return a successful status and the right content type with a meaningless body."""
    return Response(bytes(range(256)) * 4, 200, content_type="application/json")


def wrong_type(_: Exchange) -> Response:
    """Return an HTML welcome page, as the login page of a public Wi-Fi does."""
    page = "<html><body>Selamat datang di Wi-Fi bandara</body></html>"
    return Response(page, 200, content_type="text/html")


def status(exchange: Exchange) -> Response:
    """Return `status` as a provider's proxy does. Add `Retry-After` if `retry_after` (seconds) is set."""
    after = exchange.fault.retry_after
    headers = {} if after is None else {"Retry-After": str(after)}
    return Response("upstream error", exchange.fault.status, headers=headers, content_type="text/plain")


def oversize(exchange: Exchange) -> Response:
    """Return a response larger than the service accepts."""

    def chunks() -> Iterator[bytes]:
        for _ in range(OVERSIZE_BYTES // 65536):
            if exchange.stopped.is_set():
                return
            yield b" " * 65536

    return Response(chunks(), 200, content_type="application/json", direct_passthrough=True)


def redirect(exchange: Exchange) -> Response:
    """Redirect the caller to `location`. The default is a private address."""
    return Response("", 302, headers={"Location": exchange.fault.location}, content_type="text/plain")


#: Functions of all kinds of faults except `latency`. `latency` waits `seconds` and returns the provider's normal
#: response.
WIRE: dict[str, Callable[[Exchange], Response]] = {
    behaviour.__name__: behaviour
    for behaviour in (down, drop, hang, slow, not_http, garbage, wrong_type, status, oversize, redirect)
}
LATENCY = "latency"
