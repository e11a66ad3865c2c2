"""Answers with numbers to a grouped message. A number selects the reminder with this number in the text."""

from __future__ import annotations

import re

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import User
from app.notifications import jobs as outbox_jobs
from app.pengingat.models import Occurrence
from dev.simulators import Server
from tests.inbox.phones import Phone
from tests.pengingat.groups.medicines import answer, medicine, sent

pytestmark = pytest.mark.usefixtures("committed")


def phone_of(user_id: int) -> Phone:
    number = db.session.scalars(sa.select(User.phone).where(User.id == user_id)).one()
    db.session.remove()
    return Phone(str(number))


def state(text: str, number: int) -> str:
    """Return the state of the reminder with this number in the text."""
    (name,) = re.findall(rf"^{number}\. Waktunya minum (\w+)", text, re.MULTILINE)
    db.session.expire_all()
    first = sa.select(Occurrence.state).filter_by(judul=name).order_by(Occurrence.due_at).limit(1)
    return db.session.scalars(first).one()


def test_a_number_selects_the_reminder_with_this_number_in_the_text(
    grouping: Server, siti_id: int, three: list[int]
) -> None:
    outbox_jobs.drain("urgent")
    (text,) = sent(grouping)
    phone = phone_of(siti_id)
    phone.write("SUDAH 2")
    assert [state(text, number) for number in (1, 2, 3)] == ["pending", "done", "pending"]
    phone.write("LEWATI 3")
    phone.write("SUDAH")
    assert [state(text, number) for number in (1, 2, 3)] == ["done", "done", "skipped"]


def test_a_reminder_answered_before_sending_has_no_number(grouping: Server, siti_id: int, three: list[int]) -> None:
    answer(siti_id, three[0])
    outbox_jobs.drain("urgent")
    (text,) = sent(grouping)
    assert "Amlodipin" in text.split("\n")[1]
    phone = phone_of(siti_id)
    said = phone.write("SUDAH 3")
    assert said.text == "Pesan terakhir memuat 2 pengingat. Balas dengan nomor 1 sampai 2."
    phone.write("SUDAH 1")
    assert [state(text, number) for number in (1, 2)] == ["done", "pending"]


def test_an_answer_without_a_number_applies_to_all_messages_of_one_minute(
    grouping: Server, siti_id: int, three: list[int]
) -> None:
    outbox_jobs.drain("urgent")
    medicine(siti_id, "Aspirin")
    outbox_jobs.drain("urgent")
    assert phone_of(siti_id).write("SUDAH").text == "Terima kasih, Siti. 4 pengingat sudah kami catat."
