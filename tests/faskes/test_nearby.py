"""Facilities around a position: exactly those inside the circle."""

import math
import random

import sqlalchemy as sa

from app.core.database.session import db
from app.faskes.models import Faskes
from app.faskes.service import facilities
from dev.distance import distance_km
from tests.faskes.places import around, make_faskes


def test_a_search_at_a_pole_or_at_the_antimeridian_is_answered(client):
    for lat, lng in ((90, 0), (-90, 180), (89.99, -180), (0, 180)):
        make_faskes(id=f"at{lat:.0f}_{lng}".replace("-", "m"), lat=lat, lng=lng)
        assert around(client, (lat, lng), radius=50_000)["results"][0]["lat"] == lat


def test_the_database_returns_the_same_facilities_as_a_haversine_check(client):
    draw = random.Random(11)
    centres = [(-6.2, 106.8), (5.9, 95.3), (-11.0, 123.4), (-2.6, 140.7), (71.0, 25.0), (0.0, 0.0)]
    points = {}
    for number in range(5000):
        lat, lng = draw.choice(centres)
        lat = max(-90.0, min(90.0, lat + draw.gauss(0, 0.4)))
        squeeze = max(0.02, math.cos(math.radians(lat)))
        lng = (lng + draw.gauss(0, 0.4) / squeeze + 180) % 360 - 180
        points[f"p{number}"] = (lat, lng)
    rows = [{"id": name, "nama": name, "lat": lat, "lng": lng} for name, (lat, lng) in points.items()]
    db.session.execute(sa.insert(Faskes), rows)
    checked = 0
    for lat, lng in [*centres, *draw.sample(list(points.values()), 40)]:
        distances = {name: distance_km(lat, lng, *at) for name, at in points.items()}
        radius_km = draw.choice([0.5, 5, 20, 50])
        edge_km = max((km for km in distances.values() if 0 < km <= radius_km), default=radius_km)
        # The second radius just includes the farthest point within the first radius. The third radius just excludes
        # this point.
        for km in (radius_km, edge_km + 1e-9, edge_km - 1e-6):
            inside = {name for name, far in distances.items() if far <= km}
            found = facilities.around(lat, lng, km * 1000)
            assert len(found) == min(len(inside), 1000)
            assert {row.id for row in found} <= inside
            assert all(abs(row.distance_km - distances[row.id]) <= 0.0005 + 1e-9 for row in found)
            assert [row.distance_km for row in found] == sorted(row.distance_km for row in found)
            checked += len(found)
    assert checked > 5000


def test_the_search_uses_the_position_index_and_no_sequential_scan(client):
    rows = [{"id": f"i{n}", "nama": "x", "lat": n % 100 / 10, "lng": n / 100} for n in range(10_000)]
    db.session.execute(sa.insert(Faskes), rows)
    db.session.execute(sa.text("ANALYZE faskes"))
    statement = facilities.CIRCLE.params(**facilities.circle(5.0, 50.0, 5000))
    literal = statement.compile(db.engine, compile_kwargs={"literal_binds": True})
    plan = "\n".join(db.session.scalars(sa.text(f"EXPLAIN {literal}")))
    assert "ix_faskes_position" in plan
    assert "Seq Scan" not in plan
