"""Routes for reminders. test_managed.py tests access with `?patient_id=`."""

import pytest

from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.pengingat.stock import left, make

OBAT = {
    "nama_obat": "M",
    "frekuensi": 1,
    "aturan": "saat makan",
    "jadwal": [{"jam": "00:00", "jumlah": 1, "satuan": "tablet"}],
}
DOSE = OBAT["jadwal"][0]


def assert_own(siti, method, path, body=None):
    """Check that another person gets 404, and a request without a token 401."""
    assert_error(siti.as_(make_user()).open(method, path, body), 404, "not_found")
    assert_error(Client(siti.app).open(method, path, body), 401, "unauthorized")


@pytest.fixture
def visit(siti, moment, kontrol):
    return dict(siti.post("/pengingat/", kontrol).json)


def withdraw(siti):
    assert siti.put("/profile/persetujuan", {"health_data": False}).status_code == 200


class TestCreateReminder:
    """POST /pengingat"""

    def test_the_general_route_accepts_medicines(self, siti, moment, obat):
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
    def test_the_response_contains_the_details_unchanged(self, siti, moment, tipe, details):
        sent = {"tipe": tipe, "judul": "Judul", "waktu": "2026-03-09T05:00:00Z", "details": details}
        answer = siti.post("/pengingat/", sent)
        assert answer.status_code == 201
        assert answer.json["details"] == details
        assert answer.json["waktu"] == "2026-03-09T05:00:00Z"

    def test_user_id_id_and_is_done_in_the_body_are_ignored(self, siti, moment, kontrol):
        other = make_user()
        created = siti.post("/pengingat/", {**kontrol, "user_id": other.id, "id": 77, "is_done": True}).json
        assert siti.as_(other).get("/pengingat/").json == []
        assert created["id"] != 77
        assert created["is_done"] is False

    def test_waktu_is_required_for_every_type_except_medicine(self, siti):
        for tipe in ("makan", "terapi", "kontrol"):
            assert_error(siti.post("/pengingat/", {"tipe": tipe, "judul": "J", "details": {}}), 400, field="waktu")

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
    def test_wrong_fields_are_refused(self, siti, field, value):
        sent = {"tipe": "kontrol", "judul": "J", "waktu": "2026-03-09T05:00:00Z", "details": {}, field: value}
        assert_error(siti.post("/pengingat/", sent), 400, field=field)

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
    def test_wrong_details_are_refused(self, siti, tipe, details):
        sent = {"tipe": tipe, "judul": "J", "waktu": "2026-03-09T05:00:00Z", "details": details}
        assert_error(siti.post("/pengingat/", sent), 400, field="details")

    def test_all_validation_errors_are_reported_together(self, siti):
        details = {"jadwal": [{"hari": "monday", "jam": "25:00"}]}
        sent = {"tipe": "terapi", "judul": "", "timezone": "WIB", "waktu": "besok", "details": details}
        wrong = ["details.jadwal.0.hari", "details.jadwal.0.jam", "judul", "timezone", "waktu"]
        assert sorted(siti.post("/pengingat", sent).json["errors"]) == wrong
        visit = siti.post("/pengingat", {"tipe": "kontrol", "judul": "", "details": {}})
        assert sorted(visit.json["errors"]) == ["judul", "waktu"]
        unknown = siti.post("/pengingat", {"tipe": "tidur", "judul": "", "details": []})
        assert sorted(unknown.json["errors"]) == ["details", "judul", "tipe"]

    def test_without_a_token_is_401_and_without_consent_409(self, siti, client, kontrol):
        assert_error(client.post("/pengingat/", {}), 401, "unauthorized")
        withdraw(siti)
        assert_error(siti.post("/pengingat", kontrol), 409, "consent_withdrawn")


@pytest.mark.parametrize("path", ["/pengingat", "/pengingat/obat"])
def test_the_example_bodies_of_the_openapi_document_are_accepted(siti, path):
    (content,) = siti.get("/api/openapi.json").json["paths"][f"/api{path}"]["post"]["requestBody"]["content"].values()
    examples = content["examples"] if path == "/pengingat" else {"obat": {"value": content["example"]}}
    assert set(examples) <= {"obat", "makan", "terapi", "kontrol"}
    for tipe, example in examples.items():
        response = siti.post(path, example["value"])
        assert (response.status_code, response.json["tipe"]) == (201, tipe), response.json
        assert response.json["details"].items() >= example["value"]["details"].items()


class TestCreateObatReminder:
    """POST /pengingat/obat"""

    def test_a_medicine_is_one_reminder_for_all_its_doses(self, siti, moment, obat):
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
            "is_done": False,
            "created_at": "",
            "updated_at": "",
        }
        assert siti.get(f"/pengingat/{created['id']}").json == created
        moment.move(hours=12)
        assert siti.get(f"/pengingat/{created['id']}").json["waktu"] == "2026-03-03T00:00:00Z"

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
    def test_a_wrong_medicine_is_refused(self, siti, details):
        assert_error(siti.post("/pengingat/obat", {"judul": "J", "details": details}), 400, field="details")

    def test_all_validation_errors_are_reported_together(self, siti):
        details = {**OBAT, "nama_obat": "", "jadwal": [{**DOSE, "jam": "24:00"}]}
        refused = siti.post("/pengingat/obat", {"judul": "x" * 201, "details": details})
        assert sorted(refused.json["errors"]) == ["details.jadwal.0.jam", "details.nama_obat", "judul"]

    @pytest.mark.parametrize("petunjuk", ["x" * 101, 7, "lihat judi.com", "https://judi.com"])
    def test_a_petunjuk_that_is_too_long_or_has_a_link_is_refused(self, siti, petunjuk):
        sent = {"judul": "J", "details": {**OBAT, "petunjuk": petunjuk}}
        assert_error(siti.post("/pengingat/obat", sent), 400, field="details.petunjuk")

    @pytest.mark.parametrize("petunjuk", ["x" * 100, "", None, "dr.Ani: 1/2 saja, pukul 07.30"])
    def test_the_response_contains_the_petunjuk_unchanged(self, siti, petunjuk):
        sent = {"judul": "J", "details": {**OBAT, "petunjuk": petunjuk}}
        assert siti.post("/pengingat/obat", sent).json["details"]["petunjuk"] == petunjuk

    def test_without_a_token_is_401_and_without_consent_409(self, siti, client, obat):
        assert_error(client.post("/pengingat/obat", {}), 401, "unauthorized")
        withdraw(siti)
        assert_error(siti.post("/pengingat/obat", obat), 409, "consent_withdrawn")


class TestListReminders:
    """GET /pengingat"""

    def test_only_own_reminders_are_listed_newest_first_and_filtered_by_type(self, siti, moment, obat, kontrol):
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


class TestGetReminder:
    """GET /pengingat/<pengingat_id>"""

    def test_only_the_owner_can_read_a_reminder(self, siti, visit):
        path = f"/pengingat/{visit['id']}"
        assert siti.get(path).json == visit
        assert_own(siti, "GET", path)


class TestUpdateReminder:
    """PUT /pengingat/<pengingat_id>"""

    def test_an_update_merges_fields_but_replaces_details(self, siti, moment, kontrol):
        created = siti.post("/pengingat/", kontrol).json
        changed = siti.put(f"/pengingat/{created['id']}", {"judul": "Baru"}).json
        assert changed | {"updated_at": ""} == {**created, "judul": "Baru", "updated_at": ""}
        changed = siti.put(f"/pengingat/{created['id']}", {"details": {"nama_dokter": "dr. Budi"}}).json
        assert changed["details"] == {"nama_dokter": "dr. Budi"}
        assert_error(siti.put(f"/pengingat/{created['id']}", {"tipe": "obat"}), 400, field="details")
        assert_error(siti.put(f"/pengingat/{created['id']}", {"judul": ""}), 400, field="judul")

    def test_all_validation_errors_are_reported_together(self, siti, visit):
        wrong = {**visit, "judul": "x" * 201, "details": {"datetime": "besok"}}
        refused = siti.put(f"/pengingat/{visit['id']}", wrong)
        assert sorted(refused.json["errors"]) == ["details.datetime", "judul"]

    def test_only_the_owner_with_consent_can_update_a_reminder(self, siti, visit):
        path = f"/pengingat/{visit['id']}"
        assert_own(siti, "PUT", path, {"judul": "Milikku"})
        assert siti.get(path).json == visit
        withdraw(siti)
        assert_error(siti.put(path, {"judul": "Lain"}), 409, "consent_withdrawn")


class TestDeleteReminder:
    """DELETE /pengingat/<pengingat_id>"""

    def test_a_deleted_reminder_is_404(self, siti, moment, kontrol):
        created = siti.post("/pengingat/", kontrol).json
        assert siti.delete(f"/pengingat/{created['id']}").json == {"message": "Pengingat dihapus."}
        for answer in (siti.get(f"/pengingat/{created['id']}"), siti.delete(f"/pengingat/{created['id']}")):
            assert_error(answer, 404)

    def test_only_the_owner_can_delete_a_reminder(self, siti, visit):
        path = f"/pengingat/{visit['id']}"
        assert_own(siti, "DELETE", path)
        assert siti.get(path).json == visit


class TestAddStock:
    """POST /pengingat/<pengingat_id>/persediaan"""

    def test_a_purchase_is_added_to_the_stock(self, siti, moment, obat):
        path = make(siti, obat, 10)
        record = siti.post(f"{path}/persediaan", {"tambah": 30.5})
        assert record.status_code == 200
        assert record.json == siti.get(path).json
        assert record.json["details"]["persediaan"] == {"sisa": 40.5, "ingatkan_hari": 7}

    @pytest.mark.parametrize("tambah", [0, -1, None, "banyak", 100_001, [], {}])
    def test_an_invalid_amount_is_refused(self, siti, moment, obat, tambah):
        path = make(siti, obat, 10)
        assert_error(siti.post(f"{path}/persediaan", {"tambah": tambah}), 400, field="tambah")
        assert left(siti, path) == 10

    def test_an_amount_that_exceeds_the_maximum_stock_is_refused(self, siti, moment, obat):
        path = make(siti, obat, 999_999)
        assert_error(siti.post(f"{path}/persediaan", {"tambah": 2}), 400, field="tambah")

    def test_only_the_owner_can_add_to_the_stock(self, siti, client, moment, obat):
        path = make(siti, obat, 10)
        assert_error(siti.as_(make_user()).post(f"{path}/persediaan", {"tambah": 1}), 404)
        assert_error(client.post(f"{path}/persediaan", {"tambah": 1}), 401)
        assert_error(siti.post("/pengingat/999999999/persediaan", {"tambah": 1}), 404)

    def test_adding_to_a_reminder_without_a_stock_is_409(self, siti, moment, obat):
        path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
        assert_error(siti.post(f"{path}/persediaan", {"tambah": 1}), 409, "stock_not_tracked")
