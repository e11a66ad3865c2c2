"""Client of the places provider: pages, tokens that are not valid yet, and error statuses."""

import time

import pytest

from app.providers import places
from app.providers.http import Http, ProviderError
from app.providers.places import Place, Places
from config import Config
from dev.simulators.replayed import KEY
from tests.providers.calls import ok
from tests.providers.patience import PATIENT
from tests.providers.raw_server import raw

CIMAHI = (-6.88, 107.55)
JAYAPURA = (-2.5330, 140.7180)
EMPTY = (-10.5, 100.0)


def client(sim, url=None, key=KEY, **options):
    return Places(Http("places", attempts=1, **PATIENT), url or sim.places.url, key, **options)


def refusal(sim, **options):
    with pytest.raises(ProviderError) as caught:
        client(sim, **options).nearby(*CIMAHI, 5000)
    return caught.value


def test_a_found_place_has_all_its_fields(sim):
    assert client(sim).nearby(*JAYAPURA, 1000) == [
        Place(
            "ChIJsimulasiJayapura", "RSUD Jayapura", -2.533, 140.718, "Jl. Jend. Sudirman No. 1", 4.2,
            ("hospital", "health", "point_of_interest", "establishment"),
        )
    ]  # fmt: skip


def test_the_search_asks_for_hospitals_in_indonesian(sim):
    client(sim).nearby(*JAYAPURA, 1234.5)
    assert sim.places.calls[0].query == {
        "location": "-2.533000,140.718000", "radius": "1234", "type": "hospital", "language": "id", "key": KEY,
    }  # fmt: skip


@pytest.fixture
def waits(monkeypatch):
    """Return a list that records waits in seconds. The clock of the client moves only by these waits."""
    found = []
    start = time.monotonic()
    monkeypatch.setattr(places.time, "monotonic", lambda: start + sum(found))
    return found


def test_a_page_token_that_is_not_valid_yet_is_retried_with_growing_waits(sim, waits):
    sim.places.delay_s = 2
    found = client(sim, sleep=waits.append).nearby(*CIMAHI, 5000)
    assert len(found) == len({place.place_id for place in found}) == 60
    assert waits == [0.3, 0.6, 1.2, 0.3, 0.6, 1.2]
    assert sim.places.searches() == 1


def test_waits_for_a_page_token_grow_to_two_seconds_within_the_budget(sim, waits):
    sim.places.delay_s = 1000
    assert len(client(sim, sleep=waits.append).nearby(*CIMAHI, 5000)) == 20
    assert waits == [0.3, 0.6, 1.2, 2.0]
    assert sum(waits) < places.BUDGET_S


def test_the_first_page_is_returned_when_a_later_page_fails(sim):
    sim.places.delay_s = 0
    for fault in ("OVER_QUERY_LIMIT", "garbage"):
        asked = client(sim, sleep=lambda _, fault=fault: sim.fault("places", fault))
        assert len(asked.nearby(*CIMAHI, 5000)) == 20, fault
        sim.clear_faults()


def test_a_search_without_places_returns_an_empty_list(sim):
    assert client(sim).nearby(*EMPTY, 5000) == []


def test_an_error_status_is_reported_without_another_call(sim):
    for status in ("OVER_QUERY_LIMIT", "REQUEST_DENIED", "INVALID_REQUEST", "UNKNOWN_ERROR"):
        sim.places.calls.clear()
        sim.fault("places", status, times=None)
        assert refusal(sim).reason == status
        assert len(sim.places.calls) == 1
        sim.clear_faults()
    assert refusal(sim, key="wrong").reason == "REQUEST_DENIED"


def test_a_response_without_a_known_status_is_a_failure(sim):
    for body in (b"{}", b'{"status": 7}', b'{"status": "STRANGE"}'):
        with raw(ok(body)) as server:
            assert refusal(sim, url=server.url).kind == "status", body


INVALID = [
    {"place_id": "../etc/passwd"}, {"place_id": ""}, {"place_id": 7}, {"place_id": "x" * 256}, {"name": None},
    {"name": "\0 \0"}, {"geometry": None}, {"geometry": {"location": {"lat": "north", "lng": 1}}},
    {"geometry": {"location": {"lat": 91, "lng": 1}}}, {"geometry": {"location": {"lat": -2.5}}},
    {"business_status": "CLOSED_PERMANENTLY"},
]  # fmt: skip


def test_an_invalid_or_closed_place_is_left_out(sim, subtests):
    sim.places.facilities.clear()
    sim.places.add("ChIJgood", "RSUD Jayapura", *JAYAPURA, extra={})
    for extra in INVALID:
        with subtests.test(str(extra)[:80]):
            sim.places.add("ChIJstrange", "RS Aneh", *JAYAPURA, extra=extra)
            assert [place.place_id for place in client(sim).nearby(*JAYAPURA, 1000)] == ["ChIJgood"]
            sim.places.facilities.pop()


#: Parts of a place from the provider, and the values that we read.
CLEANED = [
    ({"rating": "five"}, "rating", None),
    ({"rating": 17}, "rating", None),
    ({"rating": True}, "rating", None),
    ({"vicinity": ["Jl."]}, "address", None),
    ({"vicinity": "Jl.\n Merdeka\0 1 "}, "address", "Jl. Merdeka 1"),
    ({"types": "hospital"}, "types", ()),
    ({"types": ["hospital", 3, None]}, "types", ("hospital",)),
    ({"name": " RS\tJiwa "}, "name", "RS Jiwa"),
    ({"name": "x" * 300}, "name", "x" * 255),
]


def test_invalid_optional_fields_of_a_place_are_dropped_or_cleaned(sim, subtests):
    for extra, field, value in CLEANED:
        with subtests.test(str(extra)[:80]):
            sim.places.facilities.clear()
            sim.places.add("ChIJstrange", "RS Aneh", *JAYAPURA, extra=extra)
            (place,) = client(sim).nearby(*JAYAPURA, 1000)
            assert getattr(place, field) == value


def test_without_a_key_there_is_no_provider(sim):
    assert places.from_config(Config.from_env({"ENVIRONMENT": "testing"})) is None
    asked = places.from_config(Config.from_env({"ENVIRONMENT": "testing", **sim.places.env()}))
    assert asked.nearby(*JAYAPURA, 1000)
