"""Incoming messages without text: voice notes, pictures, stickers, documents and places."""

from __future__ import annotations

import pytest

from app.inbox import texts
from tests.inbox.phones import Phone, age
from tests.inbox.reminders import Sent, state

KINDS = ["audio", "image", "video", "sticker", "document", "location", "contacts", "media"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_no_words_is_asked_for_words(phone: Phone, sent: Sent, kind: str) -> None:
    (row,) = sent("Metformin")
    said = phone.write("", type=kind)
    assert said.outcome == "answered:only text"
    assert said.text == "Maaf, kami hanya bisa membaca tulisan. Kalau sudah, balas SUDAH."
    assert state(row) == "pending"


def test_that_is_said_once_for_each_time_and_then_as_help(phone: Phone, sent: Sent) -> None:
    sent("Metformin", ago=30)
    phone.write("", type="audio")
    assert phone.write("", type="audio").text == texts.HELP
    assert phone.write("", type="sticker").text is None
    sent("Amlodipin")
    assert phone.write("", type="audio").text == texts.ONLY_TEXT


def test_once_it_is_answered_it_is_as_help(phone: Phone, sent: Sent) -> None:
    sent("Metformin")
    phone.write("SUDAH")
    assert phone.write("", type="audio").text == texts.HELP


def test_the_limits_hold(phone: Phone, sent: Sent) -> None:
    for ago in (50, 40, 30, 20):
        sent("Metformin", ago=ago)
        last = phone.write("", type="audio")
    assert (last.outcome, last.text) == ("only text", None)
    age(minutes=61)
    assert phone.write("", type="audio").text == texts.ONLY_TEXT


@pytest.mark.parametrize("kind", ["image", "video", "document", "media"])
def test_what_is_written_under_a_picture_is_read(phone: Phone, sent: Sent, kind: str) -> None:
    (row,) = sent("Metformin")
    assert phone.write("sudah diminum", type=kind).outcome == "answered:done"
    assert state(row) == "done"
