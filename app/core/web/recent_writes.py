"""Which requests may read from the replica: whoever has just written reads the primary, where their change shows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from flask import current_app, g, request
from redis.exceptions import RedisError

from app.core.database.replica import MOST_LAG_S
from app.core.jobs import queue

View = TypeVar("View", bound=Callable[..., object])

READS = frozenset({"GET", "HEAD"})

#: Seconds. What was written longer ago has arrived at any replica that is read from.
TTL_S = round(MOST_LAG_S) + 1


def may_be_old(view: View) -> View:
    """What this view reads may be some seconds old, for everybody who has not just written.

    Being called makes nobody somebody who has; a view that may write all the same says so by `note`.
    """
    view.may_be_old = True  # type: ignore[attr-defined]
    return view


def allow_replica(*, is_public_read: bool, may_be_old: bool) -> bool:
    """Whether the present request may read what is some seconds old: nobody's public read, or one marked so."""
    if "replica" not in current_app.extensions or request.method not in READS:
        return False
    if "HTTP_AUTHORIZATION" not in request.environ:
        return is_public_read
    return may_be_old and not has_written(g.caller.id)


def note() -> None:
    """Remember for some seconds that the caller of the present request has written, where there is a replica."""
    if "replica" in current_app.extensions and request.method not in READS and g.caller is not None:
        with suppress(RedisError):  # while it is away, `has_written` takes everybody for somebody who has
            queue.connection().set(_key(g.caller.id), 1, ex=TTL_S)


def has_written(user_id: int) -> bool:
    """Whether somebody has written within the last seconds; also when nobody can say."""
    try:
        return bool(queue.connection().exists(_key(user_id)))
    except RedisError:
        return True


def _key(user_id: int) -> str:
    return f"wrote:{user_id}"
