"""Periodic job that updates the limits of broadcasts, and pauses all broadcasts after many opt-outs or failures."""

from __future__ import annotations

from app.core.database.session import unit_of_work
from app.core.lib import local_time
from app.notifications.broadcasts import limits


def keep_limits() -> None:
    limits.end_day(local_time.today())
    limits.count_budget()
    with unit_of_work():
        limits.pause_if_unwelcome()
