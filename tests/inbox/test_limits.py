"""Nobody is written back to without end, and strangers not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.inbox import conversation, jobs, limits
from app.notifications.models import Delivery
from tests.helpers.factories import make_user
from tests.inbox.phones import Phone, age, rows


def answers() -> int:
    kind = sa.select(sa.func.count()).select_from(Delivery).where(Delivery.kind == conversation.KIND)
    return db.session.scalars(kind).one()


@pytest.mark.parametrize("text", ["SUDAH", "BANTUAN", "RESET", "BERHENTI", "halo", "VERIFIKASI ABCDEF", "SALAH NOMOR"])
def test_a_stranger_is_stored_and_never_answered(app: Flask, text: str) -> None:
    said = Phone("+6281299999999").write(text)
    assert (said.outcome, said.text) == ("unknown sender", None)
    assert rows()[0].text == text
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 0


def test_a_number_is_written_back_to_three_times_an_hour(phone: Phone) -> None:
    for _ in range(6):
        phone.write("BERHENTI")
    assert answers() == 3
    age(minutes=61)
    for _ in range(6):
        phone.write("BERHENTI")
    assert answers() == 6


def test_and_ten_times_a_day(phone: Phone) -> None:
    for _ in range(8):
        for _ in range(3):
            phone.write("BERHENTI")
        age(minutes=61)
    assert answers() == limits.MOST_A_DAY == 10
    age(hours=16)
    phone.write("BERHENTI")
    assert answers() == 11


def test_what_is_not_answered_any_more_is_done_all_the_same(phone: Phone) -> None:
    for text in ("BERHENTI", "MULAI", "BERHENTI", "MULAI"):
        said = phone.write(text)
    assert (said.outcome, said.text) == ("start", None)


def test_the_limit_is_each_numbers_own(phone: Phone) -> None:
    make_user(nomor_hp="081234567899")
    db.session.commit()
    for number in (phone.number, "+6281234567899"):
        for _ in range(5):
            Phone(number).write("BERHENTI")
    assert answers() == 6


def test_the_limit_is_exact_when_many_work_at_once(committed: Flask) -> None:
    with unit_of_work():
        make_user(nomor_hp="081234567890")
    phone = Phone("+6281234567890")
    for _ in range(20):
        phone.send("BERHENTI")

    def work(_: int) -> None:
        with committed.app_context():
            jobs.handle()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    jobs.handle()
    assert [row.handled_at is not None for row in rows()] == [True] * 20
    assert answers() == 3


@pytest.mark.parametrize("robot", ["{}", "Terima kasih telah menghubungi kami. {}", "SUDAH {}", "BERHENTI", "TUNDA 1"])
def test_two_robots_that_answer_one_another_stop_after_three(phone: Phone, robot: str) -> None:
    text, heard = "BANTUAN", 0
    for _ in range(50):
        said = phone.write(text)
        if said.text is None:
            break
        heard += 1
        text = robot.format(said.text)[:1000]
    assert 1 <= heard <= 3
    assert answers() == heard


def test_a_backlog_that_is_handled_late_counts_when_it_is_answered(phone: Phone) -> None:
    for _ in range(5):
        phone.send("BERHENTI")
    with unit_of_work():
        table = type(rows()[0])
        db.session.execute(sa.update(table).values(received_at=table.received_at - timedelta(hours=5)))
    jobs.handle()
    assert answers() == 3
