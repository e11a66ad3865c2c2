"""Past due times count for the limit of 60 a day, even if their reminders were deleted or moved later."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.notifications.models import Delivery
from app.pengingat import service
from app.pengingat.timetable.limits import MAX_PER_DAY, TooManyReminders
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.overlap import done_twice_at_once
from tests.pengingat.ledgers import NOW, Time, settle


def visit(minutes: float) -> dict[str, Any]:
    """Return the request body of an appointment this many minutes after NOW. Its notice is sent at this time."""
    at = NOW + timedelta(minutes=minutes)
    return {"tipe": "kontrol", "judul": "Kontrol", "waktu": at.isoformat(), "timezone": "Asia/Jakarta", "details": {}}


def make(client: Client, minutes: float) -> str:
    response = client.post("/pengingat", visit(minutes))
    assert response.status_code == 201, response.json
    return f"/pengingat/{response.json['id']}"


def send() -> None:
    due = sa.select(sa.literal(1)).where(Delivery.due_at <= NOW + timedelta(minutes=1)).exists()
    assert db.session.scalar(sa.select(due))
    settle("sent", Delivery.due_at <= NOW + timedelta(minutes=1), Delivery.state == "pending")


@pytest.fixture
def spent(siti: Client, moment: Time) -> list[str]:
    """Create 60 reminders whose messages were just sent. Return their paths."""
    paths = [make(siti, 1) for _ in range(MAX_PER_DAY)]
    moment.move(minutes=1)
    send()
    return paths


def test_reminders_deleted_after_being_sent_still_count_for_that_day(siti: Client, spent: list[str]) -> None:
    for path in spent:
        assert siti.delete(path).status_code == 200
    assert_error(siti.post("/pengingat", visit(2)), 409, "too_many_reminders")
    make(siti, 24 * 60)  # an appointment tomorrow is still accepted


def test_a_sent_reminder_moved_to_later_that_day_counts_again(siti: Client, spent: list[str]) -> None:
    later = (NOW + timedelta(minutes=2)).isoformat()
    assert_error(siti.put(spent[0], {"waktu": later}), 409, "too_many_reminders")
    tomorrow = (NOW + timedelta(days=1)).isoformat()
    assert siti.put(spent[0], {"waktu": tomorrow}).status_code == 200


def test_reminders_deleted_before_they_were_sent_do_not_count(siti: Client, moment: Time) -> None:
    for _ in range(3):
        paths = [make(siti, 60) for _ in range(MAX_PER_DAY)]
        for path in paths:
            siti.delete(path)
    make(siti, 60)


def test_sent_reminders_count_for_a_new_reminder_in_another_time_zone(
    siti: Client, moment: Time, spent: list[str]
) -> None:
    for path in spent:
        siti.delete(path)
    assert_error(siti.post("/pengingat", {**visit(2), "timezone": "Asia/Jayapura"}), 409, "too_many_reminders")


def test_sent_reminders_do_not_count_for_the_next_day(siti: Client, moment: Time, spent: list[str]) -> None:
    moment.move(hours=16)  # 00.01 in Jakarta, on the next day
    for path in spent:
        siti.delete(path)
    for _ in range(MAX_PER_DAY):
        make(siti, 16 * 60 + 5)
    assert_error(siti.post("/pengingat", visit(16 * 60 + 6)), 409, "too_many_reminders")


def test_concurrent_creates_after_deletions_cannot_exceed_the_daily_limit(committed: Flask, moment: Time) -> None:
    with unit_of_work():
        user_id = make_user().id
    data: Any = {**visit(1), "waktu": NOW + timedelta(minutes=1)}
    ids = []
    for _ in range(MAX_PER_DAY - 1):
        with unit_of_work():
            ids.append(service.create(user_id, data).id)
    moment.move(minutes=1)
    send()
    db.session.commit()
    for id_ in ids:
        with unit_of_work():
            service.delete(user_id, id_)
    data["waktu"] = NOW + timedelta(minutes=3)
    second = done_twice_at_once(committed, lambda: service.create(user_id, data))
    with pytest.raises(TooManyReminders):
        second.result()
