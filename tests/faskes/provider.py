"""Helpers that search near a hospital of the simulated provider."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from app.providers import places
from app.providers.http import Http
from dev.simulators import Server
from tests.conftest import config_for_tests
from tests.helpers.client import Client
from tests.providers.patience import patience_with

JAYAPURA = (-2.533, 140.718)
HOSPITAL = "ChIJsimulasiJayapura"


@contextmanager
def failing(provider: Server, fault: str) -> Iterator[None]:
    """Make the provider fail during the `with` block. If the fault is a hanging call, the client's timeout is short."""
    asked = places.from_config(config_for_tests(**provider.places.env()))
    assert asked is not None
    provider.fault("places", fault, times=None)
    patient, asked._http = asked._http, Http("places", attempts=1, **patience_with(fault))
    yield
    asked._http = patient
    provider.clear_faults()


def around(client: Client, at: tuple[float, float], radius: int = 5000, **query: Any) -> Any:
    response = client.get("/faskes/nearby", query_string={"lat": at[0], "lng": at[1], "radius": radius, **query})
    assert response.status_code == 200, response.json
    return response.json


def ids(body: Any) -> list[str]:
    return [row["id"] for row in body["results"]]
