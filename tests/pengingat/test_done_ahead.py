"""What is said of a dose long before it: it counts as done from its own moment on, and not before."""

from __future__ import annotations

from typing import Any

import pytest

from app.pengingat import jobs
from tests.client import Client
from tests.pengingat.conftest import Time, ledger, waiting
from tests.pengingat.stock import left, make

#: The dose of last evening, at 19:00 WIB, and the next two, at 07:00 and 19:00; it is 05:00.
LAST, NEXT, SECOND = "2026-03-02T12:00:00Z", "2026-03-03T00:00:00Z", "2026-03-03T12:00:00Z"


@pytest.fixture
def path(siti: Client, moment: Time, obat: dict[str, Any]) -> str:
    made = siti.post("/pengingat/obat", obat).json
    moment.move(hours=21)
    jobs.top_up()
    return f"/pengingat/{made['id']}"


def say(siti: Client, path: str, status: str, due_at: str) -> None:
    assert siti.post(f"{path}/konfirmasi", {"status": status, "due_at": due_at}).status_code == 200


def shown(siti: Client, path: str) -> tuple[bool, str]:
    """Whether it is done, which list has it, and what comes next."""
    record = siti.get(path).json
    for is_done in (True, False):
        listed = [row["id"] for row in siti.get("/pengingat/", query_string={"is_done": str(is_done).lower()}).json]
        assert (record["id"] in listed) == (record["is_done"] == is_done)
    return record["is_done"], record["next_at"]


def test_a_dose_done_ahead_is_done_when_its_time_comes(siti: Client, moment: Time, path: str) -> None:
    say(siti, path, "done", NEXT)
    assert shown(siti, path) == (False, SECOND)  # of the last one nobody said anything
    moment.move(hours=3)
    assert shown(siti, path) == (True, SECOND)
    moment.move(hours=12)
    jobs.top_up()
    assert shown(siti, path) == (False, "2026-03-04T00:00:00Z")


def test_after_one_that_is_done_it_goes_on_being_done(siti: Client, moment: Time, path: str) -> None:
    siti.put(path, {"is_done": True})
    for due_at in (NEXT, SECOND):
        say(siti, path, "done", due_at)
        assert shown(siti, path)[0]
    assert shown(siti, path)[1] == "2026-03-04T00:00:00Z"
    moment.move(hours=25)
    jobs.top_up()
    assert shown(siti, path)[0]
    moment.move(hours=1)
    assert not shown(siti, path)[0]


def test_what_is_between_two_that_are_done_is_asked_for(siti: Client, moment: Time, path: str) -> None:
    siti.put(path, {"is_done": True})
    say(siti, path, "done", SECOND)
    assert "03 00:00" in waiting()
    assert shown(siti, path) == (True, NEXT)
    moment.move(hours=3)
    assert not shown(siti, path)[0]
    say(siti, path, "skipped", NEXT)
    moment.move(hours=12)
    assert shown(siti, path)[0]


def test_a_change_of_mind_about_it_is_heard(siti: Client, moment: Time, path: str) -> None:
    siti.put(path, {"is_done": True})
    say(siti, path, "done", NEXT)
    say(siti, path, "skipped", NEXT)
    assert shown(siti, path) == (True, NEXT)
    moment.move(hours=3)
    assert not shown(siti, path)[0]


def test_the_last_one_not_done_after_all_leaves_it(siti: Client, moment: Time, path: str) -> None:
    siti.put(path, {"is_done": True})
    say(siti, path, "done", NEXT)
    assert siti.put(path, {"is_done": False}).json["is_done"] is False
    assert ledger()[:2] == ["02 12:00 1 pending", "03 00:00 0 done"]
    moment.move(hours=3)
    assert shown(siti, path) == (True, SECOND)


def test_the_last_one_skipped_after_all_leaves_it(siti: Client, moment: Time, path: str) -> None:
    siti.put(path, {"is_done": True})
    for status in ("done", "skipped"):
        say(siti, path, "done", NEXT)
        say(siti, path, status, LAST)
        assert shown(siti, path) == (status == "done", SECOND)
    moment.move(hours=3)
    assert shown(siti, path)[0]


def test_in_the_hour_before_it_not_done_is_said_of_it(siti: Client, moment: Time, path: str) -> None:
    siti.put(path, {"is_done": True})
    say(siti, path, "done", NEXT)
    moment.move(hours=2, minutes=30)
    assert siti.put(path, {"is_done": False}).json["is_done"] is False
    assert ledger()[:2] == ["02 12:00 1 done", "03 00:00 0 pending"]
    assert "03 00:00" in waiting()


def test_another_schedule_knows_nothing_of_it(siti: Client, moment: Time, path: str, obat: dict[str, Any]) -> None:
    say(siti, path, "done", NEXT)
    jadwal = [{**dose, "jam": jam} for dose, jam in zip(obat["details"]["jadwal"], ("23:00", "15:00"), strict=True)]
    siti.put(path, {"details": {**obat["details"], "jadwal": jadwal}})
    moment.move(hours=1, minutes=30)
    say(siti, path, "skipped", "2026-03-02T23:00:00Z")
    moment.move(minutes=45)
    assert shown(siti, path) == (False, "2026-03-03T15:00:00Z")


def test_its_stock_is_taken_once(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 10)
    moment.move(hours=21)
    jobs.top_up()
    before = left(siti, path)
    for _ in range(2):
        say(siti, path, "done", NEXT)
    moment.move(hours=3)
    assert left(siti, path) == before - obat["details"]["jadwal"][0]["jumlah"]
    assert shown(siti, path)[0]
