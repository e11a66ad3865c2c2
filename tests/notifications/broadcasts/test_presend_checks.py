"""Checks of broadcasts when they are sent: hours, day, rate and opt-out."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.core.jobs import queue
from app.identity.models import User
from app.notifications import jobs, outbox
from app.notifications.broadcasts import fan_out, presend_checks, service
from app.notifications.delivery import claims
from app.notifications.delivery.claims import Claimed, ClaimLostError, PostponedError, UndeliverableError
from app.notifications.models import About, Channel, Delivery
from tests.helpers.factories import make_user
from tests.notifications.broadcasts.announcing import NOON, Configure, Time, announce, recipients
from tests.notifications.deliveries import reread


def prepared(app: Flask, moment: Time, article_id: int = 1) -> Claimed:
    make_user()
    fan_out.fan_out(announce(article_id))
    row = db.session.scalars(sa.select(Delivery).filter_by(about_id=article_id)).one()
    fields = {name: getattr(row, name) for name in Claimed.__dataclass_fields__ if name != "claim_token"}
    return Claimed(**fields, claim_token=None)  # type: ignore[arg-type]


def test_a_broadcast_outside_its_hours_is_postponed_until_the_morning(
    app: Flask, broadcasting: Configure, moment: Time
) -> None:
    found = prepared(app, moment)
    presend_checks.check_recipient(found)
    moment.now = NOON.replace(hour=14)
    with pytest.raises(PostponedError) as error:
        presend_checks.check_recipient(found)
    assert error.value.until == datetime(2026, 3, 3, 8, 0, tzinfo=ZoneInfo("Asia/Jakarta"))


def test_broadcast_hours_use_the_new_province_after_a_change_of_domicile(
    app: Flask, broadcasting: Configure, moment: Time
) -> None:
    found = prepared(app, moment)
    db.session.execute(sa.update(User).filter_by(id=found.user_id).values(domicile="Papua"))
    moment.now = NOON.replace(hour=12)  # 19:00 in Jakarta, 21:00 in Papua
    with pytest.raises(PostponedError) as error:
        presend_checks.check_recipient(found)
    assert error.value.until == datetime(2026, 3, 3, 8, 0, tzinfo=ZoneInfo("Asia/Jayapura"))


def test_a_broadcast_sent_a_day_later_counts_for_that_day(app: Flask, broadcasting: Configure, moment: Time) -> None:
    broadcasting(broadcast_per_user_per_day=1)
    found = prepared(app, moment)
    moment.now = NOON + timedelta(days=1)
    presend_checks.check_recipient(found)
    row = reread(found.dedupe_key)
    assert row.payload["day"] == "2026-03-03"
    fan_out.fan_out(announce(2))
    assert recipients(2) == set()


def test_a_delayed_broadcast_is_not_sent_on_a_day_with_another_broadcast(
    app: Flask, broadcasting: Configure, moment: Time
) -> None:
    broadcasting(broadcast_per_user_per_day=1)
    found = prepared(app, moment)
    moment.now = NOON + timedelta(days=1)
    fan_out.fan_out(announce(2))
    with pytest.raises(UndeliverableError):
        presend_checks.check_recipient(found)


def test_a_cancelled_broadcast_does_not_use_the_daily_limit(app: Flask, broadcasting: Configure, moment: Time) -> None:
    found = prepared(app, moment)
    with unit_of_work():
        outbox.cancel(About("article", 1))
    moment.now = NOON + timedelta(days=1)
    with pytest.raises(ClaimLostError):
        presend_checks.check_recipient(found)
    fan_out.fan_out(announce(2))
    assert recipients(2) == {found.user_id}


def test_a_broadcast_is_not_sent_to_a_person_who_opted_out_after_its_fan_out(
    app: Flask, broadcasting: Configure, moment: Time
) -> None:
    found = prepared(app, moment)
    db.session.get_one(User, found.user_id).accepts_broadcasts = False
    db.session.flush()
    with pytest.raises(UndeliverableError):
        presend_checks.check_recipient(found)


def test_slots_follow_the_rate_limit_and_allow_only_a_small_burst(app: Flask, broadcasting: Configure) -> None:
    broadcasting(broadcast_per_minute=60, broadcast_hours=(0, 24))
    for _ in range(20):
        make_user()
    fan_out.fan_out(announce())
    granted = [presend_checks.take_slot() for _ in range(10)]
    assert 1 <= sum(granted) <= 2
    db.session.execute(sa.text("UPDATE broadcast_pace SET next_at = now() - interval '1 hour'"))
    db.session.commit()
    granted = [presend_checks.take_slot() for _ in range(20)]
    assert 5 <= sum(granted) <= 7


def test_no_slot_is_taken_without_a_due_broadcast(app: Flask, broadcasting: Configure) -> None:
    assert [presend_checks.take_slot() for _ in range(3)] == [False] * 3


def test_pause_stops_all_broadcasts_and_resume_continues_them(app: Flask, broadcasting: Configure) -> None:
    broadcasting(broadcast_per_minute=100_000, broadcast_hours=(0, 24))
    make_user()
    fan_out.fan_out(announce())
    with unit_of_work():
        service.set_paused(True)
    assert not presend_checks.take_slot()
    queue.connection().flushdb()
    jobs.enqueue_due()
    assert queue.connection().llen("rq:queue:bulk") == 0
    with unit_of_work():
        service.set_paused(False)
    assert presend_checks.take_slot()
    jobs.enqueue_due()
    assert claims.claim("bulk", Channel.MESSAGING) is not None
