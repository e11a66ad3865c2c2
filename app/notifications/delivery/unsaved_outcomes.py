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
SETTLE_AGAIN_S = 0.2
#: Seconds after which the attempts end, and the outcome stays in Redis.
SETTLE_WITHIN_S = 2.0


@dataclass(frozen=True)
class Parked:
    claim: Claim
    outcome: Outcome


def persist(claim: Claim, outcome: Outcome) -> None:
    """Save an outcome, or leave it in Redis while the database is away.

    While both are away, retry until the job ends, because a lost outcome means a message sent twice.
    """
    stop = monotonic() + SETTLE_WITHIN_S
    is_parked = False
    while not _is_settled(claim, outcome):
        is_parked = is_parked or park(claim, outcome)
        if is_parked and monotonic() >= stop:
            return
        sleep(SETTLE_AGAIN_S)
    if is_parked:
        forget(claim)


def park(claim: Claim, outcome: Outcome) -> bool:
    """Store an outcome in Redis. Return whether that succeeded."""
    try:
        connection().hset(KEY, _name(claim), _text(claim, outcome))
    except RedisError as error:
        logger.warning("an outcome was not kept in Redis: %s", type(error).__name__)
        return False
    return True


def forget(claim: Claim) -> None:
    """Delete a saved outcome from Redis."""
    with suppress(RedisError):
        connection().hdel(KEY, _name(claim))


def settle_all() -> int:
    """Save all outcomes in Redis and return their number. Raise the database's errors while it is away."""
    count = 0
    for parked in _all():
        outcomes.settle(parked.claim, parked.outcome)
        forget(parked.claim)
        count += 1
    if count:
        logger.info("parked outcomes settled", extra={"outcomes": count})
    return count


def of(delivery_id: int) -> Parked | None:
    """Return the unsaved outcome of an earlier claim of this delivery, if there is one."""
    return next((parked for parked in _all() if delivery_id in parked.claim.ids), None)


def _is_settled(claim: Claim, outcome: Outcome) -> bool:
    """Save an outcome. Return False while the database is away."""
    try:
        outcomes.settle(claim, outcome)
    except (DBAPIError, PoolTimeoutError) as error:
        if not _is_away(error):
            raise
        return False
    return True


def _is_away(error: DBAPIError | PoolTimeoutError) -> bool:
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or isinstance(error, (OperationalError, InterfaceError))
    return True


def _all() -> list[Parked]:
    try:
        texts = connection().hvals(KEY)
    except RedisError:
        return []
    return [parked for parked in map(_read, texts) if parked is not None]


def _name(claim: Claim) -> str:
    return str(claim.claim_token)


def _text(claim: Claim, outcome: Outcome) -> bytes:
    return orjson.dumps(
        {
            "id": claim.id,
            "claim_token": str(claim.claim_token),
            "unknowns": claim.unknowns,
            "is_begun": claim.is_begun,
            "ids": claim.ids,
            "outcome": {column.name: getattr(outcome, column.name) for column in fields(outcome)},
        }
    )


def _read(text: bytes | str) -> Parked | None:
    try:
        values = orjson.loads(text)
        claim = Claim(values["id"], uuid.UUID(values["claim_token"]), values["unknowns"])
        claim.is_begun, claim.ids = values["is_begun"], tuple(values.get("ids", claim.ids))
        outcome = values["outcome"]
        until = datetime.fromisoformat(outcome["until"]) if outcome["until"] else None
        return Parked(claim, Outcome(**{**outcome, "result": OutcomeKind(outcome["result"]), "until": until}))
    except (ValueError, KeyError, TypeError):
        logger.exception("a parked outcome cannot be read")
        return None
