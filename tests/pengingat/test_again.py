"""Second message about an unanswered dose (`ingatkan_ulang_menit`)."""

import pytest

from tests.helpers.client import assert_error
from tests.pengingat.ledgers import ledger, waiting


def medicine(obat, minutes, *jam):
    jadwal = [{"jam": each, "jumlah": 1, "satuan": "tablet"} for each in jam or ("12:00",)]
    details = {**obat["details"], "frekuensi": len(jadwal), "jadwal": jadwal, "ingatkan_ulang_menit": minutes}
    return {**obat, "details": details}


def test_a_dose_gets_a_second_message_unless_it_is_answered(siti, moment, obat):
    created = siti.post("/pengingat/obat", medicine(obat, 30)).json
    assert waiting() == waiting("push_fan_out") == ["02 12:00", "02 12:30", "03 12:00", "03 12:30"]
    assert ledger() == ["02 12:00 0 pending", "03 12:00 0 pending"]
    moment.move(hours=11, minutes=5)
    siti.post(f"/pengingat/{created['id']}/konfirmasi", {"status": "done"})
    assert "02 12:30" not in waiting()


def test_an_edit_can_remove_or_add_the_queued_second_messages(siti, moment, obat):
    created = siti.post("/pengingat/obat", medicine(obat, 30)).json
    details = {name: value for name, value in created["details"].items() if name != "ingatkan_ulang_menit"}
    siti.put(f"/pengingat/{created['id']}", {"details": details})
    assert waiting() == ["02 12:00", "03 12:00"]
    siti.put(f"/pengingat/{created['id']}", {"details": {**details, "ingatkan_ulang_menit": 30}})
    assert waiting() == ["02 12:00", "02 12:30", "03 12:00", "03 12:30"]


@pytest.mark.parametrize(("before", "after"), [(60, 10), (10, 60)])
def test_a_changed_interval_moves_the_second_messages_also_of_a_due_dose(siti, moment, obat, before, after):
    created = siti.post("/pengingat/obat", medicine(obat, before)).json
    moment.move(hours=11, minutes=5)
    siti.put(f"/pengingat/{created['id']}", {"details": {**created["details"], "ingatkan_ulang_menit": after}})
    again = {10: ["02 12:10", "03 12:10"], 60: ["02 13:00", "03 13:00"]}
    assert [each for each in waiting() if not each.endswith("12:00")] == again[after]


@pytest.mark.parametrize(
    ("jam", "due"),
    [
        ("14:45", ["02 14:45"]),  # 21:45 in Jakarta: no repeat, because 22:15 would be at night
        ("15:00", ["02 15:00", "02 15:30"]),  # 22:00 in Jakarta: repeated, because the dose itself is at night
        ("22:10", ["02 22:10", "02 22:40"]),  # 05:10 and 05:40 in Jakarta
    ],
)
def test_a_second_message_is_queued_at_night_only_if_the_dose_is_at_night(siti, moment, obat, jam, due):
    siti.post("/pengingat/obat", medicine(obat, 30, jam))
    assert [each for each in waiting() if each.startswith("02")] == due


def test_no_second_message_is_queued_at_the_time_of_the_next_dose(siti, moment, obat):
    siti.post("/pengingat/obat", medicine(obat, 30, "04:00", "04:30"))
    assert waiting()[:3] == ["02 04:00", "02 04:30", "02 05:00"]
    assert waiting().count("02 04:30") == 1


def test_a_snoozed_dose_gets_no_second_message(siti, moment, obat):
    created = siti.post("/pengingat/obat", medicine(obat, 20)).json
    moment.move(hours=11, minutes=5)
    siti.post(f"/pengingat/{created['id']}/konfirmasi", {"status": "snooze", "minutes": 15})
    assert waiting()[:2] == ["02 12:20", "03 12:00"]


@pytest.mark.parametrize("minutes", [9, 61, 10.5, "lama", True])
def test_an_invalid_interval_of_the_second_message_is_refused(siti, moment, obat, minutes):
    assert_error(siti.post("/pengingat/obat", medicine(obat, minutes)), 400, field="details.ingatkan_ulang_menit")
