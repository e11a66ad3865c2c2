"""The answer of one statement leaves everything as the one that takes its time."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.core.errors import AppError
from app.identity.sessions import Reader
from app.notifications.models import Delivery
from app.pengingat import answers, jobs, ledger_schemas, service, swift, withdrawal
from app.pengingat.ledger_schemas import NewAnswer
from app.pengingat.models import Occurrence, Pengingat
from tests.helpers.factories import make_user, signed_in
from tests.pengingat.ledgers import Time

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


def say(by: Reader, reminder_id: int, status: str, **named: Any) -> str:
    db.session.commit()  # as before a request, which begins without a transaction
    try:
        with unit_of_work():
            row = answers.confirm_own(by, reminder_id, NewAnswer(status, 15, note=f"catatan {status}", **named))
            assert row.keys() == ledger_schemas.Occurrence().fields.keys()
            shown = [row[name] for name in ("state", "slot", "due_at", "answered_at", "answered_via", "late")]
            return " ".join(map(str, [*shown, row["snoozed_until"], row["undelivered"], row["tipe"], row["judul"]]))
    except AppError as error:
        return error.code


def left_by(reminder_id: int) -> list[Any]:
    """All that an answer may touch, of one reminder."""
    db.session.remove()
    reminder = db.session.get_one(Pengingat, reminder_id)
    rows = (
        sa.select(Occurrence).where(Occurrence.reminder_id == reminder_id).order_by(Occurrence.due_at, Occurrence.slot)
    )
    occurrences = [
        (row.due_at, row.slot, row.state, row.answered_at, row.answered_via, row.note, row.snoozes, row.taken)
        for row in db.session.scalars(rows)
    ]
    sent = sa.select(Delivery.due_at, Delivery.channel, Delivery.state).where(
        Delivery.subject == f"pengingat:{reminder_id}"
    )
    stock = reminder.details.get("persediaan")
    return [reminder.done_from, reminder.done_until, stock, occurrences, sorted(map(tuple, db.session.execute(sent)))]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tipe", DETAILS)
def test_both_ways_agree_whatever_is_said_when(
    app: Flask, moment: Time, monkeypatch: pytest.MonkeyPatch, tipe: str, seed: int
) -> None:
    draw = random.Random(f"{tipe}{seed}")
    user_id = make_user().id
    by = signed_in(user_id)
    details = {"persediaan": {"sisa": 5}} if tipe == "obat" and seed % 4 == 0 else {}
    swiftly, slowly = (make(user_id, tipe, **details) for _ in range(2))
    for _ in range(14):
        moment.move(minutes=draw.choice((1, 5, 29, 31, 55, 61, 180, 600, 1500)))
        jobs.top_up()
        if draw.random() < 0.7:
            jobs.miss_overdue()
            db.session.commit()  # lest a refusal below undoes it
        if draw.random() < 0.2:
            change_both(draw, user_id, tipe, swiftly, slowly)
        for named in ({}, name_one(draw, slowly, moment.now)) if draw.random() < 0.6 else ({},):
            status = draw.choice(("done", "done", "skipped", "snooze"))
            said = say(by, swiftly, status, **named)
            with monkeypatch.context() as patch:
                patch.setattr(swift, "answer", lambda *_: None)
                assert say(by, slowly, status, **named) == said
            assert left_by(swiftly) == left_by(slowly)


def change_both(draw: random.Random, user_id: int, tipe: str, *reminder_ids: int) -> None:
    """Another schedule and back, a dose said to be done, or health data withdrawn and given again later."""
    match draw.choice(("edit", "done", "withdraw", "resume")):
        case "edit":
            changes: Any = {"details": draw.choice((DETAILS[tipe], OTHER_DETAILS[tipe]))}
        case "done":
            changes = {"is_done": draw.random() < 0.7}
        case what:
            with unit_of_work():
                withdrawal.stop(user_id) if what == "withdraw" else withdrawal.resume(user_id)
            return
    for reminder_id in reminder_ids:
        with unit_of_work():
            service.update(user_id, reminder_id, changes)


def name_one(draw: random.Random, reminder_id: int, now: datetime) -> dict[str, Any]:
    """One of the last six or the next three, or none of them, with or without its slot."""
    rows = sa.select(Occurrence.due_at, Occurrence.slot).filter_by(reminder_id=reminder_id)
    last = rows.where(Occurrence.due_at <= now).order_by(Occurrence.due_at.desc()).limit(6)
    coming = rows.where(Occurrence.due_at > now).order_by(Occurrence.due_at).limit(3)
    due_at, slot = draw.choice([*db.session.execute(last), *db.session.execute(coming), (now, "lain")])
    moment = {"due_at": due_at + timedelta(microseconds=draw.choice((0, 999_999)))}
    return {**moment, "slot": slot} if draw.random() < 0.5 else moment


def test_a_plain_dose_is_answered_swiftly(app: Flask, moment: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    user_id = make_user().id
    by = signed_in(user_id)
    reminder_id = make(user_id, "obat")
    moment.move(hours=24)
    jobs.top_up()
    monkeypatch.setattr(answers.own, "locked_after_person", None)
    assert say(by, reminder_id, "done").startswith("done 1 ")
    assert say(by, reminder_id, "skipped").startswith("skipped 0 ")  # which was open still
    said = [say(by, reminder_id, "skipped") for _ in range(6)]  # what is open still, and a change of mind
    assert said[-1].startswith("skipped 1 ")
    moment.move(minutes=1)
    assert say(by, reminder_id, "skipped") == said[-1]  # sent again by a browser that heard no answer


def test_a_dose_that_is_named_is_answered_as_swiftly(app: Flask, moment: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    user_id = make_user().id
    by = signed_in(user_id)
    reminder_id = make(user_id, "obat")
    moment.move(hours=24)
    jobs.top_up()
    rows = sa.select(Occurrence.slot, Occurrence.due_at).filter_by(reminder_id=reminder_id)
    due = dict(db.session.execute(rows.where(Occurrence.due_at <= moment.now).order_by(Occurrence.due_at)).all())
    monkeypatch.setattr(answers.own, "locked_after_person", None)
    assert say(by, reminder_id, "done", due_at=due["1"]).startswith("done 1 ")
    assert say(by, reminder_id, "skipped", due_at=due["1"], slot="1").startswith("skipped 1 ")
    assert say(by, reminder_id, "skipped", due_at=due["0"]).startswith("skipped 0 ")  # one before the current


@pytest.mark.parametrize("is_corrected", [False, True])
def test_a_row_of_before_an_edit_is_no_dose_that_the_next_one_waits_for(
    app: Flask, moment: Time, monkeypatch: pytest.MonkeyPatch, is_corrected: bool
) -> None:
    """Done on Monday, a therapy does not count as done until the Sunday that was skipped ahead, before the edit or
    corrected after it."""
    sunday = moment.now.replace(day=8, hour=3)
    user_id = make_user().id
    by = signed_in(user_id)
    both = [make(user_id, "terapi", jadwal=[{"hari": "minggu", "jam": "03:00"}]) for _ in range(2)]
    for reminder_id in both:
        with unit_of_work():
            service.update(user_id, reminder_id, {"is_done": True})
        if not is_corrected:
            skip_ahead(reminder_id, sunday, moment.now)
    moment.move(minutes=5)
    days: Any = {"jadwal": [{"hari": day, "jam": "03:00"} for day in ("senin", "kamis")]}
    for reminder_id in both:
        with unit_of_work():
            service.update(user_id, reminder_id, {"details": days})
        if is_corrected:
            skip_ahead(reminder_id, sunday, moment.now)
    moment.move(hours=2)
    answer_both(monkeypatch, by, *both)
    thursday = moment.now.replace(day=5, hour=3, minute=0)
    assert [db.session.get_one(Pengingat, reminder_id).done_until for reminder_id in both] == [thursday] * 2


def test_a_dose_done_ahead_and_corrected_after_an_edit_is_not_the_current_one(
    app: Flask, moment: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_id = make_user().id
    by = signed_in(user_id)
    moment.move(minutes=30)
    monday = moment.now.replace(hour=2, minute=0)
    both = [make(user_id, "terapi", jadwal=[{"hari": "senin", "jam": "02:00"}]) for _ in range(2)]
    for reminder_id in both:
        assert say(by, reminder_id, "done").startswith("done 0 ")
    moment.move(minutes=10)
    for reminder_id in both:
        with unit_of_work():
            tuesdays: Any = {"jadwal": [{"hari": "selasa", "jam": "03:00"}]}
            service.update(user_id, reminder_id, {"details": tuesdays})
    moment.move(minutes=5)
    for reminder_id in both:
        assert say(by, reminder_id, "skipped", due_at=monday).startswith("skipped 0 ")
    moment.move(minutes=20)
    answer_both(monkeypatch, by, *both)
    assert db.session.get_one(Pengingat, both[0]).done_until is None


def test_a_dose_of_before_a_withdrawal_is_asked_about_again_after_it(
    app: Flask, moment: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_id = make_user().id
    by = signed_in(user_id)
    moment.now = moment.now.replace(hour=0, minute=0)
    both = [make(user_id, "obat") for _ in range(2)]
    moment.move(hours=24, minutes=5)
    jobs.top_up()
    db.session.commit()
    midnight = moment.now.replace(hour=0, minute=0)
    for reminder_id in both:
        say(by, reminder_id, "skipped", due_at=midnight)
        skip_ahead(reminder_id, midnight.replace(hour=12), moment.now)
    with unit_of_work():
        withdrawal.stop(user_id)
    moment.move(minutes=5)
    answer_both(monkeypatch, by, *both, due_at=midnight)
    with unit_of_work():
        withdrawal.resume(user_id)
    assert left_by(both[0]) == left_by(both[1])
    assert db.session.get_one(Pengingat, both[0]).done_until == midnight.replace(minute=50)


def skip_ahead(reminder_id: int, due_at: datetime, now: datetime) -> None:
    """Skip an occurrence far ahead, as people could before `too_early`."""
    with unit_of_work():
        skipped = sa.update(Occurrence).where(Occurrence.reminder_id == reminder_id, Occurrence.due_at == due_at)
        db.session.execute(skipped.values(state="skipped", answered_at=now, answered_via="app"))
        db.session.execute(
            sa.update(Delivery)
            .where(Delivery.subject == f"pengingat:{reminder_id}", Delivery.due_at == due_at)
            .values(state="cancelled")
        )


def answer_both(monkeypatch: pytest.MonkeyPatch, by: Reader, swiftly: int, slowly: int, **named: Any) -> None:
    said = say(by, swiftly, "done", **named)
    with monkeypatch.context() as patch:
        patch.setattr(swift, "answer", lambda *_: None)
        assert say(by, slowly, "done", **named) == said
    assert left_by(swiftly) == left_by(slowly)
