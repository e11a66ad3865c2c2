"""Outcomes of deliveries that could not be saved because PostgreSQL was unavailable.

These outcomes are stored in Redis. Before a job sends deliveries, it saves all these outcomes in PostgreSQL. Saving an
outcome twice changes nothing.
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

from app.core.database.session import db
from app.core.jobs.queue import connection
from app.notifications.delivery import outcomes
from app.notifications.delivery.outcomes import Outcome, OutcomeKind
from app.notifications.delivery.settlements import Claim

logger = logging.getLogger(__name__)

#: Key of the Redis hash with the outcomes as JSON, by claim token.
KEY = "deliveries:parked"

#: Seconds between attempts to save an outcome while PostgreSQL is unavailable.
RETRY_EVERY_S = 0.2
#: Seconds after which `persist` does not try PostgreSQL any more, if the outcome is already in Redis.
RETRY_FOR_S = 2.0


@dataclass(frozen=True)
class UnsavedOutcome:
    claim: Claim
    outcome: Outcome


def persist(claim: Claim, outcome: Outcome) -> None:
    """Save an outcome in PostgreSQL, or store it in Redis if PostgreSQL is unavailable.

    If both are unavailable, retry until the job ends, because a message without a saved outcome is sent again.
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
    """Store an outcome in Redis. Return whether Redis was available."""
    try:
        connection().hset(KEY, _name(claim), _text(claim, outcome))
    except RedisError as error:
        logger.warning("a delivery outcome could not be stored in Redis: %s", type(error).__name__)
        return False
    return True


def delete(claim: Claim) -> None:
    """Delete an outcome from Redis, because it is saved in PostgreSQL now."""
    with suppress(RedisError):
        connection().hdel(KEY, _name(claim))


def record_all() -> int:
    """Move all outcomes from Redis to PostgreSQL. Return their number.

    Raise a database error if PostgreSQL is unavailable.
    """
    count = 0
    for unsaved in _all():
        outcomes.record(unsaved.claim, unsaved.outcome)
        delete(unsaved.claim)
        count += 1
    if count:
        logger.info("delivery outcomes from Redis were saved", extra={"outcomes": count})
    return count


def get(delivery_id: int) -> UnsavedOutcome | None:
    """Return the outcome of an earlier attempt to send this delivery, if it is still stored only in Redis."""
    return next((unsaved for unsaved in _all() if delivery_id == unsaved.claim.id), None)


def _is_recorded(claim: Claim, outcome: Outcome) -> bool:
    """Save an outcome in PostgreSQL. Return False if PostgreSQL is unavailable."""
    try:
        outcomes.record(claim, outcome)
    except (DBAPIError, PoolTimeoutError) as error:
        db.session.remove()  # the next try needs a new connection
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
            "outcome": {column.name: getattr(outcome, column.name) for column in fields(outcome)},
        }
    )


def _read(text: bytes | str) -> UnsavedOutcome | None:
    try:
        values = orjson.loads(text)
        claim = Claim(values["id"], uuid.UUID(values["claim_token"]), values["unknowns"])
        claim.call_started = values["is_begun"]
        outcome = values["outcome"]
        until = datetime.fromisoformat(outcome["until"]) if outcome["until"] else None
        return UnsavedOutcome(claim, Outcome(**{**outcome, "result": OutcomeKind(outcome["result"]), "until": until}))
    except (ValueError, KeyError, TypeError):
        logger.exception("a delivery outcome stored in Redis is unreadable")
        return None
