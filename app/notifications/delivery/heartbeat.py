"""Heartbeat to a monitor outside of the service, because a host that is down cannot raise its own alarm."""

from __future__ import annotations

import logging

from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.core.settings import settings
from app.notifications.delivery.metrics import worker_problems
from app.providers import heartbeat
from app.providers.responses import ProviderError

logger = logging.getLogger(__name__)


def beat() -> None:
    """Report the problems of the workers to the monitor. The monitor also raises an alarm if no report arrives."""
    if settings.heartbeat_url is None:
        return
    try:
        heartbeat.send(settings.heartbeat_url, _problems())
    except ProviderError as error:  # the monitor notices the missing report
        logger.warning("the heartbeat was not accepted: %s", error)


def _problems() -> list[str]:
    try:
        return worker_problems()
    except RedisError as error:
        return [f"Redis is away ({type(error).__name__})"]
    except (DBAPIError, PoolTimeout) as error:
        return [f"the database is away ({type(error).__name__})"]
