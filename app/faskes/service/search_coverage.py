"""Redis keys that decide which search calls the paid places provider, and how many searches a day do."""

from __future__ import annotations

import logging
import math

from redis.exceptions import RedisError

from app.core.jobs import queue
from app.core.lib import local_time
from app.core.settings import settings

logger = logging.getLogger(__name__)

#: Seconds after a search in which no other search of this cell and radius calls the provider.
LIFETIME_S = 4 * 3600

#: Degrees of a cell. This is 1 km from south to north, and in Indonesia nearly 1 km from west to east.
_CELL = 0.009

#: Seconds until a day's counter is deleted.
_DAY_S = 86_400


def claim(lat: float, lng: float, radius_m: int) -> str | None:
    """Return a key if the caller must call the provider, otherwise None.

    Without Redis nobody calls the provider, because nothing would bound the cost.
    """
    key = f"faskes:{math.floor(lat / _CELL)}:{math.floor(lng / _CELL)}:{radius_m}"
    counter = f"faskes:searches:{local_time.today()}"
    try:
        redis = queue.connection()
        if not redis.set(key, 1, ex=LIFETIME_S, nx=True):
            return None
        searches = redis.incr(counter)
        redis.expire(counter, _DAY_S)
    except RedisError as error:
        logger.warning("facilities from the database alone: %s", type(error).__name__)
        return None
    if searches > settings.places_per_day:
        release(key)
        return None
    return key


def release(key: str) -> None:
    """Delete a claim after a failure, so that the next search may call the provider."""
    try:
        queue.connection().delete(key)
    except RedisError as error:
        logger.warning("a failed search blocks its cell: %s", type(error).__name__)
