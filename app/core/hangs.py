"""A database that hangs: it keeps its connections open and answers nothing, as a frozen machine or a stuck disk does.

PostgreSQL's own timeouts run in the server, and TCP sees nothing wrong. So when a connection has been out for long, a
thread of each process asks the server what every living one answers at once. One that does not is taken for dead: its
connections are cut, so that whoever waits gets the 503 of a dead database, and nobody is let in until it answers.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Sequence
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

import sqlalchemy as sa

logger = logging.getLogger(__name__)

#: A connection that is out for longer makes the server suspect; most statements take milliseconds.
PATIENCE_S = 1.5
#: How long a living server may take for its answer, which costs it a fork.
ANSWER_WITHIN_S = 2.0
LOOK_EVERY_S = 1.0

#: "May we speak TLS?": the one question of PostgreSQL's protocol, and of PgBouncer's, that needs no login.
SSL_REQUEST = (8).to_bytes(4, "big") + (80877103).to_bytes(4, "big")


class Watch:
    """Knows which connections of some engines are out, and whether their server answers.

    `address` is where they lead, `behind` the server itself where that is a pooler's.
    """

    def __init__(self, address: str, behind: str, engines: Sequence[sa.Engine]) -> None:
        self._server, self._behind = _server(address), _server(behind)
        self._start_over()
        for engine in engines:
            sa.event.listen(engine, "do_connect", self._refuse_while_it_hangs)
            sa.event.listen(engine, "checkout", self._goes_out)
            for name in ("checkin", "invalidate", "soft_invalidate", "detach"):
                sa.event.listen(engine, name, self._is_back)
        os.register_at_fork(after_in_child=self._start_over)

    def _start_over(self) -> None:
        """A child has none of its parent's connections, and no thread that looks after its own."""
        self._out: dict[Any, tuple[float, Any]] = {}
        self._lock = Lock()
        self._is_watched = self._hangs = False

    def _refuse_while_it_hangs(self, *_: object) -> None:
        if self._hangs:
            raise sa.exc.TimeoutError("the database does not answer")

    def _goes_out(self, connection: Any, record: Any, _proxy: object) -> None:
        self._refuse_while_it_hangs()
        with self._lock:
            self._out[record] = monotonic(), connection
            if not self._is_watched:
                self._is_watched = True
                Thread(target=self._keep_looking, name="database-watch", daemon=True).start()

    def _is_back(self, _connection: object, record: Any, *_: object) -> None:
        with self._lock:  # nobody closes a connection that is just being cut, so no number of a socket is another's
            self._out.pop(record, None)

    def _keep_looking(self) -> None:
        while True:
            sleep(LOOK_EVERY_S)
            try:
                self._look()
            except Exception:
                logger.exception("the watch over the database broke off a look")

    def _look(self) -> None:
        long_ago = monotonic() - PATIENCE_S
        if not self._hangs and not any(since < long_ago for since, _ in list(self._out.values())):
            return
        hangs = not _answers(self._server)
        if self._behind != self._server and not hangs:
            # A pooler may know another way to the database than we do, so not to get there says nothing.
            hangs = not _answers(self._behind, unreachable=not self._hangs)
        if hangs != self._hangs:
            logger.error("the database hangs: its connections are cut" if hangs else "the database answers again")
            self._hangs = hangs
        if hangs:
            self._cut()

    def _cut(self) -> None:
        with self._lock:
            for _, connection in self._out.values():
                if not connection.closed:
                    with socket.socket(fileno=os.dup(connection.fileno())) as wire:
                        wire.shutdown(socket.SHUT_RDWR)


def _server(address: str) -> tuple[str, int]:
    """Host (or folder of the unix socket) and port, as libpq reads them; of several hosts the first."""
    url = sa.make_url(address)
    hosts, ports = url.query.get("host", url.host or "localhost"), url.query.get("port", url.port or 5432)
    host = (hosts if isinstance(hosts, str) else hosts[0]).partition(",")[0]
    port = str(ports if isinstance(ports, (str, int)) else ports[0]).partition(",")[0]
    if host.count(":") == 1:  # SQLAlchemy's own way to name several
        host, _, port = host.partition(":")
    return host, int(port)


def _answers(server: tuple[str, int], *, unreachable: bool = False) -> bool:
    """Whether a server is alive; `unreachable` is what to say of one that lets nobody in within the time.

    One that refuses, because it is not there, lets nobody wait: it counts as alive.
    """
    try:
        wire = _connected(*server)
    except (TimeoutError, BlockingIOError):  # the latter is a unix socket with a full queue
        return unreachable
    except OSError:
        return True
    with wire:
        try:
            wire.sendall(SSL_REQUEST)
            wire.recv(1)
        except TimeoutError:
            return False
        except OSError:
            return True
    return True


def _connected(host: str, port: int) -> socket.socket:
    if not host.startswith("/"):
        return socket.create_connection((host, port), ANSWER_WITHIN_S)
    wire = socket.socket(socket.AF_UNIX)
    wire.settimeout(ANSWER_WITHIN_S)
    wire.connect(f"{host}/.s.PGSQL.{port}")
    return wire
