"""The clock's own sign of life to a watchman outside: a host that is dead cannot raise its own alarm."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from threading import Thread
from time import monotonic

from flask import current_app
from flask.ctx import AppContext
from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.core.jobs.queue import connection
from app.core.settings import settings
from app.notifications.delivery.metrics import worker_problems
from app.providers import heartbeat
from app.providers.responses import ProviderError

logger = logging.getLogger(__name__)

EVERY_S = 60.0
#: The key in Redis by which one of all clocks calls.
TURN = "heartbeat:turn"


@dataclass
class _Heart:
    """When this clock looks again, by its monotonic clock, and the thread that looked last."""

    next_at: float = 0.0
    thread: Thread | None = None


_heart = _Heart()


def beat() -> None:
    """The clock's tick: once a minute a thread asks how things are and tells it. The tick itself waits for nothing."""
    if settings.heartbeat_url is None or monotonic() < _heart.next_at:
        return
    if _heart.thread is not None and _heart.thread.is_alive():  # the database hangs, say: silence raises the alarm too
        return
    _heart.next_at = monotonic() + EVERY_S
    _heart.thread = Thread(target=_tell, args=(current_app.app_context(),), name="heartbeat", daemon=True)
    _heart.thread.start()


def _tell(context: AppContext) -> None:
    with context:
        problems = _problems()
        if problems is None or settings.heartbeat_url is None:
            return
        try:
            heartbeat.tell(settings.heartbeat_url, problems)
        except ProviderError as error:  # the watchman notices by itself
            logger.warning("the heartbeat was not heard: %s", error)


def _problems() -> list[str] | None:
    """What is wrong, a sentence each; None when another clock tells it this minute."""
    try:
        if not connection().set(TURN, 1, nx=True, px=int(EVERY_S * 1000) - 500):
            return None
        return worker_problems()
    except RedisError as error:
        return [f"Redis is away ({type(error).__name__})"]
    except (DBAPIError, PoolTimeout) as error:
        return [f"the database is away ({type(error).__name__})"]
