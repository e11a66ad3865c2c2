"""Tests of emoji reactions to a reminder."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.inbox.reminders import read, state

DONE, UNDO, OK, NOTHING = "answered:done", "answered:undo", "answered:ok", "reaction"


def react(phone, emoji, about="wamid.a", **more):
    return phone.write(emoji, type="reaction", about=about, **more).outcome


@pytest.mark.parametrize("reactions", [
    *([(emoji, DONE, "done")] for emoji in ("✅", "☑️", "✔️", "💯")),
    *([(emoji, OK, "pending")] for emoji in ("👍", "👍🏽", "👌🏻", "🙏🏿")),
    *([(emoji, NOTHING, "pending")] for emoji in ("❤️", "😂", "❌", "")),
    *([("✅", DONE, "done"), (emoji, UNDO, "pending"), ("💯", DONE, "done")] for emoji in ("", "❤️", "👍")),
])  # fmt: skip
def test_a_reaction_answers_its_own_reminder_and_its_removal_undoes_the_answer(phone, sent, reactions):
    (row,), (newer,) = sent("Metformin", ago=30, ref="wamid.a"), sent("Amlodipin", ref="wamid.b")
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


@pytest.mark.parametrize("way", ["text", "application"])
def test_removing_a_reaction_keeps_an_answer_that_was_given_in_another_way(phone, sent, siti, way):
    (row,) = sent("Metformin", ref="wamid.a")
    if way == "text":
        react(phone, "❤️")
        phone.write("SUDAH")
    else:
        siti.post(f"/pengingat/{read(row).reminder_id}/konfirmasi", {"status": "done"})
        react(phone, "✅")
    assert react(phone, "") == NOTHING
    assert state(row) == "done"


def test_a_check_mark_received_after_its_removal_is_ignored(phone, sent):
    (row,) = sent("Metformin", ref="wamid.a")
    early, late = (datetime.now(UTC) - timedelta(seconds=seconds) for seconds in (20, 10))
    react(phone, "", at=late.isoformat())
    react(phone, "✅", at=early.isoformat())
    assert state(row) == "pending"
