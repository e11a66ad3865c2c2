"""Limits of broadcasts: the provider's limit, the warm-up of a new number, and pauses after failures and opt-outs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.identity.models import User
from app.notifications import jobs, outbox
from app.notifications.broadcasts import fan_out, limits, presend_checks
from app.notifications.broadcasts import jobs as broadcast_jobs
from app.notifications.broadcasts import service as broadcasts
from app.notifications.models import BroadcastPace, Channel, Delivery, DeliveryState
from app.notifications.senders import jobs as senders
from app.notifications.senders import sender_status
from app.notifications.senders.models import senders as table
from app.providers.messenger import Health
from dev.simulators import Server
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.notifications.deliveries import add, age, reread
from tests.notifications.senders.looks import Configure, sender


@pytest.fixture(autouse=True)
def at_any_rate(real_app: Flask, monkeypatch: pytest.MonkeyPatch, configure: Configure) -> None:
    """Send broadcasts at any hour, and with a rate limit that no test reaches."""
    at_once = replace(real_app.extensions["config"], broadcast_per_minute=1_000_000)
    monkeypatch.setitem(real_app.extensions, "config", at_once)
    for module in (fan_out, presend_checks):
        monkeypatch.setattr(module, "next_daytime", lambda zone, now: now.astimezone(zone))


def pace() -> BroadcastPace:
    db.session.expire_all()
    found = db.session.get(BroadcastPace, limits.PACE_ID)
    assert found is not None
    return found


def news(count: int, **fields: Any) -> list[Delivery]:
    """Add one broadcast message for each of `count` new people."""
    with unit_of_work():
        db.session.execute(broadcasts.first_pace())
        people = [make_user().id for _ in range(count)]
    now = db_time.now()
    zone = fan_out.zone_of(None)
    day = now.astimezone(zone).date().isoformat()
    values: Any = {"payload": {"day": day}, "words": {"text": "Kabar"}}
    return [
        add(kind=fan_out.KIND, queue="bulk", user_id=user_id, target=None, **values, **fields) for user_id in people
    ]


def warm() -> None:
    """End the warm-up of the number."""
    with unit_of_work():
        db.session.execute(sa.update(table).values(warmup_days=None))


def states(rows: list[Delivery]) -> list[str]:
    return [reread(row.dedupe_key).state for row in rows]


# --- the provider's limit ---------------------------------------------------------------------------------------------


def test_broadcasts_use_only_the_limit_that_reminders_do_not_need(
    committed: Flask, sim: Server, whatsapp: Configure
) -> None:
    sim.messaging.limit_people(10)
    senders.check()
    warm()
    add(kind="reminder")
    jobs.drain("urgent")
    coming = local_time.now() + timedelta(hours=20)
    for _ in range(5):
        add(kind="reminder", due_at=coming, expires_at=coming + timedelta(hours=1))
    later = local_time.now() + timedelta(hours=30)
    add(kind="reminder", due_at=later, expires_at=later + timedelta(hours=1))  # due after 24 hours, so not counted
    rows = news(6)
    broadcast_jobs.keep_limits()
    assert pace().budget == 4
    jobs.drain("bulk")
    assert sorted(states(rows)) == [DeliveryState.PENDING] * 2 + [DeliveryState.SENT] * 4
    broadcast_jobs.keep_limits()
    jobs.drain("bulk")
    assert pace().budget == 0
    jobs.enqueue_due()  # no drain of broadcasts is enqueued, because the budget is 0
    sim.messaging.limit_people(2000)
    senders.check()
    broadcast_jobs.keep_limits()
    jobs.drain("bulk")
    assert states(rows) == [DeliveryState.SENT] * 6


def test_the_paid_quota_is_reserved_for_reminders_first(committed: Flask, sim: Server, fonnte: Configure) -> None:
    sim.messaging.sender.quota = 3
    senders.check()
    warm()
    coming = local_time.now() + timedelta(hours=20)
    for _ in range(2):
        add(kind="reminder", due_at=coming, expires_at=coming + timedelta(hours=1))
    rows = news(2)
    broadcast_jobs.keep_limits()
    jobs.drain("bulk")
    assert sorted(states(rows)) == [DeliveryState.PENDING, DeliveryState.SENT]


def test_without_a_provider_limit_the_setting_limits_broadcasts(
    committed: Flask, sim: Server, whatsapp: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(committed.extensions["config"], broadcast_per_day=2)
    monkeypatch.setitem(committed.extensions, "config", config)
    senders.check()
    warm()
    rows = news(3)
    broadcast_jobs.keep_limits()
    assert pace().budget == 2
    jobs.drain("bulk")
    assert sorted(states(rows)) == [DeliveryState.PENDING, DeliveryState.SENT, DeliveryState.SENT]


# --- a new number -----------------------------------------------------------------------------------------------------


def test_a_new_number_has_a_limit_for_new_people_and_counts_good_days(
    committed: Flask, sim: Server, whatsapp: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_people_a_day", sa.cast(2 * sa.func.power(2, table.c.warmup_days / 3), sa.Integer))
    senders.check()
    assert sender().warmup_days == 0
    known = news(1)
    jobs.drain("bulk")
    again = add(
        kind=fan_out.KIND,
        queue="bulk",
        user_id=known[0].user_id,
        target=None,
        payload=reread(known[0].dedupe_key).payload,
        words={"text": "Kabar"},
    )
    rows = news(3)
    jobs.drain("bulk")
    assert sorted(states(rows)) == [DeliveryState.PENDING] * 2 + [DeliveryState.SENT]
    assert states([again]) == [DeliveryState.SENT]  # the limit for new people does not apply to this recipient
    waiting = next(row for row in rows if reread(row.dedupe_key).state == DeliveryState.PENDING)
    assert reread(waiting.dedupe_key).next_try_at > local_time.now() + timedelta(hours=20)
    assert reread(waiting.dedupe_key).attempts == 0
    for good_days in (1, 2, 3):
        pass_day()
        assert sender().warmup_days == good_days
        news(1)
        jobs.drain("bulk")


def test_a_new_recipient_is_counted_once_despite_several_attempts(
    committed: Flask, sim: Server, whatsapp: Configure
) -> None:
    """If each attempt counted, a provider that fails for an hour would use up the day's limit for new people."""
    senders.check()
    (row,) = news(1)
    for _ in range(2):
        sim.fault("messaging", "status")
        jobs.drain("bulk")
        age(120, of=row)
    jobs.drain("bulk")
    assert (reread(row.dedupe_key).state, sender().new_people) == (DeliveryState.SENT, 1)


def pass_day() -> None:
    with unit_of_work():
        db.session.execute(sa.update(table).values(warmup_on=table.c.warmup_on - 1))
    broadcast_jobs.keep_limits()


def test_the_allowance_of_a_new_number_is_50_and_doubles_every_three_good_days(app: Flask, whatsapp: Configure) -> None:
    senders_row = {"warmup_days": 0, "warmup_on": local_time.today()}
    sender_status.record_health(Health())
    allowances = []
    for day in (0, 2, 3, 6, 9, 32):
        db.session.execute(sa.update(table).values({**senders_row, "warmup_days": day}))
        allowances.append(db.session.scalar(sa.select(limits._people_a_day)))
    assert allowances == [50, 50, 100, 200, 400, 51200]


def test_a_bad_day_does_not_count_and_the_warm_up_ends_after_enough_good_days(app: Flask, whatsapp: Configure) -> None:
    sender_status.record_health(Health(quality="red"))
    met = {"warmup_on": local_time.today() - timedelta(days=1), "new_people": 50}
    db.session.execute(sa.update(table).values(**met, warmup_days=2))
    limits.end_day(local_time.today())
    assert (sender().warmup_days, sender().new_people) == (2, 0)
    db.session.execute(sa.update(table).values(**met, warmup_days=limits.WARM_AFTER_DAYS - 1, quality="green"))
    limits.end_day(local_time.today())
    assert sender().warmup_days is None


def test_a_number_that_has_already_sent_messages_needs_no_warm_up(
    committed: Flask, sim: Server, configure: Configure
) -> None:
    configure()
    add()
    jobs.drain("urgent")
    senders.check()
    assert sender().warmup_days is None
    configure(MESSAGING_NUMBER="+6281234567890")  # setting the number for the first time starts no warm-up
    senders.check()
    assert sender().warmup_days is None
    configure(MESSAGING_NUMBER="+6281234567891")
    senders.check()
    assert sender().warmup_days == 0


# --- failures and opt-outs --------------------------------------------------------------------------------------------


def settle(rows: list[Delivery], **values: Any) -> None:
    with unit_of_work():
        ids = [row.id for row in rows]
        statement = sa.update(Delivery).where(Delivery.id.in_(ids))
        db.session.execute(statement.values(settled_at=sa.func.clock_timestamp(), **values))


@pytest.mark.takes(seconds=20)
def test_broadcasts_pause_automatically_after_too_many_failures_and_opt_outs(
    committed: Flask, fonnte: Configure
) -> None:
    rows = news(25)
    settle(rows[:10], state=DeliveryState.SENT)
    settle(rows[10:13], state=DeliveryState.FAILED, last_error="messaging: code 131050")
    settle(rows[13:16], state=DeliveryState.SENT, receipt="failed")
    opted_out = sa.update(User).where(User.id.in_([row.user_id for row in rows[:3]])).values(accepts_broadcasts=False)
    with unit_of_work():
        db.session.execute(opted_out)
    # A message that the daily limit stops is not counted as a failure.
    settle(rows[16:25], state=DeliveryState.FAILED, last_error="had the day's broadcasts already")
    broadcast_jobs.keep_limits()
    assert not pace().paused
    settle(rows[16:17], state=DeliveryState.FAILED, last_error="messaging: status 400")
    broadcast_jobs.keep_limits()
    assert pace().paused
    assert "10 of the last 200 messages failed" in (pace().pause_reason or "")
    assert "broadcasts_paused 1.0" in Client(committed).get("/metrics").get_data(as_text=True)
    with unit_of_work():
        broadcasts.set_paused(False)
    broadcast_jobs.keep_limits()
    assert (pace().paused, pace().pause_reason) == (False, None)  # failures before `resume` no longer count


def test_failures_before_the_last_200_messages_are_not_counted(committed: Flask, fonnte: Configure) -> None:
    (first,) = news(1)
    with unit_of_work():
        more = [
            outbox.NewDelivery(
                kind=fan_out.KIND,
                channel=Channel.MESSAGING,
                queue="bulk",
                dedupe_key=f"kabar:{n:03d}",
                payload={},
                user_id=first.user_id,
                expires_at=local_time.now() + timedelta(hours=1),
            )
            for n in range(210)
        ]
        outbox.add_all(more)
    ours = sa.select(Delivery).where(Delivery.dedupe_key.like("kabar:%")).order_by(Delivery.dedupe_key)
    rows = list(db.session.scalars(ours))
    settle(rows[:10], state=DeliveryState.FAILED, last_error="messaging: code 131026")
    settle(rows[10:190], state=DeliveryState.SENT)
    assert db.session.scalar(limits._unwelcome) == 10
    settle(rows[190:], state=DeliveryState.SENT)
    assert db.session.scalar(limits._unwelcome) == 0
