"""Outcomes that cannot be saved while PostgreSQL is away.

They are kept in Redis, where the drains of all machines find them. Every drain saves them before it claims anything.
Saving an outcome twice changes nothing.
"""

from __future__ import annotations

import logging
import uuid
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import datetime
from time import monotonic, sleep

import orjson
from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.jobs.queue import connection
from app.notifications.delivery import outcomes
from app.notifications.delivery.outcomes import Outcome, OutcomeKind
from app.notifications.delivery.settlements import Claim

logger = logging.getLogger(__name__)

#: Redis hash with the outcomes as JSON, by claim token.
KEY = "deliveries:parked"

#: Seconds between attempts to save an outcome while PostgreSQL is away.
RETRY_EVERY_S = 0.2
#: Seconds after which the attempts end, and the outcome stays in Redis.
RETRY_FOR_S = 2.0


@dataclass(frozen=True)
class UnsavedOutcome:
    claim: Claim
    outcome: Outcome


def persist(claim: Claim, outcome: Outcome) -> None:
    """Save an outcome, or leave it in Redis while the database is away.

    While both are away, retry until the job ends, because a lost outcome means a message sent twice.
    """
    stop = monotonic() + RETRY_FOR_S
    is_stored = False
    while not _is_recorded(claim, outcome):
        is_stored = is_stored or store(claim, outcome)
        if is_stored and monotonic() >= stop:
            return
        sleep(RETRY_EVERY_S)
    if is_stored:
        delete(claim)


def store(claim: Claim, outcome: Outcome) -> bool:
    """Store an outcome in Redis. Return whether that succeeded."""
    try:
        connection().hset(KEY, _name(claim), _text(claim, outcome))
    except RedisError as error:
        logger.warning("an outcome was not kept in Redis: %s", type(error).__name__)
        return False
    return True


def delete(claim: Claim) -> None:
    """Delete a saved outcome from Redis."""
    with suppress(RedisError):
        connection().hdel(KEY, _name(claim))


def record_all() -> int:
    """Save all outcomes in Redis and return their number. Raise the database's errors while it is away."""
    count = 0
    for unsaved in _all():
        outcomes.record(unsaved.claim, unsaved.outcome)
        delete(unsaved.claim)
        count += 1
    if count:
        logger.info("parked outcomes settled", extra={"outcomes": count})
    return count


def get(delivery_id: int) -> UnsavedOutcome | None:
    """Return the unsaved outcome of an earlier claim of this delivery, if there is one."""
    return next((unsaved for unsaved in _all() if delivery_id in unsaved.claim.ids), None)


def _is_recorded(claim: Claim, outcome: Outcome) -> bool:
    """Save an outcome. Return False while the database is away."""
    try:
        outcomes.record(claim, outcome)
    except (DBAPIError, PoolTimeoutError) as error:
        if not _is_away(error):
            raise
        return False
    return True


def _is_away(error: DBAPIError | PoolTimeoutError) -> bool:
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or isinstance(error, (OperationalError, InterfaceError))
    return True


def _all() -> list[UnsavedOutcome]:
    try:
        texts = connection().hvals(KEY)
    except RedisError:
        return []
    return [unsaved for unsaved in map(_read, texts) if unsaved is not None]


def _name(claim: Claim) -> str:
    return str(claim.claim_token)


def _text(claim: Claim, outcome: Outcome) -> bytes:
    return orjson.dumps(
        {
            "id": claim.id,
            "claim_token": str(claim.claim_token),
            "unknowns": claim.unconfirmed_calls,
            "is_begun": claim.call_started,
            "ids": claim.ids,
            "outcome": {column.name: getattr(outcome, column.name) for column in fields(outcome)},
        }
    )


def _read(text: bytes | str) -> UnsavedOutcome | None:
    try:
        values = orjson.loads(text)
        claim = Claim(values["id"], uuid.UUID(values["claim_token"]), values["unknowns"])
        claim.call_started, claim.ids = values["is_begun"], tuple(values.get("ids", claim.ids))
        outcome = values["outcome"]
        until = datetime.fromisoformat(outcome["until"]) if outcome["until"] else None
        return UnsavedOutcome(claim, Outcome(**{**outcome, "result": OutcomeKind(outcome["result"]), "until": until}))
    except (ValueError, KeyError, TypeError):
        logger.exception("a parked outcome cannot be read")
        return None
