"""Circles on the map in which the places provider was searched recently. All processes share the circles in Redis.

The database has the places that the provider returned. For four hours, a search near a covered circle does not call the
provider again. A search claims (reserves) its circle before it calls the provider. If several requests need the same
circle, one calls the provider and the others wait. While Redis is down, no circles are stored. Every search without
stored facilities then calls the provider.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from redis import Redis
from redis.exceptions import RedisError

from app.core.jobs import queue

logger = logging.getLogger(__name__)

LIFETIME_S = 4 * 3600

#: Seconds during which a newly covered circle still counts as `ASKING`. A request in this time may have read the
#: database before the new rows were committed. The request must therefore read the database again.
JUST_NOW_S = 1

#: Maximum km between the centre of a search and the centre of a circle that covers the search. The radius of the circle
#: must be at least the radius of the search.
NEAR_KM = 1

#: Seconds until a claim expires. A claim expires only if its process has died, because a provider call takes less time.
CLAIM_S = 10
_POLL_S = 0.1

#: Maximum new circles per minute for all processes, because provider calls cost money. Above the limit, searches use
#: only the database.
MAX_CLAIMS_PER_MINUTE = 300

#: Maximum latitude in degrees. Redis stores no positions nearer to the poles, and no facility is there.
_MAX_LATITUDE = 85.0

_CENTRES, _CLAIMS, _STATE = "faskes:coverage", "faskes:coverage:claims", "faskes:coverage:state:"
_UNKNOWN = "faskes:unknown:"

#: Script that finds a covered circle or claims a new one atomically. Of several parallel searches, only one gets the
#: claim. A circle is named `latitude:longitude:radius`, with the radius in metres.
_CLAIM = f"""
local near = redis.call('GEOSEARCH', KEYS[1], 'FROMLONLAT', ARGV[1], ARGV[2], 'BYRADIUS', {NEAR_KM}, 'km', 'ASC')
for _, circle in ipairs(near) do
  local state = redis.call('GET', ARGV[4] .. circle)
  if not state then
    redis.call('ZREM', KEYS[1], circle)
  elseif tonumber(string.match(circle, '[^:]+$')) >= tonumber(ARGV[3]) then
    local left = redis.call('PTTL', ARGV[4] .. circle)
    return {{left > {(LIFETIME_S - JUST_NOW_S) * 1000} and 'asking' or state, circle}}
  end
end
local claims = redis.call('INCR', KEYS[2])
if claims == 1 then redis.call('EXPIRE', KEYS[2], 60) end
if claims > tonumber(ARGV[5]) then return {{'covered', ''}} end
local claimed = ARGV[2] .. ':' .. ARGV[1] .. ':' .. ARGV[3]
redis.call('GEOADD', KEYS[1], ARGV[1], ARGV[2], claimed)
redis.call('EXPIRE', KEYS[1], {2 * LIFETIME_S})
redis.call('SET', ARGV[4] .. claimed, 'asking', 'EX', {CLAIM_S})
return {{'claimed', claimed}}
"""


class CircleState(StrEnum):
    #: The provider was called recently, or must not be called now. Use only the database.
    COVERED = "covered"
    #: Another request has claimed the circle and is calling the provider.
    ASKING = "asking"
    #: The caller has claimed the circle, and must call the provider, then `mark_covered` or `release`.
    CLAIMED = "claimed"


@dataclass(frozen=True)
class Circle:
    """A circle around a position and the state of its provider search."""

    state: CircleState
    #: None if the circle is not stored: Redis is down, or the circle is too near to a pole.
    name: str | None = None


def claim(lat: float, lng: float, radius_m: int) -> Circle:
    """Return a circle that covers the search, or claim a new one for the caller.

    After `MAX_CLAIMS_PER_MINUTE` claims, every search counts as covered.
    """
    if abs(lat) > _MAX_LATITUDE:
        return Circle(CircleState.COVERED)
    try:
        centre = f"{lng:.6f}", f"{lat:.6f}", radius_m
        state, name = queue.connection().eval(_CLAIM, 2, _CENTRES, _CLAIMS, *centre, _STATE, MAX_CLAIMS_PER_MINUTE)
    except RedisError as error:
        logger.warning("searching without the cache: %s", type(error).__name__)
        return Circle(CircleState.CLAIMED)
    return Circle(CircleState(state.decode()), name.decode())


def mark_covered(circle: Circle) -> None:
    """Finish a claim after the provider's places were stored."""
    if circle.name:
        _run(lambda redis: redis.set(f"{_STATE}{circle.name}", CircleState.COVERED.value, ex=LIFETIME_S))


def release(circle: Circle) -> None:
    """Drop a claim after a failure, so that the next search may call the provider."""
    if circle.name:
        _run(lambda redis: redis.delete(f"{_STATE}{circle.name}"))


def wait(circle: Circle) -> None:
    """Wait until the other request finishes its claim on the circle, at most `CLAIM_S` seconds."""
    stop = time.monotonic() + CLAIM_S
    asking = CircleState.ASKING.value.encode()
    while time.monotonic() < stop and _run(lambda redis: redis.get(f"{_STATE}{circle.name}")) == asking:
        time.sleep(_POLL_S)


def is_unknown(place_id: str) -> bool:
    """Return whether the provider responded within the last four hours that it has no place with this id."""
    return _run(lambda redis: redis.get(_UNKNOWN + place_id)) is not None


def remember_unknown(place_id: str) -> None:
    _run(lambda redis: redis.set(_UNKNOWN + place_id, 1, ex=LIFETIME_S))


def _run(command: Callable[[Redis], object]) -> object:
    try:
        return command(queue.connection())
    except RedisError as error:
        logger.warning("the cache of searches is unavailable: %s", type(error).__name__)
        return None
