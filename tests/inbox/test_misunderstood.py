"""Tests of texts that are easily misread. A wrong reading leads to a wrong dose, or to no help in danger."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.inbox.phones import Phone
from tests.inbox.reminders import Sent, state


@pytest.mark.parametrize("text", ["saya ingin mati", "udah gak kuat, mau bunuh diri aja", "sudah. saya ingin mati"])
def test_a_cry_for_help_is_answered_with_help(phone: Phone, sent: Sent, text: str) -> None:
    (row,) = sent("Metformin")
    assert phone.write(text).outcome == "answered:crisis"
    assert state(row) == "pending"


def test_a_stranger_in_a_crisis_is_answered_too(app: Flask) -> None:
    assert Phone("+6281299999999").write("saya mau bunuh diri").outcome == "answered:crisis"


def test_no_limit_silences_the_help(phone: Phone) -> None:
    for _ in range(6):
        phone.write("BERHENTI")
        phone.write("apa kabar")
    assert phone.write("saya mau bunuh diri").outcome == "answered:crisis"


@pytest.mark.parametrize(
    "text",
    [
        "Ok", "Ok nanti ya", "Ya", "Sudah habis obatnya", "sudah tidak minum obat itu lagi", "sudah belum ya", "sudah?",
        "sudah muntah", "sudah dulu ya",
    ],
)  # fmt: skip
def test_a_dose_is_recorded_only_when_somebody_says_that_it_was_taken(phone: Phone, sent: Sent, text: str) -> None:
    (row,) = sent("Metformin")
    phone.write(text)
    assert state(row) == "pending"


@pytest.mark.parametrize("text", ["saya sudah minum", "alhamdulillah sudah", "habis minum", "iya sudah", "sampun"])
def test_who_says_so_in_other_words_is_understood(phone: Phone, sent: Sent, text: str) -> None:
    (row,) = sent("Metformin")
    phone.write(text)
    assert state(row) == "done"


@pytest.mark.parametrize("text", ["LEWATI", "BERHENTI", "RESET"])
def test_the_fourth_answer_of_an_hour_leaves(phone: Phone, sent: Sent, text: str) -> None:
    sent("Metformin")
    for _ in range(3):
        phone.write("TUNDA 1")
    assert str(phone.write(text).outcome).startswith("answered:")


def test_one_word_answers_all_messages_of_one_minute(phone: Phone, sent: Sent) -> None:
    rows = [*sent("Metformin"), *sent("Amlodipin")]
    phone.write("SUDAH")
    assert [state(row) for row in rows] == ["done", "done"]


def test_not_yet_takes_a_wrong_answer_back(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin")
    phone.write("SUDAH")
    phone.write("Belum")
    assert state(row) == "pending"


def test_a_quoted_reminder_is_the_one_that_is_answered(phone: Phone, sent: Sent) -> None:
    (older,), (newer,) = sent("Metformin", ago=30, ref="wamid.older"), sent("Amlodipin", ref="wamid.newer")
    phone.write("SUDAH", about="wamid.older")
    assert (state(older), state(newer)) == ("done", "pending")
