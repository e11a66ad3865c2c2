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
    ("text", "outcome"),
    [
        (f"BERHENTI, {CRISIS}", "answered:crisis"),
        (f"sudah minum, {CRISIS}?", "answered:crisis"),
        (f"SUDAH\n{CRISIS}\npingsan", "answered:crisis"),
        ("Aku tidak. Ingin mati. HP sudah aku matikan.", "answered:crisis"),
        (f"sudah. {EMERGENCY}", "answered:emergency"),
        ("sudah obat sesak napas", "answered:emergency"),  # although it is the name of a medicine
        ("kakiku mati rasa", "answered:doubt"),
        ("gak pingsan kok", "answered:doubt"),
    ],
)
def test_danger_in_a_message_gets_help_and_answers_no_reminder(phone, sent, text, outcome):
    (row,) = sent("Obat sesak napas")
    said = phone.write(text)
    assert said.outcome == outcome
    assert "119" in str(said.text)
    assert state(row) == "pending"
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Case)) == 0


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
    (delivery,) = db.session.scalars(sa.select(Delivery)).all()
    assert (delivery.target, delivery.user_id, delivery.queue) == (STRANGER, None, "urgent")
    assert words_of(delivery)["text"]


def test_crisis_messages_are_counted_in_the_metrics(phone, client):
    def counted():
        page = client.get("/metrics").text
        return float(re.findall(r'inbound_dangers_last_day\{kind="crisis"\} (\S+)', page)[0])

    before = counted()
    phone.write(CRISIS)
    phone.write(CRISIS)
    assert counted() == before + 2


@pytest.mark.parametrize(("cry", "outcome"), [(CRISIS, "answered:crisis"), (EMERGENCY, "answered:emergency")])
def test_danger_is_detected_in_the_whole_text_before_it_is_shortened(provider, siti, cry, outcome):
    long = f"{'x ' * 32_000} {cry}"
    post_fonnte(provider, "message", fonnte_message(long, sender=str(siti.user.phone)[1:]))
    (row,) = rows()
    assert (row.text, row.handled_at) == (long[:1000], None)
    jobs.handle()
    assert rows()[0].outcome == outcome


def test_a_long_text_without_danger_is_shortened_and_not_flagged(provider, siti):
    post_whatsapp(provider, whatsapp(heard(messages=[message("sudah " * 500)])))
    (row,) = rows()
    assert len(str(row.text)) == 1000
    assert "danger" not in row.payload
