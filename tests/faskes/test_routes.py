"""Routes of health facilities, in the order of `routes.py`."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from tests.faskes.places import CIMAHI, around, ids, make_faskes
from tests.helpers.client import assert_error


class TestListNearbyFaskes:
    """GET /faskes/nearby"""

    def test_facilities_are_listed_nearest_first_with_distance(self, client):
        make_faskes(id="far", lat=-6.91)
        make_faskes(id="near", lat=-6.881)
        make_faskes(id="here", lat=CIMAHI[0])
        make_faskes(id="outside", lat=-6.93)
        results = around(client, CIMAHI)["results"]
        assert [(row["id"], row["distance_km"]) for row in results] == [("here", 0.0), ("near", 0.111), ("far", 3.336)]

    def test_the_radius_is_5000_metres_unless_said(self, client):
        make_faskes(id="inside", lat=CIMAHI[0] + 4.99 / 111.195)
        make_faskes(id="outside", lat=CIMAHI[0] - 5.01 / 111.195)
        assert ids(around(client, CIMAHI)) == ["inside"]
        assert len(ids(around(client, CIMAHI, radius=5020))) == 2
        assert ids(around(client, CIMAHI, radius=1)) == []


class TestListFaskesByLocation:
    """GET /faskes/location"""

    def test_lists_what_is_within_50_km(self, client):
        make_faskes(id="inside", lat=CIMAHI[0] + 49.9 / 111.195)
        make_faskes(id="outside", lat=CIMAHI[0] + 50.1 / 111.195)
        response = client.get(f"/faskes/location?lat={CIMAHI[0]}&lng={CIMAHI[1]}&radius=1")
        assert ids(response.json) == ["inside"]
        assert response.json["results"][0]["distance_km"] == pytest.approx(49.9, abs=0.01)


class TestSearchFaskes:
    """GET /faskes/search"""

    def test_special_characters_in_the_keyword_match_literally(self, client):
        start = datetime(2026, 3, 1, tzinfo=UTC)
        names = {"a": "RSUD Cibabat", "b": "RS 100% Sehat", "c": "RS A_B", "d": "Klinik \\ Baru"}
        for day, (faskes_id, nama) in enumerate(names.items()):
            make_faskes(id=faskes_id, nama=nama, created_at=start + timedelta(days=day))
        db.session.commit()
        for keyword, matches in {
            "CIBA": ["a"], "bab": ["a"], "rs": ["c", "b", "a"], "%": ["b"], "_": ["c"], "\\": ["d"], "%a%": [],
        }.items():  # fmt: skip
            response = client.get("/faskes/search", query_string={"keyword": keyword})
            assert ids(response.json) == matches, keyword
            assert response.json["status"] == ("OK" if matches else "ZERO_RESULTS")
            assert all("distance_km" not in row for row in response.json["results"])

    def test_the_total_is_at_most_10000(self, client):
        many = "INSERT INTO faskes (id, nama, lat, lng) SELECT n, 'Klinik', 0, 110 FROM generate_series(1, 10001) n"
        db.session.execute(sa.text(many))
        response = client.get("/faskes/search?keyword=klinik&per_page=2")
        assert len(ids(response.json)) == 2
        assert response.headers["X-Total-Count"] == "10000"


class TestListFaskes:
    """GET /faskes"""

    def test_list_search_and_location_are_paged_and_have_a_status(self, client):
        assert client.get("/faskes").json == {"results": [], "status": "ZERO_RESULTS"}
        for number in range(5):
            make_faskes(id=f"page-{number}", nama=f"RS Halaman {number}")
        for path in ("/faskes", "/faskes/search?keyword=halaman", "/faskes/location?lat=-6.88&lng=107.55"):
            response = client.get(path)
            assert (len(ids(response.json)), response.json["status"]) == (5, "OK")
            joint = "&" if "?" in path else "?"
            second = client.get(f"{path}{joint}page=2&per_page=2")
            assert ids(second.json) == ids(response.json)[2:4]
            assert second.headers["X-Total-Count"] == "5"
            assert second.headers["Link"].endswith('page=3&per_page=2>; rel="next"')
            beyond = client.get(f"{path}{joint}page=9&per_page=2")
            assert (ids(beyond.json), beyond.json["status"], beyond.headers["X-Total-Count"]) == ([], "OK", "5")


class TestGetFaskes:
    """GET /faskes/<faskes_id>"""

    def test_returns_a_facility(self, client):
        make_faskes(id="ChIJ_a-1", nama="RSUD", alamat="Jl. A", jenis="rumah_sakit", telepon="022", rating=4.5)
        assert client.get("/faskes/ChIJ_a-1").json == {
            "id": "ChIJ_a-1", "nama": "RSUD", "alamat": "Jl. A", "lat": -6.88, "lng": 107.55, "jenis": "rumah_sakit",
            "telepon": "022", "province": "Jawa Barat", "rating": 4.5, "source": "db",
        }  # fmt: skip

    def test_an_unknown_id_is_404(self, client):
        for faskes_id in ("unknown", "%00", "..", "a b", "x" * 5000, "%ED%A0%80"):
            assert_error(client.get(f"/faskes/{faskes_id}"), 404)


class TestCreateFaskes:
    """POST /faskes"""

    def test_adds_a_facility_and_finds_its_province(self, admin):
        body = admin.post("/faskes", {"nama": "RSUD Cibabat", "lat": -6.88, "lng": 107.55}).ok(201)
        assert (body["province"], body["source"]) == ("Jawa Barat", "db")
        assert admin.post("/faskes", {"nama": "Kapal", "lat": -10.5, "lng": 100}).json["province"] is None

    def test_an_administrator_can_set_all_fields(self, admin):
        body = {
            "id": "ChIJ-own_1", "nama": "Klinik", "alamat": "Jl. B", "lat": "1.5", "lng": 0, "jenis": "klinik",
            "telepon": "021", "province": "north sumatra", "rating": 5,
        }  # fmt: skip
        found = admin.post("/faskes/", body).ok(201)
        assert found == {**body, "lat": 1.5, "province": "Sumatera Utara", "source": "db"}

    def test_an_id_that_is_taken_is_409(self, admin):
        make_faskes(id="taken")
        assert_error(admin.post("/faskes", {"id": "taken", "nama": "B", "lat": 0, "lng": 0}), 409, "faskes_taken")
        assert admin.get("/faskes/taken").status_code == 200

    def test_a_bad_id_is_400(self, admin):
        for faskes_id in ("a\nb", "nearby", "location", "search"):
            body = {"id": faskes_id, "nama": "Klinik", "lat": -6.88, "lng": 107.55}
            assert_error(admin.post("/faskes", body), 400, "validation_error", "id")


class TestUpdateFaskes:
    """PUT /faskes/<faskes_id>"""

    def test_a_moved_facility_gets_the_province_of_its_new_position(self, admin):
        row = make_faskes()
        assert admin.put(f"/faskes/{row.id}", {"lat": -8.67, "lng": 115.21}).json["province"] == "Bali"
        sent = {"lat": -6.88, "lng": 107.55, "province": "Aceh"}
        assert admin.put(f"/faskes/{row.id}", sent).json["province"] == "Aceh"
        assert admin.put(f"/faskes/{row.id}", {"province": None}).json["province"] == "Jawa Barat"

    def test_editing_a_provider_record_changes_its_source_to_db(self, admin):
        row = make_faskes(source="places")
        assert admin.put(f"/faskes/{row.id}", {"nama": "Benar"}).json["source"] == "db"

    def test_id_and_source_in_the_body_are_ignored(self, admin):
        row = make_faskes(id="stays")
        response = admin.put("/faskes/stays", {"id": "other", "source": "places", "nama": "B"})
        assert (response.json["id"], response.json["source"]) == ("stays", "db")
        assert row.id == "stays"
