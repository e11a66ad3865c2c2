"""Tests of the web link of a grouped message. This one link answers all reminders of the message."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.notifications import jobs as outbox_jobs
from app.notifications.delivery import drain, messaging
from app.pengingat.ledger.schemas import QuickAnswer
from app.pengingat.models import Occurrence, Pengingat
from app.pengingat.one_tap import links
from dev.simulators import Server
from tests.notifications.deliveries import ready
from tests.pengingat.groups.medicines import ADDRESS, answer, medicine, named, sent

pytestmark = pytest.mark.usefixtures("committed")


def tap(text: str, status: str = "done") -> None:
    (token,) = re.findall(rf"{ADDRESS}/k/(.{{22}})", text)
    with unit_of_work():
        links.answer(token, QuickAnswer(status))


def first_doses(*reminder_ids: int) -> list[str]:
    db.session.expire_all()
    rows = sa.select(Occurrence).where(
        Occurrence.reminder_id.in_(reminder_ids), Occurrence.due_at < local_time.now() + timedelta(minutes=2)
    )
    return [row.state for row in db.session.scalars(rows.order_by(Occurrence.reminder_id))]


def test_a_grouped_link_answers_all_reminders_of_one_minute(grouping: Server, three: list[int]) -> None:
    outbox_jobs.drain("urgent")
    tap(sent(grouping)[0])
    assert first_doses(*three) == ["done"] * 3


def test_a_grouped_link_also_answers_reminders_of_the_next_minute(grouping: Server, siti_id: int) -> None:
    ids = [medicine(siti_id, "Metformin"), later_minute(siti_id)]
    outbox_jobs.drain("urgent")
    (text,) = sent(grouping)
    assert named(text) == ["Metformin", "Amlodipin"]
    tap(text)
    assert first_doses(*ids) == ["done", "done"]


def later_minute(user_id: int) -> int:
    """Create a medicine that is due less than 60 seconds after the others, but in the next minute of the clock."""
    now = local_time.now() - timedelta(seconds=5)
    return medicine(user_id, "Amlodipin", due_in_s=55 - now.second - now.microsecond / 1e6)


def test_a_grouped_link_answers_the_rest_if_the_first_reminder_is_left_out(grouping: Server, siti_id: int) -> None:
    first, second = medicine(siti_id, "Metformin"), later_minute(siti_id)
    third = medicine(siti_id, "Simvastatin", due_in_s=-1)
    claimed = ready()
    drain.routing().checks[claimed.kind](claimed)
    answer(siti_id, first, "skipped")
    messaging.send(claimed)
    tap(sent(grouping)[0])
    assert first_doses(first, second, third) == ["skipped", "done", "done"]


def test_a_link_that_is_shared_twice_is_stored_once(grouping: Server, siti_id: int) -> None:
    medicine(siti_id, "Metformin")
    second = later_minute(siti_id)
    claimed = ready()
    for _ in range(2):
        drain.routing().checks[claimed.kind](claimed)
    shared = db.session.scalars(
        sa.select(Occurrence.shared_links).join(Pengingat).where(Pengingat.id == second).order_by(Occurrence.due_at)
    ).all()
    assert [len(links or []) for links in shared][:1] == [1]
