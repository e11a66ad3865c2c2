"""Routes of doctors, in the order of `routes.py`."""

import json
from io import BytesIO

import pytest

from app.core.database.session import db
from app.dokter import service
from tests.core.media.samples import plain
from tests.faskes.places import CIMAHI, make_faskes
from tests.helpers.client import assert_error

AT = {"lat": CIMAHI[0], "lng": CIMAHI[1]}


def make_dokter(*faskes_ids, **data):
    dokter = service.create({"nama": "dr. Ani", "faskes_ids": list(faskes_ids), **data})
    db.session.commit()
    return dokter


class TestListNearbyDokter:
    """GET /dokter/nearby"""

    def test_doctors_of_the_province_are_listed_nearest_first(self, client):
        make_faskes(id="far", nama="RS Jauh", lat=-6.98)
        make_faskes(id="near", nama="RS Dekat", lat=-6.89)
        make_faskes(id="jakarta", lat=-6.2, lng=106.8, province="DKI Jakarta")
        far = make_dokter("far", nama="dr. Jauh")
        near = make_dokter("near", "far", nama="dr. Dekat", spesialisasi="Anak")
        make_dokter("jakarta")
        make_dokter()
        response = client.get("/dokter/nearby", query_string=AT)
        assert [row["id"] for row in response.json] == [near.id, far.id]
        assert response.json[0] == {
            "id": near.id, "nama": "dr. Dekat", "spesialisasi": "Anak", "telepon": None, "image": None,
            "faskes_ids": ["near", "far"],
            "faskes": [{"id": "near", "nama": "RS Dekat"}, {"id": "far", "nama": "RS Jauh"}],
            "distance_km": pytest.approx(1.112, abs=0.001),
        }  # fmt: skip

    def test_the_distance_is_to_the_nearest_facility_in_any_province(self, client):
        make_faskes(id="here", lat=-6.98)
        make_faskes(id="over", lat=-6.881, province="Banten")
        make_dokter("here", "over")
        (row,) = client.get("/dokter/nearby", query_string=AT).json
        assert row["distance_km"] == pytest.approx(0.111, abs=0.001)
        assert sorted(row["faskes_ids"]) == ["here", "over"]

    def test_is_paged_and_counts_each_doctor_once(self, client, statements):
        for number in range(5):
            make_faskes(id=f"rs-{number}", lat=-6.89 - number / 100)
        doctors = [make_dokter(f"rs-{number}", "rs-4").id for number in range(5)]
        with statements.at_most(3):
            first = client.get("/dokter/nearby", query_string={**AT, "per_page": 2})
        assert [row["id"] for row in first.json] == doctors[:2]
        assert first.headers["X-Total-Count"] == "5"
        assert 'page=2&per_page=2>; rel="next"' in first.headers["Link"]
        last = client.get("/dokter/nearby", query_string={**AT, "page": 3, "per_page": 2})
        assert [row["id"] for row in last.json] == doctors[4:]
        beyond = client.get("/dokter/nearby", query_string={**AT, "page": 9, "per_page": 2})
        assert (beyond.json, beyond.headers["X-Total-Count"]) == ([], "5")

    def test_the_list_is_empty_where_no_doctor_practises(self, client):
        make_faskes(id="rs")
        make_dokter("rs")
        for lat, lng in ((1.2903, 103.852), (0, 0), (-8.67, 115.21)):
            response = client.get("/dokter/nearby", query_string={"lat": lat, "lng": lng})
            assert (response.status_code, response.json) == (200, []), (lat, lng)


class TestCreateDokter:
    """POST /dokter"""

    def test_adds_a_doctor_with_facilities_by_name_and_with_a_picture(self, client, admin):
        for name in "ab":
            make_faskes(id=name, nama=name.upper())
        faskes = [{"id": "a", "nama": "A"}, {"id": "b", "nama": "B"}]
        for ids in (["b", "a", "b"], ["a", "b"], [json.dumps(["a", "b"])]):
            new = {"nama": "dr. Budi", "spesialisasi": "Jantung", "faskes_ids": ids}
            form = {"data": {**new, "image": (BytesIO(plain()), "a.png")}} if ids[0] != "b" else {"json": new}
            body = admin.post("/dokter", **form).ok(201)
            assert (body["faskes_ids"], body["faskes"]) == (["a", "b"], faskes)
            assert client.get(f"/dokter/{body['id']}").json == body
            assert "json" in form or client.get(body["image"]).mimetype == "image/webp"
        assert admin.delete("/faskes/a").status_code == 200
        assert client.get(f"/dokter/{body['id']}").json["faskes_ids"] == ["b"]


class TestUpdateDokter:
    """PUT /dokter/<dokter_id>"""

    def test_faskes_ids_in_the_body_replace_all_facilities(self, admin):
        for name in "abc":
            make_faskes(id=name, nama=name)
        dokter = make_dokter("a", "b")
        assert admin.put(f"/dokter/{dokter.id}", {"faskes_ids": ["b", "c"]}).json["faskes_ids"] == ["b", "c"]
        assert admin.put(f"/dokter/{dokter.id}", {"faskes_ids": []}).json["faskes_ids"] == []
        assert admin.put(f"/dokter/{dokter.id}", data={"nama": "dr. B", "faskes_ids": "a"}).json["faskes_ids"] == ["a"]

    def test_without_faskes_ids_in_the_body_the_facilities_stay(self, admin):
        make_faskes(id="a")
        dokter = make_dokter("a")
        assert admin.put(f"/dokter/{dokter.id}", {"nama": "dr. Baru"}).json["faskes_ids"] == ["a"]
        assert admin.put(f"/dokter/{dokter.id}", data={"telepon": "1"}).json["faskes_ids"] == ["a"]

    def test_one_unknown_facility_among_good_ones_changes_nothing(self, admin):
        make_faskes(id="a")
        make_faskes(id="b")
        dokter = make_dokter("a")
        sent = {"nama": "X", "faskes_ids": ["b", "ghost"]}
        assert_error(admin.put(f"/dokter/{dokter.id}", sent), 400, field="faskes_ids")
        db.session.expire_all()
        assert (dokter.nama, dokter.faskes_ids) == ("dr. Ani", ["a"])
