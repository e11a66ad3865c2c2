"""Tests of each type of message, from the provider's webhook to the recorded answer."""

from time import time

import sqlalchemy as sa

from app.core.database.session import db
from app.inbox import jobs, texts
from app.notifications.senders.models import PhoneNumber
from tests.inbox.bodies import (
    DONE,
    FONNTE_KINDS,
    SKIPPED,
    WHATSAPP_KINDS,
    fonnte_message,
    heard,
    message,
    post_fonnte,
    post_whatsapp,
    whatsapp,
)
from tests.inbox.phones import Phone, rows
from tests.inbox.reminders import state
from tests.routes.requests import undone


def number_of(siti):
    return str(siti.user.phone).removeprefix("+")


def tell(provider, sender, part):
    """Send a message. Return its stored text and payload, and the outcome of its handling."""
    at = {"timestamp": f"{time():.0f}"}
    plain = {name: value for name, value in (message(sender=sender) | at).items() if name != "text"}
    post_whatsapp(provider, whatsapp(heard(messages=[{**plain, **part}])))
    text, payload = rows()[-1].text, dict(rows()[-1].payload)
    del payload["at"]
    jobs.handle()
    return text, payload, rows()[-1].outcome


def test_each_whatsapp_message_type_has_its_text_and_its_outcome(provider, siti, sent, subtests):
    (row,) = sent("Metformin", ref="wamid.7")
    for kind, (part, *expected) in WHATSAPP_KINDS.items():
        with subtests.test(kind), undone():
            assert tell(provider, number_of(siti), part) == tuple(expected)
            assert state(row) == {DONE: "done", SKIPPED: "skipped"}.get(expected[-1], "pending")


def test_each_fonnte_message_type_has_its_text_and_its_outcome(provider, siti, sent, subtests):
    sent("Metformin")
    for kind, (part, *expected) in FONNTE_KINDS.items():
        with subtests.test(kind), undone():
            post_fonnte(provider, "message", fonnte_message(sender=number_of(siti), timestamp=f"{time():.0f}") | part)
            jobs.handle()
            (row,) = rows()
            assert [row.text, row.payload["type"], row.outcome] == expected


# --- messages without text, and events that no person wrote -----------------------------------------------------------


def test_the_request_for_text_is_sent_once_per_reminder_and_then_help(phone, sent):
    sent("Metformin", ago=30)
    phone.write("", type="audio")
    assert phone.write("", type="audio").text == texts.HELP
    sent("Amlodipin")
    assert phone.write("", type="audio").text == texts.ONLY_TEXT
    sent("Simvastatin")
    phone.write("SUDAH")
    assert phone.write("", type="audio").outcome == "help"


#: Types of events that no person wrote, or that no provider documents.
UNWRITTEN = ["unsupported", "system", "ephemeral", "request_welcome", "revoke", "revoked", "edit", "order", "new"]


def test_an_event_that_no_person_wrote_is_ignored(phone, sent, subtests):
    (row,) = sent("Metformin")
    for kind in [*UNWRITTEN, ""]:
        with subtests.test(kind):
            said = phone.write("", type=kind)
            assert (said.outcome, said.text, state(row)) == ("ignored", None, "pending")


def test_an_event_of_an_unknown_number_is_ignored(siti):
    assert Phone("+6281299999999").write("", type="system").outcome == "ignored"


def test_an_event_that_no_person_wrote_does_not_count_as_a_message(phone):
    phone.write("", type="system")
    assert db.session.scalars(sa.select(PhoneNumber.last_inbound_at)).all() in ([], [None])
