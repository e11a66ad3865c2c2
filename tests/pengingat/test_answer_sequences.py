"""Random answers by all channels, edits, background jobs and withdrawals of the consent.

After them, the ledger, the outbox and the stock must agree.
"""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, cast

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.core.errors import AppError
from app.notifications.models import OPEN, Delivery
from app.pengingat import jobs, service, withdrawal
from app.pengingat.ledger import answers
from app.pengingat.ledger.schemas import NewAnswer, QuickAnswer
from app.pengingat.ledger.tokens import link_token_of, push_token
from app.pengingat.models import Occurrence, OccurrenceState, Pengingat
from app.pengingat.one_tap import links, message_answers
from tests.helpers.factories import make_user
from tests.pengingat.ledgers import Time

pytestmark = pytest.mark.slow

DETAILS: dict[str, dict[str, Any]] = {
    "obat": {
        "nama_obat": "Metformin",
        "frekuensi": 3,
        "aturan": "sesudah makan",
        "ingatkan_ulang_menit": 20,
        "jadwal": [{"jam": jam, "jumlah": 1, "satuan": "tablet"} for jam in ("00:00", "00:50", "12:00")],
    },
    "makan": {"sarapan": {"jam": "01:30"}, "makan_siang": {"jam": "06:00"}},
    "terapi": {"jadwal": [{"hari": "senin", "jam": "03:00"}, {"hari": "selasa", "jam": "03:00"}]},
    "kontrol": {"datetime": "2026-03-03T03:00:00Z", "reminder_offsets": [{"offset": "1h"}, {"offset": "1d"}]},
}

OTHER_DETAILS: dict[str, dict[str, Any]] = {
    "obat": {
        **DETAILS["obat"],
        "jadwal": [{"jam": j, "jumlah": 1, "satuan": "tablet"} for j in ("00:00", "05:00", "13:00")],
    },
    "makan": {"sarapan": {"jam": "02:30"}, "makan_malam": {"jam": "11:00"}},
    "terapi": {"jadwal": [{"hari": "senin", "jam": "03:00"}, {"hari": "kamis", "jam": "03:00"}]},
    "kontrol": {**DETAILS["kontrol"], "datetime": "2026-03-04T03:00:00Z"},
}


def make(user_id: int, tipe: str, **details: Any) -> int:
    with unit_of_work():
        data: Any = {"tipe": tipe, "judul": "Judul", "timezone": "Asia/Jakarta"}
        return service.create(user_id, {**data, "details": {**DETAILS[tipe], **details}}).id


def say(user_id: int, reminder_id: int, status: str, **named: Any) -> str:
    """Answer in the application. Return the `state` and `slot` of the occurrence, or the error code."""
    try:
        with unit_of_work():
            row = answers.confirm(user_id, reminder_id, NewAnswer(status, 15, note=f"catatan {status}", **named))
            return f"{row.state} {row.slot}"
    except AppError as error:
        return error.code


def tap(draw: random.Random, user_id: int, reminder_id: int, status: str) -> None:
    """Choose one of the latest occurrences, and answer it with the token of its web link or push message."""
    moments = sa.select(Occurrence.due_at).filter_by(reminder_id=reminder_id).order_by(Occurrence.due_at.desc())
    push = push_token(user_id, draw.choice(db.session.scalars(moments.limit(8)).all()))
    with suppress(AppError), unit_of_work():
        links.answer(draw.choice((push, link_token_of(push))), QuickAnswer(status, 15))


def reply(user_id: int, status: str) -> None:
    with suppress(AppError), unit_of_work():
        message_answers.answer(message_answers.read(user_id).meant, QuickAnswer(status, 15))


def take_back(draw: random.Random, reminder_id: int) -> None:
    """Take back the answer to one of the latest occurrences, or the last answer by message."""
    latest = sa.select(Occurrence).filter_by(reminder_id=reminder_id).order_by(Occurrence.due_at.desc()).limit(8)
    row = draw.choice(db.session.scalars(latest).all())
    by_word = message_answers.read(row.user_id).undoable
    with suppress(AppError), unit_of_work():
        if by_word and draw.random() < 0.5:
            message_answers.undo(by_word)
        else:
            answers.undo_all([row])


def check(reminder_id: int, bought: float | None) -> None:
    db.session.remove()
    rows = db.session.scalars(sa.select(Occurrence).where(Occurrence.reminder_id == reminder_id)).all()
    assert len({(row.due_at, row.slot) for row in rows}) == len(rows)
    for row in rows:
        is_answered = row.state in (OccurrenceState.DONE, OccurrenceState.SKIPPED)
        assert is_answered == (row.answered_at is not None) == (row.answered_via is not None)
        assert row.stock_deducted is None or row.state == OccurrenceState.DONE
    waiting = sa.select(Delivery.occurrence_id).where(Delivery.state.in_(OPEN))
    told_of = set(db.session.scalars(waiting))
    assert not [
        row
        for row in rows
        if row.id in told_of and row.state in (OccurrenceState.DONE, OccurrenceState.SKIPPED, OccurrenceState.VOID)
    ]
    if bought is not None:
        left = db.session.get_one(Pengingat, reminder_id).details["persediaan"]["sisa"]
        assert left + sum(row.stock_deducted or 0 for row in rows) == bought


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("tipe", DETAILS)
def test_ledger_outbox_and_stock_agree_after_random_answers_and_changes(
    app: Flask, moment: Time, tipe: str, seed: int
) -> None:
    draw = random.Random(f"{tipe}{seed}")
    user_id = make_user().id
    bought = 5.0 if tipe == "obat" and seed % 2 == 0 else None
    reminder_id = make(user_id, tipe, **({"persediaan": {"sisa": bought}} if bought else {}))
    for _ in range(14):
        moment.move(minutes=draw.choice((1, 5, 29, 31, 55, 61, 180, 600, 1500)))
        jobs.top_up()
        if draw.random() < 0.7:
            jobs.miss_overdue()
            db.session.commit()  # a refused answer rolls back, so commit the job's changes first
        if draw.random() < 0.4:
            deliver(user_id, moment.now)
        if draw.random() < 0.2:
            change(draw, user_id, tipe, reminder_id, can_edit=bought is None)
        for _ in range(2):
            status = draw.choice(("done", "done", "skipped", "snooze"))
            match draw.choice(("app", "app", "link", "message", "undo")):
                case "app":
                    named = name_one(draw, reminder_id, moment.now) if draw.random() < 0.6 else {}
                    said = say(user_id, reminder_id, status, **named)
                    if said.startswith(status) and named:
                        assert say(user_id, reminder_id, status, **named) == said  # a second answer changes nothing
                case "link":
                    tap(draw, user_id, reminder_id, status)
                case "message":
                    reply(user_id, status)
                case "undo":
                    take_back(draw, reminder_id)
            check(reminder_id, bought)


def deliver(user_id: int, now: datetime) -> None:
    due = sa.update(Delivery).where(Delivery.user_id == user_id, Delivery.state.in_(OPEN), Delivery.due_at <= now)
    with unit_of_work():
        db.session.execute(due.values(state="sent", settled_at=now))


def change(draw: random.Random, user_id: int, tipe: str, reminder_id: int, *, can_edit: bool) -> None:
    """Make a random change: to the schedule, to `is_done`, or to the consent to health data."""
    match draw.choice(("edit", "done", "withdraw", "resume")):
        case "edit" if can_edit:
            changes: Any = {"details": draw.choice((DETAILS[tipe], OTHER_DETAILS[tipe]))}
        case "edit" | "done":
            changes = {"is_done": draw.random() < 0.7}
        case what:
            with unit_of_work():
                withdrawal.stop(user_id) if what == "withdraw" else withdrawal.resume(user_id)
            return
    with unit_of_work():
        service.update(user_id, reminder_id, changes)


def name_one(draw: random.Random, reminder_id: int, now: datetime) -> dict[str, Any]:
    """Return the `due_at` of a random occurrence, or the present time. Half of the results also contain the `slot`."""
    rows = sa.select(Occurrence.due_at, Occurrence.slot).filter_by(reminder_id=reminder_id)
    last = rows.where(Occurrence.due_at <= now).order_by(Occurrence.due_at.desc()).limit(6)
    coming = rows.where(Occurrence.due_at > now).order_by(Occurrence.due_at).limit(3)
    due_at, slot = draw.choice([*db.session.execute(last), *db.session.execute(coming), (now, "lain")])
    moment = {"due_at": due_at + timedelta(microseconds=draw.choice((0, 999_999)))}
    return {**moment, "slot": slot} if draw.random() < 0.5 else moment


@pytest.mark.parametrize("is_corrected", [False, True])
def test_a_skipped_row_of_an_old_schedule_does_not_extend_done_until(
    app: Flask, moment: Time, is_corrected: bool
) -> None:
    """After an edit of the schedule, a skipped occurrence of the old schedule must not extend `done_until`."""
    sunday = moment.now.replace(day=8, hour=3)
    user_id = make_user().id
    reminder_id = make(user_id, "terapi", jadwal=[{"hari": "minggu", "jam": "03:00"}])
    update(user_id, reminder_id, is_done=True)
    if not is_corrected:
        skip_ahead(reminder_id, sunday, moment.now)
    moment.move(minutes=5)
    update(user_id, reminder_id, details={"jadwal": [{"hari": day, "jam": "03:00"} for day in ("senin", "kamis")]})
    if is_corrected:
        skip_ahead(reminder_id, sunday, moment.now)
    moment.move(hours=2)
    assert say(user_id, reminder_id, "done") == "done 0"
    thursday = moment.now.replace(day=5, hour=3, minute=0)
    assert db.session.get_one(Pengingat, reminder_id).done_until == thursday


def test_a_dose_of_an_old_schedule_corrected_to_skipped_sets_no_done_until(app: Flask, moment: Time) -> None:
    user_id = make_user().id
    moment.move(minutes=30)
    monday = moment.now.replace(hour=2, minute=0)
    reminder_id = make(user_id, "terapi", jadwal=[{"hari": "senin", "jam": "02:00"}])
    assert say(user_id, reminder_id, "done") == "done 0"
    moment.move(minutes=10)
    update(user_id, reminder_id, details={"jadwal": [{"hari": "selasa", "jam": "03:00"}]})
    moment.move(minutes=5)
    assert say(user_id, reminder_id, "skipped", due_at=monday) == "skipped 0"
    moment.move(minutes=20)
    assert say(user_id, reminder_id, "done") == "done 0"
    assert db.session.get_one(Pengingat, reminder_id).done_until is None


def test_done_until_ends_at_the_next_dose_after_the_consent_is_renewed(app: Flask, moment: Time) -> None:
    user_id = make_user().id
    moment.now = moment.now.replace(hour=0, minute=0)
    reminder_id = make(user_id, "obat")
    moment.move(hours=24, minutes=5)
    jobs.top_up()
    db.session.commit()
    midnight = moment.now.replace(hour=0, minute=0)
    assert say(user_id, reminder_id, "skipped", due_at=midnight) == "skipped 0"
    skip_ahead(reminder_id, midnight.replace(hour=12), moment.now)
    with unit_of_work():
        withdrawal.stop(user_id)
    moment.move(minutes=5)
    assert say(user_id, reminder_id, "done", due_at=midnight) == "done 0"
    with unit_of_work():
        withdrawal.resume(user_id)
    assert db.session.get_one(Pengingat, reminder_id).done_until == midnight.replace(minute=50)


def update(user_id: int, reminder_id: int, **changes: Any) -> None:
    with unit_of_work():
        service.update(user_id, reminder_id, cast(Any, changes))


def skip_ahead(reminder_id: int, due_at: datetime, now: datetime) -> None:
    """Skip an occurrence far in advance. Old versions of the service allowed this."""
    with unit_of_work():
        skipped = sa.update(Occurrence).where(Occurrence.reminder_id == reminder_id, Occurrence.due_at == due_at)
        db.session.execute(skipped.values(state="skipped", answered_at=now, answered_via="app"))
        db.session.execute(
            sa.update(Delivery)
            .where(Delivery.about_id == reminder_id, Delivery.due_at == due_at)
            .values(state="cancelled")
        )
