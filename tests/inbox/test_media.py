"""Incoming messages without text: voice notes, pictures, stickers, documents and places."""

import sqlalchemy as sa

from app.core.database.session import db
from app.inbox import texts
from app.notifications.senders.models import PhoneNumber
from tests.inbox.phones import Phone
from tests.inbox.reminders import state


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
