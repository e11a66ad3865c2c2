"""`is_done`: the occurrence that it is said of is quiet, and no other."""

from __future__ import annotations

from typing import Any

from app.pengingat import jobs
from tests.client import Client
from tests.pengingat.conftest import Time, waiting


def test_done_before_the_first_dose_quiets_that_one_alone(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    created = siti.post("/pengingat/obat", obat).json
    assert siti.put(f"/pengingat/{created['id']}", {"is_done": True}).json["is_done"] is True
    assert waiting() == ["03 00:00", "03 12:00"]
    moment.move(hours=22, minutes=59)
    assert siti.get(f"/pengingat/{created['id']}").json["is_done"] is True
    moment.move(minutes=1)
    assert siti.get(f"/pengingat/{created['id']}").json["is_done"] is False


def test_done_after_a_dose_never_silences_the_next(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    created = siti.post("/pengingat/obat", obat).json
    moment.move(hours=11, minutes=5)
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    assert waiting() == ["03 00:00", "03 12:00", "04 00:00"]
    moment.move(hours=13)
    jobs.top_up()
    assert siti.get(f"/pengingat/{created['id']}").json["is_done"] is False


def test_not_done_after_all_is_reminded_of_again(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    created = siti.post("/pengingat/obat", obat).json
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    answer = siti.put(f"/pengingat/{created['id']}", {"is_done": False}).json
    assert answer["is_done"] is False
    assert waiting() == waiting("push_fan_out") == ["02 12:00", "03 00:00", "03 12:00"]


def test_a_visit_that_is_done_stays_done(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    created = siti.post("/pengingat/", kontrol).json
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    assert waiting() == []
    moment.move(days=400)
    assert siti.get(f"/pengingat/{created['id']}").json["is_done"] is True


def test_a_new_schedule_of_something_done_is_not_done(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    created = siti.post("/pengingat/", kontrol).json
    done = siti.put(f"/pengingat/{created['id']}", {"is_done": True}).json
    moved = siti.put(f"/pengingat/{created['id']}", {**done, "waktu": "2026-03-03T04:00:00Z"}).json
    assert moved["is_done"] is False
    assert waiting() == ["02 04:00", "03 03:00"]
