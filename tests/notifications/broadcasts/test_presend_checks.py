"""Checks of broadcasts when they are sent: hours, day, rate and opt-out."""

from contextlib import nullcontext
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.jobs import queue
from app.identity.models import User
from app.notifications import jobs
from app.notifications.broadcasts import fan_out, presend_checks, service
from app.notifications.delivery import claims
from app.notifications.delivery.claims import Claimed, PostponedError, UnwantedError
from app.notifications.models import Channel, Delivery, DeliveryState
from app.notifications.senders import sender_status
from app.providers.messenger import Health
from tests.helpers.factories import make_user
from tests.notifications.broadcasts.announcing import NOON, announce, change
from tests.notifications.deliveries import add


def prepared(app, moment, article_id=1):
    if db.session.scalar(sa.select(User.id)) is None:
        make_user()
    broadcast_id = announce(article_id)
    fan_out.fan_out(broadcast_id)
    key = Delivery.dedupe_key.startswith(f"broadcast:{broadcast_id}:")
    row = db.session.scalars(sa.select(Delivery).where(key)).one()
    fields = {name: getattr(row, name) for name in Claimed.__dataclass_fields__ if name != "claim_token"}
    return Claimed(**fields, claim_token=None)


def test_a_broadcast_outside_the_hours_of_the_present_province_is_postponed_until_the_morning(
    app, broadcasting, moment
):
    found = prepared(app, moment)
    presend_checks.check_recipient(found)
    for utc_hour, province, zone in ((14, "Jawa Barat", "Asia/Jakarta"), (12, "Papua", "Asia/Jayapura")):
        db.session.execute(sa.update(User).filter_by(id=found.user_id).values(domicile=province))
        moment.now = NOON.replace(hour=utc_hour)  # 21:00 there
        with pytest.raises(PostponedError) as error:
            presend_checks.check_recipient(found)
        assert error.value.until == datetime(2026, 3, 3, 8, 0, tzinfo=ZoneInfo(zone))


@pytest.mark.parametrize(
    ("limit", "got", "hours", "is_sent"), [(3, 2, 5, True), (3, 3, 5, False), (0, 0, 5, False), (3, 3, 24, True)]
)
def test_a_person_gets_at_most_three_broadcasts_a_day(app, broadcasting, moment, limit, got, hours, is_sent):
    """`got` broadcasts were sent `hours` ago."""
    broadcasting(broadcast_per_user_per_day=limit)
    user_id = make_user().id
    for n in range(got):
        row = add(kind=fan_out.KIND, queue="bulk", user_id=user_id, target=None, dedupe_key=f"earlier:{n}")
        row.state, row.settled_at = DeliveryState.SENT, moment.now - timedelta(hours=hours)
    db.session.flush()
    found = prepared(app, moment, 1)
    with nullcontext() if is_sent else pytest.raises(UnwantedError, match="had the day's broadcasts"):
        presend_checks.check_recipient(found)


def test_of_two_broadcasts_that_are_sent_at_the_same_time_the_first_counts(app, broadcasting, moment):
    broadcasting(broadcast_per_user_per_day=1)
    first, second = prepared(app, moment, 1), prepared(app, moment, 2)
    db.session.execute(sa.update(Delivery).values(state=DeliveryState.CLAIMED))
    presend_checks.check_recipient(first)
    with pytest.raises(UnwantedError):
        presend_checks.check_recipient(second)


def test_a_message_waits_while_its_broadcast_is_held_and_is_cancelled_if_it_is_withdrawn(app, broadcasting, moment):
    found = prepared(app, moment)
    change(service.hold)
    with pytest.raises(PostponedError):
        presend_checks.check_recipient(found)
    change(service.release)
    presend_checks.check_recipient(found)
    change(service.withdraw)
    with pytest.raises(UnwantedError):
        presend_checks.check_recipient(found)


def test_a_broadcast_is_not_sent_to_a_person_who_opted_out_after_its_fan_out(app, broadcasting, moment):
    found = prepared(app, moment)
    db.session.get_one(User, found.user_id).accepts_broadcasts = False
    db.session.flush()
    with pytest.raises(UnwantedError):
        presend_checks.check_recipient(found)


def test_the_rate_limit_is_shared_and_ends_the_drain(app, broadcasting):
    broadcasting(broadcast_per_minute=5)
    assert [presend_checks.may_claim(Channel.MESSAGING) for _ in range(7)] == [True] * 5 + [False] * 2
    assert not presend_checks.may_send()


def test_no_broadcast_is_claimed_while_the_quality_is_red(app, broadcasting, whatsapp):
    for quality, may_claim in (("red", False), ("yellow", True)):
        sender_status.record_health(Health(quality=quality))
        assert presend_checks.may_claim(Channel.MESSAGING) is may_claim


def test_pause_stops_all_broadcasts_and_resume_continues_them(app, broadcasting):
    broadcasting(broadcast_per_minute=100_000, broadcast_hours=(0, 24))
    make_user()
    fan_out.fan_out(announce())
    with unit_of_work():
        service.set_paused(True)
    assert not presend_checks.may_claim(Channel.MESSAGING)
    queue.connection().flushdb()
    jobs.enqueue_due()
    assert queue.connection().llen("rq:queue:bulk") == 0
    with unit_of_work():
        service.set_paused(False)
    assert presend_checks.may_claim(Channel.MESSAGING)
    jobs.enqueue_due()
    assert claims.claim("bulk", Channel.MESSAGING) is not None
