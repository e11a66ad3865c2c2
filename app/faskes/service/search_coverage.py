"""The circles on the map that the places provider was asked about of late, shared by all processes through Redis.

What the provider answered is in the database; a covered circle only says that asking it again within a kilometre of
its centre would be waste for four hours. A circle is claimed before the provider is asked, so that of several requests
that miss it at the same moment one asks and the others wait. While Redis is away nothing is remembered, and every
request asks.
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

#: A circle that was covered so lately counts as one that is asked about: whoever claims it may have read before.
JUST_NOW_S = 1

#: A search is covered when its centre is this near to that of a covered circle which is at least as wide.
NEAR_KM = 1

#: A claim outlives the provider's time budget; when it ends by itself, the process that made it is dead.
CLAIM_S = 10
_POLL_S = 0.1

#: How many new circles all processes together may claim in a minute: each question to the provider is paid for, and
#: somebody who walks over the map must not spend that money. Beyond it the database alone answers.
MOST_CLAIMS_A_MINUTE = 300

#: Redis maps no position farther north or south, and no facility is there.
_MAX_LATITUDE = 85.0

_CENTRES, _CLAIMS, _STATE = "faskes:coverage", "faskes:coverage:claims", "faskes:coverage:state:"
_UNKNOWN = "faskes:unknown:"

#: Finds a covered circle or claims a new one in one step, so that only one of several simultaneous searches gets it.
#: A circle's name is `latitude:longitude:radius`, the last in metres.
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


class State(StrEnum):
    #: The provider was asked, or may not be asked now: the database has all there is.
    COVERED = "covered"
    #: Another request has claimed the circle and is asking the provider.
    ASKING = "asking"
    #: The caller has claimed the circle: it asks the provider, then calls `mark_covered` or `release`.
    CLAIMED = "claimed"


@dataclass(frozen=True)
class Circle:
    """A circle around a position, and who asks the provider about it."""

    state: State
    #: None where nothing is remembered: Redis is away, or the circle is too near to a pole.
    name: str | None = None


def claim(lat: float, lng: float, radius_m: int) -> Circle:
    """The circle that covers a search, or a new one that the caller has claimed.

    Once the minute's claims are used up, every search counts as covered.
    """
    if abs(lat) > _MAX_LATITUDE:
        return Circle(State.COVERED)
    try:
        centre = f"{lng:.6f}", f"{lat:.6f}", radius_m
        state, name = queue.connection().eval(_CLAIM, 2, _CENTRES, _CLAIMS, *centre, _STATE, MOST_CLAIMS_A_MINUTE)
    except RedisError as error:
        logger.warning("searching without memory: %s", type(error).__name__)
        return Circle(State.CLAIMED)
    return Circle(State(state.decode()), name.decode())


def mark_covered(circle: Circle) -> None:
    """End a claim with success: the provider was asked, and its places are stored."""
    if circle.name:
        _run(lambda redis: redis.set(f"{_STATE}{circle.name}", State.COVERED.value, ex=LIFETIME_S))


def release(circle: Circle) -> None:
    """End a claim without success: the next search may ask."""
    if circle.name:
        _run(lambda redis: redis.delete(f"{_STATE}{circle.name}"))


def wait(circle: Circle) -> None:
    """Wait until the request that asks about the circle has ended its claim, `CLAIM_S` seconds at most."""
    stop = time.monotonic() + CLAIM_S
    asking = State.ASKING.value.encode()
    while time.monotonic() < stop and _run(lambda redis: redis.get(f"{_STATE}{circle.name}")) == asking:
        time.sleep(_POLL_S)


def is_unknown(place_id: str) -> bool:
    """Whether the provider said in the last four hours that it knows no such place."""
    return _run(lambda redis: redis.get(_UNKNOWN + place_id)) is not None


def remember_unknown(place_id: str) -> None:
    _run(lambda redis: redis.set(_UNKNOWN + place_id, 1, ex=LIFETIME_S))


def _run(command: Callable[[Redis], object]) -> object:
    """The result of a Redis command; None while Redis is away."""
    try:
        return command(queue.connection())
    except RedisError as error:
        logger.warning("no memory of searches: %s", type(error).__name__)
        return None
