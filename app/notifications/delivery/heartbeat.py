"""Heartbeat: a regular report to an external monitor, because a host that is down cannot raise an alarm itself."""

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
    """Report the current problems of the workers to the monitor. If no report arrives, the monitor raises an alarm."""
    if settings.heartbeat_url is None:
        return
    try:
        heartbeat.send(settings.heartbeat_url, _problems())
    except ProviderError as error:  # the monitor raises an alarm because of the missing report
        logger.warning("the heartbeat was not accepted: %s", error)


def _problems() -> list[str]:
    try:
        return worker_problems()
    except RedisError as error:
        return [f"Redis is away ({type(error).__name__})"]
    except (DBAPIError, PoolTimeout) as error:
        return [f"the database is away ({type(error).__name__})"]
