"""Tests of emoji reactions to a reminder."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.inbox.reminders import read, state


def react(phone, emoji, about="wamid.a"):
    said = phone.write(emoji, type="reaction", about=about)
    return said.outcome, said.text


@pytest.mark.parametrize("emoji", ["✅", "☑️", "✔️", "💯"])
def test_a_check_mark_reaction_marks_the_reminder_as_done(phone, sent, emoji):
    (older,), (newer,) = sent("Metformin", ago=30, ref="wamid.a"), sent("Amlodipin", ref="wamid.b")
    assert react(phone, emoji)[0] == "answered:done"
    assert (state(older), state(newer)) == ("done", "pending")


@pytest.mark.parametrize("emoji", ["👍", "👍🏽", "👌🏻", "🙏🏿"])
def test_an_ok_reaction_does_not_mark_the_reminder_as_done(phone, sent, emoji):
    (row,) = sent("Metformin", ref="wamid.a")
    assert react(phone, emoji) == ("answered:ok", "Baik, Siti. Kalau sudah, balas SUDAH.")
    assert state(row) == "pending"


@pytest.mark.parametrize("emoji", ["❤️", "😂", "❌", ""])
def test_an_unsupported_reaction_is_ignored(phone, sent, emoji):
    (row,) = sent("Metformin", ref="wamid.a")
    assert react(phone, emoji) == ("reaction", None)
    assert state(row) == "pending"


def test_a_reaction_to_an_unknown_message_is_ignored(phone, sent):
    (row,) = sent("Metformin", ref="wamid.a")
    assert react(phone, "✅", "wamid.other") == ("reaction", None)
    assert state(row) == "pending"


@pytest.mark.parametrize("emoji", ["", "❤️", "👍"])
def test_removing_or_replacing_a_check_mark_reaction_undoes_the_answer(phone, sent, emoji):
    (row,) = sent("Metformin", ref="wamid.a")
    react(phone, "✅")
    assert react(phone, emoji) == ("answered:undo", "Baik, kami batalkan catatannya.")
    assert state(row) == "pending"
    assert react(phone, "💯")[0] == "answered:done"


def test_replacing_one_done_reaction_by_another_keeps_the_answer(phone, sent):
    (row,) = sent("Metformin", ref="wamid.a")
    react(phone, "✅")
    react(phone, "💯")
    assert state(row) == "done"
    phone.write("belum")
    react(phone, "✅")
    assert state(row) == "done"
    react(phone, "")
    assert state(row) == "pending"


def test_removing_a_heart_reaction_does_not_undo_an_answer(phone, sent):
    (row,) = sent("Metformin", ref="wamid.a")
    react(phone, "❤️")
    phone.write("SUDAH")
    assert react(phone, "") == ("reaction", None)
    assert state(row) == "done"


def test_removing_a_check_mark_keeps_an_answer_given_through_the_api(phone, sent, siti):
    (row,) = sent("Metformin", ref="wamid.a")
    siti.post(f"/pengingat/{read(row).reminder_id}/konfirmasi", {"status": "done"})
    react(phone, "✅")
    assert react(phone, "") == ("reaction", None)
    assert state(row) == "done"


def test_a_check_mark_received_after_its_removal_is_ignored(phone, sent):
    (row,) = sent("Metformin", ref="wamid.a")
    early, late = (datetime.now(UTC) - timedelta(seconds=seconds) for seconds in (20, 10))
    phone.write("", type="reaction", about="wamid.a", at=late.isoformat())
    phone.write("✅", type="reaction", about="wamid.a", at=early.isoformat())
    assert state(row) == "pending"
