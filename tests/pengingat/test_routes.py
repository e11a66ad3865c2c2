"""Routes for reminders. test_managed.py tests access with `?patient_id=`.

The document describes types, lengths and enumerations. These tests refuse what it cannot describe.
"""

import pytest

from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.pengingat.answering import create

DOSE = {"jam": "00:00", "jumlah": 1, "satuan": "tablet"}
OBAT = {"nama_obat": "M", "frekuensi": 1, "aturan": "saat makan", "jadwal": [DOSE]}
NEW = {"judul": "Judul", "timezone": "Asia/Jakarta"}
WAKTU = "2026-03-09T05:00:00Z"
RAMADAN = {"mulai": "2026-03-03", "selesai": "2026-03-04", "jadwal": [{**DOSE, "jam": "21:00"}]}

#: Details of each type without a time of their own, which need `waktu`.
TIMELESS = [
    ("makan", {"sarapan": {"protein": "telur"}}),
    ("makan", {}),
    ("terapi", {"jadwal": []}),
    ("kontrol", {"datetime": None}),
]


def record(client, tipe, details, **fields):
    """Create a reminder, and return what the response says."""
    return create(client, {**NEW, "tipe": tipe, "details": details, **fields}).record


def withdraw(siti):
    assert siti.put("/profile/persetujuan", {"health_data": False}).status_code == 200


class TestCreateReminder:
    """POST /pengingat and POST /pengingat/obat"""

    @pytest.mark.parametrize("path", ["/pengingat", "/pengingat/obat"])
    def test_a_medicine_is_one_reminder_for_all_its_doses(self, siti, moment, obat, path):
        created = siti.post(path, obat if path == "/pengingat/obat" else {**obat, "tipe": "obat"}).ok(201)
        known = {name: value for name, value in created.items() if name not in ("id", "created_at", "updated_at")}
        assert known == {
            "tipe": "obat", "judul": "Obat diabetes", "waktu": "2026-03-02T12:00:00Z", "timezone": "Asia/Jakarta",
            "details": {**obat["details"], "aturan": "setelah makan"}, "is_done": False,
        }  # fmt: skip
        assert siti.get(f"/pengingat/{created['id']}").json == created
        moment.move(hours=12)
        assert siti.get(f"/pengingat/{created['id']}").json["waktu"] == "2026-03-03T00:00:00Z"

    def test_the_response_contains_details_and_waktu_unchanged(self, siti, moment, subtests):
        for tipe, details in (
            ("makan", {"sarapan": {"jam": "00:00", "karbohidrat": "nasi"}, "makan_siang": {}}),
            ("terapi", {"jenis_terapi": "Fisioterapi", "jadwal": [{"hari": "senin", "jam": "02:00"}]}),
            ("kontrol", {"nama_dokter": "dr. Ani", "datetime": "2026-03-10T02:00:00Z", "frekuensi_kontrol": "1 bulan"}),
            ("kontrol", {"reminder_offsets": [{"offset": "1h"}, {"offset": "1d"}]}),
            ("kontrol", {"catatan": {"bawa": ["kartu", "hasil lab"], "angka": [1e20, -1e30, 1.5, 2**63]}}),
            ("obat", {**OBAT, "petunjuk": "x" * 100}),
            ("obat", {**OBAT, "petunjuk": ""}),
            ("obat", {**OBAT, "petunjuk": None}),
            ("obat", {**OBAT, "petunjuk": "dr.Ani: 1/2 saja, pukul 07.30"}),
            *TIMELESS,
        ):
            with subtests.test(tipe, details=details):
                created = record(siti, tipe, details, waktu=WAKTU)
                assert created["details"] == details
                assert created["waktu"] == ("2026-03-03T00:00:00Z" if tipe == "obat" else WAKTU)

    def test_other_names_and_spellings_become_those_of_the_document(self, siti, moment):
        for alias in ("offsets", "reminders"):
            created = record(siti, "kontrol", {alias: [{"offset": "1h"}, {"offset": "1h"}]}, waktu=WAKTU)
            assert created["details"] == {"reminder_offsets": [{"offset": "1h"}]}
        assert record(siti, "obat", {**OBAT, "aturan": "bersama makan"})["details"]["aturan"] == "saat makan"
        late = record(siti, "kontrol", {}, waktu="2026-03-10T23:59:00+23:59")
        assert late["waktu"] == "2026-03-10T00:00:00Z"

    def test_waktu_is_optional_if_the_details_contain_a_time(self, siti, moment):
        for tipe, details, waktu in (
            ("makan", {"sarapan": {"jam": "23:00"}}, "2026-03-02T23:00:00Z"),
            ("terapi", {"jadwal": [{"hari": "senin", "jam": "02:00"}]}, "2026-03-02T02:00:00Z"),
            ("kontrol", {"datetime": "2026-03-10T02:00:00Z"}, "2026-03-10T02:00:00Z"),
        ):
            assert record(siti, tipe, details)["waktu"] == waktu

    def test_user_id_id_and_is_done_in_the_body_are_ignored(self, siti, moment, kontrol):
        other = make_user()
        created = siti.post("/pengingat/", {**kontrol, "user_id": other.id, "id": 2_000_000_000, "is_done": True}).json
        assert siti.as_(other).get("/pengingat/").json == []
        assert created["id"] != 2_000_000_000
        assert created["is_done"] is False

    def test_what_the_document_cannot_describe_is_refused(self, siti, moment, subtests):
        session = {"hari": "senin", "jam": "02:00"}
        visit = {"tipe": "kontrol", "waktu": WAKTU, "details": {}}
        at_the_end = ("0001-01-01T00:00:00+07:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-07:00")
        for field, fields in (
            *(("waktu", {"tipe": tipe, "details": details}) for tipe, details in TIMELESS),
            *(("waktu", {**visit, "waktu": waktu}) for waktu in at_the_end),
            *(("", {**visit, "details": {"datetime": waktu}}) for waktu in at_the_end),
            *(("timezone", {**visit, "timezone": zone}) for zone in ("WIB", "America", "../etc/passwd", "localtime")),
            ("details.jadwal", {"tipe": "terapi", "details": {"jadwal": [session] * 2}}),
            *(
                (f"details.{field}", {"tipe": "obat", "details": {**OBAT, **details}})
                for field, details in (
                    ("frekuensi", {"frekuensi": 2}),
                    ("frekuensi", {"frekuensi": 1.5}),
                    ("ingatkan_ulang_menit", {"ingatkan_ulang_menit": 10.5}),
                    ("jadwal", {"frekuensi": 2, "jadwal": [DOSE, DOSE]}),
                    ("jadwal.0.jumlah", {"jadwal": [{**DOSE, "jumlah": 0}]}),
                    ("petunjuk", {"petunjuk": "lihat judi.com"}),
                    ("petunjuk", {"petunjuk": "https://judi"}),
                    ("selesai", {"mulai": "2026-03-04", "selesai": "2026-03-03"}),
                    ("jadwal_sementara.selesai", {"jadwal_sementara": {**RAMADAN, "selesai": "2026-03-02"}}),
                    ("jadwal_sementara.jadwal", {"jadwal_sementara": {**RAMADAN, "jadwal": RAMADAN["jadwal"] * 2}}),
                    ("jadwal_sementara.jadwal", {"frekuensi": 2, "jadwal": [DOSE, {**DOSE, "jam": "12:00"}],
                                                 "jadwal_sementara": RAMADAN}),
                )
            ),
            ("details", {"tipe": "obat", "details": {**OBAT, "catatan": "x" * 20_000}}),
        ):  # fmt: skip
            with subtests.test(field, fields=str(fields)[:100]):
                assert_error(siti.post("/pengingat", {**NEW, **fields}), 400, "validation_error", field or None)
        assert siti.get("/pengingat").json == []

    def test_all_validation_errors_are_reported_together(self, siti, kontrol):
        def errors(answer):
            return sorted(answer.json["errors"])

        details = {"jadwal": [{"hari": "monday", "jam": "25:00"}]}
        sent = {"tipe": "terapi", "judul": "", "timezone": "WIB", "waktu": "besok", "details": details}
        wrong = ["details.jadwal.0.hari", "details.jadwal.0.jam", "judul", "timezone", "waktu"]
        assert errors(siti.post("/pengingat", sent)) == wrong
        assert errors(siti.post("/pengingat", {"tipe": "kontrol", "judul": "", "details": {}})) == ["judul", "waktu"]
        unknown = siti.post("/pengingat", {"tipe": "tidur", "judul": "", "details": []})
        assert errors(unknown) == ["details", "judul", "tipe"]
        obat = {**OBAT, "nama_obat": "", "jadwal": [{**DOSE, "jam": "24:00"}]}
        refused = siti.post("/pengingat/obat", {"judul": "x" * 201, "details": obat})
        assert errors(refused) == ["details.jadwal.0.jam", "details.nama_obat", "judul"]
        path = f"/pengingat/{siti.post('/pengingat', kontrol).json['id']}"
        changed = siti.put(path, {"judul": "x" * 201, "tipe": "kontrol", "details": {"datetime": "besok"}})
        assert errors(changed) == ["details.datetime", "judul"]

    @pytest.mark.parametrize("path", ["/pengingat", "/pengingat/obat"])
    def test_the_example_bodies_of_the_openapi_document_are_accepted(self, siti, path):
        operation = siti.get("/api/openapi.json").json["paths"][f"/api{path}"]["post"]
        (content,) = operation["requestBody"]["content"].values()
        examples = content["examples"] if path == "/pengingat" else {"obat": {"value": content["example"]}}
        assert set(examples) <= {"obat", "makan", "terapi", "kontrol"}
        for tipe, example in examples.items():
            response = siti.post(path, example["value"])
            assert (response.status_code, response.json["tipe"]) == (201, tipe), response.json
            assert response.json["details"].items() >= example["value"]["details"].items()


def test_every_change_needs_the_consent_to_health_data(siti, moment, obat, kontrol):
    path = create(siti, obat, persediaan={"sisa": 10}).path
    withdraw(siti)
    for method, at, body in (
        ("POST", "/pengingat", kontrol),
        ("POST", "/pengingat/obat", obat),
        ("PUT", path, {"judul": "Lain"}),
        ("POST", f"{path}/persediaan", {"tambah": 1}),
    ):
        assert_error(siti.open(method, at, body), 409, "consent_withdrawn")
    assert siti.delete(path).status_code == 200


class TestListReminders:
    """GET /pengingat"""

    def test_only_own_reminders_are_listed_newest_first_and_filtered_by_type(self, siti, moment, obat, kontrol):
        first = siti.post("/pengingat/obat", obat).json["id"]
        second = siti.post("/pengingat/", kontrol).json["id"]
        siti.as_(make_user()).post("/pengingat/", kontrol)
        assert [row["id"] for row in siti.get("/pengingat/").json] == [second, first]
        assert [row["id"] for row in siti.get("/pengingat?tipe=obat").json] == [first]
        page = siti.get("/pengingat/?page=2&per_page=1")
        assert [row["id"] for row in page.json] == [first]
        assert page.headers["X-Total-Count"] == "2"
        assert siti.get("/pengingat/?tipe=makan").json == []


class TestUpdateReminder:
    """PUT /pengingat/<pengingat_id>"""

    def test_an_update_merges_fields_but_replaces_details(self, siti, moment, kontrol):
        created = siti.post("/pengingat/", kontrol).json
        path = f"/pengingat/{created['id']}"
        changed = siti.put(path, {"judul": "Baru"}).json
        assert changed | {"updated_at": ""} == {**created, "judul": "Baru", "updated_at": ""}
        changed = siti.put(path, {"details": {"nama_dokter": "dr. Budi"}}).json
        assert changed["details"] == {"nama_dokter": "dr. Budi"}
        assert_error(siti.put(path, {"tipe": "obat"}), 400, field="details")

    @pytest.mark.parametrize(
        ("sent", "moved"), [({}, "2026-03-12T02:00:00Z"), ({"waktu": WAKTU}, WAKTU)], ids=["derived", "sent"]
    )
    def test_only_a_waktu_derived_from_the_details_changes_with_them(self, siti, moment, sent, moved):
        visit = {"nama_dokter": "dr. Ani", "datetime": "2026-03-10T02:00:00Z"}
        path = f"/pengingat/{record(siti, 'kontrol', visit, **sent)['id']}"
        assert siti.put(path, {"details": {**visit, "datetime": "2026-03-12T02:00:00Z"}}).json["waktu"] == moved
        assert siti.put(path, {"details": {}}).json["waktu"] == moved


class TestDeleteReminder:
    """DELETE /pengingat/<pengingat_id>"""

    def test_a_deleted_reminder_is_404(self, siti, moment, kontrol):
        path = f"/pengingat/{siti.post('/pengingat/', kontrol).json['id']}"
        assert siti.delete(path).json == {"message": "Pengingat dihapus."}
        for answer in (siti.get(path), siti.delete(path)):
            assert_error(answer, 404)


class TestAddStock:
    """POST /pengingat/<pengingat_id>/persediaan"""

    def test_a_purchase_is_added_to_the_stock(self, siti, moment, obat):
        medicine = create(siti, obat, persediaan={"sisa": 10})
        record = medicine.buy(30.5)
        assert record == medicine.record
        assert record["details"]["persediaan"] == {"sisa": 40.5, "ingatkan_hari": 7}

    def test_zero_or_more_than_the_maximum_stock_is_refused(self, siti, moment, obat):
        path = create(siti, obat, persediaan={"sisa": 999_999}).path
        for tambah in (0, 2):
            assert_error(siti.post(f"{path}/persediaan", {"tambah": tambah}), 400, field="tambah")

    def test_adding_to_a_reminder_without_a_stock_is_409(self, siti, moment, obat):
        path = create(siti, obat).path
        assert_error(siti.post(f"{path}/persediaan", {"tambah": 1}), 409, "stock_not_tracked")
