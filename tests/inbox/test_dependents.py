"""Tests of a caregiver who answers reminders of a dependent, a person without a phone."""

from datetime import timedelta
from uuid import uuid4

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.pengingat.models import Occurrence
from tests.inbox.phones import Phone, age
from tests.inbox.reminders import link_of, mark_sent, medicine


@pytest.fixture
def budis(budi):
    """Return the fake phone of Budi, who cares for his mother."""
    return Phone(budi.user.phone)


def remind(client, minutes, patient_id=None):
    """Create a dose that was due and sent this many minutes ago. Return the id of its row."""
    reminder_id = medicine(client, "Metformin", query="" if patient_id is None else f"?patient_id={patient_id}")
    with unit_of_work():
        at = sa.func.date_trunc("minute", sa.func.now()) - timedelta(minutes=minutes)
        first = sa.select(sa.func.min(Occurrence.id)).filter_by(reminder_id=reminder_id).scalar_subquery()
        row = db.session.scalars(
            sa.update(Occurrence).where(Occurrence.id == first).values(due_at=at).returning(Occurrence.id)
        ).one()
        mark_sent(db.session.get_one(Occurrence, row, populate_existing=True), uuid4(), f"ref-{row}")
    return row


def answered(row_id):
    db.session.expire_all()
    row = db.session.get_one(Occurrence, row_id)
    return row.state, row.answered_via


def test_done_and_not_yet_from_the_caregiver_are_recorded_for_the_dependent(budi, budis, ibu):
    dose = remind(budi, 5, patient_id=ibu)
    said = budis.write("SUDAH")
    assert answered(dose) == ("done", "caregiver")
    assert str(said.text).startswith("Terima kasih, Budi. Obat Ibu Siti pukul")
    budis.write("belum")
    assert answered(dose) == ("pending", None)


@pytest.mark.parametrize("hers_is_last", [True, False])
def test_done_answers_the_person_of_the_latest_reminder_first(budi, budis, ibu, hers_is_last):
    own, hers = remind(budi, 10 if hers_is_last else 5), remind(budi, 5 if hers_is_last else 10, patient_id=ibu)
    budis.write("SUDAH")
    first, second = (hers, own) if hers_is_last else (own, hers)
    assert answered(first) == ("done", "caregiver" if hers_is_last else "message")
    assert answered(second) == ("pending", None)
    age(minutes=3)
    budis.write("SUDAH")
    assert answered(second) == ("done", "message" if hers_is_last else "caregiver")


def test_reminders_of_two_people_in_one_minute_need_separate_answers(budi, budis, ibu):
    own, hers = remind(budi, 5), remind(budi, 5, patient_id=ibu)
    budis.write("SUDAH")
    assert sorted(state for state, _ in (answered(own), answered(hers))) == ["done", "pending"]
    age(minutes=3)
    budis.write("SUDAH")
    assert (answered(own), answered(hers)) == (("done", "message"), ("done", "caregiver"))


def test_a_word_for_a_person_is_not_read_as_a_polite_word(budi, budis, ibu):
    """Budi may write about his father, although the last message was about his mother."""
    dose = remind(budi, 5, patient_id=ibu)
    assert budis.write("Bapak sudah").outcome == "answered:doubt"
    assert answered(dose) == ("pending", None)


def test_a_quote_of_the_dependents_reminder_answers_that_reminder(budi, budis, ibu):
    own, hers = remind(budi, 5), remind(budi, 10, patient_id=ibu)
    budis.write("sudah", about=f"ref-{hers}")
    assert (answered(own), answered(hers)) == (("pending", None), ("done", "caregiver"))


def test_a_check_mark_and_its_removal_answer_and_undo_for_the_dependent(budi, budis, ibu):
    dose = remind(budi, 5, patient_id=ibu)
    budis.write("✅", type="reaction", about=f"ref-{dose}")
    assert answered(dose) == ("done", "caregiver")
    budis.write("", type="reaction", about=f"ref-{dose}")
    assert answered(dose) == ("pending", None)


def test_another_user_cannot_answer_the_dependents_reminder(client, siti, budi, ibu):
    dose = remind(budi, 5, patient_id=ibu)
    Phone(siti.user.phone).write("SUDAH")
    Phone(siti.user.phone).write("sudah", about=f"ref-{dose}")
    assert Phone(siti.user.phone).write("Sudah", pressed=f"T:{link_of(dose)}").outcome == "answered:nothing open"
    assert answered(dose) == ("pending", None)
