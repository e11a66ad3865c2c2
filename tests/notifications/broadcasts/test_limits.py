"""Budget of broadcasts: what the provider allows in a day, without what reminders need."""

from datetime import timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications.broadcasts import fan_out
from app.notifications.models import Broadcast, BroadcastState, Delivery
from app.notifications.senders import jobs as senders
from app.notifications.senders import sender_status
from app.providers.messenger import Health
from tests.helpers.factories import make_user
from tests.notifications.broadcasts.announcing import announce
from tests.notifications.deliveries import add, drained
from tests.races.meeting import Job, Scene
from tests.races.overlap import AT_COMMIT, Overlap


@pytest.fixture(autouse=True)
def at_once(configure, change_settings):
    change_settings(broadcast_per_day=250, broadcast_delay_seconds=(0, 0), broadcast_hours=(0, 24))


def test_the_budget_is_the_limit_of_the_provider(app, whatsapp):
    assert fan_out.budget() == 250
    for health, left in (
        (Health(limit_24h=10), 10),
        (Health(limit_24h=2000), fan_out.PAGE),
        (Health(), 250),
        (Health(quality="red"), 0),
        (Health(quality="yellow"), 250),
        (Health(quota=3), 3),
        (Health(quota=0), 250),
    ):
        sender_status.record_health(health)
        assert fan_out.budget() == left, health


def test_without_a_provider_there_is_no_limit(app):
    assert fan_out.budget() == fan_out.PAGE


def test_broadcasts_use_only_the_limit_that_reminders_do_not_need(committed, sim, whatsapp):
    sim.messaging.limit_people(10)
    senders.check()
    drained(add(kind="reminder"))
    old = drained(add(kind="reminder"))
    old.settled_at -= timedelta(hours=24)
    # What is due after 24 hours is not counted, except broadcasts.
    for hours, queue in ((20, "urgent"), (20, "urgent"), (30, "urgent"), (30, "bulk")):
        due = local_time.now() + timedelta(hours=hours)
        add(kind="reminder", queue=queue, due_at=due, expires_at=due + timedelta(hours=1))
    assert fan_out.budget() == 6
    sender_status.record_health(Health(limit_24h=10, quota=5))
    assert fan_out.budget() == 2


def test_the_fan_out_stops_at_the_budget_and_continues_when_there_is_more(committed, sim, whatsapp):
    def added():
        fan_out.fan_out(broadcast_id)
        return db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) or 0

    sender_status.record_health(Health(limit_24h=2))
    for _ in range(3):
        make_user()
    db.session.commit()
    broadcast_id = announce()
    assert added() == added() == 2
    broadcast = db.session.get_one(Broadcast, broadcast_id, populate_existing=True)
    assert (broadcast.state, broadcast.starts_at > local_time.now()) == (BroadcastState.OPEN, True)
    sender_status.record_health(Health(limit_24h=250))
    assert added() == 3


def test_two_broadcasts_at_once_share_one_budget(committed, sim, whatsapp):
    sender_status.record_health(Health(limit_24h=2))
    for _ in range(3):
        make_user()
    db.session.commit()
    pages = [Job(partial(fan_out.fan_out_page, announce(article))) for article in (1, 2)]
    with Overlap(Scene(committed)).watching() as overlap:
        answers = overlap.run(*pages, AT_COMMIT)
    assert [answer.status for answer in answers] == [200, 200], answers
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 2
