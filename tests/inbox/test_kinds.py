"""Tests of each type of message, from the provider's webhook to the recorded answer."""

from time import time

import pytest

from app.inbox import jobs
from tests.inbox.bodies import (
    FONNTE_KINDS,
    WHATSAPP_KINDS,
    fonnte_message,
    heard,
    message,
    post_fonnte,
    post_whatsapp,
    whatsapp,
)
from tests.inbox.phones import rows
from tests.inbox.reminders import state

#: Expected outcome of each type of message. One dose has no answer yet. The message about this dose has the provider's
#: id "wamid.7".
OUTCOMES = {
    "quoted": "answered:done",
    "reaction": "answered:done",
    "reaction taken away": "reaction",
    "reaction taken away, with an empty emoji": "reaction",
    "image with a caption": "answered:done",
    "image": "answered:only text",
    "document with a caption": "answered:done",
    "voice note": "answered:only text",
    "video": "answered:only text",
    "sticker": "answered:only text",
    "place": "answered:only text",
    "contacts": "answered:only text",
    "not passed on": "ignored",
}
FONNTE_OUTCOMES = {
    "text": "answered:done",
    "button": "answered:done",
    "file": "answered:only text",
    "file of a larger package": "answered:only text",
    "image with a caption": "answered:done",
    "place": "answered:only text",
    "empty fields of no file": "answered:done",
}


def number_of(siti):
    return str(siti.user.phone).removeprefix("+")


def tell(provider, sender, part):
    at = {"timestamp": f"{time():.0f}"}
    plain = {name: value for name, value in (message(sender=sender) | at).items() if name != "text"}
    post_whatsapp(provider, whatsapp(heard(messages=[{**plain, **part}])))
    jobs.handle()
    return rows()[-1].outcome


@pytest.mark.parametrize("kind", OUTCOMES)
def test_each_whatsapp_message_type_has_its_expected_outcome(provider, siti, sent, kind):
    (row,) = sent("Metformin", ref="wamid.7")
    outcome = tell(provider, number_of(siti), WHATSAPP_KINDS[kind][0])
    assert outcome == OUTCOMES[kind]
    assert state(row) == ("done" if outcome == "answered:done" else "pending")


def test_removing_a_check_mark_reaction_undoes_the_answer(provider, siti, sent):
    (row,) = sent("Metformin", ref="wamid.7")
    for kind, outcome, expected in (
        ("reaction", "answered:done", "done"),
        ("reaction taken away", "answered:undo", "pending"),
        ("reaction taken away", "reaction", "pending"),
    ):
        assert tell(provider, number_of(siti), WHATSAPP_KINDS[kind][0]) == outcome
        assert state(row) == expected


@pytest.mark.parametrize("kind", FONNTE_OUTCOMES)
def test_each_fonnte_message_type_has_its_expected_outcome(provider, siti, sent, kind):
    sent("Metformin")
    post_fonnte(
        provider,
        "message",
        {**fonnte_message(sender=number_of(siti), timestamp=f"{time():.0f}"), **FONNTE_KINDS[kind][0]},
    )
    jobs.handle()
    assert rows()[-1].outcome == FONNTE_OUTCOMES[kind]
