"""Doses that are marked as done up to an hour in advance. They count as done only from their due time on."""

import pytest

from app.pengingat import jobs
from tests.pengingat.ledgers import ledger, waiting
from tests.pengingat.stock import left, make

#: Due times of this evening: 19:00, 19:40 and 20:10 in Jakarta. The present time is 19:15.
LAST, NEXT, SECOND = "2026-03-02T12:00:00Z", "2026-03-02T12:40:00Z", "2026-03-02T13:10:00Z"


@pytest.fixture
def path(siti, moment, obat):
    path = make(siti, at(obat, "12:00", "12:40", "13:10"), 10)
    moment.move(hours=11, minutes=15)
    jobs.top_up()
    return path


def at(obat, *times):
    """Return the request body with doses at these times of day in UTC."""
    jadwal = [{"jam": jam, "jumlah": 1, "satuan": "tablet"} for jam in times]
    return {**obat, "details": {**obat["details"], "frekuensi": len(jadwal), "jadwal": jadwal}}


def say(siti, path, status, due_at):
    assert siti.post(f"{path}/konfirmasi", {"status": status, "due_at": due_at}).status_code == 200


def is_done(siti, path):
    return bool(siti.get(path).json["is_done"])


def test_a_dose_done_in_advance_counts_as_done_from_its_due_time(siti, moment, path):
    say(siti, path, "done", NEXT)
    assert not is_done(siti, path)  # the dose of 19:00 has no answer
    moment.move(minutes=30)
    assert is_done(siti, path)
    moment.move(minutes=30)
    assert not is_done(siti, path)


def test_is_done_stays_true_over_consecutive_doses_done_in_advance(siti, moment, path):
    siti.put(path, {"is_done": True})
    for due_at in (NEXT, SECOND):
        say(siti, path, "done", due_at)
        assert is_done(siti, path)
    moment.move(hours=23, minutes=44)
    jobs.top_up()
    assert is_done(siti, path)
    moment.move(minutes=1)
    assert not is_done(siti, path)


def test_an_unanswered_dose_between_two_done_doses_keeps_its_message(siti, moment, path):
    siti.put(path, {"is_done": True})
    say(siti, path, "done", SECOND)
    assert "02 12:40" in waiting()
    assert is_done(siti, path)
    moment.move(minutes=30)
    assert not is_done(siti, path)
    say(siti, path, "skipped", NEXT)
    moment.move(minutes=30)
    assert is_done(siti, path)


def test_a_dose_done_in_advance_can_be_changed_to_skipped(siti, moment, path):
    siti.put(path, {"is_done": True})
    say(siti, path, "done", NEXT)
    say(siti, path, "skipped", NEXT)
    assert is_done(siti, path)
    moment.move(minutes=30)
    assert not is_done(siti, path)


def test_resetting_is_done_of_the_current_dose_keeps_a_dose_done_in_advance(siti, moment, path):
    siti.put(path, {"is_done": True})
    say(siti, path, "done", NEXT)
    assert siti.put(path, {"is_done": False}).json["is_done"] is False
    assert ledger()[:2] == ["02 12:00 0 pending", "02 12:40 1 done"]
    moment.move(minutes=30)
    assert is_done(siti, path)


def test_skipping_the_current_dose_keeps_a_dose_done_in_advance(siti, moment, path):
    siti.put(path, {"is_done": True})
    for status in ("done", "skipped"):
        say(siti, path, "done", NEXT)
        say(siti, path, status, LAST)
        assert is_done(siti, path) == (status == "done")
    moment.move(minutes=30)
    assert is_done(siti, path)


def test_resetting_is_done_applies_to_the_last_due_dose(siti, moment, path):
    siti.put(path, {"is_done": True})
    say(siti, path, "done", NEXT)
    moment.move(minutes=15)
    assert siti.put(path, {"is_done": False}).json["is_done"] is False
    assert ledger()[:2] == ["02 12:00 0 pending", "02 12:40 1 done"]
    assert "02 12:40" not in waiting()


def test_a_dose_done_in_advance_reduces_the_stock_once(siti, moment, path):
    for _ in range(2):
        say(siti, path, "done", NEXT)
    moment.move(minutes=30)
    assert left(siti, path) == 9
    assert is_done(siti, path)
