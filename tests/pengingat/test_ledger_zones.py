"""Tests that ledger, messages and schedule have the same due times in every zone.

The tests include clock changes, midnights and 29 February.
"""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.database.session import db
from app.notifications.models import Delivery
from app.pengingat import jobs, service
from app.pengingat.models import Occurrence, Pengingat
from tests.helpers.factories import make_user

ZONES = [
    "Asia/Jakarta", "Asia/Makassar", "Asia/Jayapura", "UTC", "Europe/Berlin", "America/New_York", "America/St_Johns",
    "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Africa/Casablanca",
    "America/Santiago", "Asia/Kathmandu",
]  # fmt: skip
#: Days near a clock change in some time zone, near a leap day, or near the end of a year.
DAYS = [
    datetime(*day, tzinfo=UTC)
    for day in ((2026, 3, 7), (2026, 3, 28), (2026, 4, 4), (2026, 10, 24), (2026, 12, 30), (2028, 2, 27))
]

times = st.times().map(lambda time: f"{time:%H:%M}")


@st.composite
def medicines(draw):
    """Draw a random medicine. It may have a first and a last day, and a temporary schedule.

    The first and last days of the medicine and of its temporary schedule are not dates. Each is a number of days after
    the creation of the medicine.
    """
    count = draw(st.integers(1, 3))
    jadwal = st.lists(times, min_size=count, max_size=count, unique=True).map(
        lambda jam: [{"jam": each, "jumlah": 1, "satuan": "tablet"} for each in jam]
    )
    details = {"nama_obat": "M", "frekuensi": count, "aturan": "saat makan", "jadwal": draw(jadwal)}
    days = draw(st.fixed_dictionaries({}, optional={"mulai": st.integers(-1, 3), "selesai": st.integers(3, 5)}))
    if draw(st.booleans()):
        start = draw(st.integers(-1, 3))
        details["jadwal_sementara"] = {
            "mulai": start,
            "selesai": start + draw(st.integers(0, 3)),
            "jadwal": draw(jadwal),
        }
    return {"tipe": "obat", "details": {**details, **days}}


def dated(details, begun):
    """Return the details. Replace each number of days after `begun` by its date."""
    days = {name: (begun + timedelta(days=details[name])).date().isoformat() for name in DAYS_OF & details.keys()}
    temporary = details.get("jadwal_sementara")
    return {**details, **days, **({"jadwal_sementara": dated(temporary, begun)} if temporary else {})}


DAYS_OF = {"mulai", "selesai"}
sessions = st.tuples(st.sampled_from(["senin", "rabu", "minggu"]), times).map(
    lambda session: {"tipe": "terapi", "details": {"jadwal": [{"hari": session[0], "jam": session[1]}]}}
)
NOTICES = {"reminder_offsets": [{"offset": "1h"}, {"offset": "1d"}]}
visits = st.integers(30, 100).map(lambda hours: {"tipe": "kontrol", "ahead": hours, "details": NOTICES})


@pytest.mark.slow
@given(
    sent=medicines() | sessions | visits,
    zone=st.sampled_from(ZONES),
    day=st.sampled_from(DAYS),
    minutes=st.integers(0, 24 * 60),
    hops=st.lists(st.integers(1, 20), min_size=1, max_size=6),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ledger_and_deliveries_agree_with_the_schedule(app, moment, sent, zone, day, minutes, hops):
    moment.now = begun = day + timedelta(minutes=minutes)
    waktu = begun + timedelta(hours=sent.get("ahead", 1))
    details = {"judul": "J", "timezone": zone, "waktu": waktu, "tipe": sent["tipe"]}
    details["details"] = dated(sent["details"], begun)
    id_ = service.create(make_user().id, details).id
    db.session.commit()
    for hours in hops:
        moment.move(hours=hours)
        jobs.top_up()
    pengingat = db.session.get_one(Pengingat, id_)
    rows = db.session.scalars(sa.select(Occurrence).filter_by(reminder_id=id_)).all()
    until = min(pengingat.planned_until, moment.now + timedelta(days=30))
    expected = {(due.at, due.slot) for due in pengingat.schedule.dues(begun, until)}
    assert sorted((row.due_at, row.slot) for row in rows) == sorted(expected)
    first, last = (details["details"].get(name) for name in ("mulai", "selesai"))
    for row in rows:
        assert (first or "0") <= row.day.isoformat() <= (last or "9")
        assert row.day == row.due_at.astimezone(pengingat.zone).date()
        told = db.session.scalars(sa.select(Delivery.channel).filter_by(user_id=row.user_id, due_at=row.due_at))
        assert sorted(told) == ["messaging", "push_fan_out"]
