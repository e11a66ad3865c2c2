"""The routes of reminders."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.pengingat.ledgers import Time


def test_a_medicine_is_one_reminder_of_every_dose(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    answer = siti.post("/pengingat/obat", obat)
    assert answer.status_code == 201
    created = answer.json
    assert created | {"id": 1, "created_at": "", "updated_at": ""} == {
        "id": 1,
        "tipe": "obat",
        "judul": "Obat diabetes",
        "waktu": "2026-03-02T12:00:00Z",
        "timezone": "Asia/Jakarta",
        "details": {**obat["details"], "aturan": "setelah makan"},
        "next_at": "2026-03-02T12:00:00Z",
        "is_done": False,
        "created_at": "",
        "updated_at": "",
    }
    assert siti.get(f"/pengingat/{created['id']}").json == created
    moment.move(hours=12)
    assert siti.get(f"/pengingat/{created['id']}").json["waktu"] == "2026-03-03T00:00:00Z"


def test_the_general_route_takes_medicines_too(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    answer = siti.post("/pengingat/", {**obat, "tipe": "obat"})
    assert answer.status_code == 201
    assert answer.json["waktu"] == "2026-03-02T12:00:00Z"


@pytest.mark.parametrize(
    ("tipe", "details"),
    [
        ("makan", {"sarapan": {"jam": "00:00", "karbohidrat": "nasi"}, "makan_siang": {}}),
        ("makan", {}),
        ("terapi", {"jenis_terapi": "Fisioterapi", "jadwal": [{"hari": "senin", "jam": "02:00"}]}),
        ("terapi", {}),
        ("kontrol", {"nama_dokter": "dr. Ani", "datetime": "2026-03-10T02:00:00Z", "frekuensi_kontrol": "1 bulan"}),
        ("kontrol", {"reminder_offsets": [{"offset": "1h"}, {"offset": "1d"}]}),
        ("kontrol", {"catatan": {"bawa": ["kartu", "hasil lab"]}}),
    ],
)
def test_details_come_back_as_sent(siti: Client, moment: Time, tipe: str, details: dict[str, Any]) -> None:
    sent = {"tipe": tipe, "judul": "Judul", "waktu": "2026-03-09T05:00:00Z", "details": details}
    answer = siti.post("/pengingat/", sent)
    assert answer.status_code == 201
    assert answer.json["details"] == details
    assert answer.json["waktu"] == "2026-03-09T05:00:00Z"


@pytest.mark.parametrize("alias", ["offsets", "reminders"])
def test_offsets_have_other_names(siti: Client, moment: Time, alias: str) -> None:
    sent = {"tipe": "kontrol", "judul": "K", "waktu": "2026-03-09T05:00:00Z"}
    answer = siti.post("/pengingat", {**sent, "details": {alias: [{"offset": "1h"}, {"offset": "1h"}]}})
    assert answer.json["details"] == {"reminder_offsets": [{"offset": "1h"}]}


OBAT = {
    "nama_obat": "M",
    "frekuensi": 1,
    "aturan": "saat makan",
    "jadwal": [{"jam": "00:00", "jumlah": 1, "satuan": "tablet"}],
}
DOSE = OBAT["jadwal"][0]  # type: ignore[index]


@pytest.mark.parametrize(
    "details",
    [
        None,
        [],
        "teks",
        {},
        {**OBAT, "nama_obat": ""},
        {**OBAT, "frekuensi": 2},
        {**OBAT, "frekuensi": 0, "jadwal": []},
        {**OBAT, "frekuensi": 1.5},
        {**OBAT, "frekuensi": 4, "jadwal": [{**DOSE, "jam": f"0{n}:00"} for n in range(4)]},
        {**OBAT, "frekuensi": 2, "jadwal": [DOSE, DOSE]},
        {**OBAT, "aturan": "sambil lari"},
        {**OBAT, "jadwal": [{**DOSE, "jam": "24:00"}]},
        {**OBAT, "jadwal": [{**DOSE, "jam": "7:00"}]},
        {**OBAT, "jadwal": [{**DOSE, "jam": 7}]},
        {**OBAT, "jadwal": [{**DOSE, "jumlah": 0}]},
        {**OBAT, "jadwal": [{**DOSE, "jumlah": -1}]},
        {**OBAT, "jadwal": [{**DOSE, "jumlah": "banyak"}]},
        {**OBAT, "jadwal": [{**DOSE, "satuan": None}]},
        {**OBAT, "jadwal": "00:00"},
        {**OBAT, "catatan": "x" * 20_000},
    ],
)
def test_a_wrong_medicine_is_refused(siti: Client, details: Any) -> None:
    assert_error(siti.post("/pengingat/obat", {"judul": "J", "details": details}), 400, field="details")


@pytest.mark.parametrize(
    ("tipe", "details"),
    [
        ("makan", {"sarapan": "nasi"}),
        ("makan", {"sarapan": {"jam": "25:00"}}),
        ("makan", {"sarapan": {"protein": 7}}),
        ("terapi", {"jadwal": [{"hari": "monday", "jam": "02:00"}]}),
        ("terapi", {"jadwal": [{"hari": "senin"}]}),
        ("terapi", {"jadwal": [{"hari": "senin", "jam": "02:00"}] * 2}),
        ("kontrol", {"datetime": "2026-03-10T02:00:00"}),
        ("kontrol", {"datetime": "besok"}),
        ("kontrol", {"reminder_offsets": [{"offset": "2d"}]}),
        ("kontrol", {"reminder_offsets": ["1h"]}),
        ("kontrol", {"offsets": "1h"}),
    ],
)
def test_wrong_details_are_refused(siti: Client, tipe: str, details: Any) -> None:
    sent = {"tipe": tipe, "judul": "J", "waktu": "2026-03-09T05:00:00Z", "details": details}
    assert_error(siti.post("/pengingat/", sent), 400, field="details")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tipe", "tidur"),
        ("tipe", None),
        ("judul", ""),
        ("judul", "x" * 201),
        ("waktu", "besok"),
        ("waktu", "2026-03-09T05:00:00"),
        ("waktu", None),
        ("waktu", "0001-01-01T00:00:00Z"),
        ("waktu", "9999-12-31T23:59:59Z"),
        ("timezone", "Mars/Olympus"),
        ("timezone", "America"),
        ("timezone", "WIB"),
        ("timezone", "../etc/passwd"),
        ("timezone", "x" * 5000),
        ("timezone", 7),
    ],
)
def test_wrong_fields_are_refused(siti: Client, field: str, value: Any) -> None:
    sent = {"tipe": "kontrol", "judul": "J", "waktu": "2026-03-09T05:00:00Z", "details": {}, field: value}
    assert_error(siti.post("/pengingat/", sent), 400, field=field)


def test_every_type_but_medicine_needs_its_time(siti: Client) -> None:
    for tipe in ("makan", "terapi", "kontrol"):
        assert_error(siti.post("/pengingat/", {"tipe": tipe, "judul": "J", "details": {}}), 400, field="waktu")


def test_the_list_is_the_callers_newest_first_by_type(
    siti: Client, moment: Time, obat: dict[str, Any], kontrol: dict[str, Any]
) -> None:
    first = siti.post("/pengingat/obat", obat).json["id"]
    second = siti.post("/pengingat/", kontrol).json["id"]
    stranger = siti.as_(make_user())
    stranger.post("/pengingat/", kontrol)
    assert [row["id"] for row in siti.get("/pengingat/").json] == [second, first]
    assert [row["id"] for row in siti.get("/pengingat?tipe=obat").json] == [first]
    page = siti.get("/pengingat/?page=2&per_page=1")
    assert [row["id"] for row in page.json] == [first]
    assert page.headers["X-Total-Count"] == "2"
    assert siti.get("/pengingat/?tipe=makan").json == []
    assert_error(siti.get("/pengingat/?tipe=tidur"), 400, field="tipe")


def test_a_list_costs_one_statement(siti: Client, moment: Time, obat: dict[str, Any], statements: Any) -> None:
    for _ in range(5):
        siti.post("/pengingat/obat", obat)
    with statements.at_most(2):  # one of them the session's
        siti.get("/pengingat/")


def test_a_change_merges_fields_and_replaces_details(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    created = siti.post("/pengingat/", kontrol).json
    changed = siti.put(f"/pengingat/{created['id']}", {"judul": "Baru"}).json
    assert changed | {"updated_at": ""} == {**created, "judul": "Baru", "updated_at": ""}
    changed = siti.put(f"/pengingat/{created['id']}", {"details": {"nama_dokter": "dr. Budi"}}).json
    assert changed["details"] == {"nama_dokter": "dr. Budi"}
    assert_error(siti.put(f"/pengingat/{created['id']}", {"tipe": "obat"}), 400, field="details")
    assert_error(siti.put(f"/pengingat/{created['id']}", {"judul": ""}), 400, field="judul")


def test_a_deleted_reminder_is_gone(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    created = siti.post("/pengingat/", kontrol).json
    assert siti.delete(f"/pengingat/{created['id']}").json == {"message": "Pengingat dihapus."}
    for answer in (siti.get(f"/pengingat/{created['id']}"), siti.delete(f"/pengingat/{created['id']}")):
        assert_error(answer, 404)


def test_a_strangers_reminder_is_no_record(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    created = siti.post("/pengingat/", kontrol).json
    stranger = siti.as_(make_user())
    for answer in (
        stranger.get(f"/pengingat/{created['id']}"),
        stranger.put(f"/pengingat/{created['id']}", {"judul": "Milikku"}),
        stranger.delete(f"/pengingat/{created['id']}"),
    ):
        assert_error(answer, 404)
    assert siti.get(f"/pengingat/{created['id']}").json == created


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/pengingat/"),
        ("POST", "/pengingat/obat"),
        ("GET", "/pengingat/"),
        ("GET", "/pengingat/1"),
        ("PUT", "/pengingat/1"),
        ("DELETE", "/pengingat/1"),
    ],
)
def test_nobody_has_no_reminders(client: Client, method: str, path: str) -> None:
    assert_error(client.open(method, path, {} if method in ("POST", "PUT") else None), 401)


def test_an_owner_cannot_be_named(siti: Client, moment: Time, kontrol: dict[str, Any]) -> None:
    other = make_user()
    created = siti.post("/pengingat/", {**kontrol, "user_id": other.id, "id": 77, "is_done": True}).json
    assert siti.as_(other).get("/pengingat/").json == []
    assert created["id"] != 77
    assert created["is_done"] is False


@pytest.mark.parametrize("number", [1e20, -1e30, 1.5, 2**63])
def test_a_number_beside_the_known_details_is_kept_whatever_its_size(
    siti: Client, moment: Time, obat: dict[str, Any], number: float
) -> None:
    sent = {**obat, "details": {**obat["details"], "catatan": {"angka": number}}}
    assert siti.post("/pengingat/obat", sent).status_code == 201
    (row,) = siti.get("/pengingat/").json
    assert row["details"]["catatan"] == {"angka": number}


@pytest.mark.parametrize(
    "moment_sent", ["0001-01-01T00:00:00+07:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-07:00"]
)
def test_a_moment_that_nothing_can_be_computed_from_is_refused(siti: Client, moment: Time, moment_sent: str) -> None:
    kontrol = {"tipe": "kontrol", "judul": "Kontrol", "waktu": "2026-03-10T02:00:00Z"}
    assert_error(siti.post("/pengingat/", {**kontrol, "details": {"datetime": moment_sent}}), 400, "validation_error")
    assert_error(siti.post("/pengingat/", {**kontrol, "waktu": moment_sent, "details": {}}), 400, "validation_error")


def test_an_offset_of_almost_a_day_is_a_moment_like_any_other(siti: Client, moment: Time) -> None:
    kontrol = {"tipe": "kontrol", "judul": "Kontrol", "waktu": "2026-03-10T23:59:00+23:59", "details": {}}
    created = siti.post("/pengingat/", kontrol)
    assert created.status_code == 201, created.json
    assert created.json["waktu"] == "2026-03-10T00:00:00Z"
