"""Tests of help texts for a crisis and an emergency."""

import re

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import Case
from app.inbox import jobs
from app.notifications.models import Delivery
from tests.inbox.bodies import fonnte_message, heard, message, post_fonnte, post_whatsapp, whatsapp
from tests.inbox.phones import Phone, rows
from tests.inbox.reminders import state
from tests.notifications.deliveries import words_of
from tests.routes.requests import undone

CRISIS, EMERGENCY = "saya mau bunuh diri", "tolong, ibu saya pingsan"
STRANGER = "+6281299999999"


#: Texts that a person wrote while the reminder of a medicine named "Obat sesak napas" was open, with their outcome.
TEXTS = {
    f"BERHENTI, {CRISIS}": "answered:crisis",
    f"sudah minum, {CRISIS}?": "answered:crisis",
    f"SUDAH\n{CRISIS}\npingsan": "answered:crisis",
    "Aku tidak. Ingin mati. HP sudah aku matikan.": "answered:crisis",
    f"sudah. {EMERGENCY}": "answered:emergency",
    "sudah obat sesak napas": "answered:emergency",
    "kakiku mati rasa": "answered:doubt",
    "gak pingsan kok": "answered:doubt",
}


def test_danger_in_a_message_gets_help_and_answers_no_reminder(phone, sent, subtests):
    (row,) = sent("Obat sesak napas")
    for text, outcome in TEXTS.items():
        with subtests.test(text), undone():
            said = phone.write(text)
            assert (said.outcome, state(row)) == (outcome, "pending")
            assert "119" in str(said.text)
            assert db.session.scalar(sa.select(sa.func.count()).select_from(Case)) == 0


def test_an_unknown_sender_gets_help_in_a_crisis(app):
    assert Phone(STRANGER).write(CRISIS).outcome == "answered:crisis"
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


def test_danger_is_detected_in_the_whole_text_before_it_is_shortened(provider, siti):
    for cry, outcome in ((CRISIS, "answered:crisis"), (EMERGENCY, "answered:emergency")):
        long = f"{'x ' * 32_000} {cry}"
        post_fonnte(provider, "message", fonnte_message(long, sender=str(siti.user.phone)[1:]))
        assert (rows()[-1].text, rows()[-1].handled_at) == (long[:1000], None)
        jobs.handle()
        assert rows()[-1].outcome == outcome
    post_whatsapp(provider, whatsapp(heard(messages=[message("sudah " * 500)])))
    assert len(rows()[-1].text) == 1000
    assert "danger" not in rows()[-1].payload
