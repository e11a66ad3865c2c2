"""Parallel searches for the same circle cause only one call to the provider."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.faskes.service import lookup, search_coverage
from dev.simulators import Server
from dev.stack.waiting import wait_until
from tests.faskes.provider import HOSPITAL, JAYAPURA, around, ids
from tests.helpers.client import Client
from tests.helpers.factories import make_admin


def at_once(*calls: Callable[[], object]) -> None:
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_concurrent_searches_cause_one_provider_call(committed: Flask, provider: Server) -> None:
    provider.fault("places", "latency", times=None, seconds=0.3)
    results: list[list[str]] = []

    def search(north_km: float) -> None:
        with committed.app_context():
            results.append(ids(around(Client(committed), (JAYAPURA[0] + north_km / 111.195, JAYAPURA[1]))))

    at_once(*(partial(search, north_km) for north_km in (0, 0, 0.2, 0.4)))
    assert results == [[HOSPITAL]] * 4
    assert provider.places.searches() == 1


def test_a_search_sees_results_stored_before_its_claim(
    committed: Flask, provider: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = search_coverage.claim

    def search() -> None:
        with committed.app_context():
            around(Client(committed), JAYAPURA)

    others = [search]

    def slowly(*circle: Any) -> search_coverage.Circle:
        """Run another complete search between the first search's database query and its claim."""
        if others:
            at_once(others.pop())
        return claim(*circle)

    monkeypatch.setattr(search_coverage, "claim", slowly)
    assert ids(around(Client(committed), JAYAPURA)) == [HOSPITAL]
    assert provider.places.searches() == 1


def test_waiting_searches_end_when_the_provider_call_fails(
    committed: Flask, provider: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.fault("places", "hang", times=None)
    statuses: list[str] = []
    waiting: list[search_coverage.Spot] = []
    wait = search_coverage.wait

    def counted(spot: search_coverage.Spot) -> None:
        waiting.append(spot)
        wait(spot)

    def search() -> None:
        with committed.app_context():
            statuses.append(around(Client(committed), JAYAPURA)["status"])

    monkeypatch.setattr(search_coverage, "wait", counted)
    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    wait_until(lambda: provider.places.searches() == 1 and len(waiting) == 2)
    provider.clear_faults()  # the hanging call ends
    for thread in threads:
        thread.join()
    assert statuses == ["ZERO_RESULTS"] * 3
    assert provider.places.searches() == 1


def test_a_claim_of_a_killed_process_expires(app: Flask) -> None:
    first = search_coverage.claim(*JAYAPURA, 5000)
    second = search_coverage.claim(*JAYAPURA, 5000)
    assert (first.state, second.state) == (search_coverage.CircleState.CLAIMED, search_coverage.CircleState.ASKING)
    left = app.extensions["redis"].ttl(f"faskes:coverage:state:{first.name}")
    assert search_coverage.CLAIM_S >= 8
    assert 0 < left <= search_coverage.CLAIM_S
    app.extensions["redis"].delete(f"faskes:coverage:state:{first.name}")
    assert search_coverage.claim(*JAYAPURA, 5000).state is search_coverage.CircleState.CLAIMED


def test_a_rollback_releases_the_claimed_circle(
    committed: Flask, provider: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise sa.exc.OperationalError("INSERT", {}, Exception("gone"))

    with monkeypatch.context() as patch:
        patch.setattr(lookup, "store", fail)
        response = Client(committed).get("/faskes/nearby", query_string={"lat": JAYAPURA[0], "lng": JAYAPURA[1]})
        assert response.status_code == 503
    assert ids(around(Client(committed), JAYAPURA)) == [HOSPITAL]


def test_a_new_facility_is_shown_immediately_in_a_cached_circle(client: Client, provider: Server) -> None:
    admin = client.as_(make_admin())
    sea = (-10.5, 100.0)
    assert ids(around(client, sea)) == []
    created = admin.post("/faskes", {"nama": "Kapal rumah sakit", "lat": sea[0], "lng": sea[1]})
    assert ids(around(client, sea)) == [created.json["id"]]
