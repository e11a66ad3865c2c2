"""Parallel searches for the same cell cause only one call to the provider."""

from unittest.mock import Mock

import sqlalchemy as sa

from app.faskes.service import nearby
from tests.faskes.places import HOSPITAL, JAYAPURA, around, ids
from tests.helpers.client import Client
from tests.helpers.factories import make_admin
from tests.helpers.overlap import run_together


def test_concurrent_searches_cause_one_provider_call(committed, provider):
    provider.fault("places", "latency", times=None, seconds=0.3)
    results = []
    run_together(committed, *[lambda: results.append(ids(around(Client(committed), JAYAPURA)))] * 4)
    assert sorted(results) == [[], [], [], [HOSPITAL]]  # the others do not wait
    assert provider.places.searches() == 1
    assert ids(around(Client(committed), JAYAPURA)) == [HOSPITAL]


def test_a_rollback_releases_the_claim(committed, provider, monkeypatch):
    gone = sa.exc.OperationalError("INSERT", {}, Exception("gone"))
    with monkeypatch.context() as patch:
        patch.setattr(nearby, "store", Mock(side_effect=gone))
        response = Client(committed).get("/faskes/nearby", query_string={"lat": JAYAPURA[0], "lng": JAYAPURA[1]})
        assert response.status_code == 503
    assert ids(around(Client(committed), JAYAPURA)) == [HOSPITAL]


def test_a_new_facility_is_shown_immediately_in_a_searched_cell(client, provider):
    admin = client.as_(make_admin())
    padang = (-0.95, 100.35)
    assert ids(around(client, padang)) == []
    created = admin.post("/faskes", {"nama": "Kapal rumah sakit", "lat": padang[0], "lng": padang[1]})
    assert ids(around(client, padang)) == [created.json["id"]]
