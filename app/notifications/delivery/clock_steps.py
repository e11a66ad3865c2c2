"""Steps of the database's clock, which decides what is due and what is missed.

It is compared with the time that this machine has been running, which no wall clock can move. While the two differ by
more than 5 minutes from what they did, one of them has stepped: nothing is expired or claimed until they agree again,
or until the step has lasted 10 minutes. A paused machine resumes with a right clock, so a lasting step is believed.
"""

from __future__ import annotations

import logging
import math
import platform
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from mmap import mmap
from pathlib import Path
from struct import pack_into, unpack_from

import sqlalchemy as sa
from redis.exceptions import RedisError

from app.core.jobs.queue import connection

logger = logging.getLogger(__name__)

#: By so much the clocks may differ from what they did.
TOLERANCE = timedelta(minutes=5)
#: Seconds that a step must last before it is believed.
BELIEVED_AFTER_S = 600.0
#: Seconds between log lines about one step.
LOG_AGAIN_S = 60.0

#: Seconds that Redis remembers how the two clocks of this machine differ, for a worker that starts in the middle of a
#: step; and the key that says by how many seconds they have stepped.
OFFSET_TTL_S = 60
#: Seconds between two writes of it.
SHARE_AGAIN_S = 10.0
STEP = "clock:step"
STEP_TTL_S = 15


def _shared_number() -> mmap:
    """One number for this process and all that it forks; NaN until it is known."""
    number = mmap(-1, 8)
    pack_into("d", number, 0, math.nan)
    return number


#: The seconds between the clocks.
_offset = _shared_number()
#: When this process last logged the alarm and shared the offset, by the monotonic clock.
_last = {"logged": -math.inf, "shared": -math.inf}
#: The offset of the present step, and the uptime at which this process first saw it.
_step = {"offset": math.nan, "since": math.nan}


def look(database_now: datetime) -> float:
    """Compare the clocks; returns by how many seconds they differ from what they did, 0.0 for little enough."""
    offset = database_now.timestamp() - _running_s()
    known = _known()
    if math.isnan(known):
        known = _remembered(offset)
    step = offset - known
    if abs(step) <= TOLERANCE.total_seconds() or _has_lasted(offset):
        # Clocks that drift apart slowly are followed.
        pack_into("d", _offset, 0, offset)
        _step.update(offset=math.nan)
        _share(offset)
        return 0.0
    pack_into("d", _offset, 0, known)
    _alarm(step)
    return step


def trusted() -> dict[str, datetime]:
    """The values of `is_trusted` and `now`: what the database's clock should show, and how far it may be off."""
    known = _known()
    if math.isnan(known):
        return {"expected": _ANY[0], "earliest": _ANY[0], "latest": _ANY[1]}
    expected = datetime.fromtimestamp(known + _running_s(), UTC)
    return {"expected": expected, "earliest": expected - TOLERANCE, "latest": expected + TOLERANCE}


def step_s() -> float:
    """By how many seconds a worker sees the database's clock stepped; for metrics. Raises redis' errors."""
    return float(connection().get(STEP) or 0.0)


def forget() -> None:
    """Take the time as it is."""
    pack_into("d", _offset, 0, math.nan)
    _last["shared"] = -math.inf
    with suppress(RedisError):
        connection().delete(_key(), STEP)


_ANY = (datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))
_moment = sa.DateTime(timezone=True)

#: Whether a statement may believe the database's clock.
is_trusted = sa.func.statement_timestamp().between(
    sa.bindparam("earliest", type_=_moment), sa.bindparam("latest", type_=_moment)
)
#: The present moment, also while the database's clock is wrong.
now = sa.case((is_trusted, sa.func.statement_timestamp()), else_=sa.bindparam("expected", type_=_moment))


def _has_lasted(offset: float) -> bool:
    """Return whether the clocks have differed by this offset for `BELIEVED_AFTER_S`."""
    running_s = _running_s()
    if not abs(offset - _step["offset"]) <= TOLERANCE.total_seconds():  # NaN included
        _step.update(offset=offset, since=running_s)
    return running_s - _step["since"] >= BELIEVED_AFTER_S


def _known() -> float:
    seconds: float = unpack_from("d", _offset, 0)[0]
    return seconds


def _remembered(offset: float) -> float:
    """What another worker of this machine saw within the last minute; else what is seen now."""
    try:
        return float(connection().get(_key()) or offset)
    except RedisError:
        return offset


def _running_s() -> float:
    """Seconds that this machine has been running, asleep or not."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _share(offset: float) -> None:
    """Let workers that start in the next minute know. Every tick comes by, so not each of them asks Redis."""
    if time.monotonic() - _last["shared"] < SHARE_AGAIN_S:
        return
    with suppress(RedisError):
        connection().set(_key(), offset, ex=OFFSET_TTL_S)
        _last["shared"] = time.monotonic()


@cache
def _key() -> str:
    try:
        machine = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        machine = platform.node()
    return f"clock:offset:{machine}"


def _alarm(step: float) -> None:
    with suppress(RedisError):
        connection().set(STEP, step, ex=STEP_TTL_S)
    if time.monotonic() - _last["logged"] >= LOG_AGAIN_S:
        _last["logged"] = time.monotonic()
        logger.error("the database's clock has stepped: nothing is sent", extra={"step_s": round(step)})
