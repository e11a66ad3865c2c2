"""Tests of help texts for a crisis and an emergency. The hourly and daily limits do not apply to these texts."""

import re

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import Case
from app.inbox import jobs, limits
from app.notifications.models import Delivery
from tests.inbox.bodies import fonnte_message, heard, message, post_fonnte, post_whatsapp, whatsapp
from tests.inbox.phones import Phone, age, rows
from tests.inbox.reminders import state
from tests.notifications.deliveries import words_of

CRISIS, EMERGENCY = "saya mau bunuh diri", "tolong, ibu saya pingsan"
STRANGER = "+6281299999999"


@pytest.mark.parametrize(
    "text", [CRISIS, f"BERHENTI, {CRISIS}", f"sudah minum, {CRISIS}", f"{CRISIS}?", f"SUDAH\n{CRISIS}\npingsan"]
)
def test_a_crisis_message_gets_help_and_answers_no_reminder(phone, sent, text):
    (row,) = sent("Metformin")
    said = phone.write(text)
    assert said.outcome == "answered:crisis"
    assert "119" in str(said.text)
    assert state(row) == "pending"
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Case)) == 0


def test_an_emergency_message_gets_help_and_answers_no_reminder(phone, sent):
    (row,) = sent("Metformin")
    said = phone.write(f"sudah. {EMERGENCY}")
    assert said.outcome == "answered:emergency"
    assert str(said.text).startswith("Ini balasan otomatis. Kalau keadaannya darurat, telepon 119 sekarang.")
    assert state(row) == "pending"


@pytest.mark.parametrize(("text", "kind"), [(CRISIS, "crisis"), (EMERGENCY, "emergency")])
def test_help_in_danger_is_not_repeated_within_ten_minutes(phone, text, kind):
    assert phone.write(text).outcome == f"answered:{kind}"
    age(minutes=9)
    assert (phone.write(text).outcome, phone.write(text).text) == (kind, None)
    age(minutes=2)
    assert phone.write(text).outcome == f"answered:{kind}"


def test_emergency_help_does_not_suppress_later_crisis_help(phone):
    phone.write(EMERGENCY)
    assert phone.write(CRISIS).outcome == "answered:crisis"


@pytest.mark.parametrize(("text", "kind"), [(CRISIS, "crisis"), (EMERGENCY, "emergency")])
def test_danger_help_is_exempt_from_the_hourly_limit_and_not_counted(phone, text, kind):
    for _ in range(limits.MAX_PER_HOUR + 1):
        phone.write("BERHENTI")
    assert phone.write(text).outcome == f"answered:{kind}"
    age(minutes=61)
    phone.write(text)
    outcomes = [phone.write("BERHENTI").outcome for _ in range(limits.MAX_PER_HOUR)]
    assert outcomes == ["answered:stop"] * limits.MAX_PER_HOUR


def test_an_unknown_sender_gets_a_reply_only_in_a_crisis(app):
    stranger = Phone(STRANGER)
    assert stranger.write(EMERGENCY).outcome == "unknown sender"
    assert stranger.write(CRISIS).outcome == "answered:crisis"
    assert stranger.write(CRISIS).text is None
    assert stranger.write("halo").outcome == "unknown sender"
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 1


@pytest.mark.parametrize("text", ["mati lampu", "kakiku mati rasa", "gak pingsan kok", "tidak pingin makan", "sudah"])
def test_a_text_that_resembles_danger_is_not_treated_as_danger(phone, text):
    assert phone.write(text).outcome not in ("answered:crisis", "answered:emergency")


@pytest.mark.parametrize(
    "text",
    [
        "Aku ingin mati. HP sudah aku matikan, jangan cari aku.",
        "aku capek hidup. Susah sekali.",
        "Aku tidak. Ingin mati.",
    ],
)
def test_a_crisis_beside_things_or_over_a_full_stop_gets_help(phone, text):
    assert phone.write(text).outcome == "answered:crisis"


@pytest.mark.parametrize(
    "text", ["ibu ga bangun2", "henti jantung", "dada saya sakit sekali", "mulutnya mencong", "tolong ambulans"]
)
def test_an_emergency_is_found_by_its_own_words(phone, text):
    assert phone.write(text).outcome == "answered:emergency"


def test_a_medicine_name_does_not_hide_an_emergency(phone, sent):
    (row,) = sent("Obat sesak napas")
    assert phone.write("sudah obat sesak napas").outcome == "answered:emergency"
    assert state(row) == "pending"


def test_crisis_messages_are_counted_in_the_metrics(phone, client):
    def counted():
        page = client.get("/metrics").text
        return float(re.findall(r'inbound_dangers_last_day\{kind="crisis"\} (\S+)', page)[0])

    before = counted()
    phone.write(CRISIS)
    phone.write(CRISIS)
    assert counted() == before + 2


def test_crisis_help_to_an_unknown_sender_uses_the_urgent_queue(app):
    Phone(STRANGER).write(CRISIS)
    (delivery,) = db.session.scalars(sa.select(Delivery)).all()
    assert (delivery.target, delivery.user_id, delivery.queue) == (STRANGER, None, "urgent")
    assert words_of(delivery)["text"]


@pytest.mark.parametrize(("cry", "outcome"), [(CRISIS, "answered:crisis"), (EMERGENCY, "answered:emergency")])
def test_danger_is_detected_in_the_whole_text_before_it_is_shortened(provider, siti, cry, outcome):
    sender = str(siti.user.phone)[1:]
    long = f"{'panjang ' * 150}{cry}"
    post_whatsapp(provider, whatsapp(heard(messages=[message(long, sender=sender)])))
    (row,) = rows()
    assert (row.text, row.handled_at) == (long[:1000], None)
    jobs.handle()
    assert rows()[0].outcome == outcome


def test_danger_is_detected_at_the_end_of_the_longest_possible_message(provider, siti):
    text = f"{'x ' * 32_000} {CRISIS}"
    post_fonnte(provider, "message", fonnte_message(text, sender=str(siti.user.phone)[1:]))
    assert rows()[0].payload["danger"] == "crisis"


def test_a_long_text_without_danger_is_shortened_and_not_flagged(provider, siti):
    post_whatsapp(provider, whatsapp(heard(messages=[message("sudah " * 500)])))
    (row,) = rows()
    assert len(str(row.text)) == 1000
    assert "danger" not in row.payload
