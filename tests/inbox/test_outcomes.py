"""Tests of the outcome and the answer of each kind of text, with and without an open reminder."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.inbox import texts
from app.notifications.senders.models import PhoneNumber
from app.pengingat.one_tap.message_answers import NothingAsked
from tests.helpers.language import assert_readable
from tests.inbox.phones import Said, age
from tests.inbox.reminders import read, state
from tests.routes.requests import undone

DONE = "Terima kasih, Siti. Obat pukul 07.55 WIB sudah kami catat."
#: Texts with their outcome, their answer and the state of a reminder that was open.
OPEN = [
    ("sudah", "answered:done", DONE, "done"),
    ("lewati", "answered:skipped", "Baik, Siti. Obat pukul 07.55 WIB kali ini dilewati.", "skipped"),
    ("nanti", "answered:snooze", "Baik, Siti. Kami ingatkan lagi pukul 08.30 WIB.", "pending"),
    ("TUNDA 20", "answered:snooze", "Baik, Siti. Kami ingatkan lagi pukul 08.20 WIB.", "pending"),
    ("tunda 4", "answered:refused range", texts.RANGE, "pending"),
    ("tunda 121", "answered:refused range", texts.RANGE, "pending"),
    ("belum", "answered:not yet", "Baik, Siti, kami tunggu.", "pending"),
    ("ok", "answered:ok", "Baik, Siti. Kalau sudah, balas SUDAH.", "pending"),
    ("terima kasih \U0001f64f", "courtesy", None, "pending"),
    ("ibu sudah meninggal", "answered:condolence", texts.CONDOLENCE, "pending"),
    ("sudah muntah", "answered:doubt", texts.DOUBT, "pending"),
    ("halo", "answered:doubt", texts.DOUBT, "pending"),
]
#: Texts after the answer SUDAH, while nothing else is open.
ANSWERED = [
    ("sudah", "answered:done", DONE, "done"),
    ("lewati", "answered:nothing open", NothingAsked.message, "done"),
    ("nanti", "answered:nothing open", NothingAsked.message, "done"),
    ("tunda 4", "answered:nothing open", NothingAsked.message, "done"),
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
    *(
        (text, "answered:nothing open", NothingAsked.message)
        for text in ("sudah", "lewati", "nanti", "tunda 4", "belum")
    ),
    ("belum nanti", "answered:nothing open", NothingAsked.message),
    ("ok", "ok", None),
    ("makasih", "courtesy", None),
    ("almarhum", "answered:condolence", texts.CONDOLENCE),
    ("halo", "answered:help", texts.HELP),
]


def test_a_text_about_an_open_reminder_has_its_outcome(phone, sent, subtests):
    (row,) = sent("Metformin")
    for text, outcome, answer, after in OPEN:
        with subtests.test(text), undone():
            assert phone.write(text) == Said(outcome, answer)
            assert state(row) == after


def test_a_text_after_an_answer_has_its_outcome(phone, sent, subtests):
    (row,) = sent("Metformin")
    phone.write("SUDAH")
    assert read(row).answered_via == "message"
    for text, outcome, answer, after in ANSWERED:
        with subtests.test(text), undone():
            assert phone.write(text) == Said(outcome, answer)
            assert (state(row), read(row).snoozes) == (after, 0)


def test_a_text_without_a_reminder_has_its_outcome(phone, moment, subtests):
    for text, outcome, answer in NOTHING:
        with subtests.test(text), undone():
            assert phone.write(text) == Said(outcome, answer)


def test_a_text_that_came_a_day_after_it_was_written_records_nothing(phone, sent):
    (row,) = sent("Metformin", ref="wamid.a")
    at = (datetime.now(UTC) - timedelta(hours=25)).isoformat()
    assert phone.write("SUDAH", at=at).text == texts.DOUBT
    assert state(row) == "pending"
    assert phone.write("SUDAH", at=at, about="wamid.a").outcome == "answered:done"


def test_the_same_text_within_two_minutes_repeats_its_answer(phone, sent, moment):
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


def test_last_inbound_at_is_the_time_a_message_was_written(phone):
    for hours in (30, 3):
        wrote_at = datetime.now(UTC) - timedelta(hours=hours)
        phone.write("SUDAH", at=wrote_at.isoformat())
        assert db.session.scalars(sa.select(PhoneNumber.last_inbound_at)).one() == wrote_at


# --- the exact words of our answers: users learn them, and a document for users quotes them ---------------------------


#: Texts that do not depend on the user, by their names in `texts`.
TEXTS = {
    "HELP": "Ini balasan otomatis, jadi belum ada petugas yang membacanya. Keadaan darurat: 119 atau 112. Hati sedang "
    "berat: 119 ext. 8. Untuk menjawab pengingat, balas SUDAH, BELUM, NANTI atau LEWATI. Kalau mau berhenti, balas "
    "BERHENTI PENGINGAT. Kalau ini bukan nomor Anda, balas SALAH NOMOR.",
    "DOUBT": "Maaf, kami belum paham. Balas SUDAH, BELUM, NANTI atau LEWATI. Ini balasan otomatis. Gawat darurat: 119. "
    "Hati sedang berat: 119 ext. 8.",
    "DOUBT_ANSWERED": "Maaf, kami belum paham. Kalau ternyata belum, balas BELUM. Ini balasan otomatis. Gawat darurat: "
    "119. Hati sedang berat: 119 ext. 8.",
    "CONDOLENCE": "Kami turut berduka cita. Kalau pengingat ini mau dihentikan, balas BERHENTI PENGINGAT. Hati sedang "
    "berat: 119 ext. 8.",
    "ONLY_TEXT": "Maaf, kami hanya bisa membaca tulisan. Kalau sudah, balas SUDAH.",
    "UNDONE": "Baik, kami batalkan catatannya.",
    "RANGE": "Waktu tunda harus 5 sampai 120 menit. Contoh: TUNDA 30.",
    "STOPPED": "Pengingat tetap kami kirim. Kalau itu juga mau dihentikan, balas BERHENTI PENGINGAT. Kabar umum sudah "
    "kami hentikan. Kalau mau mulai lagi, balas MULAI.",
    "STOPPED_ALL": "Kami tidak akan mengirim kabar umum dan pengingat lagi. Kalau mau mulai lagi, balas MULAI.",
    "STARTED": "Kabar umum dan pengingat kami kirim lagi ke nomor ini. Kalau mau berhenti, balas BERHENTI.",
    "WRONG_NUMBER": "Terima kasih, dan maaf. Kami tidak akan mengirim pengingat dan kabar lagi ke nomor ini.",
}


def test_each_text_has_its_exact_words():
    assert {name: getattr(texts, name) for name in TEXTS} == TEXTS


def test_each_text_is_plain_indonesian(subtests):
    for name in (*TEXTS, "STILL_WRONG"):
        with subtests.test(name):
            assert_readable(getattr(texts, name))
            assert len(getattr(texts, name)) <= 350
