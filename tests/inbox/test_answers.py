"""Tests of answers to reminders, by text and by button. An answer is about the latest reminder that is still open."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.inbox import texts
from app.notifications.models import Delivery, DeliveryState, Receipt
from app.notifications.senders.models import PhoneNumber
from app.pengingat.ledger import rows, tokens
from app.pengingat.models import Occurrence
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.inbox.phones import Phone, Said, age
from tests.inbox.reminders import Sent, read, state
from tests.notifications.deliveries import add
from tests.pengingat.ledgers import Time


def test_a_late_message_answers_the_reminder_sent_before_it_was_written(phone: Phone, sent: Sent, moment: Time) -> None:
    """The service was down when the user wrote the message, so the provider repeated the webhook later.

    By then, the service had sent the next reminder.
    """
    (first,), (second,) = sent("Metformin", ago=20), sent("Amlodipin", ago=1)
    received_at = datetime.now(UTC)  # the real time, because the database cannot use the test's clock
    wrote_at = (received_at - timedelta(minutes=15)).isoformat()
    # PostgreSQL was down too. So the recorded sending times of both reminders are later than the user's message.
    for row, ago in ((first, 20), (second, 1)):
        times = {"due_at": received_at - timedelta(minutes=ago), "settled_at": received_at - timedelta(minutes=1)}
        db.session.execute(sa.update(Delivery).filter_by(occurrence_id=row).values(times))
    db.session.commit()
    phone.write("SUDAH", at=wrote_at)
    assert (state(first), state(second)) == ("done", "pending")
    assert phone.write("OK", at=wrote_at).outcome == "ok"
    age(minutes=3)
    phone.write("SUDAH")
    assert state(second) == "done"


def test_last_inbound_at_is_the_time_a_message_was_written(phone: Phone) -> None:
    for hours in (30, 3):
        wrote_at = datetime.now(UTC) - timedelta(hours=hours)
        phone.write("SUDAH", at=wrote_at.isoformat())
        assert db.session.scalars(sa.select(PhoneNumber.last_inbound_at)).one() == wrote_at


DONE = "Terima kasih, Siti. Obat pukul 07.55 WIB sudah kami catat."
#: Texts with their outcome, their answer and the state of a reminder that was open.
OPEN = [
    ("sudah", "answered:done", DONE, "done"),
    ("\u2705", "answered:done", DONE, "done"),
    ("lewati", "answered:skipped", "Baik, Siti. Obat pukul 07.55 WIB kali ini dilewati.", "skipped"),
    ("nanti", "answered:snooze", "Baik, Siti. Kami ingatkan lagi pukul 08.30 WIB.", "pending"),
    ("tunda 4", "answered:refused range", texts.RANGE, "pending"),
    ("tunda 121", "answered:refused range", texts.RANGE, "pending"),
    ("belum", "answered:not yet", "Baik, Siti, kami tunggu.", "pending"),
    ("ok", "answered:ok", "Baik, Siti. Kalau sudah, balas SUDAH.", "pending"),
    ("\U0001f44d", "answered:ok", "Baik, Siti. Kalau sudah, balas SUDAH.", "pending"),
    ("terima kasih \U0001f64f", "courtesy", None, "pending"),
    ("ibu sudah meninggal", "answered:condolence", texts.CONDOLENCE, "pending"),
    ("sudah muntah", "answered:doubt", texts.DOUBT, "pending"),
    ("sudah?", "answered:doubt", texts.DOUBT, "pending"),
    ("sudah 1", "answered:doubt", texts.DOUBT, "pending"),
    ("halo", "answered:doubt", texts.DOUBT, "pending"),
]
#: Texts after the answer SUDAH, while nothing else is open.
ANSWERED = [
    ("sudah", "answered:done", DONE, "done"),
    ("lewati", "answered:nothing open", texts.NOTHING_OPEN, "done"),
    ("nanti", "answered:nothing open", texts.NOTHING_OPEN, "done"),
    ("tunda 4", "answered:nothing open", texts.NOTHING_OPEN, "done"),
    ("belum nanti", "answered:doubt", texts.DOUBT_ANSWERED, "done"),
    ("belum", "answered:undo", texts.UNDONE, "pending"),
    ("eh maaf belum minum", "answered:undo", texts.UNDONE, "pending"),
    ("belum sempat tadi", "answered:doubt", texts.DOUBT_ANSWERED, "done"),
    ("belum?", "answered:doubt", texts.DOUBT_ANSWERED, "done"),
    ("halo", "answered:doubt", texts.DOUBT_ANSWERED, "done"),
    ("ok", "ok", None, "done"),
    ("makasih", "courtesy", None, "done"),
    ("bapak wafat", "answered:condolence", texts.CONDOLENCE, "done"),
]
#: Texts of a person who got no reminder.
NOTHING = [
    *((text, "answered:nothing open", texts.NOTHING_OPEN) for text in ("sudah", "lewati", "nanti", "tunda 4", "belum")),
    ("belum nanti", "answered:nothing open", texts.NOTHING_OPEN),
    ("ok", "ok", None),
    ("makasih", "courtesy", None),
    ("almarhum", "answered:condolence", texts.CONDOLENCE),
    ("halo", "answered:help", texts.HELP),
]


@pytest.mark.parametrize(("text", "outcome", "answer", "after"), OPEN)
def test_a_text_about_an_open_reminder_has_its_outcome(
    phone: Phone, sent: Sent, text: str, outcome: str, answer: str | None, after: str
) -> None:
    (row,) = sent("Metformin")
    assert phone.write(text) == Said(outcome, answer)
    assert state(row) == after


@pytest.mark.parametrize(("text", "outcome", "answer", "after"), ANSWERED)
def test_a_text_after_an_answer_has_its_outcome(
    phone: Phone, sent: Sent, text: str, outcome: str, answer: str | None, after: str
) -> None:
    (row,) = sent("Metformin")
    phone.write("SUDAH")
    assert read(row).answered_via == "message"
    assert phone.write(text) == Said(outcome, answer)
    assert (state(row), read(row).snoozes) == (after, 0)


@pytest.mark.parametrize(("text", "outcome", "answer"), NOTHING)
def test_a_text_without_a_reminder_has_its_outcome(
    phone: Phone, moment: Time, text: str, outcome: str, answer: str | None
) -> None:
    assert phone.write(text) == Said(outcome, answer)


def test_a_text_that_came_a_day_after_it_was_written_records_nothing(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    at = (datetime.now(UTC) - timedelta(hours=25)).isoformat()
    assert phone.write("SUDAH", at=at).text == texts.DOUBT
    assert state(row) == "pending"
    assert phone.write("SUDAH", at=at, about="wamid.a").outcome == "answered:done"


def test_the_same_text_within_two_minutes_repeats_its_answer(phone: Phone, sent: Sent, moment: Time) -> None:
    (older,), rows = sent("Aspirin", ago=30), sent("Metformin", "Amlodipin")
    first = phone.write("SUDAH 2")
    assert first.text == DONE
    assert phone.write("sdh 2, kak") == first
    moment.move(seconds=1)
    phone.write("SUDAH")
    phone.write("SUDAH")
    assert [state(row) for row in (older, *rows)] == ["pending", "done", "done"]
    phone.write("belum")
    assert [state(row) for row in (older, *rows)] == ["pending", "pending", "done"]
    phone.write("SUDAH")
    age(minutes=3)
    phone.write("SUDAH")
    assert [state(row) for row in (older, *rows)] == ["done", "done", "done"]


def test_a_repeated_done_message_is_idempotent(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin")
    first = phone.write("SUDAH")
    answered_at = read(row).answered_at
    assert phone.write("sudah") == first
    assert (state(row), read(row).answered_at) == ("done", answered_at)


def test_a_reply_quoting_a_reminder_can_change_its_answer(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    phone.write("SUDAH")
    phone.write("LEWATI", about="wamid.a")
    assert state(row) == "skipped"


def test_snooze_postpones_the_reminder_by_the_given_minutes(phone: Phone, sent: Sent, moment: Time) -> None:
    (row,) = sent("Metformin")
    assert phone.write("TUNDA 20").text == "Baik, Siti. Kami ingatkan lagi pukul 08.20 WIB."
    assert (state(row), read(row).snoozed_until) == ("pending", moment.now + timedelta(minutes=20))


def test_a_snooze_over_the_maximum_count_is_refused(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin")
    read(row).snoozes = rows.MAX_SNOOZES
    db.session.commit()
    assert phone.write("TUNDA 5").text == "Pengingat ini tidak dapat ditunda lagi."


def test_done_answers_the_latest_open_reminder_then_the_previous_one(phone: Phone, sent: Sent) -> None:
    (first,), (last,) = sent("Metformin", ago=30), sent("Amlodipin", ago=5)
    phone.write("SUDAH")
    assert phone.write("sudah kak").outcome == "answered:done"
    assert (state(first), state(last)) == ("pending", "done")
    age(minutes=3)
    phone.write("SUDAH")
    assert (state(first), state(last)) == ("done", "done")


def test_a_missed_reminder_can_be_marked_done_late(phone: Phone, sent: Sent) -> None:
    (missed,), (done,) = sent("Metformin", ago=90), sent("Amlodipin", ago=30)
    db.session.execute(sa.update(Occurrence).where(Occurrence.id == missed).values(state="missed"))
    db.session.commit()
    phone.write("SUDAH")
    assert (state(done), state(missed)) == ("done", "missed")
    age(minutes=3)
    assert phone.write("SUDAH").outcome == "answered:done"
    assert (state(missed), read(missed).late) == ("done", True)


def test_a_missed_reminder_cannot_be_skipped(phone: Phone, sent: Sent) -> None:
    (missed,) = sent("Metformin", ago=90)
    db.session.execute(sa.update(Occurrence).where(Occurrence.id == missed).values(state="missed"))
    db.session.commit()
    assert phone.write("LEWATI").text == "Waktu untuk menjawab pengingat ini sudah lewat."
    assert state(missed) == "missed"


def test_done_answers_all_reminders_of_one_message(phone: Phone, sent: Sent) -> None:
    rows = sent("Metformin", "Amlodipin", "Simvastatin")
    assert phone.write("SUDAH").text == "Terima kasih, Siti. Sudah kami catat: Metformin, Amlodipin, Simvastatin."
    assert [state(row) for row in rows] == ["done"] * 3


def test_numbers_select_reminders_within_one_message(phone: Phone, sent: Sent) -> None:
    rows = sent("Metformin", "Amlodipin", "Simvastatin")
    phone.write("SUDAH 2")
    assert [state(row) for row in rows] == ["pending", "done", "pending"]
    phone.write("LEWATI 1 dan 3")
    assert [state(row) for row in rows] == ["skipped", "done", "skipped"]


@pytest.mark.parametrize("number", ["0", "3", "99999999"])
def test_a_number_outside_the_list_of_the_message_is_refused(phone: Phone, sent: Sent, number: str) -> None:
    rows = sent("Metformin", "Amlodipin")
    said = phone.write(f"SUDAH {number}")
    assert said.text == "Pesan terakhir memuat 2 pengingat. Balas dengan nomor 1 sampai 2."
    assert [state(row) for row in rows] == ["pending", "pending"]


def test_ok_and_not_yet_are_accepted_for_a_missed_dose(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin", ago=90)
    db.session.execute(sa.update(Occurrence).where(Occurrence.id == row).values(state="missed"))
    db.session.commit()
    assert phone.write("ok").outcome == "answered:ok"
    assert phone.write("belum").text == "Baik, Siti, kami tunggu."


# --- the reminders that a message is about --------------------------------------------------------------------------


def test_a_medicine_name_limits_the_answer_to_that_medicine(phone: Phone, sent: Sent) -> None:
    rows = sent("Metformin", "Amlodipin")
    phone.write("sudah amlodipin")
    assert [state(row) for row in rows] == ["pending", "done"]


def test_a_one_word_title_is_not_accepted_as_a_reminder_name(phone: Phone, sent: Sent, siti: Client) -> None:
    rows = sent("Metformin", "Amlodipin")
    siti.put(f"/pengingat/{read(rows[0]).reminder_id}", {"judul": "Pagi"})
    assert phone.write("sudah pagi").outcome == "answered:doubt"


def test_an_answer_covers_all_messages_sent_in_the_same_minute(phone: Phone, sent: Sent) -> None:
    (older,), (first,), (second,) = sent("Aspirin", ago=6), sent("Metformin"), sent("Amlodipin")
    assert phone.write("LEWATI").text == "Baik, Siti. Kali ini dilewati: Metformin, Amlodipin."
    assert [state(row) for row in (older, first, second)] == ["pending", "skipped", "skipped"]


def test_a_reply_with_a_quote_answers_only_the_quoted_message(phone: Phone, sent: Sent) -> None:
    (first,), (second,) = sent("Metformin", ref="wamid.a"), sent("Amlodipin", ref="wamid.b")
    phone.write("SUDAH", about="wamid.a")
    assert [state(row) for row in (first, second)] == ["done", "pending"]


def test_a_number_refers_to_the_list_in_the_quoted_message(phone: Phone, sent: Sent) -> None:
    older, newer = sent("Metformin", "Aspirin", ago=30, ref="wamid.a"), sent("Amlodipin", "Simvastatin", ref="wamid.b")
    phone.write("2", about="wamid.a")
    assert [state(row) for row in (*older, *newer)] == ["pending", "done", "pending", "pending"]


def test_quoting_an_expired_reminder_answers_no_newer_reminder(phone: Phone, sent: Sent, moment: Time) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    moment.move(hours=25)
    (today,) = sent("Amlodipin")
    said = phone.write("SUDAH", about="wamid.a")
    assert said.text == "Waktu untuk menjawab pengingat ini sudah lewat."
    assert (state(row), state(today)) == ("pending", "pending")


@pytest.mark.parametrize("text", ["sudah", "✅", "nanti", "lewati", "belum"])
@pytest.mark.parametrize("about", ["wamid.alert", "wamid.unknown", "wamid.in.1"])
def test_quoting_another_message_answers_no_reminder(
    phone: Phone, sent: Sent, siti: Client, text: str, about: str
) -> None:
    """If a caregiver answers an alert about a patient, the answer is not about the caregiver's own medicine."""
    (row,) = sent("Metformin", ref="wamid.a")
    alert = add(user_id=siti.id, kind="caregiver_alert", target=None)
    values = {"state": DeliveryState.SENT, "provider_ref": "wamid.alert"}
    db.session.execute(sa.update(Delivery).where(Delivery.id == alert.id).values(values))
    db.session.commit()
    said = phone.write(text, about=about)
    assert (said.outcome, said.text) == ("answered:doubt", texts.DOUBT)
    assert (state(row), read(row).snoozes) == ("pending", 0)


def test_a_quote_or_reaction_cannot_answer_another_users_reminder(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    make_user(nomor_hp="081234567891")
    db.session.commit()
    Phone("+6281234567891").write("SUDAH", about="wamid.a")
    Phone("+6281234567891").write("✅", type="reaction", about="wamid.a")
    assert state(row) == "pending"


# --- reactions ------------------------------------------------------------------------------------------------------


def react(phone: Phone, emoji: str, about: str = "wamid.a") -> tuple[str | None, str | None]:
    said = phone.write(emoji, type="reaction", about=about)
    return said.outcome, said.text


@pytest.mark.parametrize("emoji", ["✅", "☑️", "✔️", "💯"])
def test_a_check_mark_reaction_marks_the_reminder_as_done(phone: Phone, sent: Sent, emoji: str) -> None:
    (older,), (newer,) = sent("Metformin", ago=30, ref="wamid.a"), sent("Amlodipin", ref="wamid.b")
    assert react(phone, emoji)[0] == "answered:done"
    assert (state(older), state(newer)) == ("done", "pending")


@pytest.mark.parametrize("emoji", ["👍", "👍🏽", "👌🏻", "🙏🏿"])
def test_an_ok_reaction_does_not_mark_the_reminder_as_done(phone: Phone, sent: Sent, emoji: str) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    assert react(phone, emoji) == ("answered:ok", "Baik, Siti. Kalau sudah, balas SUDAH.")
    assert state(row) == "pending"


@pytest.mark.parametrize("emoji", ["❤️", "😂", "❌", ""])
def test_an_unsupported_reaction_is_ignored(phone: Phone, sent: Sent, emoji: str) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    assert react(phone, emoji) == ("reaction", None)
    assert state(row) == "pending"


def test_a_reaction_to_an_unknown_message_is_ignored(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    assert react(phone, "✅", "wamid.other") == ("reaction", None)
    assert state(row) == "pending"


@pytest.mark.parametrize("emoji", ["", "❤️", "👍"])
def test_removing_or_replacing_a_check_mark_reaction_undoes_the_answer(phone: Phone, sent: Sent, emoji: str) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    react(phone, "✅")
    assert react(phone, emoji) == ("answered:undo", "Baik, kami batalkan catatannya.")
    assert state(row) == "pending"
    assert react(phone, "💯")[0] == "answered:done"


def test_replacing_one_done_reaction_by_another_keeps_the_answer(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    react(phone, "✅")
    react(phone, "💯")
    assert state(row) == "done"


def test_removing_a_heart_reaction_does_not_undo_an_answer(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    react(phone, "❤️")
    phone.write("SUDAH")
    assert react(phone, "") == ("reaction", None)
    assert state(row) == "done"


def test_removing_a_check_mark_keeps_an_answer_given_through_the_api(phone: Phone, sent: Sent, siti: Client) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    siti.post(f"/pengingat/{read(row).reminder_id}/konfirmasi", {"status": "done"})
    react(phone, "✅")
    assert react(phone, "") == ("reaction", None)
    assert state(row) == "done"


def test_a_check_mark_received_after_its_removal_is_ignored(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin", ref="wamid.a")
    early, late = (datetime.now(UTC) - timedelta(seconds=seconds) for seconds in (20, 10))
    phone.write("", type="reaction", about="wamid.a", at=late.isoformat())
    phone.write("✅", type="reaction", about="wamid.a", at=early.isoformat())
    assert state(row) == "pending"


# --- "not yet" undoes an answer -------------------------------------------------------------------------------------


def test_not_yet_undoes_all_reminders_of_the_last_answer(phone: Phone, sent: Sent) -> None:
    (older,), rows = sent("Aspirin", ago=30), sent("Metformin", "Amlodipin")
    phone.write("SUDAH")
    said = phone.write("belum kak")
    assert (said.outcome, said.text) == ("answered:undo", "Baik, kami batalkan catatannya.")
    assert [state(row) for row in (older, *rows)] == ["pending"] * 3


def test_not_yet_undoes_an_answer_only_within_one_hour(phone: Phone, sent: Sent, moment: Time) -> None:
    (row,) = sent("Metformin")
    phone.write("SUDAH")
    moment.move(minutes=60)
    assert phone.write("belum").text == "Saat ini tidak ada pengingat yang perlu dijawab."
    assert state(row) == "done"
    moment.move(seconds=-1)
    phone.write("belum")
    assert state(row) == "missed"


def test_not_yet_applies_to_a_newer_open_reminder_and_undoes_nothing(phone: Phone, sent: Sent) -> None:
    (older,) = sent("Metformin", ago=30)
    phone.write("SUDAH")
    (newer,) = sent("Amlodipin")
    assert phone.write("belum").text == "Baik, Siti, kami tunggu."
    assert (state(older), state(newer)) == ("done", "pending")


# --- sent messages --------------------------------------------------------------------------------------------------


def test_a_reminder_sent_over_a_day_ago_cannot_be_answered_by_message(phone: Phone, sent: Sent, moment: Time) -> None:
    (row,) = sent("Metformin")
    moment.move(hours=25)
    assert phone.write("SUDAH").outcome == "answered:nothing open"
    assert state(row) == "pending"


@pytest.mark.parametrize(
    "changes",
    [
        {"state": DeliveryState.FAILED},
        {"state": DeliveryState.MISSED},
        {"state": DeliveryState.PENDING},
        {"receipt": Receipt.FAILED},
        {"channel": "push"},
    ],
)
def test_an_answer_ignores_a_reminder_not_delivered_to_the_number(
    phone: Phone, sent: Sent, changes: dict[str, Any]
) -> None:
    (reached,), (other,) = sent("Metformin", ago=30), sent("Amlodipin")
    db.session.execute(sa.update(Delivery).where(Delivery.occurrence_id == other).values(**changes))
    db.session.commit()
    phone.write("SUDAH")
    assert (state(reached), state(other)) == ("done", "pending")


@pytest.mark.parametrize("state_", [DeliveryState.CLAIMED, DeliveryState.PENDING, DeliveryState.FAILED])
def test_a_reminder_with_an_unconfirmed_delivery_can_be_answered(
    phone: Phone, sent: Sent, state_: DeliveryState
) -> None:
    """If the connection breaks after the provider accepted a message, the message may have reached the number."""
    (row,) = sent("Metformin")
    values = {"state": state_, "unconfirmed_calls": 1, "settled_at": None}
    db.session.execute(sa.update(Delivery).where(Delivery.occurrence_id == row).values(**values))
    db.session.commit()
    assert phone.write("SUDAH").outcome == "answered:done"
    assert state(row) == "done"


def test_a_reminder_sent_before_a_phone_number_change_is_not_answered(
    phone: Phone, sent: Sent, siti: Client, moment: Time
) -> None:
    (row,) = sent("Metformin")
    siti.user.phone_changed_at = moment.now - timedelta(minutes=1)
    db.session.commit()
    assert phone.write("SUDAH").outcome == "answered:nothing open"
    assert state(row) == "pending"


def test_a_user_cannot_answer_another_users_reminder(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin")
    make_user(nomor_hp="081234567891")
    db.session.commit()
    assert Phone("+6281234567891").write("SUDAH").outcome == "answered:nothing open"
    assert state(row) == "pending"


def token(occurrence_id: int) -> str:
    row = read(occurrence_id)
    return tokens.link_token_of(tokens.push_token(row.user_id, row.due_at))


@pytest.mark.parametrize(
    ("what", "expected"), [("", "done"), (":skip", "skipped"), (":snooze", "pending")], ids=["done", "skip", "snooze"]
)
def test_a_button_answers_the_reminder_of_its_own_message(phone: Phone, sent: Sent, what: str, expected: str) -> None:
    (older,), (newer,) = sent("Metformin", ago=30), sent("Amlodipin")
    said = phone.write("Sudah diminum", pressed=f"T:{token(older)}{what}")
    assert said.text is not None
    assert (state(older), state(newer)) == (expected, "pending")
    assert (read(older).snoozed_until is not None) == (what == ":snooze")


def test_a_button_of_another_users_message_is_refused(phone: Phone, sent: Sent) -> None:
    (row,) = sent("Metformin")
    make_user(nomor_hp="081234567891")
    db.session.commit()
    said = Phone("+6281234567891").write("Sudah", pressed=f"T:{token(row)}")
    assert said.text == "Saat ini tidak ada pengingat yang perlu dijawab."
    assert state(row) == "pending"


def test_an_expired_or_unknown_button_token_gets_an_explanation(phone: Phone, sent: Sent, moment: Time) -> None:
    (row,) = sent("Metformin")
    moment.move(hours=25)
    assert phone.write("Sudah", pressed=f"T:{token(row)}").text == "Tautan ini sudah tidak berlaku."
    assert phone.write("Sudah", pressed=f"T:{'x' * 22}").text == (
        "Tautan ini tidak kami temukan. Coba buka lagi dari pesan kami yang terbaru."
    )


def test_reply_times_use_the_time_zone_of_the_reminder(phone: Phone, sent: Sent, siti: Client) -> None:
    (row,) = sent("Metformin")
    read(row).timezone = "Asia/Jayapura"
    db.session.commit()
    assert phone.write("SUDAH").text == "Terima kasih, Siti. Obat pukul 09.55 WIT sudah kami catat."


@pytest.mark.parametrize("name", ["promo.com Siti", "http://jahat.id", "promo.help Siti", "jahat.рф"])
def test_a_web_address_in_a_user_name_is_not_sent_in_a_reply(phone: Phone, sent: Sent, siti: Client, name: str) -> None:
    sent("Metformin")
    siti.user.nama_ktp = name
    db.session.commit()
    said = phone.write("SUDAH")
    assert said.text is not None
    assert "promo" not in said.text
    assert "jahat" not in said.text


def test_not_yet_takes_no_answer_back_after_a_withdrawn_consent(phone: Phone, sent: Sent, siti: Client) -> None:
    (row,) = sent("Metformin")
    phone.write("SUDAH")
    assert siti.put("/profile/persetujuan", {"health_data": False}).status_code == 200
    assert "menarik persetujuan" in str(phone.write("BELUM").text)
    assert state(row) == "done"
