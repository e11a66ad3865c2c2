"""Answers, edits, deletions and background jobs at the same moment.

Each occurrence ends in one state, and only messages that agree with this state are sent.
"""

from collections import Counter
from contextlib import suppress
from itertools import product

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.errors import Conflict, NotFound
from app.notifications.models import Delivery
from app.pengingat import jobs, service
from app.pengingat.ledger import answers
from app.pengingat.ledger.schemas import NewAnswer
from app.pengingat.models import Occurrence, OccurrenceState, Pengingat
from tests.helpers.overlap import run_together
from tests.pengingat.ledgers import NOW, make_reminders

pytestmark = pytest.mark.processes

COUNT = 30

#: Result of an answer: the new state, or the name of the error.
Outcomes = dict[int, str]


@pytest.fixture
def owned(committed, moment, obat):
    """Create a person with reminders whose first dose was due five minutes ago. Return the ids."""
    user_id, ids = make_reminders(COUNT, obat)
    moment.move(hours=11, minutes=5)
    return user_id, ids


def answering(user_id, ids, status, outcomes):

    def work():
        for reminder_id in ids:
            try:
                with unit_of_work():
                    outcomes[reminder_id] = answers.confirm(user_id, reminder_id, NewAnswer(status)).state
            except (Conflict, NotFound) as error:
                outcomes[reminder_id] = error.code

    return work


def first_doses():
    """Return the row of each reminder's dose at 12:00, by reminder id. Check that each reminder has such a row."""
    rows = db.session.scalars(sa.select(Occurrence).where(Occurrence.slot == "1").order_by(Occurrence.due_at)).all()
    due = [row for row in rows if row.due_at == rows[0].due_at]
    assert len(due) == COUNT
    return {row.reminder_id: row for row in due}


def test_two_concurrent_answers_leave_one_state(committed, owned):
    user_id, ids = owned
    done, skipped = Outcomes(), Outcomes()
    run_together(committed, answering(user_id, ids, "done", done), answering(user_id, ids, "skipped", skipped))
    assert set(done.values()) == {"done"}
    assert set(skipped.values()) == {"skipped"}
    for row in first_doses().values():
        assert row.state in (OccurrenceState.DONE, OccurrenceState.SKIPPED)


def test_an_answer_concurrent_with_an_edit_leaves_a_consistent_occurrence(committed, owned, obat):
    user_id, ids = owned
    details = {**obat["details"], "frekuensi": 1, "jadwal": [{"jam": "05:00", "jumlah": 2, "satuan": "tablet"}]}
    outcomes = Outcomes()

    def edit():
        for reminder_id in reversed(ids):
            with unit_of_work():
                service.update(user_id, reminder_id, {"details": details})

    run_together(committed, edit, answering(user_id, ids, "done", outcomes), jobs.top_up)
    for reminder_id, row in first_doses().items():
        assert reminder_id is not None
        assert (row.state, outcomes[reminder_id]) in (("done", "done"), ("void", "not_found"))


def test_an_answer_concurrent_with_a_deletion_is_recorded_or_refused(committed, owned):
    user_id, ids = owned
    outcomes = Outcomes()

    def remove():
        for reminder_id in reversed(ids):
            with unit_of_work():
                service.delete(user_id, reminder_id)

    run_together(committed, remove, answering(user_id, ids, "done", outcomes), jobs.top_up)
    due_at = sa.select(sa.func.min(Occurrence.due_at)).scalar_subquery()
    states = Counter(db.session.scalars(sa.select(Occurrence.state).where(Occurrence.due_at == due_at)))
    answered = Counter(outcomes.values())
    assert states["done"] == answered["done"]
    assert states["void"] == answered["not_found"] == COUNT - states["done"]


def test_an_answer_concurrent_with_miss_overdue_is_recorded_or_refused(committed, owned, moment):
    user_id, ids = owned
    moment.move(minutes=55)
    outcomes = Outcomes()
    run_together(committed, answering(user_id, ids, "skipped", outcomes), *[jobs.miss_overdue] * 3)
    jobs.miss_overdue()
    for reminder_id, row in first_doses().items():
        assert reminder_id is not None
        assert (row.state, outcomes[reminder_id]) in (("skipped", "skipped"), ("missed", "already_closed"))


def test_an_answer_concurrent_with_top_up_creates_no_duplicate_occurrence(committed, owned, moment):
    user_id, ids = owned
    moment.move(hours=20)  # fewer than 24 planned hours are left, so the job plans more occurrences
    jobs.miss_overdue()
    outcomes = Outcomes()
    run_together(committed, jobs.top_up, answering(user_id, ids, "done", outcomes), jobs.top_up)
    rows = db.session.scalars(sa.select(Occurrence)).all()
    assert len(rows) == len({(row.reminder_id, row.due_at, row.slot) for row in rows})
    keys = db.session.scalars(sa.select(Delivery.dedupe_key).where(Delivery.due_at > moment.now)).all()
    assert len(keys) == 2 * len({row.due_at for row in rows if row.due_at > moment.now})


def test_concurrent_answers_and_purchases_leave_the_correct_stock(committed, moment, obat):
    doses = [{**dose, "jam": jam} for dose, jam in zip(obat["details"]["jadwal"], ("12:50", "12:00"), strict=True)]
    stocked = {**obat, "details": {**obat["details"], "jadwal": doses, "persediaan": {"sisa": 100}}}
    user_id, ids = make_reminders(5, stocked)
    moment.move(hours=11, minutes=5)
    dues = [None, NOW.replace(hour=12), NOW.replace(hour=12, minute=50)]

    def answering_all(status):
        def work():
            for reminder_id, due_at in product(ids, dues):
                with unit_of_work(), suppress(Conflict):
                    answers.confirm(user_id, reminder_id, NewAnswer(status, due_at=due_at))

        return work

    def mark():
        for reminder_id, is_done in product(ids, (True, False, True)):
            with unit_of_work():
                service.update(user_id, reminder_id, {"is_done": is_done})

    def buy():
        for reminder_id in ids * 4:
            with unit_of_work():
                service.add_stock(user_id, reminder_id, {"tambah": 2.5})

    works = [answering_all("done"), answering_all("skipped"), answering_all("done"), mark, buy]
    run_together(committed, *works, jobs.top_up)
    amounts = {"0": 1.0, "1": 0.5}
    for reminder_id in ids:
        rows = db.session.scalars(sa.select(Occurrence).filter_by(reminder_id=reminder_id)).all()
        assert [row.stock_deducted for row in rows] == [
            amounts[row.slot] if row.state == OccurrenceState.DONE else None for row in rows
        ]
        details = db.session.get_one(Pengingat, reminder_id).details
        assert details["persediaan"]["sisa"] == 100 + 4 * 2.5 - sum(row.stock_deducted or 0 for row in rows)


def test_concurrent_snoozes_and_answers_leave_one_state(committed, owned):
    user_id, ids = owned
    snoozed, done = Outcomes(), Outcomes()
    run_together(committed, answering(user_id, ids, "snooze", snoozed), answering(user_id, ids, "done", done))
    assert set(done.values()) == {"done"}
    assert set(snoozed.values()) <= {"pending", "already_closed"}
    for row in first_doses().values():
        assert row.state == OccurrenceState.DONE
