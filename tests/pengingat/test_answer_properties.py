"""Tests with random answers, undos and offline answers.

After each of these actions, the ledger, the stock, the outbox and `is_done` must agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from app.core.database.session import db, unit_of_work
from app.core.errors import AppError
from app.notifications.models import OPEN, Delivery
from app.pengingat import day, jobs, service
from app.pengingat.ledger import answers
from app.pengingat.ledger.answers import NothingToUndo
from app.pengingat.ledger.schemas import NewAnswer
from app.pengingat.models import LATE, Occurrence, OccurrenceState, Pengingat
from tests.helpers.factories import make_user
from tests.pengingat.ledgers import NOW, Time

pytestmark = pytest.mark.slow

BOUGHT = 6.0
#: Doses at 07:00, 12:00 and 19:00 in Jakarta.
DETAILS = {
    "nama_obat": "Metformin",
    "frekuensi": 3,
    "aturan": "sesudah makan",
    "ingatkan_ulang_menit": 20,
    "jadwal": [{"jam": jam, "jumlah": 1, "satuan": "tablet"} for jam in ("00:00", "05:00", "12:00")],
    "persediaan": {"sisa": BOUGHT},
}
ANSWERED = (OccurrenceState.DONE, OccurrenceState.SKIPPED)


@dataclass(frozen=True)
class Said:
    """One answer of a person to an occurrence."""

    status: str
    #: Number that chooses the answered row among the rows that are due by 61 minutes from now. None if the answer has
    #: no `due_at`.
    named: int | None
    #: Minutes since an offline answer was given. None if the answer is given now.
    ago: int | None


@dataclass(frozen=True)
class Step:
    """Step of an example: a pause in minutes, then background jobs, then answers."""

    minutes: int
    is_swept: bool
    is_sent: bool
    said: list[Said]


said = st.builds(
    Said,
    status=st.sampled_from(["done", "done", "skipped", "snooze", "undo"]),
    named=st.sampled_from([0, 0, 1, 2, None]),
    ago=st.sampled_from([1, 5, 45, 200, 0, None, None]),
)
steps = st.builds(
    Step,
    minutes=st.sampled_from([1, 31, 61, 180, 290, 600, 1500]),
    is_swept=st.booleans(),
    is_sent=st.booleans(),
    said=st.lists(said, min_size=2, max_size=5),
)


class Walk:
    """Medicine of one example, with methods that run its steps and check the result."""

    def __init__(self, moment: Time) -> None:
        self.moment = moment
        moment.now = NOW
        self.user_id = make_user().id
        sent: Any = {"tipe": "obat", "judul": "Obat", "timezone": "Asia/Jakarta", "details": DETAILS}
        with unit_of_work():
            self.id = service.create(self.user_id, sent).id
        #: Time of the last answer or undo, by row id.
        self.said_at: dict[int, datetime] = {}

    def rows(self) -> list[Occurrence]:
        db.session.expire_all()
        query = sa.select(Occurrence).where(Occurrence.reminder_id == self.id).order_by(Occurrence.due_at.desc())
        return list(db.session.scalars(query))

    def take(self, step: Step) -> None:
        self.moment.move(minutes=step.minutes)
        jobs.top_up()
        if step.is_swept:
            jobs.miss_overdue()
        db.session.commit()  # a refused answer rolls back, so commit the job's changes first
        if step.is_sent:
            due = sa.update(Delivery).where(Delivery.state.in_(OPEN), Delivery.due_at <= self.moment.now)
            with unit_of_work():
                db.session.execute(due.values(state="sent", settled_at=self.moment.now))
        for said in step.said:
            self.say(said)

    def say(self, said: Said) -> None:
        now = self.moment.now
        near = [row for row in self.rows() if row.due_at <= now + timedelta(hours=1, minutes=1)]
        row = near[said.named % len(near)] if said.named is not None and near else None
        is_offline = row is not None and said.ago is not None and said.status in ANSWERED
        at = now - timedelta(minutes=said.ago or 0)
        if is_offline and row is not None and at < row.due_at - timedelta(hours=1):
            return  # the request schema rejects an answer given over an hour before the due time
        before = {each.id: (each.state, each.answered_at) for each in near}
        data = NewAnswer(
            said.status,
            15,
            due_at=row.due_at if row else None,
            answered_at=at if is_offline else None,
        )
        try:
            with unit_of_work():
                answered = answers.confirm(self.user_id, self.id, data)
                id_, state, answered_at = answered.id, answered.state, answered.answered_at
        except AppError:
            assert {each.id: (each.state, each.answered_at) for each in self.rows() if each.id in before} == before
            return
        changed = (state, answered_at) != before[id_]
        if said.status == "undo":
            self.check_undo(id_, state)
        elif is_offline and changed:
            assert answered_at == at
            assert self.said_at.get(id_, at - timedelta(1)) < at
            if before[id_][0] == OccurrenceState.MISSED:
                self.check_in_time(id_, at)
        if changed and said.status != "snooze":
            self.said_at[id_] = answered_at or now

    def check_undo(self, id_: int, state: str) -> None:
        """Check that an undone row is pending for an hour after its due time. Check that a second undo is refused."""
        (row,) = (each for each in self.rows() if each.id == id_)
        due_at = max(row.due_at, row.snoozed_until or row.due_at)
        assert state == (OccurrenceState.PENDING if self.moment.now < due_at + LATE else OccurrenceState.MISSED)
        with pytest.raises(NothingToUndo), unit_of_work():
            answers.confirm(self.user_id, self.id, NewAnswer("undo", due_at=row.due_at))

    def check_in_time(self, id_: int, at: datetime) -> None:
        """Check that the answer to a missed row was given before the due time of the next row."""
        rows = self.rows()
        (row,) = (each for each in rows if each.id == id_)
        assert not [each for each in rows if row.due_at < each.due_at <= at and each.state != OccurrenceState.VOID]

    def check(self) -> None:
        rows, now = self.rows(), self.moment.now
        assert len({row.due_at for row in rows}) == len(rows)
        for row in rows:
            assert (row.state in ANSWERED) == (row.answered_at is not None) == (row.answered_via is not None)
            assert row.stock_deducted is None or row.state == OccurrenceState.DONE
        pengingat = db.session.get_one(Pengingat, self.id)
        assert pengingat.details["persediaan"]["sisa"] + sum(row.stock_deducted or 0 for row in rows) == BOUGHT
        self.check_outbox(rows)
        fallen = [row for row in rows if row.due_at <= now]
        following = min((row.due_at for row in rows if row.due_at > now), default=now + timedelta(days=1))
        if following > now + timedelta(hours=1):  # within an hour before a dose, an answer may be for that dose
            assert pengingat.is_done == bool(fallen and fallen[0].state == OccurrenceState.DONE)
        self.check_days(rows)

    def check_outbox(self, rows: list[Occurrence]) -> None:
        """Check that answered rows have no queued messages, and that each future row has a chat message and a push."""
        waiting = db.session.execute(
            sa.select(Delivery.occurrence_id, Delivery.payload).where(
                Delivery.state.in_(OPEN), Delivery.kind == "reminder"
            )
        ).all()
        first = [id_ for id_, payload in waiting if "again" not in payload]
        asked = {id_ for id_, _ in waiting}
        for row in rows:
            if row.state in (*ANSWERED, OccurrenceState.VOID):
                assert row.id not in asked
            elif row.state == OccurrenceState.PENDING and row.due_at > self.moment.now and row.snoozed_until is None:
                assert first.count(row.id) == 2

    def check_days(self, rows: list[Occurrence]) -> None:
        """Check that `day.list_doses` returns the same states as the ledger."""
        states = {row.due_at: row.state for row in rows}
        for date in {row.day for row in rows}:
            for dose in day.list_doses(self.user_id, date):
                assert dose["state"] == states.get(dose["due_at"], OccurrenceState.PENDING)
                if dose["state"] in (OccurrenceState.PENDING, OccurrenceState.DONE):
                    is_near = dose["due_at"] <= self.moment.now + timedelta(hours=1)
                    assert dose["can_answer"] == (is_near and dose["state"] == OccurrenceState.PENDING)


@given(st.lists(steps, min_size=2, max_size=6))
@settings(
    max_examples=40, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_ledger_stock_outbox_and_is_done_agree_after_random_answers(
    app: Flask, moment: Time, taken: list[Step]
) -> None:
    walk = Walk(moment)
    for step in taken:
        walk.take(step)
        walk.check()
    with unit_of_work():
        service.delete(walk.user_id, walk.id)
