"""The ways in which any provider can fail, below its own words."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from werkzeug.wrappers import Response

#: The longest that a fault holds a connection; a client without a timeout still ends.
PATIENCE_S = 60.0
OVERSIZE_BYTES = 64 * 1024 * 1024
PRIVATE_ADDRESS = "http://10.0.0.1/latest/meta-data/"


@dataclass
class Fault:
    """One planned failure.

    `times` calls meet it (`None`: all, until it is cleared). `match` limits it to paths that contain it. With `after`
    the provider acts first and the failure hits its answer alone, as when a connection is lost on the way back.
    The rest belongs to the kind: `status`, `retry_after`, `seconds`, `location`.
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


class Dropped(ConnectionAbortedError):
    """The connection is gone: the server writes nothing more to it."""


def _drop(connection: socket.socket) -> Dropped:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the client was faster
    return Dropped()


def _send(connection: socket.socket, data: bytes) -> None:
    try:
        connection.sendall(data)
    except OSError:
        raise _drop(connection) from None


def down(fault: Fault, connection: socket.socket, stopped: Event) -> Response:
    """Closed without a word. (A port where nobody listens is `Server.closed_url`.)"""
    raise _drop(connection)


def drop(fault: Fault, connection: socket.socket, stopped: Event) -> Response:
    """Lost in the middle of the reply."""
    _send(
        connection, b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"sta'
    )
    raise _drop(connection)


def hang(fault: Fault, connection: socket.socket, stopped: Event) -> Response:
    """Accepts, and never answers."""
    stopped.wait(PATIENCE_S)
    raise _drop(connection)


def slow(fault: Fault, connection: socket.socket, stopped: Event) -> Response:
    """One byte now and then, fast enough that no read ever times out."""
    _send(connection, b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{")
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and not stopped.wait(0.1):
        _send(connection, b" ")
    raise _drop(connection)


def not_http(fault: Fault, connection: socket.socket, stopped: Event) -> Response:
    """Bytes of another protocol."""
    _send(connection, b"\x16\x03\x01\x00\xff\x00SSH-2.0-nonsense\r\n\r\n")
    raise _drop(connection)


def garbage(fault: Fault, connection: socket.socket, stopped: Event) -> Response:
    """A good status and type around bytes that mean nothing."""
    return Response(bytes(range(256)) * 4, 200, content_type="application/json")


def wrong_type(fault: Fault, connection: socket.socket, stopped: Event) -> Response:
    """The friendly page of a captive portal."""
    return Response(
        "<html><body>Selamat datang di Wi-Fi bandara</body></html>", 200, content_type="text/html"
    )


def status(fault: Fault, connection: socket.socket, stopped: Event) -> Response:
    """An error of the provider's front end: `status`, and `retry_after` in seconds when given."""
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    return Response("upstream error", fault.status, headers=headers, content_type="text/plain")


def oversize(fault: Fault, connection: socket.socket, stopped: Event) -> Response:
    """A reply without an end in sight."""

    def chunks() -> Iterator[bytes]:
        for _ in range(OVERSIZE_BYTES // 65536):
            if stopped.is_set():
                return
            yield b" " * 65536

    return Response(chunks(), 200, content_type="application/json", direct_passthrough=True)


def redirect(fault: Fault, connection: socket.socket, stopped: Event) -> Response:
    """Sends the caller to `location`, a private address unless told otherwise."""
    return Response("", 302, headers={"Location": fault.location}, content_type="text/plain")


#: Kind to behaviour. `latency` is the one that goes on to the provider's own answer.
WIRE: dict[str, Callable[[Fault, Any, Event], Response]] = {
    "down": down,
    "drop": drop,
    "hang": hang,
    "slow": slow,
    "not_http": not_http,
    "garbage": garbage,
    "wrong_type": wrong_type,
    "status": status,
    "oversize": oversize,
    "redirect": redirect,
}
LATENCY = "latency"
