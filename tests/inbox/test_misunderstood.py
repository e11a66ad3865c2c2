"""Tests of texts that are easily misread. A wrong reading leads to a wrong dose, or to no help in danger."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.inbox.phones import Phone
from tests.inbox.reminders import Sent, state


@pytest.mark.parametrize("text", ["saya ingin mati", "udah gak kuat, mau bunuh diri aja", "sudah. saya ingin mati"])
def test_a_crisis_message_gets_help_and_answers_no_reminder(phone: Phone, sent: Sent, text: str) -> None:
    (row,) = sent("Metformin")
    assert phone.write(text).outcome == "answered:crisis"
    assert state(row) == "pending"


def test_an_unknown_sender_in_a_crisis_gets_a_reply(app: Flask) -> None:
    assert Phone("+6281299999999").write("saya mau bunuh diri").outcome == "answered:crisis"


def test_crisis_help_is_sent_despite_many_earlier_messages(phone: Phone) -> None:
    for _ in range(6):
        phone.write("BERHENTI")
        phone.write("apa kabar")
    assert phone.write("saya mau bunuh diri").outcome == "answered:crisis"


@pytest.mark.parametrize(
    "text",
    [
        "Ok", "Ok nanti ya", "Ya", "Sudah habis obatnya", "sudah tidak minum obat itu lagi", "sudah belum ya", "sudah?",
        "sudah muntah", "sudah dulu ya", "habis minum", "ok dah", "dah ya", "obatnya habis diminum", "yang tadi sudah",
    ],
)  # fmt: skip
def test_an_ambiguous_text_is_not_recorded_as_done(phone: Phone, sent: Sent, text: str) -> None:
    (row,) = sent("Metformin")
    phone.write(text)
    assert state(row) == "pending"


@pytest.mark.parametrize("text", ["saya sudah minum", "alhamdulillah sudah", "barusan minum", "iya sudah", "sampun"])
def test_other_phrases_for_done_are_recorded_as_done(phone: Phone, sent: Sent, text: str) -> None:
    (row,) = sent("Metformin")
    phone.write(text)
    assert state(row) == "done"


@pytest.mark.parametrize("text", ["LEWATI", "BERHENTI", "RESET"])
def test_the_fourth_reply_within_an_hour_is_sent(phone: Phone, sent: Sent, text: str) -> None:
    sent("Metformin")
    for _ in range(3):
        phone.write("TUNDA 1")
    assert str(phone.write(text).outcome).startswith("answered:")


def test_one_answer_covers_all_messages_sent_in_the_same_minute(phone: Phone, sent: Sent) -> None:
    rows = [*sent("Metformin"), *sent("Amlodipin")]
    phone.write("SUDAH")
    assert [state(row) for row in rows] == ["done", "done"]


def test_not_yet_undoes_a_wrong_answer(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin")
    phone.write("SUDAH")
    phone.write("Belum")
    assert state(row) == "pending"


def test_a_reply_with_a_quote_answers_the_quoted_reminder(phone: Phone, sent: Sent) -> None:
    (older,), (newer,) = sent("Metformin", ago=30, ref="wamid.older"), sent("Amlodipin", ref="wamid.newer")
    phone.write("SUDAH", about="wamid.older")
    assert (state(older), state(newer)) == ("done", "pending")
