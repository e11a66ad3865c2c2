"""Verified time: the database's clock, checked against the monotonic clock of this process.

The database's clock decides what is due and what is missed. If it jumps by more than 5 minutes, the verified time
ignores the jump for 10 minutes.
A jump that lasts longer is accepted, because a machine that was paused also resumes with a jump.

Each tick of the scheduler verifies the time. A drain starts from the time that its tick verified.
"""

from __future__ import annotations

import logging
import math
import time
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from app.core.database import db_time

logger = logging.getLogger(__name__)

#: Largest difference between the two clocks that is accepted at once.
TOLERANCE = timedelta(minutes=5)
#: Seconds that a jump must last before it is accepted.
BELIEVED_AFTER_S = 600.0
#: Seconds between log lines about the same jump.
LOG_AGAIN_S = 60.0


class VerifiedTime:
    """The verified time of one process. It equals the database's time until `verify` or `start_at` is called."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Discard the verified time."""
        #: Seconds between the verified time and the uptime.
        self._offset: float | None = None
        #: The offset after the present jump, and the uptime at which the jump was seen.
        self._jumped_offset = self._jumped_at = math.nan
        self._logged_at = -math.inf

    def verify(self) -> None:
        """Compare the database's clock with the uptime. Raise the database's errors if it is unavailable."""
        offset, uptime = _compare()
        if self._offset is None or _is_close(offset, self._offset) or self._has_lasted(offset, uptime):
            self._offset, self._jumped_offset = offset, math.nan
        elif uptime - self._logged_at >= LOG_AGAIN_S:
            self._logged_at = uptime
            logger.error("the database's clock has jumped", extra={"jump_s": round(self.jump_s)})

    def start_at(self, tick: datetime) -> None:
        """Use the database's time if it is close to the tick's time. Otherwise use the tick's time."""
        offset, uptime = _compare()
        by_tick = tick.timestamp() - uptime
        self._offset = offset if _is_close(offset, by_tick) else by_tick

    def now(self) -> datetime | None:
        """Return the verified time, or None if nothing was verified in this process."""
        return None if self._offset is None else datetime.fromtimestamp(self._offset + _uptime_s(), UTC)

    @property
    def jump_s(self) -> float:
        """Return the seconds by which the database's clock jumped, or 0 if the jump was accepted."""
        return 0.0 if math.isnan(self._jumped_offset) or self._offset is None else self._jumped_offset - self._offset

    def _has_lasted(self, offset: float, uptime: float) -> bool:
        if not _is_close(offset, self._jumped_offset):
            self._jumped_offset, self._jumped_at = offset, uptime
        return uptime - self._jumped_at >= BELIEVED_AFTER_S


verified_time = VerifiedTime()

#: The verified time as an SQL expression. `values` returns its parameter.
now_sql = sa.func.coalesce(
    sa.bindparam("verified_now", type_=sa.DateTime(timezone=True)), sa.func.statement_timestamp()
)


def values() -> dict[str, datetime | None]:
    """Return the parameter of `now_sql`."""
    return {"verified_now": verified_time.now()}


def now() -> datetime:
    """Return the verified time. Return the database's time if this process has not verified any."""
    return verified_time.now() or db_time.now()


def _compare() -> tuple[float, float]:
    """Return the seconds between the database's clock and the uptime, and the uptime.

    Read the uptime last, so that a slow response makes the verified time late, never early.
    """
    database_now = db_time.now()
    uptime = _uptime_s()
    return database_now.timestamp() - uptime, uptime


def _uptime_s() -> float:
    """Return the seconds since this machine started, including suspended time."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE.total_seconds()
