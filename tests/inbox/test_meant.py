"""Tests of which reminders a message is about: those of one message that was sent to the number."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.inbox import texts
from app.notifications.models import Delivery, DeliveryState, Receipt
from tests.helpers.factories import make_user
from tests.inbox.phones import Phone, age
from tests.inbox.reminders import link_of, read, state
from tests.notifications.deliveries import add
from tests.routes.requests import undone


def test_a_late_message_answers_the_reminder_sent_before_it_was_written(phone, sent, moment):
    """The service was down when the user wrote the message, so the provider repeated the webhook later.

    By then, the service had sent the next reminder.
    """
    (first,), (second,) = sent("Metformin", ago=20), sent("Amlodipin", ago=1)
    received_at = datetime.now(UTC)  # the real time, because the database cannot use the test's clock
    wrote_at = (received_at - timedelta(minutes=15)).isoformat()
    # PostgreSQL was down too. So the recorded sending times of both reminders are later than the user's message.
    for row, ago in ((first, 20), (second, 1)):
        times = {"due_at": received_at - timedelta(minutes=ago), "settled_at": received_at - timedelta(minutes=1)}
        db.session.execute(sa.update(Delivery).where(Delivery.said == [row]).values(times))
    db.session.commit()
    phone.write("SUDAH", at=wrote_at)
    assert (state(first), state(second)) == ("done", "pending")
    assert phone.write("OK", at=wrote_at).outcome == "ok"
    age(minutes=3)
    phone.write("SUDAH")
    assert state(second) == "done"


def test_a_one_word_title_is_not_accepted_as_a_reminder_name(phone, sent, siti):
    rows = sent("Metformin", "Amlodipin")
    siti.put(f"/pengingat/{read(rows[0]).reminder_id}", {"judul": "Pagi"})
    assert phone.write("sudah pagi").outcome == "answered:doubt"


def test_an_answer_covers_all_times_of_its_message(phone, sent):
    (older,), (first, second) = sent("Aspirin", ago=6), sent("Metformin", "Amlodipin")
    assert phone.write("LEWATI").text == "Baik, Siti. Kali ini dilewati: Metformin, Amlodipin."
    assert [state(row) for row in (older, first, second)] == ["pending", "skipped", "skipped"]


def test_a_number_refers_to_the_list_in_the_quoted_message(phone, sent):
    older, newer = sent("Metformin", "Aspirin", ago=30, ref="wamid.a"), sent("Amlodipin", "Simvastatin", ref="wamid.b")
    phone.write("2", about="wamid.a")
    assert [state(row) for row in (*older, *newer)] == ["pending", "done", "pending", "pending"]


def test_quoting_an_expired_reminder_answers_no_newer_reminder(phone, sent, moment):
    (row,) = sent("Metformin", ref="wamid.a")
    moment.move(hours=25)
    (today,) = sent("Amlodipin")
    assert phone.write("SUDAH", about="wamid.a").text == "Waktu untuk menjawab pengingat ini sudah lewat."
    assert (state(row), state(today)) == ("pending", "pending")


def test_quoting_another_message_answers_no_reminder(phone, sent, siti, subtests):
    """If a caregiver answers an alert about a patient, the answer is not about the caregiver's own medicine."""
    (row,) = sent("Metformin", ref="wamid.a")
    alert = add(user_id=siti.id, kind="caregiver_alert", target=None)
    values = {"state": DeliveryState.SENT, "provider_ref": "wamid.alert"}
    db.session.execute(sa.update(Delivery).where(Delivery.id == alert.id).values(values))
    abouts = {"wamid.alert": ("sudah", "✅", "nanti", "lewati", "belum"), "wamid.unknown": ("sudah",)}
    for about, text in ((about, text) for about, written in abouts.items() for text in written):
        with subtests.test(f"{text} about {about}"), undone():
            said = phone.write(text, about=about)
            assert (said.outcome, said.text) == ("answered:doubt", texts.DOUBT)
            assert (state(row), read(row).snoozes) == ("pending", 0)


def test_the_question_about_another_message_says_how_to_take_an_answer_back(phone, sent):
    (row,) = sent("Metformin")
    phone.write("SUDAH")
    assert phone.write("belum", about="wamid.thanks").text == texts.DOUBT_ANSWERED
    assert phone.write("belum").text == texts.UNDONE
    assert state(row) == "pending"


def test_a_text_repeats_only_an_answer_of_the_same_two_minutes(phone, sent, subtests):
    """The webhook of the text that was written first arrives last."""
    (older,), _ = sent("Metformin", ago=30), sent("Amlodipin")
    phone.write("SUDAH")
    for minutes, outcome, expected in (
        (1, "answered:done", "pending"),
        (15, "answered:done", "done"),
        (1500, "answered:doubt", "pending"),
    ):
        with subtests.test(minutes=minutes), undone():
            wrote_at = datetime.now(UTC) - timedelta(minutes=minutes)
            assert phone.write("SUDAH", at=wrote_at.isoformat()).outcome == outcome
            assert state(older) == expected


def test_a_reminder_sent_over_a_day_ago_cannot_be_answered_by_message(phone, sent, moment):
    (row,) = sent("Metformin")
    moment.move(hours=25)
    assert phone.write("SUDAH").outcome == "answered:nothing open"
    assert state(row) == "pending"


def test_an_answer_is_about_a_reminder_that_may_have_reached_the_number(phone, sent, subtests):
    """If the connection breaks after the provider accepted a message, the message may have reached the number."""
    (older,), (newer,) = sent("Metformin", ago=30), sent("Amlodipin")
    unconfirmed = {"unconfirmed_calls": 1, "settled_at": None}
    for reached, changes in (
        *((False, {"state": each}) for each in (DeliveryState.FAILED, DeliveryState.MISSED, DeliveryState.PENDING)),
        (False, {"receipt": Receipt.FAILED}),
        (False, {"channel": "push"}),
        *((True, {"state": each, **unconfirmed}) for each in ("claimed", "pending", "failed")),
    ):
        with subtests.test(changes=changes), undone():
            db.session.execute(sa.update(Delivery).where(Delivery.said == [newer]).values(**changes))
            assert phone.write("SUDAH").outcome == "answered:done"
            assert (state(older), state(newer)) == (("pending", "done") if reached else ("done", "pending"))


def test_a_reminder_sent_before_a_phone_number_change_is_not_answered(phone, sent, siti, moment):
    (row,) = sent("Metformin")
    siti.user.phone_changed_at = moment.now - timedelta(minutes=1)
    db.session.commit()
    assert phone.write("SUDAH").outcome == "answered:nothing open"
    assert state(row) == "pending"


def test_nobody_can_answer_the_reminder_of_another_person(phone, sent, subtests):
    (row,) = sent("Metformin", ref="wamid.a")
    button = {"pressed": f"T:{link_of(row)}"}
    make_user(nomor_hp="081234567891")
    for payload in ({}, {"about": "wamid.a"}, {"type": "reaction", "about": "wamid.a"}, button):
        with subtests.test(payload=payload), undone():
            said = Phone("+6281234567891").write("✅", **payload)
            assert (said.outcome == "answered:done", state(row)) == (False, "pending")
