"""Helpers that search near a hospital of the simulated provider."""

from __future__ import annotations

from typing import Any

from tests.helpers.client import Client

JAYAPURA = (-2.533, 140.718)
HOSPITAL = "ChIJsimulasiJayapura"


def around(client: Client, at: tuple[float, float], radius: int = 5000, **query: Any) -> Any:
    response = client.get("/faskes/nearby", query_string={"lat": at[0], "lng": at[1], "radius": radius, **query})
    assert response.status_code == 200, response.json
    return response.json


def ids(body: Any) -> list[str]:
    return [row["id"] for row in body["results"]]
