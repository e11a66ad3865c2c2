"""Buffer for log records in a Redis list. While Redis is down, records go directly to the table.

An ingest job moves a batch of records to its own list and stores them. It deletes the list after the commit. If a job
dies, the next job stores the records of the dead job's list. A record is never stored twice, because its event id is
unique.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic

import orjson
import sqlalchemy as sa
from redis.exceptions import RedisError

from app.core.database.session import db
from app.core.jobs import queue

logger = logging.getLogger(__name__)

#: A log record: the values of the columns of `ActivityLog`, by column name. All values can be encoded as JSON. Columns
#: without a value may be missing.
Record = Mapping[str, object]

#: Redis keys: the list of new records, and the set with the names of the lists of ingest jobs.
WAITING, CLAIMED = "logs:waiting", "logs:taken"
BATCH = 2000

#: After a failure, Redis is not called for this number of seconds. Otherwise each request would wait for the timeout of
#: a hanging Redis.
REDIS_PAUSE_S = 1.0

#: Script that atomically moves up to ARGV[1] records to a new list and adds the list's name to the set.
_CLAIM = """
local rows = redis.call('LRANGE', KEYS[1], 0, ARGV[1] - 1)
if #rows == 0 then return 0 end
redis.call('LTRIM', KEYS[1], #rows, -1)
for start = 1, #rows, 500 do
    redis.call('RPUSH', KEYS[2], unpack(rows, start, math.min(start + 499, #rows)))
end
redis.call('SADD', KEYS[3], KEYS[2])
return #rows
"""

#: Statement that inserts rows and updates the daily sums. One statement does both, so the sums count only new rows.
_INGEST = sa.text(
    """
    WITH sent AS (
        SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS entry(
            event_id uuid, log text, user_id bigint, event_type text, event_name text, screen_name text,
            activity_description text, session_id text, user_ip text, remote_ip text, user_agent text, extra jsonb,
            created_at timestamptz
        )
    ), stored AS (
        INSERT INTO activity_logs (
            event_id, log, user_id, event_type, event_name, screen_name, activity_description, session_id, user_ip,
            remote_ip, user_agent, extra, created_at
        )
        SELECT event_id, log, user_id, event_type, event_name, screen_name, activity_description, session_id, user_ip,
            remote_ip, user_agent, extra, created_at
        FROM sent
        ON CONFLICT (event_id, created_at) DO NOTHING
        RETURNING (created_at AT TIME ZONE 'Asia/Jakarta')::date AS day, user_id
    ), newly_active AS (
        INSERT INTO log_day_users (day, user_id)
        SELECT DISTINCT day, user_id FROM stored WHERE user_id IS NOT NULL ORDER BY day, user_id
        ON CONFLICT DO NOTHING
        RETURNING day
    ), sums AS (
        INSERT INTO log_days AS known (day, events, active_users)
        SELECT day, count(*), (SELECT count(*) FROM newly_active WHERE newly_active.day = stored.day)
        FROM stored GROUP BY day ORDER BY day
        ON CONFLICT (day) DO UPDATE SET
            events = known.events + excluded.events, active_users = known.active_users + excluded.active_users
    )
    SELECT count(*) FROM stored
    """
)

_redis_paused_until = 0.0


def put(record: Record) -> None:
    """Store one record with a new `event_id` in Redis, or in the table if Redis is down."""
    global _redis_paused_until  # noqa: PLW0603  # one pause per process
    record = {"event_id": str(uuid.uuid4()), **record}
    if monotonic() >= _redis_paused_until:
        try:
            queue.connection().rpush(WAITING, orjson.dumps(record))
        except RedisError as error:
            # Redis may have stored the record in spite of the error. The event id makes a second insert harmless.
            _redis_paused_until = monotonic() + REDIS_PAUSE_S
            logger.warning("logs go straight to the database: %s", type(error).__name__)
        else:
            return
    store([record])


def has_records() -> bool:
    """Return whether there are records to ingest."""
    pipeline = queue.connection().pipeline(transaction=False)
    pipeline.exists(WAITING)
    pipeline.exists(CLAIMED)
    return any(pipeline.execute())


def claim(batch: int = BATCH) -> list[str]:
    """Move up to `batch` records to a new list.

    Return the names of the lists to store: first the remaining lists of other ingest jobs, then the new list.
    """
    redis = queue.connection()
    claimed = [key.decode() if isinstance(key, bytes) else key for key in redis.smembers(CLAIMED)]
    own = f"{CLAIMED}:{uuid.uuid4()}"
    return [*claimed, own] if redis.eval(_CLAIM, 3, WAITING, own, CLAIMED, batch) else claimed


def records_of(key: str) -> list[Record]:
    return list(_readable(queue.connection().lrange(key, 0, -1)))


def drop(key: str) -> None:
    """Delete a list whose records are stored."""
    pipeline = queue.connection().pipeline()
    pipeline.delete(key)
    pipeline.srem(CLAIMED, key)
    pipeline.execute()


def store(records: Sequence[Record]) -> int:
    """Insert the new records and add them to the daily sums. Return the number of new records."""
    return int(db.session.execute(_INGEST, {"rows": orjson.dumps(records).decode()}).scalar_one())


def _readable(rows: Sequence[bytes | str]) -> Iterator[Record]:
    for row in rows:
        try:
            yield orjson.loads(row)
        except ValueError:  # the record is not JSON, so the service did not write it
            logger.exception("an unreadable log record was discarded")
