"""Facilities for tests."""

from __future__ import annotations

from itertools import count
from typing import Any

from app.core.database.session import db
from app.faskes.models import Faskes

CIMAHI = (-6.88, 107.55)

_numbers = count(1)


def make_faskes(**data: Any) -> Faskes:
    """A stored facility in Cimahi, unless `data` says otherwise."""
    n = next(_numbers)
    values = {"id": f"faskes-{n}", "nama": f"Klinik {n}", "lat": CIMAHI[0], "lng": CIMAHI[1], "province": "Jawa Barat"}
    row = Faskes(**{**values, **data})
    db.session.add(row)
    db.session.commit()  # a refused request rolls back what is not
    return row
