"""Helpers that create facilities."""

from __future__ import annotations

from itertools import count
from typing import Any

from app.core.database.session import db
from app.faskes.models import Faskes
from tests.helpers.client import Client

CIMAHI = (-6.88, 107.55)

_numbers = count(1)


def make_faskes(**data: Any) -> Faskes:
    """Store a facility, by default in Cimahi."""
    n = next(_numbers)
    values = {"id": f"faskes-{n}", "nama": f"Klinik {n}", "lat": CIMAHI[0], "lng": CIMAHI[1], "province": "Jawa Barat"}
    row = Faskes(**{**values, **data})
    db.session.add(row)
    db.session.commit()  # without a commit, a refused request would also roll back this facility
    return row


def nearby(client: Client, lat: float, lng: float, radius: int | None = None) -> list[dict[str, float | str]]:
    query: dict[str, float] = {"lat": lat, "lng": lng} | ({} if radius is None else {"radius": radius})
    response = client.get("/faskes/nearby", query_string=query)
    assert response.status_code == 200, response.json
    results: list[dict[str, float | str]] = response.json["results"]
    return results
