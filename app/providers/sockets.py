"""Connections of `app.providers.http`: address checks and the time limit of a call.

A host name is resolved once, and the connection is opened to the address that was checked. So a host name cannot pass
the check with one address and connect to another. TLS still verifies the host name.
"""

from __future__ import annotations

import enum
import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread, local
from time import monotonic
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
from urllib3.response import HTTPResponse
from urllib3.util.connection import create_connection

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressPolicy(enum.Enum):
    """Policy for the addresses that a client may connect to.

    Addresses from the configuration are trusted. Addresses from users or from web pages are not trusted.
    """

    ANYWHERE = "anywhere"
    PUBLIC = "public"
    #: Policy for push endpoints in development and tests, because the simulators listen on loopback.
    PUBLIC_OR_LOOPBACK = "public or loopback"

    def allows(self, address: str) -> bool:
        if self is AddressPolicy.ANYWHERE:
            return True
        ip = _embedded(ipaddress.ip_address(address.partition("%")[0]))
        return is_public(ip) or (self is AddressPolicy.PUBLIC_OR_LOOPBACK and ip.is_loopback)


_GLOBAL_IPV6 = ipaddress.ip_network("2000::/3")

#: Networks that are never public, because they can lead to internal machines. Older Python versions treat some of these
#: networks as global.
_NEVER = tuple(
    ipaddress.ip_network(net)
    for net in (
        *("100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4"),
        *("2001::/23", "2002::/16", "3fff::/20"),
    )
)


def is_public(ip: Address) -> bool:
    """Return whether an address is on the public internet. Private, loopback, link-local and similar ones are not."""
    if ip.version == 6 and ip not in _GLOBAL_IPV6:
        return False
    return ip.is_global and not ip.is_multicast and not any(ip in net for net in _NEVER)


def _embedded(ip: Address) -> Address:
    """Return the IPv4 address inside an IPv4-mapped IPv6 address. Return any other address unchanged."""
    return ip.ipv4_mapped or ip if isinstance(ip, ipaddress.IPv6Address) else ip


class AddressRefusedError(NewConnectionError):
    """Error: the address policy of the client forbids all addresses of the host."""


class _CallState(local):
    sock: socket.socket | None = None
    written = False
    write_until = 0.0


#: State of the current call in this thread. `written` means that sending has begun. `write_until` is the latest time to
#: begin sending, on the monotonic clock.
_call = _CallState()


def is_written() -> bool:
    """Return whether this thread's call has sent any part of its request. Call this function inside `deadline`."""
    return _call.written


class _Connection(HTTPConnection):
    """Connection that is opened only to an address that its policy allows.

    urllib3 opens the socket in `_new_conn` and has no public hook for a check. `_new_conn` and `_dns_host` are the only
    private names of a library that the service uses.
    """

    policy = AddressPolicy.PUBLIC

    def _new_conn(self) -> socket.socket:
        if self.policy is AddressPolicy.ANYWHERE:
            return super()._new_conn()
        host, port = self._dns_host.strip("[]"), self.port or self.default_port
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise NewConnectionError(self, "the host has no address") from error
        allowed = [address for entry in entries if self.policy.allows(address := str(entry[4][0]))]
        if not allowed:
            raise AddressRefusedError(self, f"not {self.policy.value}")
        for address in allowed[:2]:
            try:
                return create_connection((address, port), self.timeout, socket_options=self.socket_options)
            except OSError as error:
                last = error
        if isinstance(last, TimeoutError):
            raise ConnectTimeoutError(self, "no address answers") from last
        raise NewConnectionError(self, "no address answers") from last

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        if not _call.written and monotonic() > _call.write_until:
            raise TimeoutError("the time of the call was up before it was written")
        _call.written = True
        super().send(data)

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # same return type as the urllib3 parent
        _call.sock = self.sock
        return super().getresponse()


class _SecureConnection(_Connection, HTTPSConnection):
    pass


class Adapter(HTTPAdapter):
    """Adapter for requests that connects only to addresses that an address policy allows."""

    def __init__(self, policy: AddressPolicy, pool_size: int) -> None:
        self._policy = policy
        super().__init__(pool_connections=pool_size, pool_maxsize=pool_size, max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        plain = type("Plain", (_Connection,), {"policy": self._policy})
        secure = type("Secure", (_SecureConnection,), {"policy": self._policy})
        self.poolmanager.pool_classes_by_scheme = {
            "http": type("PlainPool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
            "https": type("SecurePool", (HTTPSConnectionPool,), {"ConnectionCls": secure}),
        }


@contextmanager
def deadline(seconds: float) -> Iterator[Event]:
    """Stop this thread's call after `seconds`. The yielded event is set if the time runs out.

    A socket timeout limits only each single read. A server that sends one byte per second could therefore block a
    thread for hours.
    """
    passed, ended, ending = Event(), Event(), Lock()
    mine = _call.__dict__  # `_call` is different in each thread, so the timer thread needs this reference

    def cut() -> None:
        ended.wait(seconds)
        with ending:  # the call cannot end now, so the socket is not that of the next call
            if ended.is_set():
                return
            passed.set()
            sock = mine.get("sock")
            if sock is not None:
                with suppress(OSError):  # the socket may be closed already
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)

    _call.sock, _call.written, _call.write_until = None, False, monotonic() + seconds
    Thread(target=cut, name="deadline", daemon=True).start()
    try:
        yield passed
    finally:
        with ending:
            ended.set()
            _call.sock = None
