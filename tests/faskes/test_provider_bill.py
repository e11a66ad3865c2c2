"""The operator pays for each provider search. These tests bound the number of searches that anybody can cause."""

from app.core.jobs.redis import WEB, connect
from tests.conftest import config_for_tests
from tests.faskes.places import HOSPITAL, JAYAPURA, around, ids
from tests.helpers.client import assert_error

#: Padang, Medan, Kupang, Mataram and Pekanbaru. The simulated provider has no places there.
EMPTY = [(-0.95, 100.35), (3.59, 98.67), (-10.17, 123.6), (-8.58, 116.11), (0.53, 101.45)]


def test_the_provider_is_called_only_for_positions_in_indonesia(client, provider):
    for abroad in ((-10.5, 100.0), (48.86, 2.35), (0.0, 0.0), (89.0, 0.0), (-89.0, 0.0)):
        assert around(client, abroad) == {"results": [], "status": "ZERO_RESULTS"}, abroad
    assert provider.places.searches() == 0
    around(client, EMPTY[0])
    assert provider.places.searches() == 1


def test_searches_of_a_day_are_bounded_for_all_people_together(client, provider, real_app, monkeypatch):
    config = config_for_tests(**provider.places.env(), PLACES_PER_DAY="3")
    monkeypatch.setitem(real_app.extensions, "config", config)
    for at in EMPTY:
        assert around(client, at)["status"] == "ZERO_RESULTS"
    assert provider.places.searches() == 3
    (counter,) = real_app.extensions["redis"].keys("faskes:searches:*")
    real_app.extensions["redis"].delete(counter)  # this is what the next day does
    around(client, EMPTY[-1])
    assert provider.places.searches() == 4


def test_without_redis_the_provider_is_not_called(client, provider, app, monkeypatch):
    nobody = connect("redis://127.0.0.1:1", **WEB)
    monkeypatch.setitem(app.extensions, "redis", nobody)
    assert around(client, JAYAPURA) == {"results": [], "status": "ZERO_RESULTS"}
    assert provider.places.searches() == 0
    nobody.close()


def test_an_id_that_is_not_stored_is_404_without_a_provider_call(client, provider):
    assert_error(client.get(f"/faskes/{HOSPITAL}"), 404, "not_found")
    assert not provider.places.calls
    assert ids(around(client, JAYAPURA)) == [HOSPITAL]
    assert client.get(f"/faskes/{HOSPITAL}").status_code == 200
