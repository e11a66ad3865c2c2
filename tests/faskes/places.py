"""Helpers that create facilities, and search for them near a position."""

from itertools import count

from app.core.database.session import db
from app.faskes.models import Faskes

CIMAHI = (-6.88, 107.55)
#: Position and id of a hospital that only the simulated provider has.
JAYAPURA, HOSPITAL = (-2.533, 140.718), "ChIJsimulasiJayapura"

_numbers = count(1)


def make_faskes(**data):
    """Store a facility, by default in Cimahi."""
    n = next(_numbers)
    values = {"id": f"faskes-{n}", "nama": f"Klinik {n}", "lat": CIMAHI[0], "lng": CIMAHI[1], "province": "Jawa Barat"}
    row = Faskes(**{**values, **data})
    db.session.add(row)
    db.session.commit()  # without a commit, a refused request would also roll back this facility
    return row


def around(client, at, **query):
    """Search for facilities around a position."""
    return client.get("/faskes/nearby", query_string={"lat": at[0], "lng": at[1], **query}).ok()


def ids(body):
    return [row["id"] for row in body["results"]]
