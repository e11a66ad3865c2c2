"""Stored fields of a reminder, including alternative field names and unusual values."""

import pytest

from tests.helpers.client import assert_error


@pytest.mark.parametrize("alias", ["offsets", "reminders"])
def test_reminder_offsets_accept_alternative_field_names(siti, moment, alias):
    sent = {"tipe": "kontrol", "judul": "K", "waktu": "2026-03-09T05:00:00Z"}
    answer = siti.post("/pengingat", {**sent, "details": {alias: [{"offset": "1h"}, {"offset": "1h"}]}})
    assert answer.json["details"] == {"reminder_offsets": [{"offset": "1h"}]}


def test_the_reminder_list_needs_one_statement(siti, moment, obat, statements):
    for _ in range(5):
        siti.post("/pengingat/obat", obat)
    with statements.at_most(2):  # one statement for the session, and one for the reminders
        siti.get("/pengingat/")


@pytest.mark.parametrize("number", [1e20, -1e30, 1.5, 2**63])
def test_a_number_of_any_size_in_an_unknown_detail_is_stored_unchanged(siti, moment, obat, number):
    sent = {**obat, "details": {**obat["details"], "catatan": {"angka": number}}}
    assert siti.post("/pengingat/obat", sent).status_code == 201
    (row,) = siti.get("/pengingat/").json
    assert row["details"]["catatan"] == {"angka": number}


@pytest.mark.parametrize(
    "moment_sent", ["0001-01-01T00:00:00+07:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-07:00"]
)
def test_a_time_at_the_limit_of_the_calendar_is_refused(siti, moment, moment_sent):
    kontrol = {"tipe": "kontrol", "judul": "Kontrol", "waktu": "2026-03-10T02:00:00Z"}
    assert_error(siti.post("/pengingat/", {**kontrol, "details": {"datetime": moment_sent}}), 400, "validation_error")
    assert_error(siti.post("/pengingat/", {**kontrol, "waktu": moment_sent, "details": {}}), 400, "validation_error")


def test_a_utc_offset_of_almost_a_day_is_accepted(siti, moment):
    kontrol = {"tipe": "kontrol", "judul": "Kontrol", "waktu": "2026-03-10T23:59:00+23:59", "details": {}}
    created = siti.post("/pengingat/", kontrol)
    assert created.status_code == 201, created.json
    assert created.json["waktu"] == "2026-03-10T00:00:00Z"


def test_a_new_reminder_takes_ten_statements(siti, obat, statements):
    with statements.at_most(10):
        assert siti.post("/pengingat/obat", obat).status_code == 201
