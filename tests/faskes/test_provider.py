"""Provider searches by `/faskes/nearby`. They are rare, and a failure causes no error response."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.faskes.models import Faskes
from app.faskes.service import nearby
from app.providers.places import Place
from tests.faskes.places import CIMAHI, HOSPITAL, JAYAPURA, around, ids, make_faskes


def test_the_provider_is_called_if_the_database_has_no_result(client, provider):
    body = around(client, JAYAPURA)
    assert body == {
        "status": "OK",
        "results": [
            {
                "id": HOSPITAL, "nama": "RSUD Jayapura", "alamat": "Jl. Jend. Sudirman No. 1", "lat": -2.533,
                "lng": 140.718, "jenis": "rumah_sakit", "telepon": None, "province": "Papua", "rating": 4.2,
                "source": "places", "distance_km": 0.0,
            }
        ],
    }  # fmt: skip
    assert provider.places.searches() == 1


def test_three_pages_are_followed_and_stored(client, provider):
    body = around(client, CIMAHI)
    assert len(ids(body)) == len(set(ids(body))) == 60
    distances = [row["distance_km"] for row in body["results"]]
    assert distances == sorted(distances)
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Faskes).where(Faskes.source == "places")) == 60
    assert {row["jenis"] for row in body["results"]} == {"rumah_sakit", "klinik", "puskesmas"}


def test_the_provider_is_not_called_if_the_database_has_a_result(client, provider):
    make_faskes(id="own")
    assert ids(around(client, CIMAHI)) == ["own"]
    assert provider.places.searches() == 0


def test_a_search_within_a_kilometre_does_not_call_the_provider_again(client, provider):
    first = around(client, JAYAPURA)
    moved = (JAYAPURA[0] + 0.9 / 111.195, JAYAPURA[1])
    second = around(client, moved)
    assert ids(second) == ids(first)
    assert second["results"][0]["distance_km"] == pytest.approx(0.9, abs=0.01)
    assert provider.places.searches() == 1


def test_an_empty_result_is_remembered_by_cell_and_radius(client, provider):
    kupang = (-10.1699, 123.6)  # near the south of its cell
    assert around(client, kupang) == {"results": [], "status": "ZERO_RESULTS"}
    for north_km, radius, searches in ((0, 5000, 1), (0.4, 5000, 1), (1.1, 5000, 2), (0, 5001, 3)):
        assert around(client, (kupang[0] + north_km / 111.195, kupang[1]), radius=radius)["results"] == []
        assert provider.places.searches() == searches, (north_km, radius)


def test_a_search_is_remembered_for_four_hours(client, provider, app):
    padang = (-0.95, 100.35)
    around(client, padang)
    (key,) = app.extensions["redis"].keys("faskes:*:5000")
    assert 4 * 3600 - 5 < app.extensions["redis"].ttl(key) <= 4 * 3600
    app.extensions["redis"].delete(key)
    around(client, padang)
    assert provider.places.searches() == 2


def test_provider_results_update_only_records_of_the_provider(app):
    make_faskes(id="theirs", nama="Lama", telepon="022", source="places")
    make_faskes(id="ours", nama="Benar", source="db")
    nearby.store([Place("theirs", "Baru", *CIMAHI), Place("ours", "Salah", *CIMAHI)])
    db.session.expire_all()
    assert db.session.get_one(Faskes, "theirs").nama == "Baru"
    assert db.session.get_one(Faskes, "theirs").telepon == "022"
    assert db.session.get_one(Faskes, "ours").nama == "Benar"


def test_the_kind_is_taken_from_the_name_before_the_types():
    for name, types, kind in (
        ("Puskesmas Cimahi", ("hospital",), "puskesmas"),
        ("RSUD Cibabat", ("point_of_interest",), "rumah_sakit"),
        ("Santosa", ("hospital",), "rumah_sakit"),
        ("Klinik Gigi", ("dentist",), "klinik"),
        ("Kimia Farma", ("pharmacy",), "apotek"),
        ("drg. Ani", ("dentist",), "dokter_gigi"),
        ("Sesuatu", (), None),
    ):
        assert nearby.kind_of(Place("x", name, 0, 0, types=types)) == kind, name
