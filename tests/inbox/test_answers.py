"""Tests of answers to reminders, by text and by button. An answer is about the latest reminder that is still open."""

import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from app.pengingat.ledger import rows
from app.pengingat.models import Occurrence
from tests.inbox.phones import age
from tests.inbox.reminders import link_of, read, state
from tests.routes.requests import undone


def test_a_reply_quoting_a_reminder_can_change_its_answer(phone, sent):
    (row,) = sent("Metformin", ref="wamid.a")
    phone.write("SUDAH")
    phone.write("LEWATI", about="wamid.a")
    assert state(row) == "skipped"


def test_a_snooze_over_the_maximum_count_is_refused(phone, sent):
    (row,) = sent("Metformin")
    read(row).snoozes = rows.MAX_SNOOZES
    db.session.commit()
    assert phone.write("TUNDA 5").text == "Pengingat ini tidak dapat ditunda lagi."


def miss(occurrence_id):
    db.session.execute(sa.update(Occurrence).where(Occurrence.id == occurrence_id).values(state="missed"))
    db.session.commit()


def test_a_missed_reminder_can_only_be_marked_done(phone, sent):
    (row,) = sent("Metformin", ago=90)
    miss(row)
    for text, answer in (
        ("LEWATI", "Waktu untuk menjawab pengingat ini sudah lewat."),
        ("ok", "Baik, Siti. Kalau sudah, balas SUDAH."),
        ("belum", "Baik, Siti, kami tunggu."),
    ):
        assert (phone.write(text).text, state(row)) == (answer, "missed")


def test_a_missed_reminder_can_be_marked_done_late(phone, sent):
    (missed,), (done,) = sent("Metformin", ago=90), sent("Amlodipin", ago=30)
    miss(missed)
    phone.write("SUDAH")
    assert (state(done), state(missed)) == ("done", "missed")
    age(minutes=3)
    assert phone.write("SUDAH").outcome == "answered:done"
    assert (state(missed), read(missed).late) == ("done", True)


def test_an_answer_about_several_names_what_was_recorded(phone, sent, siti, moment):
    medicines = sent("Metformin", "Amlodipin")
    moment.move(days=-1)
    meal = {"sarapan": {"jam": f"{read(medicines[0]).due_at:%H:%M}"}}
    siti.post("/pengingat", {"tipe": "makan", "judul": "Makan teratur", "details": meal})
    moment.move(days=1)
    breakfast = db.session.scalars(
        sa.select(Occurrence.id).filter_by(slot="sarapan").order_by(Occurrence.due_at)
    ).first()
    said = sa.update(Delivery).where(Delivery.said == medicines).values(said=[*medicines, breakfast])
    db.session.execute(said)
    db.session.commit()
    assert phone.write("sudah minum").outcome == "answered:doubt"
    assert phone.write("SUDAH").text == "Terima kasih, Siti. Sudah kami catat: Metformin, Amlodipin, sarapan."
    phone.write("belum")
    assert phone.write("LEWATI 1 3").text == "Baik, Siti. Kali ini dilewati: Metformin, sarapan."


def test_numbers_select_reminders_within_one_message(phone, sent):
    rows = sent("Metformin", "Amlodipin", "Simvastatin")
    phone.write("SUDAH 2")
    assert [state(row) for row in rows] == ["pending", "done", "pending"]
    phone.write("LEWATI 1 dan 3")
    assert [state(row) for row in rows] == ["skipped", "done", "skipped"]


def test_a_number_outside_the_list_of_the_message_is_refused(phone, sent):
    rows = sent("Metformin", "Amlodipin")
    for number in ("0", "3", "99999999"):
        said = phone.write(f"SUDAH {number}")
        assert said.text == "Pesan terakhir memuat 2 pengingat. Balas dengan nomor 1 sampai 2.", number
        assert [state(row) for row in rows] == ["pending", "pending"]


def test_not_yet_undoes_all_reminders_of_the_last_answer(phone, sent):
    (older,), rows = sent("Aspirin", ago=30), sent("Metformin", "Amlodipin")
    phone.write("SUDAH")
    said = phone.write("belum kak")
    assert (said.outcome, said.text) == ("answered:undo", "Baik, kami batalkan catatannya.")
    assert [state(row) for row in (older, *rows)] == ["pending"] * 3


def test_not_yet_with_a_name_takes_back_the_answer_about_that_name(phone, sent, moment, subtests):
    metformin, amlodipin = sent("Metformin", "Amlodipin")
    for texts in (["sudah metformin"], ["sudah metformin", "sudah amlodipin"]):
        with subtests.test(texts=texts), undone():
            for text in texts:
                phone.write(text)
                moment.move(minutes=1)
            before = state(amlodipin)
            assert phone.write("metformin belum").outcome == "answered:undo"
            assert (state(metformin), state(amlodipin)) == ("pending", before)


def test_not_yet_undoes_an_answer_only_within_one_hour(phone, sent, moment):
    (row,) = sent("Metformin")
    phone.write("SUDAH")
    moment.move(minutes=60)
    assert phone.write("belum").text == "Saat ini tidak ada pengingat yang perlu dijawab."
    assert state(row) == "done"
    moment.move(seconds=-1)
    phone.write("belum")
    assert state(row) == "missed"


def test_not_yet_applies_to_a_newer_open_reminder_and_undoes_nothing(phone, sent):
    (older,) = sent("Metformin", ago=30)
    phone.write("SUDAH")
    (newer,) = sent("Amlodipin")
    assert phone.write("belum").text == "Baik, Siti, kami tunggu."
    assert (state(older), state(newer)) == ("done", "pending")


def test_a_button_answers_the_reminder_of_its_own_message(phone, sent, subtests):
    (older,), (newer,) = sent("Metformin", ago=30), sent("Amlodipin")
    link = link_of(older)
    for what, expected in (("", "done"), (":skip", "skipped"), (":snooze", "pending")):
        with subtests.test(what), undone():
            assert phone.write("Sudah diminum", pressed=f"T:{link}{what}").text is not None
            assert (state(older), state(newer)) == (expected, "pending")
            assert (read(older).snoozed_until is not None) == (what == ":snooze")


def test_an_expired_or_unknown_button_token_gets_an_explanation(phone, sent, moment):
    (row,) = sent("Metformin")
    moment.move(hours=25)
    assert phone.write("Sudah", pressed=f"T:{link_of(row)}").text == "Tautan ini sudah tidak berlaku."
    assert phone.write("Sudah", pressed=f"T:{'x' * 22}").text == (
        "Tautan ini tidak kami temukan. Coba buka lagi dari pesan kami yang terbaru."
    )


def test_reply_times_use_the_time_zone_of_the_reminder(phone, sent, siti):
    (row,) = sent("Metformin")
    read(row).timezone = "Asia/Jayapura"
    db.session.commit()
    assert phone.write("SUDAH").text == "Terima kasih, Siti. Obat pukul 09.55 WIT sudah kami catat."


def test_a_web_address_in_a_user_name_is_not_sent_in_a_reply(phone, sent, siti):
    sent("Metformin")
    siti.user.nama_ktp = "promo.help Siti"
    db.session.commit()
    assert "promo" not in str(phone.write("SUDAH").text)


def test_not_yet_takes_no_answer_back_after_a_withdrawn_consent(phone, sent, siti):
    (row,) = sent("Metformin")
    phone.write("SUDAH")
    assert siti.put("/profile/persetujuan", {"health_data": False}).status_code == 200
    assert "menarik persetujuan" in str(phone.write("BELUM").text)
    assert state(row) == "done"
