"""Helpers that create facilities."""

from itertools import count

from app.core.database.session import db
from app.faskes.models import Faskes

CIMAHI = (-6.88, 107.55)

_numbers = count(1)


def make_faskes(**data):
    """Store a facility, by default in Cimahi."""
    n = next(_numbers)
    values = {"id": f"faskes-{n}", "nama": f"Klinik {n}", "lat": CIMAHI[0], "lng": CIMAHI[1], "province": "Jawa Barat"}
    row = Faskes(**{**values, **data})
    db.session.add(row)
    db.session.commit()  # without a commit, a refused request would also roll back this facility
    return row


def nearby(client, lat, lng, radius=None):
    query = {"lat": lat, "lng": lng} | ({} if radius is None else {"radius": radius})
    response = client.get("/faskes/nearby", query_string=query)
    assert response.status_code == 200, response.json
    return response.json["results"]
