"""Where the places provider has been asked of late, shared by all processes through Redis.

What it found is in the database; a spot only says that asking again within a kilometre would be waste for four hours.
A spot is claimed before the provider is asked, so that of two who miss it at the same moment one asks and the other
waits. With Redis away nobody remembers anything, and everybody asks.
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
HIT_KM = 1

#: A claim outlives the provider's time budget; then whoever made it is dead.
CLAIM_S = 10
_LOOK_AGAIN_S = 0.1

#: So often a minute the provider is asked about new spots, by all together: it is paid by the question, and whoever
#: walks over the map must not spend it. Beyond, the database alone answers.
MOST_CLAIMS_A_MINUTE = 300

#: Redis maps no position beyond, and no facility is there.
_MOST_NORTHERN = 85.0

_SPOTS, _CLAIMS, _STATE, _UNKNOWN = "faskes:spots", "faskes:claims", "faskes:spot:", "faskes:unknown:"

#: One step for all who come at once: a live spot near enough and wide enough, or a claim of one's own.
_CLAIM = f"""
local near = redis.call('GEOSEARCH', KEYS[1], 'FROMLONLAT', ARGV[1], ARGV[2], 'BYRADIUS', {HIT_KM}, 'km', 'ASC')
for _, spot in ipairs(near) do
  local state = redis.call('GET', ARGV[4] .. spot)
  if not state then
    redis.call('ZREM', KEYS[1], spot)
  elseif tonumber(string.match(spot, '[^:]+$')) >= tonumber(ARGV[3]) then
    return {{state, spot}}
  end
end
local claims = redis.call('INCR', KEYS[2])
if claims == 1 then redis.call('EXPIRE', KEYS[2], 60) end
if claims > tonumber(ARGV[5]) then return {{'asked', ''}} end
local mine = ARGV[2] .. ':' .. ARGV[1] .. ':' .. ARGV[3]
redis.call('GEOADD', KEYS[1], ARGV[1], ARGV[2], mine)
redis.call('EXPIRE', KEYS[1], {2 * LIFETIME_S})
redis.call('SET', ARGV[4] .. mine, 'asking', 'EX', {CLAIM_S})
return {{'yours', mine}}
"""


class State(StrEnum):
    ASKED = "asked"
    #: Somebody is at it.
    ASKING = "asking"
    #: The caller is to ask, and to say how it went.
    YOURS = "yours"


@dataclass(frozen=True)
class Spot:
    state: State
    #: `None` where nothing is remembered.
    name: str | None = None


def claim(lat: float, lng: float, radius_m: int) -> Spot:
    """The spot that covers a search, or a fresh claim of one. Once the minute's claims are used up all is covered."""
    if abs(lat) > _MOST_NORTHERN:
        return Spot(State.ASKED)
    try:
        where = f"{lng:.6f}", f"{lat:.6f}", radius_m
        state, name = queue.connection().eval(_CLAIM, 2, _SPOTS, _CLAIMS, *where, _STATE, MOST_CLAIMS_A_MINUTE)
    except RedisError as error:
        logger.warning("searching without memory: %s", type(error).__name__)
        return Spot(State.YOURS)
    return Spot(State(state.decode()), name.decode())


def keep(spot: Spot) -> None:
    """The provider was asked, and what it found is stored."""
    if spot.name:
        _quietly(lambda redis: redis.set(f"{_STATE}{spot.name}", State.ASKED.value, ex=LIFETIME_S))


def release(spot: Spot) -> None:
    """It could not be asked: the next one may try."""
    if spot.name:
        _quietly(lambda redis: redis.delete(f"{_STATE}{spot.name}"))


def wait(spot: Spot) -> None:
    """Until whoever asks there is done, one way or the other."""
    stop = time.monotonic() + CLAIM_S
    asking = State.ASKING.value.encode()
    while time.monotonic() < stop and _quietly(lambda redis: redis.get(f"{_STATE}{spot.name}")) == asking:
        time.sleep(_LOOK_AGAIN_S)


def is_unknown(place_id: str) -> bool:
    """Whether the provider has said of late that it knows no such place."""
    return _quietly(lambda redis: redis.get(_UNKNOWN + place_id)) is not None


def remember_unknown(place_id: str) -> None:
    _quietly(lambda redis: redis.set(_UNKNOWN + place_id, 1, ex=LIFETIME_S))


def _quietly(command: Callable[[Redis], object]) -> object:
    """Run a command; `None` when Redis is away."""
    try:
        return command(queue.connection())
    except RedisError as error:
        logger.warning("no memory of searches: %s", type(error).__name__)
        return None
