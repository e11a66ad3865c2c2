"""Broadcasts: recipients, times, daily limit and fan-out."""

from datetime import UTC, timedelta

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.jobs import queue
from app.identity import notification_settings
from app.notifications.broadcasts import fan_out
from app.notifications.broadcasts import service as broadcasts
from app.notifications.models import About, Broadcast, BroadcastState, Delivery
from tests.helpers.factories import make_user
from tests.notifications.broadcasts.announcing import NOON, announce, change, recipients


def test_a_broadcast_reaches_all_who_did_not_opt_out_and_have_a_valid_number(app, broadcasting, moment):
    expected = {make_user().id, make_user(preferences={"medical": True}).id}
    author = make_user().id
    make_user(preferences={"broadcast": False})
    make_user(nomor_hp=None)
    notification_settings.save(make_user().id, messages=False)
    dead = make_user()
    dead.phone_invalid_at = moment.now
    broadcast_id = announce(except_user_id=author)
    fan_out.fan_out(broadcast_id)
    assert recipients() == expected
    row = db.session.scalars(sa.select(Delivery)).first()
    assert (row.queue, row.kind) == ("bulk", "broadcast")
    broadcast = db.session.get_one(Broadcast, broadcast_id, populate_existing=True)
    assert (broadcast.state, broadcast.recipients) == (BroadcastState.DONE, 2)


def test_announce_and_fan_out_are_idempotent(app, broadcasting, moment):
    make_user()
    first = announce()
    assert announce() == first
    fan_out.fan_out(first)
    fan_out.fan_out(first)
    assert len(recipients()) == 1


def test_a_broadcast_starts_after_a_random_delay(app, broadcasting, moment):
    broadcasting(broadcast_delay_seconds=(30, 300))
    for n in range(20):
        announce(n)
    starts = set(db.session.scalars(sa.select(Broadcast.starts_at)))
    assert all(timedelta(seconds=30) <= start - moment.now <= timedelta(seconds=300) for start in starts)
    assert len(starts) > 5


def test_one_job_is_enqueued_for_each_due_broadcast(app, broadcasting):
    broadcasting(broadcast_delay_seconds=(3600, 3600))
    announce(1)
    fan_out.enqueue_due()
    assert queue.connection().llen("rq:queue:bulk") == 0
    broadcasting(broadcast_delay_seconds=(0, 0))
    announce(2)
    fan_out.enqueue_due()
    fan_out.enqueue_due()
    assert queue.connection().llen("rq:queue:bulk") == 1


def test_a_changed_tag_changes_the_recipients_of_a_broadcast(app, broadcasting, moment):
    muslim = make_user(preferences={"religion": ["islam"]}).id
    make_user(preferences={"religion": ["hindu"]})
    broadcast_id = announce(preference_tag="hindu")
    with unit_of_work():
        broadcasts.retag(About("article", 1), "islam")
    fan_out.fan_out(broadcast_id)
    assert recipients() == {muslim}


def test_a_held_broadcast_stops_and_continues_after_its_last_recipient(app, broadcasting, moment, monkeypatch):
    monkeypatch.setattr(fan_out, "PAGE", 2)
    everybody = {make_user().id for _ in range(5)}
    broadcast_id = announce()
    fan_out.fan_out_page(broadcast_id)
    for _ in range(2):
        change(broadcasts.hold)
        assert not fan_out.fan_out_page(broadcast_id)
        change(broadcasts.release)
        fan_out.fan_out_page(broadcast_id)
    fan_out.fan_out(broadcast_id)
    assert recipients() == everybody
    broadcast = db.session.get_one(Broadcast, broadcast_id, populate_existing=True)
    assert (broadcast.state, broadcast.recipients) == (BroadcastState.DONE, 5)


def test_a_withdrawn_broadcast_gets_no_new_recipients(app, broadcasting, moment, monkeypatch):
    monkeypatch.setattr(fan_out, "PAGE", 2)
    for _ in range(4):
        make_user()
    broadcast_id = announce()
    fan_out.fan_out_page(broadcast_id)
    change(broadcasts.withdraw)
    assert not fan_out.fan_out_page(broadcast_id)
    assert len(recipients()) == 2


def test_a_broadcast_ends_after_a_week(app, broadcasting, moment):
    make_user()
    broadcast_id = announce()
    moment.now = db.session.get_one(Broadcast, broadcast_id).created_at + fan_out.LIFETIME + timedelta(seconds=1)
    fan_out.fan_out(broadcast_id)
    assert db.session.get_one(Broadcast, broadcast_id, populate_existing=True).state == BroadcastState.DONE
    assert recipients() == set()


#: Province, hour in UTC, and the day and hour in UTC when a broadcast is sent. It is announced on the second.
HOURS = [
    ("Jawa Barat", 5, "02 05:00"),  # 12:00 WIB: sent at once
    ("Jawa Barat", 0, "02 01:00"),  # 07:00 WIB: sent at 08:00
    ("Jawa Barat", 12, "02 12:00"),  # 19:00 WIB: sent at once
    ("Jawa Barat", 13, "03 01:00"),  # 20:00 WIB: sent at 08:00 tomorrow
    ("Bali", 12, "03 00:00"),  # 20:00 WITA: sent at 08:00 tomorrow
    ("Bali", 0, "02 00:00"),  # 08:00 WITA: sent at once
    ("Maluku", 11, "02 23:00"),  # 20:00 WIT: sent at 08:00 tomorrow
    (None, 13, "03 01:00"),
]


def test_broadcast_hours_use_the_time_zone_of_the_province(app, broadcasting, moment):
    for number, (province, utc_hour, due) in enumerate(HOURS):
        moment.now = NOON.replace(hour=utc_hour)
        user = make_user(domicile=province)
        fan_out.fan_out(announce(number))
        row = db.session.scalars(sa.select(Delivery).filter_by(user_id=user.id)).one()
        assert f"{row.due_at.astimezone(UTC):%d %H:%M}" == due, (province, utc_hour)
