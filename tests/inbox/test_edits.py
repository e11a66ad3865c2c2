"""Edited messages. WhatsApp lets a person edit a message for 15 minutes. An edit corrects what the message recorded."""

from datetime import UTC, datetime, timedelta

from app.inbox import jobs
from tests.inbox.bodies import heard, message, post_whatsapp, whatsapp
from tests.inbox.phones import age, rows
from tests.inbox.reminders import read, state
from tests.routes.requests import undone


def edit(phone, text, ref="wamid.in.a", **payload):
    return phone.write(text, ref=ref, edited=ref, **payload)


def write(phone, text, ref="wamid.in.a", **payload):
    return phone.write(text, ref=ref, **payload)


def test_an_edit_replaces_what_the_message_recorded(phone, sent, subtests):
    rows = sent("Metformin", "Amlodipin")
    for first, then, outcome, states in (
        (None, "sudah 1", "answered:done", ["done", "pending"]),  # the message itself never came
        ("sudah 1", "belum", "answered:undo", ["pending", "pending"]),
        ("sudah 1", "sudah 2", "answered:done", ["pending", "done"]),
        ("sudah metformin", "sudah amlodipin", "answered:done", ["pending", "done"]),
        ("sudah 1", "sudah muntah", "answered:doubt", ["pending", "pending"]),
        ("sudah", "saya mau bunuh diri", "answered:crisis", ["done", "done"]),
        ("sudah", "ibu saya pingsan", "answered:emergency", ["done", "done"]),
    ):
        with subtests.test(f"{first}, then {then}"), undone():
            if first is not None:
                write(phone, first)
            assert edit(phone, then).outcome == outcome
            assert [state(row) for row in rows] == states


def test_an_edit_without_an_answer_of_its_own_confirms_that_the_record_is_gone(phone, sent):
    sent("Metformin")
    write(phone, "sudah")
    assert edit(phone, "terima kasih").text == "Baik, kami batalkan catatannya."


def test_an_edit_with_the_same_meaning_changes_nothing(phone, sent):
    (row,) = sent("Metformin")
    write(phone, "sudah")
    at = read(row).answered_at
    said = edit(phone, "Sudah diminum, kak")
    assert (said.outcome, said.text) == ("unchanged", None)
    assert (state(row), read(row).answered_at) == ("done", at)
    assert edit(phone, "belum").outcome == "answered:undo"
    assert state(row) == "pending"


def test_an_edit_is_read_for_the_time_that_the_first_text_meant(phone, sent):
    """After the first text, another reminder is the last open one. The edit is not about that reminder."""
    (older,), (newer,) = sent("Metformin", ago=30), sent("Amlodipin")
    write(phone, "sudah")
    assert (state(older), state(newer)) == ("pending", "done")
    edit(phone, "lewati")
    assert (state(older), state(newer)) == ("pending", "skipped")


def test_an_edit_is_not_about_a_reminder_that_was_sent_later(phone, sent):
    (older,) = sent("Metformin", ago=30)
    write(phone, "ok")
    (newer,) = sent("Amlodipin")
    edit(phone, "sudah")
    assert (state(older), state(newer)) == ("done", "pending")


def test_an_edit_of_a_quoting_message_is_about_the_quoted_reminder(phone, sent):
    (older,), (newer,) = sent("Metformin", ago=30, ref="wamid.a"), sent("Amlodipin", ref="wamid.b")
    write(phone, "sudah", about="wamid.a")
    edit(phone, "lewati")
    assert (state(older), state(newer)) == ("skipped", "pending")


def test_an_edit_leaves_an_answer_that_was_given_in_another_way(phone, sent, siti, moment):
    (row,) = sent("Metformin")
    write(phone, "sudah")
    moment.move(seconds=1)
    path = f"/pengingat/{read(row).reminder_id}/konfirmasi"
    siti.post(path, {"status": "undo"})
    siti.post(path, {"status": "done"})
    edit(phone, "ok")
    assert state(row) == "done"


def test_an_edit_takes_back_no_answer_of_another_message(phone, sent):
    (older,) = sent("Metformin", ago=30)
    write(phone, "sudah", "wamid.in.a")
    (newer,) = sent("Amlodipin")
    age(minutes=3)
    write(phone, "sudah", "wamid.in.b")
    assert state(newer) == "done"
    edit(phone, "belum", "wamid.in.b")
    assert (state(older), state(newer)) == ("done", "pending")


def test_a_message_that_comes_after_its_edit_is_ignored(phone, sent):
    (row,) = sent("Metformin")
    edit(phone, "belum")
    assert write(phone, "sudah").outcome == "ignored"
    assert state(row) == "pending"


def test_an_edit_that_comes_after_a_later_edit_is_ignored(phone, sent):
    (row,) = sent("Metformin")
    early, late = (datetime.now(UTC) - timedelta(seconds=seconds) for seconds in (20, 10))
    write(phone, "ok")
    edit(phone, "belum", at=late.isoformat())
    assert edit(phone, "sudah", at=early.isoformat()).outcome == "ignored"
    assert state(row) == "pending"


def test_an_edit_that_whatsapp_reports_corrects_the_answer(provider, siti, sent):
    sender = str(siti.user.phone)[1:]
    (row,) = sent("Metformin")
    now = f"{datetime.now(UTC).timestamp():.0f}"
    first = {**message("sudah", sender=sender, ref="wamid.in.a"), "timestamp": now}
    inner = {"type": "text", "text": {"body": "belum"}}
    change = {"from": sender, "id": "wamid.in.b", "timestamp": now, "type": "edit"}
    change["edit"] = {"original_message_id": "wamid.in.a", "message": inner}
    for each in (first, change, change):
        post_whatsapp(provider, whatsapp(heard(messages=[each])))
    jobs.handle()
    assert [(row.ref, row.outcome) for row in rows()] == [
        ("wamid.in.a", "answered:done"),
        ("wamid.in.a", "answered:undo"),
    ]
    assert state(row) == "pending"
