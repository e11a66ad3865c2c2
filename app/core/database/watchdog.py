"""A database that hangs: it keeps its connections open and answers nothing, as a frozen machine or a stuck disk does.

PostgreSQL's own timeouts run in the server, and TCP sees nothing wrong. So when a connection has been out for long, a
thread of each process logs in once more, which a living server lets it do in milliseconds. One that does not is taken
for dead: its connections are cut, so that whoever waits gets the 503 of a dead database, and nobody is let in until it
answers.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Sequence
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

import psycopg2
import sqlalchemy as sa

logger = logging.getLogger(__name__)

#: A connection that is out for longer makes the server suspect; most statements take milliseconds.
PATIENCE_S = 1.5
LOOK_EVERY_S = 1.0
#: A server that has just let somebody in is not asked again: an export may be out for minutes.
TRUST_S = 5.0
#: How long each host has for a login: the least that libpq can wait for.
LOGIN_S = 2
#: So much longer than it gives up, no login takes, but where this process stood still meanwhile.
STANDSTILL_S = 3.0


class Watchdog:
    """Knows which connections of some engines, all to one address, are out, and whether the server answers."""

    def __init__(self, url: sa.URL, engines: Sequence[sa.Engine]) -> None:
        _, self._login = engines[0].dialect.create_connect_args(url)
        self._login["connect_timeout"] = LOGIN_S
        # libpq tries several hosts one after the other; that the first is dead does not make the second one hang.
        self._answer_within_s = LOGIN_S * (1 + str(self._login.get("host", "")).count(",")) - 0.1
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
        self._trusted_until = 0.0

    def _refuse_while_it_hangs(self, *_: object) -> None:
        if self._hangs:
            raise sa.exc.TimeoutError("the database does not answer")

    def _goes_out(self, connection: Any, record: object, _proxy: object) -> None:
        self._refuse_while_it_hangs()
        with self._lock:
            self._out[record] = monotonic(), connection
            if not self._is_watched:
                self._is_watched = True
                Thread(target=self._keep_looking, name="database-watch", daemon=True).start()

    def _is_back(self, _connection: object, record: object, *_: object) -> None:
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
        now = monotonic()
        is_suspect = now > self._trusted_until and any(
            since < now - PATIENCE_S for since, _ in list(self._out.values())
        )
        if not self._hangs and not is_suspect:
            return
        hangs = not self._answers()
        self._trusted_until = 0.0 if hangs else now + TRUST_S
        if hangs != self._hangs:
            logger.error("the database hangs: its connections are cut" if hangs else "the database answers again")
            self._hangs = hangs
        if hangs:
            self._cut()

    def _answers(self) -> bool:
        """Whether a login is answered in time. One that is refused is: nobody has to wait for that.

        A process that stood still itself, as on a machine that is paused, finds that much time gone: it asks again,
        once, for names that nobody resolves take that long each time.
        """
        for _ in range(2):
            started = monotonic()
            try:
                psycopg2.connect(**self._login).close()
            except psycopg2.Error:
                took_s = monotonic() - started
                if took_s < self._answer_within_s + STANDSTILL_S:
                    return took_s < self._answer_within_s
            else:
                return True
        return False

    def _cut(self) -> None:
        with self._lock:
            for _, connection in self._out.values():
                if not connection.closed:
                    with socket.socket(fileno=os.dup(connection.fileno())) as wire:
                        wire.shutdown(socket.SHUT_RDWR)
