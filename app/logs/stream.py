"""Redis stream of log records that wait to be stored.

The jobs form one consumer group. Redis gives each record to one job. A job deletes its records after the commit.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import orjson
from redis.exceptions import RedisError, ResponseError

from app.core.errors import Unavailable
from app.core.jobs.queue import connection
from app.core.lib import local_time
from app.core.web import rate_limits

logger = logging.getLogger(__name__)

#: Maximum records per sender. A normal client sends a few with each screen.
MAX_PER_MINUTE, MAX_PER_DAY = 120, 5000

STREAM, GROUP, FIELD = "logs", "ingest", "record"
#: Key of the number of records that the database refused.
DROPPED = "logs:dropped"

#: Maximum waiting records, so that logs do not fill the memory of Redis while no job runs.
MAX_WAITING = 1_000_000
BATCH = 2000
#: Milliseconds after which another job takes the records of a job that did not finish them. A batch usually takes less
#: than a second. If the first job still runs, the second insert changes nothing.
IDLE_MS = 10_000


def create(record: Mapping[str, object], sender: str) -> None:
    """Accept one record now. The worker stores the record within seconds. The limits apply per `sender`.

    Raise `TooManyRequests` above the limits, and `Unavailable` if the record cannot be queued.
    """
    rate_limits.count(f"{MAX_PER_MINUTE} per minute", "logs", sender)
    rate_limits.count(f"{MAX_PER_DAY} per day", "logs", sender)
    add({**record, "created_at": local_time.now()})


def add(record: Mapping[str, object]) -> None:
    """Add a record: the values of the columns of `ActivityLog`, by column name.

    Raise `Unavailable` if Redis fails, or if `MAX_WAITING` records wait.
    """
    try:
        if waiting() < MAX_WAITING:
            connection().xadd(STREAM, {FIELD: orjson.dumps(record)})
            return
    except RedisError as error:
        logger.error("a log record was refused: %s", type(error).__name__)  # noqa: TRY400  # a line, no traceback
    raise Unavailable


def waiting() -> int:
    """Return the number of records that are not stored yet, claimed records included."""
    return int(connection().xlen(STREAM))


def claim() -> dict[str, str]:
    """Return up to `BATCH` records as JSON, by stream id. Records of a dead job come first."""
    redis = connection()
    with suppress(ResponseError):  # the consumer group exists
        redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
    _, entries, _ = redis.xautoclaim(STREAM, GROUP, GROUP, min_idle_time=IDLE_MS, count=BATCH)
    if not entries:
        streams: Any = redis.xreadgroup(GROUP, GROUP, {STREAM: ">"}, count=BATCH)
        entries = [entry for _, new in streams for entry in new]
    return {stream_id.decode(): fields[FIELD.encode()].decode() for stream_id, fields in entries}


def delete(*stream_ids: str) -> None:
    """Acknowledge and delete records that are stored."""
    pipeline = connection().pipeline()
    pipeline.xack(STREAM, GROUP, *stream_ids)
    pipeline.xdel(STREAM, *stream_ids)
    pipeline.execute()
