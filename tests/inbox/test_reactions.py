"""Tests of emoji reactions to a reminder."""

from datetime import UTC, datetime, timedelta

from tests.inbox.reminders import read, state
from tests.routes.requests import undone

DONE, UNDO, OK, NOTHING = "answered:done", "answered:undo", "answered:ok", "reaction"


def react(phone, emoji, about="wamid.a", **more):
    return phone.write(emoji, type="reaction", about=about, **more).outcome


def test_a_reaction_answers_its_own_reminder_and_its_removal_undoes_the_answer(phone, sent, subtests):
    (row,), (newer,) = sent("Metformin", ago=30, ref="wamid.a"), sent("Amlodipin", ref="wamid.b")
    for reactions in (
        *([(emoji, OK, "pending")] for emoji in ("👍", "👌🏻")),
        *([(emoji, NOTHING, "pending")] for emoji in ("❤️", "")),
        *([("✅", DONE, "done"), (emoji, UNDO, "pending"), ("💯", DONE, "done")] for emoji in ("", "❤️", "👍")),
    ):
        with subtests.test(reactions=reactions), undone():
            for emoji, outcome, expected in reactions:
                assert react(phone, emoji) == outcome
                assert (state(row), state(newer)) == (expected, "pending")


def test_a_reaction_to_an_unknown_message_is_ignored(phone, sent):
    (row,) = sent("Metformin", ref="wamid.a")
    assert react(phone, "✅", "wamid.other") == NOTHING
    assert state(row) == "pending"


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


def test_removing_a_reaction_keeps_an_answer_that_was_given_in_another_way(phone, sent, siti):
    (row,) = sent("Metformin", ref="wamid.a")
    with undone():
        react(phone, "❤️")
        phone.write("SUDAH")
        assert (react(phone, ""), state(row)) == (NOTHING, "done")
    siti.post(f"/pengingat/{read(row).reminder_id}/konfirmasi", {"status": "done"})
    react(phone, "✅")
    assert (react(phone, ""), state(row)) == (NOTHING, "done")


def test_a_check_mark_received_after_its_removal_is_ignored(phone, sent):
    (row,) = sent("Metformin", ref="wamid.a")
    early, late = (datetime.now(UTC) - timedelta(seconds=seconds) for seconds in (20, 10))
    react(phone, "", at=late.isoformat())
    react(phone, "✅", at=early.isoformat())
    assert state(row) == "pending"
