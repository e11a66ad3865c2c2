"""Times at which alerts are sent to caregivers: at once, together with others, or as a digest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.pengingat.caregiving.pacing import MAX_PER_DAY, WINDOW, AlertHistory, midnight, next_step, night_until
from app.pengingat.models import AlertMode

JAKARTA = ZoneInfo("Asia/Jakarta")
zones = st.sampled_from(["Asia/Jakarta", "Asia/Makassar", "Asia/Jayapura", "America/New_York"]).map(ZoneInfo)


def at(hour: int, minute: int = 0, day: int = 2) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=JAKARTA)


@pytest.mark.parametrize(
    ("history", "since", "now", "expected"),
    [
        (AlertHistory(), at(8), at(8), AlertMode.AT_ONCE),
        (AlertHistory(at(8), 1), at(9), at(9), at(10)),
        (AlertHistory(at(8), 1), at(9), at(10), AlertMode.TOGETHER),
        (AlertHistory(at(8), 2), at(10), at(10), AlertMode.AT_ONCE),
        (AlertHistory(at(8), MAX_PER_DAY), at(9), at(9), at(20)),
        (AlertHistory(at(19), MAX_PER_DAY), at(19, 30), at(20), AlertMode.DIGEST),
        (AlertHistory(at(19), MAX_PER_DAY, has_digest=True), at(20, 30), at(20, 30), at(0, day=3)),
        (AlertHistory(at(19, 30), 1), at(20), at(20), at(21, 30)),
    ],
)
def test_next_step_returns_the_expected_alert_mode_or_time(
    history: AlertHistory, since: datetime, now: datetime, expected: AlertMode | datetime
) -> None:
    assert next_step(history, since, JAKARTA, now) == expected


@given(zones, st.datetimes(datetime(2026, 1, 1), datetime(2028, 12, 31), timezones=st.just(UTC)))  # noqa: DTZ001
def test_the_night_ends_at_six_where_the_caregiver_lives(zone: ZoneInfo, now: datetime) -> None:
    ends, local = night_until(zone, now), now.astimezone(zone)
    assert (ends is not None) == (local.hour >= 21 or local.hour < 6)
    if ends is not None:
        assert ends > now
        assert ends.astimezone(zone).hour == 6
    assert midnight(zone, now) <= now


@given(
    st.lists(st.integers(0, 180), max_size=60),
    zones,
    st.datetimes(datetime(2026, 3, 1), datetime(2026, 3, 20), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_a_day_of_alerts_is_never_more_than_six_messages_and_a_digest(
    gaps: list[int], zone: ZoneInfo, start: datetime
) -> None:
    """Run the scheduler every five minutes. Each alert is sent exactly once, within the daily limits."""
    dues = [start + timedelta(minutes=sum(gaps[: n + 1])) for n in range(len(gaps))]
    waiting: list[datetime] = []
    messages: list[tuple[datetime, AlertMode, int]] = []
    look_at, now = start, start
    while dues or waiting:
        arrived = [due for due in dues if due <= now]
        waiting, dues = waiting + arrived, dues[len(arrived) :]
        look_at = now if arrived else look_at
        if waiting and now >= look_at:
            history = _told(messages, zone, now)
            step: AlertMode | datetime = night_until(zone, now) or next_step(history, waiting[0], zone, now)
            if isinstance(step, AlertMode):
                messages.append((now, step, len(waiting)))
                waiting = []
            else:
                assert step > now
                look_at = step
        now += timedelta(minutes=5)
    assert sum(count for *_, count in messages) == len(gaps)
    by_day: dict[object, list[AlertMode]] = {}
    for moment, way, _ in messages:
        assert night_until(zone, moment) is None
        by_day.setdefault(moment.astimezone(zone).date(), []).append(way)
    for ways in by_day.values():
        assert len(ways) - ways.count(AlertMode.DIGEST) <= MAX_PER_DAY
        assert ways.count(AlertMode.DIGEST) <= 1
    at_once = [moment for moment, way, _ in messages if way is AlertMode.AT_ONCE]
    assert all(later - earlier >= WINDOW for earlier, later in pairwise(at_once))


def _told(messages: list[tuple[datetime, AlertMode, int]], zone: ZoneInfo, now: datetime) -> AlertHistory:
    today = [way for moment, way, _ in messages if moment >= midnight(zone, now)]
    recent = [m for m, way, _ in messages if way is AlertMode.AT_ONCE and m >= min(midnight(zone, now), now - WINDOW)]
    return AlertHistory(
        max(recent, default=None), len(today) - today.count(AlertMode.DIGEST), AlertMode.DIGEST in today
    )
