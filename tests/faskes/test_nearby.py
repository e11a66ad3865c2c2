"""Facilities around a position: exactly those inside the circle, wherever on earth it lies."""

from __future__ import annotations

import math
import random

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.geo import distance_km
from app.faskes.models import Faskes
from app.faskes.service import reads
from tests.faskes.places import CIMAHI, make_faskes
from tests.helpers.client import Client, assert_error
from tests.helpers.statements import Statements


def nearby(client: Client, lat: float, lng: float, radius: int | None = None) -> list[dict[str, float | str]]:
    query: dict[str, float] = {"lat": lat, "lng": lng} | ({} if radius is None else {"radius": radius})
    response = client.get("/faskes/nearby", query_string=query)
    assert response.status_code == 200, response.json
    results: list[dict[str, float | str]] = response.json["results"]
    return results


def test_the_nearest_comes_first_with_its_distance(client: Client, statements: Statements) -> None:
    make_faskes(id="far", lat=-6.91)
    make_faskes(id="near", lat=-6.881)
    make_faskes(id="here", lat=CIMAHI[0])
    make_faskes(id="outside", lat=-6.93)
    with statements.at_most(1):
        results = nearby(client, *CIMAHI)
    assert [(row["id"], row["distance_km"]) for row in results] == [("here", 0.0), ("near", 0.111), ("far", 3.336)]


def test_the_radius_is_5000_metres_unless_said(client: Client) -> None:
    make_faskes(id="inside", lat=CIMAHI[0] + 4.99 / 111.195)
    make_faskes(id="outside", lat=CIMAHI[0] - 5.01 / 111.195)
    assert [row["id"] for row in nearby(client, *CIMAHI)] == ["inside"]
    assert len(nearby(client, *CIMAHI, 5020)) == 2
    assert nearby(client, *CIMAHI, 1) == []


@pytest.mark.parametrize("radius", ["0", "-1", "50001", "5.5", "x", "", "nan", "1e3"])
def test_a_radius_outside_1_to_50000_is_400(client: Client, radius: str) -> None:
    query = {"lat": CIMAHI[0], "lng": CIMAHI[1], "radius": radius}
    assert_error(client.get("/faskes/nearby", query_string=query), 400, "validation_error", "radius")


def test_location_looks_fifty_kilometres_around_in_the_database(client: Client, statements: Statements) -> None:
    make_faskes(id="inside", lat=CIMAHI[0] + 49.9 / 111.195)
    make_faskes(id="outside", lat=CIMAHI[0] + 50.1 / 111.195)
    with statements.at_most(1):
        response = client.get(f"/faskes/location?lat={CIMAHI[0]}&lng={CIMAHI[1]}&radius=1")
    assert [row["id"] for row in response.json["results"]] == ["inside"]
    assert response.json["results"][0]["distance_km"] == pytest.approx(49.9, abs=0.01)


def test_circles_go_over_the_antimeridian_and_the_poles(client: Client) -> None:
    make_faskes(id="west", lat=-17, lng=179.9)
    make_faskes(id="east", lat=-17, lng=-179.9)
    make_faskes(id="pole-0", lat=89.9, lng=0)
    make_faskes(id="pole-180", lat=89.9, lng=180)
    make_faskes(id="south", lat=-90, lng=0)
    assert [row["id"] for row in nearby(client, -17, 179.95, 50_000)] == ["west", "east"]
    assert [row["id"] for row in nearby(client, -17, -180, 50_000)] == ["east", "west"]
    assert {row["id"] for row in nearby(client, 89.95, 90, 50_000)} == {"pole-0", "pole-180"}
    assert [row["id"] for row in nearby(client, -89.9, 123, 50_000)] == ["south"]


def test_the_database_finds_exactly_what_a_haversine_over_all_points_finds(client: Client) -> None:
    draw = random.Random(11)
    centres = [(-6.2, 106.8), (0.0, 180.0), (-17.0, -179.99), (71.0, 25.0), (89.7, 12.0), (-89.8, -60.0), (0.0, 0.0)]
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
        for km in (radius_km, edge_km + 1e-9, edge_km - 1e-6):  # the last point just inside, then just outside
            inside = {name for name, far in distances.items() if far <= km}
            records = reads.around(db.session.connection(), lat, lng, km * 1000)
            assert len(records) == min(len(inside), 1000)
            assert {row["id"] for row in records} <= inside
            assert all(abs(row["distance_km"] - distances[row["id"]]) <= 0.0005 + 1e-9 for row in records)
            assert [row["distance_km"] for row in records] == sorted(row["distance_km"] for row in records)
            checked += len(records)
    assert checked > 5000


def test_the_index_answers_and_not_a_look_at_every_row(client: Client) -> None:
    rows = [{"id": f"i{n}", "nama": "x", "lat": n % 100 / 10, "lng": n / 100} for n in range(10_000)]
    db.session.execute(sa.insert(Faskes), rows)
    db.session.execute(sa.text("ANALYZE faskes"))
    for lat, lng in ((5.0, 50.0), (5.0, 180.0)):
        parts, params = reads.circle(lat, lng, 5000)
        statement = reads.AROUND[parts]
        literal = statement.params(params).compile(db.engine, compile_kwargs={"literal_binds": True})
        plan = "\n".join(db.session.scalars(sa.text(f"EXPLAIN {literal}")))
        assert "ix_faskes_position" in plan
        assert "Seq Scan" not in plan


def test_its_plan_is_worth_keeping_however_many_facilities_there_are(client: Client) -> None:
    rows = [{"id": f"i{n}", "nama": "x", "lat": n % 100 / 10, "lng": n / 1000} for n in range(30_000)]
    db.session.execute(sa.insert(Faskes), rows)
    db.session.execute(sa.text("ANALYZE faskes"))
    connection = db.session.connection()
    for lat, lng in ((5.0, 15.0), (5.0, 180.0)):
        parts, params = reads.circle(lat, lng, 5000)
        prepared = reads._PREPARED_AROUND[parts]
        prepared.rows(connection, params)
        # PostgreSQL compares these two, and plans each call anew as long as that is a few units cheaper.
        costs = {}
        for mode in ("force_custom_plan", "force_generic_plan"):
            connection.exec_driver_sql(f"SET LOCAL plan_cache_mode = {mode}")
            with connection.connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN (FORMAT JSON) {prepared._execute}", params)
                costs[mode] = cursor.fetchone()[0][0]["Plan"]["Total Cost"]
        assert costs["force_generic_plan"] - costs["force_custom_plan"] < 0.1, costs
