"""Routes of emergency numbers, in the order of `routes.py`."""

import pytest

from app.core.database.session import db
from app.emergency import service
from tests.helpers.client import assert_error

CIMAHI = {"lat": "-6.88", "lng": "107.55"}


SINGAPORE = {"lat": "1.2903", "lng": "103.8520"}


def make_number(**data):
    number = service.create({"province": "Jawa Barat", "phone": "022-123", "title": None, **data})
    db.session.commit()
    return number


#: Latitude, longitude, and the name of the invalid parameter. `tests/core/lib/test_geo.py` has more values.
BAD_POSITIONS = (
    (None, "107", "lat"), ("-6.8", None, "lng"), ("", "107", "lat"), ("north", "107", "lat"), ("-6.8", "NaN", "lng"),
    ("90.01", "107", "lat"), ("-90.01", "107", "lat"), ("-6.8", "180.01", "lng"), ("-6.8", "-180.01", "lng"),
)  # fmt: skip


class TestListNearbyEmergencyNumbers:
    """GET /emergency/nearby"""

    def test_numbers_of_a_province_are_listed_in_order_of_creation(self, client):
        make_number(phone="022-1", title="Rumah aman")
        make_number(phone="022-2")
        phones = client.get("/emergency/nearby", query_string=CIMAHI).json["phones"]
        assert [row["phone"] for row in phones][-2:] == ["022-1", "022-2"]
        assert phones[-1]["title"] is None
        assert set(phones[-1]) == {"id", "province", "phone", "title", "url", "kind"}

    def test_outside_indonesia_there_is_no_province_and_no_number(self, client):
        for query in (SINGAPORE, {"lat": "0", "lng": "0"}, {"lat": "-10.5", "lng": "100"}):
            response = client.get("/emergency/nearby", query_string=query)
            assert (response.status_code, response.json) == (200, {"province": None, "phones": []}), query

    @pytest.mark.parametrize(
        "path", ["/emergency/nearby", "/dokter/nearby", "/province-config/nearby", "/faskes/nearby"]
    )
    def test_every_invalid_position_is_400_on_all_nearby_routes(self, client, path, subtests):
        for lat, lng, field in BAD_POSITIONS:
            query = {name: value for name, value in (("lat", lat), ("lng", lng)) if value is not None}
            with subtests.test(query=query):
                assert_error(client.get(path, query_string=query), 400, "validation_error", field)

    def test_the_largest_and_smallest_coordinates_are_valid(self, client):
        for query in ({"lat": "90", "lng": "180"}, {"lat": "-90", "lng": "-180"}, {"lat": " 1e0 ", "lng": "1"}):
            assert client.get("/emergency/nearby", query_string=query).status_code == 200, query


class TestListEmergencyNumbers:
    """GET /emergency/admin"""

    def test_lists_newest_first_paged_and_searched(self, admin):
        last = make_number(phone="100%", title="Diskon_1")
        response = admin.get("/emergency/admin")
        assert response.json[0]["id"] == last.id
        assert len(response.json) == 5 * 38 + 1
        paged = admin.get("/emergency/admin?per_page=2&page=2")
        assert len(paged.json) == 2
        assert paged.headers["X-Total-Count"] == "191"
        for q, count in (("0%", 1), ("_1", 1), ("papua barat daya", 5), ("SEJIWA", 38), ("nothing like it", 0)):
            assert len(admin.get("/emergency/admin", query_string={"q": q}).json) == count


class TestUpdateEmergencyNumber:
    """PUT /emergency/<number_id>"""

    def test_a_null_url_empties_it_and_a_kind_is_replaced(self, admin):
        number = {"province": "Bali", "phone": "119 ext. 8"}
        sent = {**number, "url": "https://www.healing119.id", "kind": "ambulance"}
        record = admin.post("/emergency/admin", sent).json
        changed = admin.put(f"/emergency/{record['id']}", {**number, "url": None, "kind": "hospital"}).json
        assert (changed["url"], changed["kind"]) == (None, "hospital")
