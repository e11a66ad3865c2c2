"""The time of a reminder, `waktu`, that the service computes from the details."""

import pytest

from tests.helpers.client import assert_error

SENIN = {"jenis_terapi": "Fisioterapi", "jadwal": [{"hari": "senin", "jam": "02:00"}]}
SARAPAN = {"sarapan": {"jam": "23:00", "karbohidrat": "nasi"}}
VISIT = {"nama_dokter": "dr. Ani", "datetime": "2026-03-10T02:00:00Z"}


def make(siti, tipe, details, **fields):
    answer = siti.post("/pengingat/", {"tipe": tipe, "judul": "Judul", "details": details, **fields})
    assert answer.status_code == 201, answer.json
    return answer.json


@pytest.mark.parametrize(
    ("tipe", "details", "waktu"),
    [
        ("makan", SARAPAN, "2026-03-02T23:00:00Z"),
        ("terapi", SENIN, "2026-03-02T02:00:00Z"),
        ("kontrol", VISIT, "2026-03-10T02:00:00Z"),
    ],
)
def test_waktu_is_optional_if_the_details_contain_a_time(siti, moment, tipe, details, waktu):
    assert make(siti, tipe, details)["waktu"] == waktu


@pytest.mark.parametrize(
    ("tipe", "details"),
    [("makan", {"sarapan": {"protein": "telur"}}), ("terapi", {"jadwal": []}), ("kontrol", {"datetime": None})],
)
def test_waktu_is_required_if_the_details_contain_no_time(siti, tipe, details):
    sent = {"tipe": tipe, "judul": "J", "details": details}
    assert_error(siti.post("/pengingat/", sent), 400, field="waktu")


def test_a_waktu_derived_from_the_details_changes_with_them(siti, moment):
    path = f"/pengingat/{make(siti, 'kontrol', VISIT)['id']}"
    moved = siti.put(path, {"details": {**VISIT, "datetime": "2026-03-12T02:00:00Z"}}).json
    assert moved["waktu"] == "2026-03-12T02:00:00Z"
    without = siti.put(path, {"details": {}}).json
    assert without["waktu"] == "2026-03-12T02:00:00Z"


def test_a_waktu_that_was_sent_stays(siti, moment):
    path = f"/pengingat/{make(siti, 'kontrol', VISIT, waktu='2026-03-09T05:00:00Z')['id']}"
    moved = siti.put(path, {"details": {**VISIT, "datetime": "2026-03-12T02:00:00Z"}}).json
    assert moved["waktu"] == "2026-03-09T05:00:00Z"
