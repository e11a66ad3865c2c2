"""Tests of the limits for answers that the service sends to a phone number. Unknown senders get no answers."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.inbox import conversation, jobs, limits
from app.notifications.models import Delivery, Inbound, InboundKind
from tests.helpers.factories import make_user
from tests.helpers.overlap import run_together
from tests.inbox.phones import Phone, rows
from tests.inbox.reminders import state
from tests.routes.requests import undone

CRISIS, EMERGENCY = "saya mau bunuh diri", "tolong, ibu saya pingsan"
HOUR, DAY = 60, 24 * 60
#: Earlier messages of the number: their outcome, their number and their age in minutes. Then a new text, and whether it
#: is answered.
ROWS = [
    *(("answered:done", *row) for row in (
        (19, HOUR - 1, "BERHENTI", True), (20, HOUR - 1, "BERHENTI", False), (20, HOUR + 1, "BERHENTI", True),
        (59, DAY - 1, "BERHENTI", True), (60, DAY - 1, "BERHENTI", False), (60, DAY + 1, "BERHENTI", True),
        (20, 1, "SUDAH", False), (20, 1, "halo", True), (60, DAY - 1, "ok", True),
        (60, 1, CRISIS, True), (60, 1, EMERGENCY, True),
    )),
    *(("answered:ok", *row) for row in (
        (2, HOUR - 1, "ok", True), (3, HOUR - 1, "ok", False), (3, HOUR + 1, "ok", True),
        (9, DAY - 1, "ok", True), (10, DAY - 1, "ok", False), (10, DAY + 1, "ok", True),
        *((3, 1, text, False) for text in ("sudah muntah", "BANTUAN")),
        *((3, 1, text, True) for text in (
            "SUDAH", "belum", "TUNDA 1", "ibu meninggal", "BERHENTI", "RESET", "VERIFIKASI ABCDEF", CRISIS)),
    )),
    *((f"answered:{outcome}", 3, 1, "ok", False) for outcome in ("help", "doubt", "only text")),
    *((f"answered:{outcome}", 20, 1, "BERHENTI", False) for outcome in ("not yet", "refused range", "reset", "undo")),
    *((outcome, 60, 1, text, True) for outcome in ("done", "ok") for text in ("BERHENTI", "ok")),
    *((f"answered:{outcome}", 60, 1, text, True) for outcome in limits.DANGERS for text in ("BERHENTI", "ok")),
    *((f"answered:{outcome}", 1, minutes, text, minutes > 10)
      for outcome, text in (("crisis", CRISIS), ("emergency", EMERGENCY)) for minutes in (9, 11)),
    ("answered:emergency", 1, 1, CRISIS, True),
]  # fmt: skip


def answers():
    kind = sa.select(sa.func.count()).select_from(Delivery).where(Delivery.kind == conversation.KIND)
    return db.session.scalars(kind).one()


def handled(number, outcome, count, minutes, received=None):
    """Store messages that were handled this many minutes ago."""
    now = datetime.now(UTC)
    values = {"provider": "test", "kind": InboundKind.MESSAGE, "phone": number, "text": "x", "payload": {}}
    values |= {"outcome": outcome, "handled_at": now - timedelta(minutes=minutes)}
    values["received_at"] = now - timedelta(minutes=received or minutes)
    with unit_of_work():
        db.session.execute(sa.insert(Inbound), [{**values, "event_key": str(uuid4())} for _ in range(count)])


def test_a_number_gets_only_so_many_answers_an_hour_and_a_day(phone, sent, subtests):
    sent("Metformin")
    for outcome, count, minutes, text, is_answered in ROWS:
        with subtests.test(f"{count} {outcome} {minutes} minutes ago, then {text}"), undone():
            handled(phone.number, outcome, count, minutes)
            assert str(phone.write(text).outcome).startswith("answered:") == is_answered


def test_a_message_above_the_limit_takes_effect_without_an_answer(phone, sent):
    (row,) = sent("Metformin")
    handled(phone.number, "answered:stop", 20, 1)
    said = phone.write("SUDAH")
    assert (said.outcome, said.text, state(row)) == ("done", None, "done")


def test_answers_count_by_the_time_at_which_they_left(phone):
    """A backlog may be handled hours after its messages came."""
    handled(phone.number, "answered:stop", 20, 1, received=5 * HOUR)
    assert phone.write("BERHENTI").text is None


def test_each_phone_number_has_its_own_reply_limit(phone):
    handled("+6281234567899", "answered:stop", 20, 1)
    assert phone.write("BERHENTI").text is not None


def test_a_message_from_an_unknown_sender_is_stored_without_a_reply(app):
    texts = ["SUDAH", "BANTUAN", "RESET", "BERHENTI", "halo", EMERGENCY, "SALAH NOMOR"]
    for text in texts:
        said = Phone("+6281299999999").write(text)
        assert (said.outcome, said.text) == ("unknown sender", None), text
    assert [row.text for row in rows()] == texts
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 0


def test_concurrent_workers_do_not_exceed_the_reply_limit(committed, monkeypatch):
    monkeypatch.setattr(limits, "MAX_PER_HOUR", 5)
    with unit_of_work():
        make_user(nomor_hp="081234567890")
    phone = Phone("+6281234567890")
    for _ in range(10):
        phone.send("BERHENTI")
    run_together(committed, *[jobs.handle] * 4)
    jobs.handle()
    assert [row.handled_at is not None for row in rows()] == [True] * 10
    assert answers() == 5


def test_a_reply_loop_with_an_automatic_responder_ends(phone, subtests, monkeypatch):
    monkeypatch.setattr(limits, "MAX_PER_HOUR", 4)
    for robot in ("{}", "Terima kasih telah menghubungi kami. {}", "SUDAH {}", "BERHENTI", "TUNDA 1"):
        with subtests.test(robot), undone():
            text, heard = "BANTUAN", 0
            while heard < 10 and (said := phone.write(text).text) is not None:
                heard += 1
                text = robot.format(said)[:1000]
            assert 1 <= heard <= 1 + limits.MAX_PER_HOUR
            assert answers() == heard
