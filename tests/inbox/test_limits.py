"""Tests of the limits for answers that the service sends to a phone number. Unknown senders get no answers."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.inbox import conversation, jobs, limits
from app.notifications.models import Delivery
from tests.helpers.factories import make_user
from tests.inbox.phones import Phone, age, rows


def answers():
    kind = sa.select(sa.func.count()).select_from(Delivery).where(Delivery.kind == conversation.KIND)
    return db.session.scalars(kind).one()


@pytest.mark.parametrize("text", ["SUDAH", "BANTUAN", "RESET", "BERHENTI", "halo", "SALAH NOMOR"])
def test_a_message_from_an_unknown_sender_is_stored_without_a_reply(app, text):
    said = Phone("+6281299999999").write(text)
    assert (said.outcome, said.text) == ("unknown sender", None)
    assert rows()[0].text == text
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 0


def test_replies_to_commands_are_limited_to_sixty_per_day(phone):
    for _ in range(4):
        for _ in range(20):
            phone.write("BERHENTI")
        age(minutes=61)
    assert answers() == limits.MAX_PER_DAY == 60
    age(hours=20)
    phone.write("BERHENTI")
    assert answers() == 61


@pytest.mark.parametrize("text", ["ok", "sudah muntah"])
def test_replies_to_small_talk_are_limited_to_three_per_hour(phone, sent, text):
    sent("Metformin")
    for _ in range(5):
        phone.write(text)
    assert answers() == 3
    age(minutes=61)
    phone.write(text)
    assert answers() == 4


def test_replies_to_small_talk_are_limited_to_ten_per_day(phone, sent):
    sent("Metformin")
    phone.write("apa kabar")
    for _ in range(6):
        for text in ("ok", "sudah muntah", "ok"):
            phone.write(text)
        age(minutes=61)
    assert answers() == limits.MAX_TALK_PER_DAY == 10


def test_small_talk_and_commands_have_separate_rate_limits(phone, sent):
    sent("Metformin")
    for _ in range(4):
        phone.write("ok")
    for _ in range(20):
        assert phone.write("TUNDA 1").outcome == "answered:refused range"
    assert answers() == 23
    assert phone.write("SUDAH").text is None
    age(minutes=61)
    assert str(phone.write("sudah muntah").outcome).startswith("answered:")


@pytest.mark.parametrize("text", ["belum", "TUNDA 1", "ibu meninggal", "BERHENTI", "RESET", "VERIFIKASI ABCDEF"])
def test_refusals_and_commands_are_not_limited_as_small_talk(phone, sent, text):
    sent("Metformin")
    outcomes = [str(phone.write(text).outcome) for _ in range(6)]
    assert all(outcome.startswith("answered:") for outcome in outcomes)


def test_each_phone_number_has_its_own_reply_limit(phone):
    make_user(nomor_hp="081234567899")
    db.session.commit()
    for number in (phone.number, "+6281234567899"):
        for _ in range(21):
            said = Phone(number).write("BERHENTI")
        assert (said.outcome, said.text) == ("stop", None)
    assert answers() == 40


def test_concurrent_workers_do_not_exceed_the_reply_limit(committed):
    with unit_of_work():
        make_user(nomor_hp="081234567890")
    phone = Phone("+6281234567890")
    for _ in range(30):
        phone.send("BERHENTI")

    def work(_):
        with committed.app_context():
            jobs.handle()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    jobs.handle()
    assert [row.handled_at is not None for row in rows()] == [True] * 30
    assert answers() == 20


@pytest.mark.parametrize("robot", ["{}", "Terima kasih telah menghubungi kami. {}", "SUDAH {}", "BERHENTI", "TUNDA 1"])
def test_a_reply_loop_with_an_automatic_responder_ends(phone, robot):
    text, heard = "BANTUAN", 0
    for _ in range(50):
        said = phone.write(text)
        if said.text is None:
            break
        heard += 1
        text = robot.format(said.text)[:1000]
    assert 1 <= heard <= 1 + limits.MAX_PER_HOUR
    assert answers() == heard


def test_the_limit_counts_a_late_backlog_by_the_time_of_the_reply(phone):
    for _ in range(25):
        phone.send("BERHENTI")
    with unit_of_work():
        table = type(rows()[0])
        db.session.execute(sa.update(table).values(received_at=table.received_at - timedelta(hours=5)))
    jobs.handle()
    assert answers() == 20
