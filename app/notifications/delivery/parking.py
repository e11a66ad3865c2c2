"""Outcomes that cannot be recorded while PostgreSQL is away.

They are parked in Redis, for every machine, and in a file beside it, for when Redis is away or emptied too. Every drain
settles what is parked before it claims anything. Settling twice does nothing the second time.
"""

from __future__ import annotations

import hashlib
import logging
import os
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from time import monotonic, sleep

import orjson
from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.jobs.queue import connection
from app.core.settings import settings
from app.notifications.delivery import outcomes
from app.notifications.delivery.outcomes import Outcome, Result
from app.notifications.delivery.settlements import Claim

logger = logging.getLogger(__name__)

#: A hash in Redis: by the name of a claim, its outcome as JSON.
KEY = "deliveries:parked"

#: Seconds between attempts to record an outcome while PostgreSQL is away, and of all of them once it is parked.
SETTLE_AGAIN_S = 0.2
SETTLE_WITHIN_S = 2.0


@dataclass(frozen=True)
class Parked:
    claim: Claim
    outcome: Outcome


def persist(claim: Claim, outcome: Outcome) -> None:
    """Record an outcome; while the database is away it is parked, for a lost outcome is a message sent twice."""
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
    """Keep an outcome until it can be recorded; returns whether it is safe in at least one place."""
    name, text = _name(claim), _text(claim, outcome)
    places = 0
    try:
        connection().hset(KEY, name, text)
        places += 1
    except RedisError as error:
        logger.warning("an outcome was not parked in Redis: %s", type(error).__name__)
    try:
        _write(_folder() / name, text)
        places += 1
    except OSError as error:
        logger.warning("an outcome was not parked in a file: %s", error.strerror)
    return places > 0


def forget(claim: Claim) -> None:
    """It is recorded."""
    with suppress(RedisError):
        connection().hdel(KEY, _name(claim))
    with suppress(OSError):
        (_folder() / _name(claim)).unlink(missing_ok=True)


def settle_all() -> int:
    """Record all that is parked; returns how many. Raises the database's errors while it is away."""
    count = 0
    for parked in _all():
        outcomes.settle(parked.claim, parked.outcome)
        forget(parked.claim)
        count += 1
    if count:
        logger.info("parked outcomes settled", extra={"outcomes": count})
    return count


def of(delivery_id: int) -> Parked | None:
    """What an earlier claim of this delivery came to, where that is parked."""
    return next((parked for parked in _all() if delivery_id in parked.claim.ids), None)


def _is_settled(claim: Claim, outcome: Outcome) -> bool:
    """Record an outcome; returns False when the database is away."""
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
    return list({parked.claim.claim_token: parked for parked in map(_read, _texts()) if parked is not None}.values())


def _texts() -> Iterator[bytes | str]:
    with suppress(RedisError):
        yield from connection().hvals(KEY)
    with suppress(OSError):
        for path in _folder().glob("*.json"):
            with suppress(OSError):  # settled by another process
                yield path.read_bytes()


def _folder() -> Path:
    """The folder of this database: outcomes are of no use to another one."""
    return settings.outcomes_folder / hashlib.sha256(settings.database_url.encode()).hexdigest()[:16]


def _write(path: Path, text: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    draft.write_bytes(text)
    os.replace(draft, path)  # noqa: PTH105  # whole or not at all


def _name(claim: Claim) -> str:
    return f"{claim.id}-{claim.claim_token}.json"


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
        return Parked(claim, Outcome(**{**outcome, "result": Result(outcome["result"]), "until": until}))
    except (ValueError, KeyError, TypeError):
        logger.exception("a parked outcome cannot be read")
        return None
