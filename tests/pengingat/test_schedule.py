"""Schedules, compared with a slow and simple computation that checks every minute."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.pengingat.timetable.schedule import OFFSETS, Due, Schedule, Slot, Temporary, moment_of, wall_time

ZONES = (
    "Asia/Jakarta",
    "Asia/Makassar",
    "Asia/Jayapura",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",  # summer time changes the clock by half an hour
    "America/Sao_Paulo",  # summer time began at midnight, so the clocks skipped 00:00
    "Asia/Kathmandu",
    "Pacific/Apia",  # the zone skipped a whole day
    "Africa/Casablanca",  # clock changes around Ramadan
    "America/St_Johns",
)

zones = st.sampled_from(ZONES).map(ZoneInfo)
days = st.dates(date(2005, 1, 1), date(2030, 12, 31))
walls = st.builds(time, st.integers(0, 23), st.integers(0, 59))
moments = st.datetimes(
    datetime(2012, 1, 1),  # noqa: DTZ001  # hypothesis adds the zone
    datetime(2030, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)
MINUTE = timedelta(minutes=1)


def plainly(day, wall, zone):
    """Return the first minute at which the local clock shows at least this time of this day."""
    wanted = datetime.combine(day, wall)
    moment = datetime.combine(day, wall, UTC) - timedelta(hours=26)
    while moment.astimezone(zone).replace(tzinfo=None) < wanted:
        moment += MINUTE
    return moment


@given(zones, days, walls)
def test_a_wall_time_maps_to_its_first_moment_or_the_next_valid_minute(zone, day, wall):
    assert moment_of(day, wall, zone) == plainly(day, wall, zone)


@pytest.mark.parametrize(
    ("zone", "day", "wall", "expected"),
    [
        ("Europe/Berlin", date(2026, 3, 29), time(2, 30), "2026-03-29T01:00:00+00:00"),  # the clocks skip 02:30
        ("Europe/Berlin", date(2026, 10, 25), time(2, 30), "2026-10-25T00:30:00+00:00"),  # the clocks show 02:30 twice
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 15), "2026-10-03T15:30:00+00:00"),
        ("America/Sao_Paulo", date(2018, 11, 4), time(0, 0), "2018-11-04T03:00:00+00:00"),
        ("Asia/Jakarta", date(2026, 3, 29), time(2, 30), "2026-03-28T19:30:00+00:00"),
    ],
)
def test_known_clock_changes_give_the_expected_moment(zone, day, wall, expected):
    assert moment_of(day, wall, ZoneInfo(zone)).isoformat() == expected


@given(zones, st.lists(walls, min_size=1, max_size=3, unique=True), moments, st.integers(1, 80))
def test_daily_due_times_include_every_slot_of_every_day(zone, times, after, hours):
    until = after + timedelta(hours=hours)
    slots = slots_of(times)
    expected = {
        Due(moment, moment, slot.name)
        for slot in slots
        for offset in range(-3, 7)
        if after < (moment := moment_of((after + timedelta(days=offset)).date(), slot.time, zone)) <= until
    }
    assert Schedule(zone, slots).dues(after, until) == sorted(expected)


@given(zones, st.lists(walls, min_size=1, max_size=3, unique=True), moments, st.integers(1, 3000), st.integers(1, 3000))
def test_two_ranges_have_the_due_times_of_one(zone, times, start, first, second):
    schedule = Schedule(zone, slots_of(times))
    middle, end = start + timedelta(minutes=first), start + timedelta(minutes=first + second)
    assert schedule.dues(start, middle) + schedule.dues(middle, end) == schedule.dues(start, end)


@given(zones, walls, st.integers(0, 6), moments)
def test_weekly_dues_fall_on_the_local_weekday(zone, wall, weekday, after):
    schedule = Schedule(zone, (Slot("0", wall, weekday),))
    dues = schedule.dues(after, after + timedelta(weeks=3))
    assert len(dues) in (2, 3, 4)
    for due in dues:
        local = due.at.astimezone(zone)
        in_gap = local.time() != wall
        assert local.weekday() == weekday or (in_gap and local.time() < wall)


def slots_of(times):
    return tuple(Slot(str(n), wall) for n, wall in enumerate(times))


@st.composite
def courses(draw):
    """Generate a random course of up to 40 days, or without an end.

    The temporary schedule of the course may lie outside the course.
    """
    count = draw(st.integers(1, 3))
    times = st.lists(walls, min_size=count, max_size=count, unique=True)
    first, lasts, start, spans = draw(days), draw(st.integers(0, 40) | st.none()), draw(st.integers(-5, 45)), (0, 20)
    begins = first + timedelta(days=start)
    return Schedule(
        draw(zones),
        slots_of(draw(times)),
        first=first,
        last=date.max if lasts is None else first + timedelta(days=lasts),
        temporary=Temporary(begins, begins + timedelta(days=draw(st.integers(*spans))), slots_of(draw(times))),
    )


def plain_dues(course, until):
    """Compute the due times of a course day by day, from its first day."""
    dues, day = set(), course.first
    while day <= min(course.last, until):
        is_temporary = course.temporary.first <= day <= course.temporary.last
        for slot in course.temporary.slots if is_temporary else course.slots:
            moment = moment_of(day, slot.time, course.zone)
            dues.add(Due(moment, moment, slot.name))
        day += timedelta(days=1)
    return sorted(dues)


@given(courses(), st.integers(-50, 50 * 24))
def test_a_course_is_due_only_on_its_own_days_at_the_times_of_each_day(course, hours):
    begins = datetime.combine(course.first, time(), UTC)
    expected = plain_dues(course, course.first + timedelta(days=70))
    until = begins + timedelta(days=65)
    assert course.dues(begins - timedelta(days=30), until) == [due for due in expected if due.at <= until]
    after = begins + timedelta(hours=hours)
    following = next((due.at for due in expected if due.at > after), None)
    assert course.next_occurrence(after) == following
    assert course.is_over(after) == (following is None)


def test_the_next_occurrence_of_a_future_course_is_on_its_first_day():
    zone = ZoneInfo("Asia/Jakarta")
    schedule = Schedule(zone, (Slot("0", time(7)),), first=date(2028, 2, 29), last=date(2028, 2, 29))
    assert schedule.next_occurrence(datetime(2026, 3, 2, tzinfo=UTC)) == datetime(2028, 2, 29, 7, tzinfo=zone)
    assert schedule.next_occurrence(datetime(2028, 2, 29, 7, tzinfo=zone)) is None


@given(zones, walls, moments)
def test_a_utc_time_of_day_is_converted_with_the_utc_offset_of_today(zone, jam, now):
    found = wall_time(jam.strftime("%H:%M"), zone, now)
    moment = now.replace(hour=jam.hour, minute=jam.minute, second=0, microsecond=0)
    assert moment.astimezone(zone).strftime("%H:%M") == found.strftime("%H:%M")


@given(zones, st.lists(st.sampled_from(sorted(OFFSETS)), unique=True), st.integers(-200, 200))
def test_a_visit_is_due_at_its_lead_offsets_or_else_at_its_own_time(zone, before, hours):
    now = datetime(2026, 3, 1, tzinfo=UTC)
    visit = now + timedelta(hours=hours)
    dues = Schedule(zone, single_at=visit, lead_offsets=tuple(before)).dues(now, now + timedelta(days=30))
    moments = [visit - OFFSETS[name] for name in before] or [visit]
    assert [due.at for due in dues] == sorted(moment for moment in moments if moment > now)
    assert all(due.occurrence == visit for due in dues)
