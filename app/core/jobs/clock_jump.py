"""Verified time: the database's time, protected against jumps of the database's clock.

The verified time decides which items are due or missed. Each tick of the scheduler compares the database's clock with
the uptime of this machine. If the database's clock jumps by more than 5 minutes, the verified time ignores the jump for
10 minutes. A jump that lasts longer is accepted, because the clock also jumps when a paused machine resumes.

If a tick enqueues the drain (a job that sends due deliveries), it passes its verified time to the drain.
"""

from __future__ import annotations

import logging
import math
import time
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from app.core.database import db_time

logger = logging.getLogger(__name__)

#: Compared with the uptime, the database's clock may change by this time. A larger change counts as a jump.
TOLERANCE = timedelta(minutes=5)
#: Seconds that a jump must last before the verified time accepts it.
ACCEPTED_AFTER_S = 600.0
#: Minimum seconds between log lines about the same jump.
LOG_AGAIN_S = 60.0


class VerifiedTime:
    """The verified time of one process. Before the first call of `verify` or `start_at`, it is the database's time."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Return to the state before the first verification."""
        #: Seconds to add to the uptime to get the verified time.
        self._offset: float | None = None
        #: The value that `_offset` gets if the current jump is accepted, and the uptime at which the jump was detected.
        self._jumped_offset = self._jumped_at = math.nan
        self._logged_at = -math.inf

    def verify(self) -> None:
        """Compare the database's clock with the uptime. If the database is unavailable, raise the database's error."""
        offset, uptime = _compare()
        if self._offset is None or _is_close(offset, self._offset) or self._has_lasted(offset, uptime):
            self._offset, self._jumped_offset = offset, math.nan
        elif uptime - self._logged_at >= LOG_AGAIN_S:
            self._logged_at = uptime
            logger.error("the database's clock has jumped", extra={"jump_s": round(self.jump_s)})

    def start_at(self, tick: datetime) -> None:
        """Set the verified time to the database's time if that time is close to `tick`. Otherwise set it to `tick`.

        `tick` is the verified time of the scheduler's tick that enqueued this job.
        """
        offset, uptime = _compare()
        by_tick = tick.timestamp() - uptime
        self._offset = offset if _is_close(offset, by_tick) else by_tick

    def now(self) -> datetime | None:
        """Return the verified time, or None before the first verification in this process."""
        return None if self._offset is None else datetime.fromtimestamp(self._offset + _uptime_s(), UTC)

    @property
    def jump_s(self) -> float:
        """Return the seconds by which the database's clock has jumped.

        Return 0 if there is no jump, or if the jump was accepted.
        """
        return 0.0 if math.isnan(self._jumped_offset) or self._offset is None else self._jumped_offset - self._offset

    def _has_lasted(self, offset: float, uptime: float) -> bool:
        if not _is_close(offset, self._jumped_offset):
            self._jumped_offset, self._jumped_at = offset, uptime
        return uptime - self._jumped_at >= ACCEPTED_AFTER_S


verified_time = VerifiedTime()

#: The verified time as an SQL expression with one parameter. `values` returns the parameter.
now_sql = sa.func.coalesce(
    sa.bindparam("verified_now", type_=sa.DateTime(timezone=True)), sa.func.statement_timestamp()
)


def values() -> dict[str, datetime | None]:
    """Return the parameter of `now_sql` and its value."""
    return {"verified_now": verified_time.now()}


def now() -> datetime:
    """Return the verified time, or the database's time before the first verification in this process."""
    return verified_time.now() or db_time.now()


def _compare() -> tuple[float, float]:
    """Return two numbers of seconds: the database's time minus the uptime, and the uptime.

    Read the uptime last. A slow response of the database then makes the verified time late, never early.
    """
    database_now = db_time.now()
    uptime = _uptime_s()
    return database_now.timestamp() - uptime, uptime


def _uptime_s() -> float:
    """Return the seconds since this machine started, including the time in which the machine was suspended."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE.total_seconds()
