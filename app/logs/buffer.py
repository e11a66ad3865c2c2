"""Log records between the request and their table: in a Redis list or, while Redis is away, in the table at once.

A drain moves a batch of records to a list of its own and deletes that list only when the rows are committed. A drain
that dies in between leaves its list to the next one; a record that is inserted twice is one row, by its event id.
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
from app.core.errors import TooManyRequests
from app.core.jobs import queue
from app.core.web import rate_limits

logger = logging.getLogger(__name__)

#: One record, ready for JSON: the columns of `ActivityLog`, as far as they are known.
Record = Mapping[str, object]

#: The list of new records, and the set of the lists that drains have claimed.
WAITING, CLAIMED = "logs:waiting", "logs:taken"
BATCH = 2000

#: Begins the names of the counts of each sender's records, which expire.
COUNTS = "logs:counts"

#: Records that are kept of one sender; a client that works sends a few with each screen.
MAX_PER_MINUTE, MAX_PER_DAY = 120, 5000

#: Seconds after a failure in which Redis is not tried again: one that hangs costs a request its timeout each time.
REDIS_PAUSE_S = 1.0

#: Moves up to ARGV[1] records to a list of their own and adds its name to the set, in one step.
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

#: Rows and sums in one statement, so that the sums count exactly the rows that are new.
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

#: Adds a record to the list, unless its sender has sent too many, all in one step. Returns whether it was added.
#: KEYS: the list, the sender's counts of this minute and day. ARGV: the record, the most of a minute and of a day.
_ADD = """
local function count(key, seconds)
    local calls = redis.call('INCR', key)
    if calls == 1 then redis.call('EXPIRE', key, seconds) end
    return calls
end
if count(KEYS[2], 60) > tonumber(ARGV[2]) or count(KEYS[3], 86400) > tonumber(ARGV[3]) then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[1])
return 1
"""

_redis_paused_until = 0.0


def put(record: Record, *, sender: str | None = None) -> bool:
    """Accept one record: it gets an `event_id`, and from here on it is not lost.

    A `sender` who has sent more than `MAX_PER_MINUTE` or `MAX_PER_DAY` is not accepted any more, which is what False
    says. Without one nothing is counted.
    """
    global _redis_paused_until  # noqa: PLW0603  # one pause a process
    record = {"event_id": str(uuid.uuid4()), **record}
    if monotonic() >= _redis_paused_until:
        try:
            accepted = _push(orjson.dumps(record), sender)
        except RedisError as error:
            # It may have arrived all the same; the event id makes that harmless.
            _redis_paused_until = monotonic() + REDIS_PAUSE_S
            logger.warning("logs go straight to the database: %s", type(error).__name__)
        else:
            return accepted
    if sender is not None and not _has_room(sender):
        return False
    store([record])
    return True


def _has_room(sender: str) -> bool:
    """The same counts in this process's memory, while Redis is away."""
    try:
        rate_limits.count(f"{MAX_PER_MINUTE} per minute", "logs", sender)
        rate_limits.count(f"{MAX_PER_DAY} per day", "logs", sender)
    except TooManyRequests:
        return False
    return True


def _push(record: bytes, sender: str | None) -> bool:
    redis = queue.connection()
    if sender is None:
        redis.rpush(WAITING, record)
        return True
    keys = [WAITING, f"{COUNTS}:minute:{sender}", f"{COUNTS}:day:{sender}"]
    return bool(redis.register_script(_ADD)(keys, [record, MAX_PER_MINUTE, MAX_PER_DAY]))


def has_records() -> bool:
    """Whether there is something to ingest."""
    pipeline = queue.connection().pipeline(transaction=False)
    pipeline.exists(WAITING)
    pipeline.exists(CLAIMED)
    return any(pipeline.execute())


def claim(batch: int = BATCH) -> list[str]:
    """Move up to `batch` records to a list of its own.

    Returns the names of the lists to ingest: those of other drains that are not deleted yet, then the new one.
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
    """Insert the records that are new and add them to the sums of their days; returns how many were new."""
    return int(db.session.execute(_INGEST, {"rows": orjson.dumps(records).decode()}).scalar_one())


def _readable(rows: Sequence[bytes | str]) -> Iterator[Record]:
    for row in rows:
        try:
            yield orjson.loads(row)
        except ValueError:  # the service writes none
            logger.exception("an unreadable log record was dropped")
