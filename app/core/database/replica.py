"""A streaming replica for what may be a few seconds old: public reads of nobody in particular, exports, statistics.

Each process watches it by itself, and leaves it out unless a look within the last second found it near: it answers, it
is a replica, and it has replayed what the primary had written `MOST_LAG_S` ago. Whoever reads there when it goes away
is served by the primary instead. How near it is, its own word does not tell: cut off from the primary it believes to
have everything.
"""

from __future__ import annotations

import logging
from collections import deque
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

import psycopg2
import sqlalchemy as sa

logger = logging.getLogger(__name__)

#: Seconds that a replica may be behind.
MOST_LAG_S = 5.0
#: Seconds between two looks, and how long a good look counts: a replica that hangs answers no further one.
LOOK_EVERY_S = 0.4
TRUST_S = 1.0

#: Bytes of the log that the primary has written, and that the replica has replayed.
_WRITTEN = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"
_REPLAYED = "SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') WHERE pg_is_in_recovery()"

#: A look must not outlive the trust in the one before by much.
_CONNECT = {"connect_timeout": 2, "options": "-c statement_timeout=1000", "tcp_user_timeout": 2000}


class Replica:
    """The replica's engine, and whether it may be read from now."""

    def __init__(self, primary: sa.URL, engine: sa.Engine, streams: sa.Engine) -> None:
        self.engine, self.streams = engine, streams
        self._primary, self._server = _Server(primary, engine.dialect), _Server(engine.url, engine.dialect)
        self._lock = Lock()
        self._thread: Thread | None = None
        self._good_until = 0.0
        self._was_near = True
        #: When the primary had written how much, the oldest of the last seconds first.
        self._written: deque[tuple[float, int]] = deque(maxlen=round(2 * MOST_LAG_S / LOOK_EVERY_S))

    @property
    def is_near(self) -> bool:
        """Whether it may be read from; False until the first look of this process."""
        if self._thread is None or not self._thread.is_alive():  # a fork takes no thread along
            self._start()
        return monotonic() < self._good_until

    def leave_out(self) -> None:
        """Not until the next good look: a read there has just failed."""
        self._good_until = 0.0

    def look(self) -> None:
        """Look once how near the replica is."""
        now = monotonic()
        # While the primary is away nothing is written, and what it had written then is all there is.
        if (written := self._primary.ask(_WRITTEN)) is not None:
            self._written.append((now, written))
        replayed = self._server.ask(_REPLAYED)
        is_near = replayed is not None and any(
            replayed >= bytes_ and (at > now - MOST_LAG_S or (at, bytes_) == self._written[-1])
            for at, bytes_ in self._written
        )
        self._good_until = now + TRUST_S if is_near else 0.0
        if is_near != self._was_near:
            self._was_near = is_near
            logger.warning("the replica %s", "is near again" if is_near else "is away or behind: it is left out")

    def _start(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._keep_looking, name="replica-watch", daemon=True)
                self._thread.start()

    def _keep_looking(self) -> None:
        while True:
            try:
                self.look()
            except Exception:
                logger.exception("a look at the replica broke off")
            sleep(LOOK_EVERY_S)


class _Server:
    """A connection of its own to an address, for looks."""

    def __init__(self, url: sa.URL, dialect: sa.Dialect) -> None:
        _, parameters = dialect.create_connect_args(url)
        self._parameters = {**parameters, **_CONNECT}
        self._connection: Any = None

    def ask(self, statement: str) -> int | None:
        """The number that a statement gives; None when it gives none, or there is no answer."""
        try:
            if self._connection is None:
                self._connection = psycopg2.connect(**self._parameters)
                self._connection.autocommit = True
            with self._connection.cursor() as cursor:
                cursor.execute(statement)
                row = cursor.fetchone()
                return int(row[0]) if row and row[0] is not None else None
        except psycopg2.Error:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            return None
