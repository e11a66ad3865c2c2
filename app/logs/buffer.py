"""The way of a log record from the request to its table: a Redis list, or, while Redis is away, the table at once.

A drain moves a batch to a list of its own and drops that list only when the rows are committed. One that dies in
between leaves its list for the next; rows that come twice are one row, by their event id.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any

import orjson
import sqlalchemy as sa
from redis.exceptions import RedisError

from app.core.database.session import db
from app.core.jobs import queue

logger = logging.getLogger(__name__)

WAITING = "logs:waiting"
TAKEN = "logs:taken"
BATCH = 2000

#: After a failure Redis is not asked again for so long: a hanging one costs its timeout each time.
REST_S = 1.0

#: Move up to ARGV[1] records to a list of their own and note it, in one step.
_TAKE = """
local rows = redis.call('LRANGE', KEYS[1], 0, ARGV[1] - 1)
if #rows == 0 then return 0 end
redis.call('LTRIM', KEYS[1], #rows, -1)
for start = 1, #rows, 500 do
    redis.call('RPUSH', KEYS[2], unpack(rows, start, math.min(start + 499, #rows)))
end
redis.call('SADD', KEYS[3], KEYS[2])
return #rows
"""

#: All of it in one statement, so that the sums count exactly the rows that are new.
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
        ON CONFLICT (event_id) DO NOTHING
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

_rests_until = 0.0


def put(record: dict[str, Any]) -> None:
    """Accept one record: it has an `event_id` from here on and is never lost."""
    global _rests_until  # noqa: PLW0603  # one moment a process
    record = {"event_id": str(uuid.uuid4()), **record}
    if monotonic() >= _rests_until:
        try:
            queue.connection().rpush(WAITING, orjson.dumps(record))
        except RedisError as error:
            # It may have arrived all the same; the event id makes that harmless.
            _rests_until = monotonic() + REST_S
            logger.warning("logs go straight to the database: %s", type(error).__name__)
        else:
            return
    store([record])


def waits() -> bool:
    """Whether there is something to ingest."""
    pipeline = queue.connection().pipeline(transaction=False)
    pipeline.exists(WAITING)
    pipeline.exists(TAKEN)
    return any(pipeline.execute())


def take(batch: int = BATCH) -> list[str]:
    """Move a batch to a list of its own; returns that list's name, after those that drains before us left behind."""
    redis = queue.connection()
    left = [key.decode() if isinstance(key, bytes) else key for key in redis.smembers(TAKEN)]
    mine = f"{TAKEN}:{uuid.uuid4()}"
    return [*left, mine] if redis.eval(_TAKE, 3, WAITING, mine, TAKEN, batch) else left


def records_of(key: str) -> list[dict[str, Any]]:
    return list(_readable(queue.connection().lrange(key, 0, -1)))


def drop(key: str) -> None:
    """Forget a list whose records are stored."""
    pipeline = queue.connection().pipeline()
    pipeline.delete(key)
    pipeline.srem(TAKEN, key)
    pipeline.execute()


def store(records: Sequence[dict[str, Any]]) -> int:
    """Insert records that are not there yet, and count them in the sums of their days."""
    return int(db.session.execute(_INGEST, {"rows": orjson.dumps(records).decode()}).scalar_one())


def _readable(rows: Sequence[bytes | str]) -> Iterator[dict[str, Any]]:
    for row in rows:
        try:
            yield orjson.loads(row)
        except ValueError:  # nothing of ours writes such a thing
            logger.exception("an unreadable log record was dropped")
