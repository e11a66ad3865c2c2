"""Broadcasts: to whom, when, how many, how fast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database import clock as database_clock
from app.core.database.session import db, unit_of_work
from app.core.jobs import queue
from app.core.lib import clock
from app.identity.models import User
from app.notifications import jobs
from app.notifications.broadcasts import fan_out
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery import claims
from app.notifications.delivery.claims import Claimed, PostponedError, UndeliverableError
from app.notifications.models import Broadcast, BroadcastState, Channel, Delivery, State
from tests.factories import make_user
from tests.notifications.conftest import reread

#: Noon in Jakarta.
NOON = datetime(2026, 3, 2, 5, 0, tzinfo=UTC)

Configure = Callable[..., None]


@pytest.fixture
def configure(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Configure:
    def change(**settings: Any) -> None:
        monkeypatch.setitem(app.extensions, "config", replace(app.extensions["config"], **settings))

    change(broadcast_delay_seconds=(0, 0))
    return change


class Time:
    now = NOON


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr(clock, "now", lambda: found.now)
    monkeypatch.setattr(database_clock, "now", lambda: found.now)
    return found


def announce(subject: str = "article:1", **fields: Any) -> int:
    with unit_of_work():
        broadcasts.announce(kind="article", subject=subject, text="Artikel baru", **fields)
    found = db.session.scalars(sa.select(Broadcast).filter_by(subject=subject)).one()
    return found.id


def recipients(subject: str = "article:1") -> set[int | None]:
    return set(db.session.scalars(sa.select(Delivery.user_id).filter_by(subject=subject)))


def test_everybody_with_a_number_who_wants_to_know_is_told(app: Flask, configure: Configure, moment: Time) -> None:
    expected = {make_user().id, make_user(preferences={"medical": True}).id}
    author = make_user().id
    make_user(preferences={"broadcast": False})
    make_user(nomor_hp=None)
    dead = make_user()
    dead.phone_invalid_at = moment.now
    broadcast_id = announce(except_user_id=author)
    fan_out.fan_out(broadcast_id)
    assert recipients() == expected
    row = db.session.scalars(sa.select(Delivery)).first()
    assert row is not None
    assert (row.queue, row.kind, row.payload["text"]) == ("bulk", "broadcast", "Artikel baru")
    broadcast = db.session.get_one(Broadcast, broadcast_id, populate_existing=True)
    assert (broadcast.state, broadcast.recipients) == (BroadcastState.DONE, 2)


def test_a_tag_narrows_the_circle(app: Flask, configure: Configure, moment: Time) -> None:
    muslim = make_user(preferences={"religion": ["islam"]}).id
    make_user(preferences={"religion": ["hindu"]})
    make_user()
    fan_out.fan_out(announce("forum_thread:1", preference_tag="islam"))
    assert recipients("forum_thread:1") == {muslim}


def test_one_event_is_told_once(app: Flask, configure: Configure, moment: Time) -> None:
    make_user()
    first = announce()
    assert announce() == first
    fan_out.fan_out(first)
    fan_out.fan_out(first)
    assert len(recipients()) == 1


def test_it_starts_after_a_random_delay(app: Flask, configure: Configure, moment: Time) -> None:
    configure(broadcast_delay_seconds=(30, 300))
    for n in range(20):
        announce(f"article:{n}")
    starts = set(db.session.scalars(sa.select(Broadcast.starts_at)))
    assert all(timedelta(seconds=30) <= start - moment.now <= timedelta(seconds=300) for start in starts)
    assert len(starts) > 5


def test_the_clock_enqueues_a_job_for_each_that_is_due(app: Flask, configure: Configure) -> None:
    configure(broadcast_delay_seconds=(3600, 3600))
    announce("article:1")
    fan_out.enqueue_due()
    assert queue.connection().llen("rq:queue:bulk") == 0
    configure(broadcast_delay_seconds=(0, 0))
    announce("article:2")
    fan_out.enqueue_due()
    fan_out.enqueue_due()
    assert queue.connection().llen("rq:queue:bulk") == 1


def test_a_stopped_broadcast_goes_on_where_it_stopped(
    app: Flask, configure: Configure, moment: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "PAGE", 3)
    everybody = {make_user().id for _ in range(8)}
    broadcast_id = announce()
    assert fan_out.fan_out_page(broadcast_id)
    assert len(recipients()) == 3
    while fan_out.fan_out_page(broadcast_id):
        pass
    assert recipients() == everybody
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 8


def test_news_that_changed_reaches_everybody_else_as_it_is_now(app: Flask, configure: Configure, moment: Time) -> None:
    people = [make_user() for _ in range(2)]
    broadcast_id = announce()
    fan_out.fan_out(broadcast_id)
    told = db.session.scalars(sa.select(Delivery).filter_by(user_id=people[0].id)).one()
    told.state = State.SENT
    with unit_of_work():
        broadcasts.reword("article:1", text="Artikel lain", preference_tag="islam")
    texts = db.session.scalars(sa.select(Delivery.payload["text"].astext).order_by(Delivery.user_id)).all()
    assert texts == ["Artikel baru", "Artikel lain"]
    broadcast = db.session.get_one(Broadcast, broadcast_id, populate_existing=True)
    assert (broadcast.text, broadcast.preference_tag) == ("Artikel lain", "islam")


def test_withdrawn_news_reaches_nobody_else(
    app: Flask, configure: Configure, moment: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "PAGE", 2)
    for _ in range(4):
        make_user()
    broadcast_id = announce()
    fan_out.fan_out_page(broadcast_id)
    with unit_of_work():
        broadcasts.withdraw("article:1")
    assert not fan_out.fan_out_page(broadcast_id)
    assert set(db.session.scalars(sa.select(Delivery.state))) == {State.CANCELLED}


@pytest.mark.parametrize(
    ("province", "utc_hour", "due"),
    [
        ("Jawa Barat", 5, "02 05:00"),  # noon: at once
        ("Jawa Barat", 0, "02 01:00"),  # 07:00: at 08:00
        ("Jawa Barat", 12, "02 12:00"),  # 19:00
        ("Jawa Barat", 13, "03 01:00"),  # 20:00: tomorrow
        ("Bali", 12, "03 00:00"),  # 20:00 WITA
        ("Bali", 0, "02 00:00"),  # 08:00 WITA
        ("Maluku", 11, "02 23:00"),  # 20:00 WIT: 08:00 of the next day there
        (None, 13, "03 01:00"),
    ],
)
def test_hours_are_those_of_the_province(
    app: Flask, configure: Configure, moment: Time, province: str | None, utc_hour: int, due: str
) -> None:
    moment.now = NOON.replace(hour=utc_hour)
    make_user(domicile=province)
    fan_out.fan_out(announce())
    row = db.session.scalars(sa.select(Delivery)).one()
    assert f"{row.due_at.astimezone(UTC):%d %H:%M}" == due


def test_one_a_day_and_person(app: Flask, configure: Configure, moment: Time) -> None:
    make_user()
    for n in range(3):
        fan_out.fan_out(announce(f"article:{n}"))
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 1
    moment.now = NOON + timedelta(days=1)
    fan_out.fan_out(announce("article:9"))
    assert len(recipients("article:9")) == 1


def test_the_number_a_day_is_a_setting(app: Flask, configure: Configure, moment: Time) -> None:
    configure(broadcast_per_user_per_day=2)
    make_user()
    for n in range(3):
        fan_out.fan_out(announce(f"article:{n}"))
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 2
    configure(broadcast_per_user_per_day=0)
    moment.now = NOON + timedelta(days=1)
    fan_out.fan_out(announce("article:9"))
    assert recipients("article:9") == set()


def hold_and_release(broadcast_id: int, moment: Time, **after: float) -> None:
    with unit_of_work():
        broadcasts.hold("article:1")
    moment.now += timedelta(**after)
    with unit_of_work():
        broadcasts.release("article:1")
    fan_out.fan_out(broadcast_id)


def test_one_that_was_held_reaches_on_the_same_day_who_has_not_got_it(
    app: Flask, configure: Configure, moment: Time
) -> None:
    user_id, broadcast_id = make_user().id, announce()
    fan_out.fan_out(broadcast_id)
    hold_and_release(broadcast_id, moment, hours=1)
    assert reread(f"broadcast:{broadcast_id}:{user_id}").state == State.PENDING
    fan_out.fan_out(announce("article:2"))
    assert recipients("article:2") == set()


def test_one_that_was_held_counts_on_no_day_of_who_has_it(app: Flask, configure: Configure, moment: Time) -> None:
    user_id, broadcast_id = make_user().id, announce()
    fan_out.fan_out(broadcast_id)
    reread(f"broadcast:{broadcast_id}:{user_id}").state = State.SENT
    db.session.flush()
    hold_and_release(broadcast_id, moment, days=1)
    assert db.session.get_one(Broadcast, broadcast_id, populate_existing=True).recipients == 1
    fan_out.fan_out(announce("article:2"))
    assert recipients("article:2") == {user_id}


# --- when it is sent ------------------------------------------------------------------------------------------------


def prepared(app: Flask, moment: Time, subject: str = "article:1") -> Claimed:
    make_user()
    fan_out.fan_out(announce(subject))
    row = db.session.scalars(sa.select(Delivery).filter_by(subject=subject)).one()
    fields = {name: getattr(row, name) for name in Claimed.__dataclass_fields__ if name != "claim_token"}
    return Claimed(**fields, claim_token=None)  # type: ignore[arg-type]


def test_what_slipped_into_the_night_waits_for_the_morning(app: Flask, configure: Configure, moment: Time) -> None:
    found = prepared(app, moment)
    fan_out.check_recipient(found)
    moment.now = NOON.replace(hour=14)
    with pytest.raises(PostponedError) as error:
        fan_out.check_recipient(found)
    assert error.value.until == datetime(2026, 3, 3, 8, 0, tzinfo=ZoneInfo("Asia/Jakarta"))


def test_on_another_day_it_counts_as_that_days(app: Flask, configure: Configure, moment: Time) -> None:
    found = prepared(app, moment)
    moment.now = NOON + timedelta(days=1)
    fan_out.check_recipient(found)
    row = reread(found.dedupe_key)
    assert row.payload["day"] == "2026-03-03"
    fan_out.fan_out(announce("article:2"))
    assert recipients("article:2") == set()


def test_on_another_day_that_is_taken_it_stays(app: Flask, configure: Configure, moment: Time) -> None:
    found = prepared(app, moment)
    moment.now = NOON + timedelta(days=1)
    fan_out.fan_out(announce("article:2"))
    with pytest.raises(UndeliverableError):
        fan_out.check_recipient(found)


def test_who_opted_out_meanwhile_is_left_alone(app: Flask, configure: Configure, moment: Time) -> None:
    found = prepared(app, moment)
    db.session.get_one(User, found.user_id).accepts_broadcasts = False
    db.session.flush()
    with pytest.raises(UndeliverableError):
        fan_out.check_recipient(found)


def test_turns_come_at_the_rate_and_make_up_for_little(app: Flask, configure: Configure) -> None:
    configure(broadcast_per_minute=60, broadcast_hours=(0, 24))
    for _ in range(20):
        make_user()
    fan_out.fan_out(announce())
    granted = [fan_out.take_slot() for _ in range(10)]
    assert 1 <= sum(granted) <= 2
    db.session.execute(sa.text("UPDATE broadcast_pace SET next_at = now() - interval '1 hour'"))
    db.session.commit()
    granted = [fan_out.take_slot() for _ in range(20)]
    assert 5 <= sum(granted) <= 7


def test_a_turn_is_taken_only_for_something(app: Flask, configure: Configure) -> None:
    assert [fan_out.take_slot() for _ in range(3)] == [False] * 3


def test_pause_holds_everything_and_resume_lets_it_go(app: Flask, configure: Configure) -> None:
    configure(broadcast_per_minute=100_000, broadcast_hours=(0, 24))
    make_user()
    fan_out.fan_out(announce())
    runner = app.test_cli_runner()
    assert "paused" in runner.invoke(args=["broadcast", "pause"]).output
    assert not fan_out.take_slot()
    queue.connection().flushdb()
    jobs.enqueue_due()
    assert queue.connection().llen("rq:queue:bulk") == 0
    output = runner.invoke(args=["broadcast", "status"]).output
    assert "paused" in output
    assert "article:1 (done): 1 recipients; 1 pending" in output
    runner.invoke(args=["broadcast", "resume"])
    assert fan_out.take_slot()
    jobs.enqueue_due()
    assert claims.claim("bulk", Channel.MESSAGING) is not None
