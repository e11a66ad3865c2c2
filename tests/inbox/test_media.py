"""Incoming messages without text: voice notes, pictures, stickers, documents and places."""

from __future__ import annotations

import pytest

from app.inbox import texts
from tests.inbox.phones import Phone, age
from tests.inbox.reminders import Sent, state

KINDS = ["audio", "image", "video", "sticker", "document", "location", "contacts", "media"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_without_text_gets_a_request_for_text(phone: Phone, sent: Sent, kind: str) -> None:
    (row,) = sent("Metformin")
    said = phone.write("", type=kind)
    assert said.outcome == "answered:only text"
    assert said.text == "Maaf, kami hanya bisa membaca tulisan. Kalau sudah, balas SUDAH."
    assert state(row) == "pending"


def test_the_request_for_text_is_sent_once_per_reminder_and_then_help(phone: Phone, sent: Sent) -> None:
    sent("Metformin", ago=30)
    phone.write("", type="audio")
    assert phone.write("", type="audio").text == texts.HELP
    assert phone.write("", type="sticker").text is None
    sent("Amlodipin")
    assert phone.write("", type="audio").text == texts.ONLY_TEXT


def test_a_voice_note_after_the_answer_gets_the_help_text(phone: Phone, sent: Sent) -> None:
    sent("Metformin")
    phone.write("SUDAH")
    assert phone.write("", type="audio").text == texts.HELP


def test_replies_to_media_obey_the_hourly_limit(phone: Phone, sent: Sent) -> None:
    for ago in (50, 40, 30, 20):
        sent("Metformin", ago=ago)
        last = phone.write("", type="audio")
    assert (last.outcome, last.text) == ("only text", None)
    age(minutes=61)
    assert phone.write("", type="audio").text == texts.ONLY_TEXT


@pytest.mark.parametrize("kind", ["image", "video", "document", "media"])
def test_a_media_caption_is_read_as_an_answer(phone: Phone, sent: Sent, kind: str) -> None:
    (row,) = sent("Metformin")
    assert phone.write("sudah diminum", type=kind).outcome == "answered:done"
    assert state(row) == "done"
